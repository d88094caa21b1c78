//! Whether the code itself, not only its sub-operations, answers a sequence of calls in a given
//! way.

use crate::form::Form;
use linchpin_ir::interpreter::{Machine, Memory, Move, State, Status};
use linchpin_ir::program::Program;
use linchpin_subop::sequential::SequentialCall;

/// States that are looked at for one call.
const MOST_STATES: usize = 2_000;

/// Whether one thread that makes these calls can get these answers.
pub fn is_possible(program: &Program, form: &Form, calls: &[SequentialCall]) -> bool {
    let machine = Machine::new(program, Memory::Collected);
    let Ok(mut start) = machine.initial() else { return false };
    start.threads = vec![State::idle_thread(program)];
    let mut states = vec![start];
    for call in calls {
        states = after(&machine, form, &states, call).unwrap_or_default();
    }
    !states.is_empty()
}

/// The states after a call that is answered so; nothing if the code has no such operation.
fn after(
    machine: &Machine,
    form: &Form,
    states: &[State],
    call: &SequentialCall,
) -> Option<Vec<State>> {
    let line = form.lines.iter().find(|line| line.operation == call.operation)?;
    let operations = &machine.program().operations;
    let operation = operations.iter().position(|operation| operation.name == line.method)?;
    let arguments = operations[operation].arguments(&call.argument)?;
    let invoke = Move::Invoke { thread: 0, operation, arguments };
    let step = Move::Step { thread: 0 };
    let next = |state: &State, what: &Move| {
        machine.successors(state, what).into_iter().filter_map(|successor| successor.result.ok())
    };
    let mut open: Vec<State> = states.iter().flat_map(|state| next(state, &invoke)).collect();
    let mut seen: Vec<State> = Vec::new();
    let mut found: Vec<State> = Vec::new();
    while let Some(state) = open.pop() {
        // A loop that waits comes back to a state that was seen.
        if seen.contains(&state) || seen.len() > MOST_STATES {
            continue;
        }
        match &state.threads[0].status {
            Status::Returning { .. } => {
                if let Some((after, value)) = machine.respond(&state, 0)
                    && value == call.response
                    && !found.contains(&after)
                {
                    found.push(after);
                }
            }
            _ => open.extend(next(&state, &step)),
        }
        seen.push(state);
    }
    Some(found)
}
