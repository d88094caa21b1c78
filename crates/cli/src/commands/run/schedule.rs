//! Schedules as JSON: every move with its choices, so that a run can be made again.

use anyhow::{Context, Result, anyhow, bail};
use linchpin_ir::interpreter::{Choices, Move, ScheduledMove};
use linchpin_ir::program::Program;
use linchpin_report::json;
use serde_json::Value as Json;

/// Reads a schedule: the array itself, or the object that `linchpin run --json` wrote.
pub fn parse(text: &str, program: &Program) -> Result<Vec<ScheduledMove>> {
    let json: Json = serde_json::from_str(text).context("it is not JSON")?;
    let moves = match &json {
        Json::Array(moves) => moves,
        Json::Object(object) => object
            .get("schedule")
            .or_else(|| object.get("counterexample").and_then(|found| found.get("schedule")))
            .and_then(Json::as_array)
            .context("it has no \"schedule\"; `linchpin run --json` writes one")?,
        _ => bail!("expected an array of moves or an object with a \"schedule\""),
    };
    let parsed = moves.iter().enumerate();
    parsed
        .map(|(at, json)| parse_move(json, program).with_context(|| format!("move {at}")))
        .collect()
}

fn parse_move(json: &Json, program: &Program) -> Result<ScheduledMove> {
    let what = match (json["move"].as_str(), json.get("process")) {
        (Some("crash"), None) => Move::Crash,
        (Some("recover"), None) => Move::Recover,
        _ => parse_move_of_thread(json, program)?,
    };
    let mut choices = Choices::new();
    if let Some(list) = json.get("choices") {
        for choice in list.as_array().context("\"choices\" must be an array")? {
            let choice = choice.as_u64().and_then(|choice| u32::try_from(choice).ok());
            choices.push(choice.context("\"choices\" must be numbers")?);
        }
    }
    Ok(ScheduledMove { what, choices })
}

fn parse_move_of_thread(json: &Json, program: &Program) -> Result<Move> {
    let thread = json["process"].as_u64().context("\"process\" must be a number")? as usize;
    if thread >= program.threads.len() {
        bail!("there is no process {thread}: the model has {} threads", program.threads.len());
    }
    Ok(match json["move"].as_str() {
        Some("crash") => Move::CrashThread { thread },
        Some("step") => Move::Step { thread },
        Some("respond") => Move::Respond { thread },
        Some("invoke") => {
            let name = json["f"].as_str().context("\"f\" must name an operation")?;
            let operation = program.operations.iter().position(|op| op.name == name);
            let operation =
                operation.ok_or_else(|| anyhow!("the model has no operation `{name}`"))?;
            let arguments = json["args"].as_array().context("\"args\" must be an array")?;
            let arguments = arguments.iter().map(json::parse_value).collect::<Option<Vec<_>>>();
            let arguments = arguments.context("\"args\" has a value that no operation takes")?;
            Move::Invoke { thread, operation, arguments }
        }
        _ => bail!("\"move\" must be \"invoke\", \"step\", \"respond\", \"crash\" or \"recover\""),
    })
}
