//! `linchpin steps`: the atomic steps of a model.

use crate::args::StepsArgs;
use crate::limits::Stop;
use crate::{Status, model, output};
use anyhow::Result;
use linchpin_ir::print::{self, OperationSteps};
use linchpin_report::json;
use serde_json::{Value as Json, json};

pub fn execute(args: &StepsArgs) -> Result<Status> {
    let subject = args.model.model.display().to_string();
    let json = args.common.json.then(|| json::envelope("steps", &subject));
    let stop = Stop::watch(&args.limits, json.clone());
    let compiled = stop.ending_at_once(|| model::load(&args.model))?;
    if let Some(mut object) = json {
        let operations = print::describe(&compiled.program).iter().map(as_json).collect();
        object.insert("operations".to_owned(), operations);
        if let Some(reference) = &compiled.program.reference {
            let operations = print::describe(reference).iter().map(as_json).collect();
            object.insert("reference".to_owned(), operations);
        }
        output::write_stdout(&format!("{}\n", Json::Object(object)))?;
    } else {
        output::write_stdout(&print::steps(&compiled.program))?;
    }
    Ok(Status::Holds)
}

fn as_json(operation: &OperationSteps) -> Json {
    let steps: Vec<Json> = operation
        .steps
        .iter()
        .map(|step| {
            let edges: Vec<Json> = step
                .edges
                .iter()
                .map(|edge| {
                    json!({
                        "actions": edge.actions, "points": edge.points, "bases": edge.bases,
                        "target": edge.target,
                    })
                })
                .collect();
            json!({ "id": step.id, "yields": step.yields, "line": step.line, "edges": edges })
        })
        .collect();
    json!({
        "operation": operation.operation, "signature": operation.signature, "line": operation.line,
        "steps": steps,
    })
}
