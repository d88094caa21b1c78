//! Whether the values of a recording are pairs of key and value, as `jepsen.independent` writes
//! them.
//!
//! A call that has no `key` and whose value is no pair tells that none are pairs. Where every call
//! has a pair, both readings may fit: the values are read as pairs, and it is watched whether they
//! could be plain values too. If so, that is said ([`Remark::ReadAsPairs`]); if it turns out that
//! they are no pairs, the recording is read again ([`Recorder::wants_plain`]).
//!
//! Lines that arrive one by one cannot be read again: there the first call decides of which the
//! specification leaves no doubt.

use super::answer::{Answer, is_refusal};
use super::{Open, Operation, Recorder, malformed};
use crate::convert::fits;
use crate::error::IngestError;
use crate::event::RawEvent;
use crate::remark::Remark;
use crate::token::{Bracket, Token, View};
use linchpin_spec::Shape;

/// Whether values are pairs of key and value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keys {
    /// Not known yet; whether any call was taken without.
    Unknown {
        taken: bool,
    },
    /// Every value so far was a pair, and was read as one; whether all could be plain values too.
    Tentative {
        taken: bool,
        plain: bool,
    },
    Plain,
    Paired,
}

impl Keys {
    /// What is asked for. What can be read twice is read as pairs until it cannot be.
    pub fn asked(keyed: Option<bool>, is_kv: bool) -> Keys {
        match keyed {
            Some(true) => Keys::Paired,
            Some(false) => Keys::Plain,
            // The calls of the store have their key with them: `["k", "v"]` is a plain argument.
            None if is_kv => Keys::Unknown { taken: false },
            None => Keys::Tentative { taken: false, plain: true },
        }
    }

    /// What to say about it when all is read.
    pub fn remark(self, is_kv: bool) -> Option<Remark> {
        match self {
            Keys::Tentative { taken: true, plain: true } => Some(Remark::ReadAsPairs),
            Keys::Unknown { taken: true } if !is_kv => Some(Remark::MayBePairs),
            _ => None,
        }
    }

    fn are_pairs(self) -> bool {
        matches!(self, Keys::Paired | Keys::Tentative { .. })
    }
}

impl Recorder {
    /// Says that the lines arrive one by one, so that nothing can be read again.
    pub fn reads_once(&mut self) {
        if let Keys::Tentative { .. } = self.keys {
            self.keys = Keys::Unknown { taken: false };
        }
    }

    /// Says that the format has no pairs of key and value, so that they are not looked for.
    pub fn without_pairs(&mut self) {
        if matches!(self.keys, Keys::Unknown { .. } | Keys::Tentative { .. }) {
            self.keys = Keys::Plain;
        }
    }

    /// Whether what was refused may fit if its values are no pairs.
    pub fn wants_plain(&self) -> bool {
        matches!(self.keys, Keys::Tentative { taken: true, plain: true })
    }

    /// The key and the value of a call, where the value may hold both.
    pub(super) fn split_argument<'t>(
        &mut self,
        raw: &RawEvent<'t>,
        operation: u16,
    ) -> Result<(Option<View<'t>>, View<'t>), IngestError> {
        let pair = raw.value.pair().filter(|_| raw.key.is_none());
        let signature = &self.operations[operation as usize].signature;
        match self.keys {
            Keys::Plain | Keys::Paired => {}
            Keys::Tentative { taken: false, .. } if pair.is_none() => self.keys = Keys::Plain,
            Keys::Tentative { plain, .. } => {
                let plain = plain && could_be_plain(raw.value, &signature.argument);
                self.keys = Keys::Tentative { taken: true, plain };
            }
            Keys::Unknown { taken } => {
                self.keys = match seems_keyed(raw, &signature.argument) {
                    Some(true) if taken => {
                        let (operation, found) = (signature.name.clone(), raw.value.to_string());
                        return Err(IngestError::LateKeys { line: raw.line, operation, found });
                    }
                    Some(true) => Keys::Paired,
                    Some(false) => Keys::Plain,
                    None => Keys::Unknown { taken: true },
                };
            }
        }
        match (self.keys.are_pairs(), raw.key, pair) {
            (false, ..) | (_, Some(_), _) => Ok((raw.key, raw.value)),
            (true, None, Some((key, value))) => Ok((Some(key), value)),
            (true, None, None) => {
                Err(malformed(raw.line, "a pair of key and value", &raw.value.to_string()))
            }
        }
    }

    /// The key and the value of an answer, where the value may hold both.
    pub(super) fn split_answer<'t>(
        &mut self,
        raw: &RawEvent<'t>,
        open: Open,
    ) -> Result<(Option<View<'t>>, View<'t>), IngestError> {
        let operation = &self.operations[open.operation as usize];
        if let Keys::Tentative { taken, plain } = self.keys {
            let plain = plain && operation.could_answer(raw.value);
            self.keys = Keys::Tentative { taken, plain };
        }
        if let (Keys::Unknown { taken: true }, Some((_, value))) = (self.keys, raw.value.pair())
            && !operation.could_answer(raw.value)
            && operation.could_answer(value)
        {
            let (operation, found) = (operation.signature.name.clone(), raw.value.to_string());
            return Err(IngestError::LateKeys { line: raw.line, operation, found });
        }
        match raw.value.pair().filter(|_| self.keys.are_pairs() && raw.key.is_none()) {
            Some((key, value)) => Ok((Some(key), value)),
            None if raw.key.is_some()
                || !self.keys.are_pairs()
                || operation.signature.response == Shape::Unit =>
            {
                Ok((raw.key, raw.value))
            }
            None => Err(malformed(raw.line, "a pair of key and value", &raw.value.to_string())),
        }
    }
}

impl Operation {
    /// Whether this may be an answer of it.
    fn could_answer(&self, value: View<'_>) -> bool {
        let is_echo = || fits(value, &self.signature.argument);
        match (self.answer, value.first()) {
            (Answer::Echo, Token::Null) => true,
            (Answer::Echo, _) => is_echo(),
            (Answer::Plain, _) | (_, Token::Bool(_)) => fits(value, &self.signature.response),
            (Answer::Swap, _) | (Answer::MultiSwap, Token::Open(Bracket::List)) => is_echo(),
            (Answer::MultiSwap, _) => is_refusal(value),
        }
    }
}

/// Whether a pair may be an argument of this shape as it is. What an operation without an argument
/// is given is ignored, but `[key, null]` says what it means.
fn could_be_plain(value: View<'_>, shape: &Shape) -> bool {
    match shape {
        Shape::Unit => value.pair().is_none_or(|(_, value)| value.first() != Token::Null),
        shape => fits(value, shape),
    }
}

/// Whether this call tells that values are pairs of key and value, or that they are not.
fn seems_keyed(raw: &RawEvent<'_>, shape: &Shape) -> Option<bool> {
    let Some((_, value)) = raw.value.pair() else { return Some(false) };
    match shape {
        _ if raw.key.is_some() => Some(false),
        Shape::Unit => (value.first() == Token::Null).then_some(true),
        Shape::Bool | Shape::Int | Shape::Str | Shape::Word(_) | Shape::Record(_) => Some(true),
        _ => None,
    }
}
