//! Confirms a proof by reversing sub-operations: its facts, its pair relations and its closures,
//! question by question.
//!
//! The certificate says what holds; nothing is searched for. Each question ([`question`]) is
//! answered by executing one or two instances in all states ([`symbolic`]), which differ in what is
//! compared and looked up only. The rules are those of `docs/theory/reduce.md`; this shares no code
//! with the engine that applies them. Sequential executions, of which the proof says nothing, are
//! tried apart ([`sequential`]).

mod certificate;
mod check;
mod execute;
mod nature;
mod order;
mod premise;
mod proof;
mod question;
mod replace;
mod sequential;
mod symbolic;

pub use certificate::{Confirmed, ReductionCertificate};
pub use sequential::{Ranges, SequentialError, attempt as try_sequential};

use crate::hash::Sha256;
use thiserror::Error;

/// Why a proof is not confirmed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReductionError {
    /// The certificate is not one.
    #[error("the certificate cannot be read: {0}")]
    Malformed(String),
    /// The sub-operations are not those that the certificate was written for.
    #[error(
        "not confirmed: the text of the sub-operations has the hash {}, but the certificate is about {}",
        found.short(), stated.short()
    )]
    OtherText {
        /// The hash that the certificate states.
        stated: Sha256,
        /// The hash of its text.
        found: Sha256,
    },
    /// Something that it says is not so.
    #[error("not confirmed: {0}")]
    NotConfirmed(String),
    /// A sequential execution is not one of the specification.
    #[error("not confirmed: a sequential execution is wrong: {0}")]
    SequentiallyWrong(String),
    /// A question has too many cases.
    #[error("too large to be confirmed: {0}")]
    TooLarge(String),
}

/// Confirms that every interleaving of the sub-operations in `model`, for any number of instances,
/// is equivalent to a sequential one; returns how many cases were looked at.
pub fn confirm_reduction(model: &str, proof: &serde_json::Value) -> Result<usize, ReductionError> {
    let (proof, replaced) = proof::read(model, proof)?;
    check::confirm(&proof, &replaced)
}
