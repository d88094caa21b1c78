//! What an `ok`, a `fail` or an `info` says.

use super::kv::key_twice;
use super::{Open, Operation, Recorder, unfit};
use crate::convert::{Unfit, fits};
use crate::error::IngestError;
use crate::event::{EventKind, Kind, RawEvent};
use crate::options::{FailedCas, Unknown};
use crate::token::{Bracket, Token, View};
use linchpin_history::{Argument, HistoryError, RecoveredOutcome, ValueId};
use linchpin_spec::Value;

/// How an operation answers beyond what its shape says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Plain,
    /// `cas`: an echo of the argument is a success.
    Swap,
    /// `mwcas`: `true`, `false`, `{"failed": …}`, `{"read": …}`; an echo is a success.
    MultiSwap,
    /// It answers nothing, and an echo of the argument is no answer. Anything else is.
    Echo,
}

/// What is known of an answer.
enum Known {
    All(Argument),
    /// The answers of some reads of the transaction are not known. The call has been replaced by
    /// one without them: they say nothing, and they change nothing.
    Part {
        response: Argument,
        unknown_reads: u64,
    },
    /// No answer of any read is known, and there is nothing else in it.
    Nothing {
        unknown_reads: u64,
    },
}

impl Known {
    fn unknown_reads(&self) -> u64 {
        match self {
            Known::All(_) => 0,
            Known::Part { unknown_reads, .. } | Known::Nothing { unknown_reads } => *unknown_reads,
        }
    }
}

impl Recorder {
    /// An `ok`, `fail` or `info`.
    pub(super) fn answer(
        &mut self,
        raw: &RawEvent<'_>,
        process: u32,
    ) -> Result<EventKind, IngestError> {
        let since = self.processes[process as usize].line;
        let Some(open) = self.processes[process as usize].open else {
            let error = self.builder.info(process).err();
            let error = error.unwrap_or(HistoryError::TooLong);
            return Err(self.not_well_formed(error, raw.line, process));
        };
        self.expect_operation(raw, process, open, since)?;
        let answer = self.operations[open.operation as usize].answer;
        let (kind, result) = match raw.kind {
            Kind::Info => (EventKind::Info { process }, self.builder.info(process)),
            Kind::Fail
                if self.failed_cas == FailedCas::DidNotHappen
                    || !matches!(answer, Answer::Swap | Answer::MultiSwap) =>
            {
                self.counts.failed += 1;
                (EventKind::Fail { process }, self.builder.fail(process))
            }
            kind => {
                let response = match kind {
                    Kind::Fail => Known::All(self.failure(raw, open)),
                    _ => self.response(raw, process, open)?,
                };
                self.counts.unknown_reads += response.unknown_reads();
                match response {
                    Known::All(response) | Known::Part { response, .. } => {
                        self.counts.completed += 1;
                        self.counts.answered += u64::from(response != Argument::None);
                        let result = self.builder.ok_compact(process, response);
                        (EventKind::Ok { process, response }, result)
                    }
                    // It says nothing about the object and has changed nothing: whether it is in
                    // the history makes no difference.
                    Known::Nothing { .. } => {
                        (EventKind::Fail { process }, self.builder.fail(process))
                    }
                }
            }
        };
        result.map_err(|error| self.not_well_formed(error, raw.line, process))?;
        self.processes[process as usize].open = None;
        Ok(kind)
    }

    /// A `recovered-ok` or a `recovered-fail`.
    pub(super) fn recovered(
        &mut self,
        raw: &RawEvent<'_>,
        process: u32,
    ) -> Result<EventKind, IngestError> {
        let Some(interrupted) = self.builder.interrupted(process) else {
            let process = self.name(process);
            return Err(IngestError::NotInterrupted { line: raw.line, process });
        };
        let operation = &self.builder.history()[interrupted];
        let open = Open {
            operation: operation.operation,
            key: operation.key,
            argument: operation.argument,
        };
        let since = self.processes[process as usize].line;
        self.expect_operation(raw, process, open, since)?;
        let known = match raw.kind {
            Kind::RecoveredOk => Some(self.response(raw, process, open)?),
            _ => None,
        };
        self.counts.unknown_reads += known.as_ref().map_or(0, Known::unknown_reads);
        let outcome = match known {
            Some(Known::All(response) | Known::Part { response, .. }) => {
                RecoveredOutcome::TookEffect(response)
            }
            // What says nothing about the object has changed nothing.
            Some(Known::Nothing { .. }) | None => RecoveredOutcome::NoEffect,
        };
        let result = self.builder.recovered(process, outcome);
        result.map_err(|error| self.not_well_formed(error, raw.line, process))?;
        Ok(EventKind::Recovered { process, outcome })
    }

    /// An answer that names an operation names the one that was called.
    fn expect_operation(
        &mut self,
        raw: &RawEvent<'_>,
        process: u32,
        open: Open,
        since: u64,
    ) -> Result<(), IngestError> {
        let Some(name) = raw.f else { return Ok(()) };
        if self.operation(raw.line, name)? == open.operation {
            return Ok(());
        }
        Err(IngestError::OtherOperation {
            line: raw.line,
            process: self.name(process),
            answered: name.to_owned(),
            open: self.operations[open.operation as usize].signature.name.clone(),
            since,
        })
    }

    /// The answer of a swap that was recorded as a `fail` and means `false`.
    fn failure(&mut self, raw: &RawEvent<'_>, open: Open) -> Argument {
        let has_reason = self.operations[open.operation as usize].answer == Answer::MultiSwap
            && raw.value.first() == Token::Open(Bracket::Map);
        let reason = has_reason.then(|| self.converter.intern(raw.value, &mut self.builder));
        Argument::One(reason.and_then(Result::ok).unwrap_or(ValueId::FALSE))
    }

