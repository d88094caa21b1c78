//! What changed in shared memory from one move to the next.

use linchpin_ir::interpreter::{Machine, Memory, Outcome, ScheduledMove, State};
use linchpin_ir::print::Names;
use linchpin_ir::program::Program;

/// For each move of a schedule, the shared variables and objects that it changed, as they are after
/// it.
pub fn changes(program: &Program, memory: Memory, schedule: &[ScheduledMove]) -> Vec<Vec<String>> {
    let machine = machine(program, memory, schedule);
    let Ok(mut state) = machine.initial() else { return Vec::new() };
    let mut all = Vec::new();
    for made in schedule {
        let next = match machine.attempt(&state, &made.what, &made.choices, None).outcome {
            Outcome::Next(next) => next,
            Outcome::Disabled | Outcome::Fault(_) => break,
        };
        all.push(differences(program, &state, &next));
        state = next;
    }
    all
}

/// The machine that makes the moves of a schedule: one with crashes if it has some.
pub fn machine(program: &Program, memory: Memory, schedule: &[ScheduledMove]) -> Machine {
    match schedule.iter().any(|made| made.what.is_crash()) {
        true => Machine::with_crashes(program, memory),
        false => Machine::new(program, memory),
    }
}

fn differences(program: &Program, before: &State, after: &State) -> Vec<String> {
    let Some(operation) = program.operations.first() else { return Vec::new() };
    let names = Names { program, body: &operation.body };
    let mut lines = Vec::new();
    for (at, variable) in program.shared.iter().enumerate() {
        if before.shared[at] != after.shared[at] {
            let value = names.value(&after.shared[at], &variable.ty);
            lines.push(format!("{} = {value}", variable.name));
        }
    }
    for (at, object) in after.heap.iter().enumerate() {
        if before.heap.get(at) != Some(object) {
            let shown = match object.live {
                true => names.object(object.of, &object.fields),
                false => "freed".to_owned(),
            };
            lines.push(format!("@{at} = {shown}"));
        }
    }
    lines
}
