//! What a call does alone, from a shared state.

use super::label::{Label, Namer};
use super::shared::{Words, at_rest, changed, words};
use linchpin_ir::interpreter::{Machine, Move, Outcome, State, Status};
use linchpin_ir::program::NodeId;
use linchpin_spec::Value;

/// A call: the operation and its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    pub operation: usize,
    pub arguments: Vec<Value>,
}

/// How a run alone ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    Returns(Value),
    Fails,
    Blocks,
    NeverEnds,
}

/// A run alone: its update steps and how it ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Alone {
    pub labels: Vec<Label>,
    pub ending: Ending,
}

impl Alone {
    /// The answer of a run that takes no update step.
    pub fn answer_without_updates(&self) -> Option<&Value> {
        match &self.ending {
            Ending::Returns(value) if self.labels.is_empty() => Some(value),
            _ => None,
        }
    }
}

/// A run that takes more steps than this never ends.
const MOST_STEPS: usize = 60;

/// Runs a call alone from the shared state of a state.
pub fn alone(machine: &Machine, state: &State, call: &Call) -> Alone {
    let program = machine.program();
    let mut state = at_rest(program, state);
    let mut before: Words = words(program, &state);
    let mut namer = Namer::new(program, &before);
    let mut labels = Vec::new();
    let Call { operation, arguments } = call.clone();
    let mut what = Move::Invoke { thread: 0, operation, arguments };
    for _ in 0..MOST_STEPS {
        let node = node_of(&state, 0);
        let next = match machine.attempt(&state, &what, &[], None).outcome {
            Outcome::Next(next) => next,
            Outcome::Disabled => return Alone { labels, ending: Ending::Blocks },
            Outcome::Fault(_) => return Alone { labels, ending: Ending::Fails },
        };
        let changes = changed(&before, &next);
        if !changes.is_empty() {
            labels.push(namer.label(node, &before, &next, &changes));
        }
        if let Status::Returning { value, .. } = &next.threads[0].status {
            return Alone { labels, ending: Ending::Returns(value.clone()) };
        }
        before = words(program, &next);
        state = next;
        what = Move::Step { thread: 0 };
    }
    Alone { labels, ending: Ending::NeverEnds }
}

/// Where a thread stands in its code; the entry counts as 0 while it does not.
pub fn node_of(state: &State, thread: usize) -> NodeId {
    match &state.threads[thread].status {
        Status::Running { node, .. } => *node,
        _ => NodeId(0),
    }
}