    /// The answer in an `ok`.
    fn response(
        &mut self,
        raw: &RawEvent<'_>,
        process: u32,
        open: Open,
    ) -> Result<Known, IngestError> {
        let (key, value) = self.split_answer(raw, open)?;
        let unknown = self.operations[open.operation as usize].unknown;
        if let Some(key) = key {
            let answered = self.converter.intern(key, &mut self.builder);
            if !matches!(answered, Ok(answered) if answered == open.key) {
                return Err(IngestError::OtherKey {
                    line: raw.line,
                    process: self.name(process),
                    answered: key.to_string(),
                    open: self.builder.values().get(open.key).to_string(),
                    since: self.processes[process as usize].line,
                });
            }
        }
        match unknown {
            Unknown::Answer if value.first() == Token::Null => {
                return Ok(Known::Nothing { unknown_reads: 1 });
            }
            Unknown::Accesses => {
                if let Some(known) = self.known_accesses(raw.line, process, value, open)? {
                    return Ok(known);
                }
            }
            Unknown::Answer | Unknown::Nothing => {}
        }
        let Operation { signature, answer, .. } = &self.operations[open.operation as usize];
        let (converter, builder) = (&mut self.converter, &mut self.builder);
        let shape = &signature.response;
        let echo = || fits(value, &signature.argument);
        let response = match (answer, value.first()) {
            (Answer::Echo, Token::Null) => Ok(Argument::None),
            (Answer::Echo, _) => match converter.argument(value, &signature.argument, builder) {
                Ok(echoed) if echoed == open.argument => Ok(Argument::None),
                _ => Err(Unfit),
            },
            (Answer::Plain, _) | (_, Token::Bool(_)) => converter.argument(value, shape, builder),
            (Answer::Swap, _) => match converter.argument(value, &signature.argument, builder) {
                Ok(echoed) if echoed == open.argument => Ok(Argument::One(ValueId::TRUE)),
                _ => Err(Unfit),
            },
            (Answer::MultiSwap, Token::Open(Bracket::List)) if echo() => {
                Ok(Argument::One(ValueId::TRUE))
            }
            (Answer::MultiSwap, Token::Open(Bracket::Map)) if is_refusal(value) => {
                converter.argument(value, shape, builder)
            }
            (Answer::MultiSwap, _) => Err(Unfit),
        };
        response.map(Known::All).map_err(|_| {
            if let Some(key) = raw.key.filter(|_| self.is_kv && value.pair().is_some()) {
                return key_twice(raw.line, signature, "answers", key, value);
            }
            let mut error = unfit(raw.line, signature, "answers", shape, None, value);
            if let (Answer::MultiSwap, IngestError::Shape { expected, .. }) = (answer, &mut error) {
                *expected = r#"true, false, {"failed": address} or {"read": …}"#.to_owned();
            }
            error
        })
    }

    /// What is known of the answer of a transaction in which reads answer `null`; nothing if there
    /// is no such read, or if it is no answer to this call.
    fn known_accesses(
        &mut self,
        line: u64,
        process: u32,
        answer: View<'_>,
        open: Open,
    ) -> Result<Option<Known>, IngestError> {
        if !answer.items().any(is_unknown_read) {
            return Ok(None);
        }
        if self.keeps_events {
            return Err(IngestError::StreamedNilRead { line });
        }
        let (called, shape) = (self.builder.history().value(open.argument), &self.operations);
        let shape = shape[usize::from(open.operation)].signature.argument.clone();
        let Some(called) = called.as_list() else { return Ok(None) };
        let Ok(Value::List(answers)) = answer.to_value() else { return Ok(None) };
        let is_answer = |(call, answer): (&Value, &Value)| match (call.as_list(), answer.as_list())
        {
            (Some([kind, key, _]), Some([answered, about, _])) => kind == answered && key == about,
            _ => false,
        };
        if called.len() != answers.len() || !called.iter().zip(answers.iter()).all(is_answer) {
            return Ok(None);
        }
        let is_known: Vec<bool> = answer.items().map(|access| !is_unknown_read(access)).collect();
        let known = |accesses: &[Value]| {
            let known = accesses.iter().zip(&is_known).filter(|(_, is_known)| **is_known);
            Value::list(known.map(|(access, _)| access.clone()))
        };
        let unknown_reads = is_known.iter().filter(|is_known| !**is_known).count() as u64;
        if !is_known.contains(&true) {
            return Ok(Some(Known::Nothing { unknown_reads }));
        }
        let argument = self.builder.argument(known(called), &shape);
        let response = self.builder.argument(known(&answers), &shape);
        self.builder.call_was(process, argument);
        Ok(Some(Known::Part { response, unknown_reads }))
    }
}

/// `["r", key, null]`.
fn is_unknown_read(access: View<'_>) -> bool {
    let mut items = access.items();
    let kind = items.next().and_then(|kind| kind.as_text());
    matches!(kind, Some("r" | "read"))
        && items.nth(1).is_some_and(|value| value.first() == Token::Null)
}

/// `{"failed": …}` or `{"read": …}`.
pub(super) fn is_refusal(value: View<'_>) -> bool {
    let mut items = value.items();
    let name = items.next().and_then(|name| name.as_text());
    matches!(name, Some("failed" | "read")) && items.nth(1).is_none()
}
