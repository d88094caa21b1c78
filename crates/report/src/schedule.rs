//! Schedules as JSON: every move with its choices, so that a run can be made again.

use crate::json;
use linchpin_ir::interpreter::{Move, ScheduledMove};
use linchpin_ir::program::Program;
use serde_json::{Value as Json, json};

/// `{"process":0,"move":"invoke","f":"push","args":[1]}`,
/// `{"process":0,"move":"step","choices":[2]}`, `{"process":0,"move":"respond"}`; without a process
/// `{"move":"crash","choices":[1]}` of the system and `{"move":"recover"}`.
pub fn to_json(program: &Program, schedule: &[ScheduledMove]) -> Json {
    schedule.iter().map(|made| move_to_json(program, made)).collect()
}

fn move_to_json(program: &Program, made: &ScheduledMove) -> Json {
    let process = made.what.thread();
    let mut object = match &made.what {
        Move::Invoke { operation, arguments, .. } => {
            let arguments: Vec<Json> = arguments.iter().map(json::value).collect();
            let name = &program.operations[*operation].name;
            json!({ "process": process, "move": "invoke", "f": name, "args": arguments })
        }
        Move::Step { .. } => json!({ "process": process, "move": "step" }),
        Move::Respond { .. } => json!({ "process": process, "move": "respond" }),
        Move::Crash => json!({ "move": "crash" }),
        Move::CrashThread { .. } => json!({ "process": process, "move": "crash" }),
        Move::Recover => json!({ "move": "recover" }),
    };
    if !made.choices.is_empty() {
        object["choices"] = json!(made.choices.as_slice());
    }
    object
}
