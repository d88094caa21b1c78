//! The short way into the history, for events that are like most: no key, and a number, a truth value or nothing as the value.
//!
//! INVARIANT: what this takes, [`Recorder::record`] would take with the same result; what it does not take has changed nothing
//! that `record` would not change too, so the caller goes there, and whatever is wrong is said there.

use super::{Keys, Open, Recorder};
use crate::event::EventKind;
use crate::token::Token;
use linchpin_history::{Argument, ValueId};

impl Recorder {
    /// Says that the format has no pairs of key and value, so that nobody has to look for them.
    pub fn without_pairs(&mut self) {
        if matches!(self.keys, Keys::Unknown { .. }) {
            self.keys = Keys::Plain;
        }
    }

    /// The operation with this name, if there is one.
    pub fn known_operation(&self, name: &str) -> Option<u16> {
        self.builder.operation(name).ok()
    }

    /// The operation that a process has called and that has not returned.
    pub fn open_operation(&self, process: u32) -> Option<u16> {
        self.processes[process as usize].open.map(|open| open.operation)
    }

    /// Takes a call, if there is nothing unusual about it.
    #[inline]
    #[must_use]
    pub fn call(&mut self, line: u64, process: u32, operation: u16, value: Token) -> bool {
        if self.keys != Keys::Plain || self.is_kv {
            return false;
        }
        let takes = self.operations[operation as usize].takes;
        let Some(argument) = takes.argument(value, &mut self.builder) else { return false };
        let key = ValueId::NULL;
        if self.builder.invoke_compact(process, operation, key, argument).is_err() {
            return false;
        }
        let caller = &mut self.processes[process as usize];
        caller.line = line;
        caller.open = Some(Open { operation, key, argument });
        self.tell(line, EventKind::Invoke { process, operation, key, argument });
        true
    }

    /// Takes an `ok`, if there is nothing unusual about it.
    #[inline]
    #[must_use]
    pub fn returned(&mut self, line: u64, process: u32, value: Token) -> bool {
        let Some(open) = self.processes[process as usize].open else { return false };
        if self.keys == Keys::Paired {
            return false;
        }
        let answers = self.operations[open.operation as usize].answers;
        let Some(response) = answers.argument(value, &mut self.builder) else { return false };
        if self.builder.ok_compact(process, response).is_err() {
            return false;
        }
        self.counts.completed += 1;
        self.counts.answered += u64::from(response != Argument::None);
        let caller = &mut self.processes[process as usize];
        (caller.line, caller.open) = (line, None);
        self.tell(line, EventKind::Ok { process, response });
        true
    }
}
