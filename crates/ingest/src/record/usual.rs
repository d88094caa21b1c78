//! The fast path into the history, for events that are like most: no key, and a number, a truth
//! value or nothing as the value.
//!
//! INVARIANT: what this takes, [`Recorder::record`] would take with the same result; what it does
//! not take has changed nothing that `record` would not change too, so the caller goes there, and
//! whatever is wrong is said there.

use super::{Keys, Open, Operation, Recorder};
use crate::convert::Scalars;
use crate::event::{EventKind, Kind, RawEvent};
use crate::fast::FastPath;
use crate::token::Token;
use linchpin_history::{Argument, ValueId};

/// What a line says of an argument or a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// That it is the value, an integer.
    Value,
    Null,
    Bool(bool),
}

/// What is recorded of an argument or a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    Nothing,
    Value,
    Null,
    False,
    True,
}

impl Slot {
    /// What [`Scalars::argument`] makes of it.
    fn of(part: Part, scalars: Scalars) -> Option<Slot> {
        let Scalars::Taken { null, bool, int } = scalars else {
            return Some(Slot::Nothing);
        };
        let (slot, is_taken) = match part {
            Part::Value => (Slot::Value, int),
            Part::Null => (Slot::Null, null),
            Part::Bool(false) => (Slot::False, bool),
            Part::Bool(true) => (Slot::True, bool),
        };
        is_taken.then_some(slot)
    }
}

/// How an operation is recorded of which a line tells all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whole {
    operation: u16,
    argument: Slot,
    response: Slot,
}

impl Recorder {
    /// The operation with this name, if there is one.
    pub fn known_operation(&self, name: &str) -> Option<u16> {
        self.builder.operation(name).ok()
    }

    /// The operation that a process has called and that has not returned.
    pub fn open_operation(&self, process: u32) -> Option<u16> {
        self.processes[process as usize].open.map(|open| open.operation)
    }

    /// Takes a call or an `ok`, if there is nothing unusual about it.
    #[inline]
    #[must_use]
    pub(super) fn record_usual(&mut self, raw: &RawEvent<'_>, process: u32) -> bool {
        let ([value], None) = (raw.value.tokens, raw.key) else { return false };
        let known = |name: &str| self.names.iter().find(|(known, _)| **known == *name);
        let operation = raw.f.and_then(known).map(|(_, operation)| *operation);
        match (raw.kind, operation) {
            _ if !FastPath::Usual.is_taken() => false,
            (Kind::Invoke, Some(operation)) => self.call(raw.line, process, operation, *value),
            (Kind::Ok, answered) => {
                let is_open = raw.f.is_none() || answered == self.open_operation(process);
                is_open && self.returned(raw.line, process, *value)
            }
            _ => false,
        }
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
        self.keep(line, EventKind::Invoke { process, operation, key, argument });
        true
    }

    /// How operations are recorded of which a line tells both what they take and what they answer;
    /// nothing if there is anything unusual about them.
    pub fn whole(&self, operation: u16, argument: Part, response: Part) -> Option<Whole> {
        let Operation { takes, answers, .. } = &self.operations[operation as usize];
        let is_plain = self.keys == Keys::Plain && !self.is_kv;
        let argument = if is_plain { Slot::of(argument, *takes)? } else { return None };
        Some(Whole { operation, argument, response: Slot::of(response, *answers)? })
    }

    /// Takes the call of a whole operation with this value; whether it did.
    /// [`Recorder::whole_return`] takes its return.
    #[inline]
    #[must_use]
    pub fn whole_call(
        &mut self,
        line: u64,
        process: u32,
        whole: Whole,
        value: Option<i64>,
    ) -> bool {
        let id = value.map_or(ValueId::NULL, |value| self.builder.values().intern_int(value));
        // Chosen without a branch: which operation comes next cannot be foreseen.
        let choices = [
            Argument::None,
            Argument::One(id),
            Argument::One(ValueId::NULL),
            Argument::One(ValueId::FALSE),
            Argument::One(ValueId::TRUE),
        ];
        let argument = choices[whole.argument as usize];
        let response = choices[whole.response as usize];
        let operation = whole.operation;
        if self.builder.invoke_answered(process, operation, argument, response).is_err() {
            return false;
        }
        self.counts.completed += 1;
        self.counts.answered += u64::from(whole.response != Slot::Nothing);
        self.places.push(line);
        true
    }

    /// Takes the return of a whole operation; whether it did.
    #[inline]
    #[must_use]
    pub fn whole_return(&mut self, line: u64, process: u32) -> bool {
        let taken = self.builder.ok_answered(process).is_ok();
        if taken {
            self.places.push(line);
        }
        taken
    }

    /// Takes an `ok`, if there is nothing unusual about it.
    #[inline]
    #[must_use]
    pub fn returned(&mut self, line: u64, process: u32, value: Token) -> bool {
        let Some(open) = self.processes[process as usize].open else { return false };
        if matches!(self.keys, Keys::Paired | Keys::Tentative { .. }) {
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
        self.keep(line, EventKind::Ok { process, response });
        true
    }
}
