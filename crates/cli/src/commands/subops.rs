//! `linchpin subops`: a model as sub-operations, with the reason for every merge.

use crate::args::SubopsArgs;
use crate::limits::Stop;
use crate::{Status, model, output};
use anyhow::Result;
use linchpin_derive::{Form, Tries, derive, prove};
use linchpin_report::json;
use serde_json::{Value as Json, json};

pub fn execute(args: &SubopsArgs) -> Result<Status> {
    let subject = args.model.model.display().to_string();
    let json = args.common.json.then(|| json::envelope("subops", &subject));
    let stop = Stop::watch(&args.limits, json);
    stop.ending_at_once(|| derived(args, &subject))
}

fn derived(args: &SubopsArgs, subject: &str) -> Result<Status> {
    let compiled = model::load(&args.model)?;
    let derivation = match derive(&compiled.program) {
        Ok(derivation) => derivation,
        Err(refusal) => {
            let text = if args.common.json {
                let mut object = json::envelope("subops", subject);
                object.insert("verdict".to_owned(), json!("inconclusive"));
                object.insert("line".to_owned(), json!(refusal.line));
                object.insert("reason".to_owned(), json!(refusal.reason));
                format!("{}\n", Json::Object(object))
            } else {
                format!("{subject}: no sub-operations can be derived: {refusal}\n")
            };
            output::write_stdout(&text)?;
            return Ok(Status::Inconclusive);
        }
    };
    // The form that is proved, if there is one; else all that the code does.
    let (threads, bounds) = (compiled.program.threads.len(), compiled.bounds);
    let tries = Tries::of(threads, Some(bounds.ops.or_few()), bounds.values.or_few());
    let form = match args.whole {
        true => derivation.whole(),
        false => prove(&derivation, &compiled.program, &tries)?.form,
    };
    let text = if args.common.json { as_json(subject, &form) } else { form.text() };
    if args.output.is_none() || args.common.json {
        output::write_stdout(&text)?;
    }
    if let Some(file) = &args.output {
        output::write_file(file, form.text().as_bytes())?;
    }
    Ok(Status::Holds)
}

fn as_json(subject: &str, form: &Form) -> String {
    let mut object = json::envelope("subops", subject);
    let operations: Vec<Json> = form
        .model
        .operations
        .iter()
        .zip(&form.reasons)
        .map(|(operation, reasons)| {
            let names = linchpin_subop::Names::of(&form.model, operation);
            let steps: Vec<String> =
                operation.sub_operations.iter().map(|step| names.sub_operation(step)).collect();
            json!({ "operation": operation.name, "sub_operations": steps, "reasons": reasons })
        })
        .collect();
    object.insert("operations".to_owned(), json!(operations));
    object.insert("notes".to_owned(), json!(form.notes));
    object.insert("subop".to_owned(), json!(form.text()));
    format!("{}\n", Json::Object(object))
}
