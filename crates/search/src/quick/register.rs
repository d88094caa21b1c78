//! Registers, with or without compare-and-swap. The state is the id of the value.

use super::{Calls, Model, Quick, Search, State, one};
use linchpin_history_data::{Argument, Operation, ValueId};
use linchpin_spec::{CasRegister, Value};

/// What is called.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Call {
    /// With what it saw.
    Read(State),
    Write(State),
    /// With the values expected and written, and whether it did.
    Cas(State, State, Option<bool>),
}

struct Register {
    initial: State,
}

impl Model for Register {
    type Call = Call;

    fn initial(&self) -> State {
        self.initial
    }

    fn step(&mut self, state: State, call: Call) -> Option<State> {
        match call {
            Call::Read(seen) => (seen == state).then_some(state),
            Call::Write(value) => Some(value),
            Call::Cas(old, new, Some(true) | None) => (old == state).then_some(new),
            Call::Cas(old, _, Some(false)) => (old != state).then_some(state),
        }
    }

    fn only_looks(call: Call) -> bool {
        matches!(call, Call::Read(_) | Call::Cas(_, _, Some(false)))
    }

    fn may_come<'a>(
        &mut self,
        _state: State,
        call: Call,
        mut in_progress: impl Iterator<Item = Call> + Clone + 'a,
    ) -> bool {
        match call {
            Call::Read(wanted) | Call::Cas(wanted, _, Some(true)) => in_progress.any(|other| {
                matches!(other, Call::Write(new) | Call::Cas(_, new, Some(true) | None)
                    if new == wanted)
            }),
            Call::Write(_) | Call::Cas(..) => true,
        }
    }
}

pub(super) fn decide(search: &mut Search<'_>, init: Option<&Value>) -> Option<Quick> {
    let history = search.history;
    let mut calls: Calls<Call> = Calls::with_capacity(search.ids.len());
    for &id in search.ids {
        let operation = &history[id];
        if operation.completed || usize::from(operation.operation) != CasRegister::READ {
            calls.push(history, id, call(operation)?);
        }
    }
    let initial = match init {
        // What the history does not mention is seen by no operation of it.
        Some(value) => history.values.find(value).map_or(State::MAX, number),
        None => number(ValueId::NULL),
    };
    search.whole(&mut Register { initial }, &mut calls)
}

/// A value as a state.
fn number(value: ValueId) -> State {
    value.0
}

/// The operations of a plain register are numbered like those of one with compare-and-swap.
fn call(operation: &Operation) -> Option<Call> {
    Some(match (usize::from(operation.operation), operation.argument) {
        (CasRegister::READ, _) => Call::Read(number(one(operation.response)?)),
        (CasRegister::WRITE, argument) => Call::Write(number(one(argument)?)),
        (CasRegister::CAS, Argument::Two(old, new)) => {
            let fits = match (operation.completed, one(operation.response)?) {
                (false, _) => None,
                (true, ValueId::TRUE) => Some(true),
                (true, ValueId::FALSE) => Some(false),
                (true, _) => return None,
            };
            Call::Cas(number(old), number(new), fits)
        }
        _ => return None,
    })
}
