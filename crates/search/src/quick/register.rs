//! Registers, with or without compare-and-swap. The state is the id of the value.

use super::{Calls, Model, Quick, Search, one};
use linchpin_history_data::{Argument, Operation, ValueId};
use linchpin_spec::{CasRegister, Value};

/// What is called.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Call {
    /// With what it saw.
    Read(usize),
    Write(usize),
    /// With the values expected and written, and whether it did.
    Cas(usize, usize, Option<bool>),
}

struct Register {
    initial: usize,
}

impl Model for Register {
    type Call = Call;

    fn initial(&self) -> usize {
        self.initial
    }

    fn step(&mut self, state: usize, call: Call) -> Option<usize> {
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
        Some(value) => history.values.find(value).map_or(usize::MAX, ValueId::index),
        None => ValueId::NULL.index(),
    };
    search.whole(&mut Register { initial }, &mut calls)
}

/// The operations of a plain register are numbered like those of one with compare-and-swap.
fn call(operation: &Operation) -> Option<Call> {
    Some(match (usize::from(operation.operation), operation.argument) {
        (CasRegister::READ, _) => Call::Read(one(operation.response)?.index()),
        (CasRegister::WRITE, argument) => Call::Write(one(argument)?.index()),
        (CasRegister::CAS, Argument::Two(old, new)) => {
            let fits = match (operation.completed, one(operation.response)?) {
                (false, _) => None,
                (true, ValueId::TRUE) => Some(true),
                (true, ValueId::FALSE) => Some(false),
                (true, _) => return None,
            };
            Call::Cas(old.index(), new.index(), fits)
        }
        _ => return None,
    })
}
