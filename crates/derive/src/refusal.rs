//! Why a model has no sub-operations.

use std::num::NonZeroU32;
use thiserror::Error;

/// Why a model has no sub-operations.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}{reason}", line.map_or(String::new(), |line| format!("line {line}: ")))]
pub struct Refusal {
    /// The source line, if it concerns one.
    pub line: Option<NonZeroU32>,
    /// Why.
    pub reason: String,
}

impl Refusal {
    /// About a line.
    pub(crate) fn at(line: u32, reason: impl Into<String>) -> Refusal {
        Refusal { line: NonZeroU32::new(line), reason: reason.into() }
    }

    /// About the model as a whole.
    pub(crate) fn of_model(reason: impl Into<String>) -> Refusal {
        Refusal { line: None, reason: reason.into() }
    }
}
