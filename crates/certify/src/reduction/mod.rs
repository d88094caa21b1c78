//! Confirms a proof by reversing sub-operations: its facts, its pair relations and its closures, question by question.
//!
//! The certificate says what holds; nothing is searched for. Each question ([`question`]) is answered by executing one or two instances in all
//! states ([`world`]), which differ in what is compared and looked up only. The rules are those of `docs/theory/reduce.md`; this shares no code with the engine that applies them.

mod check;
mod execute;
mod nature;
mod order;
mod premise;
mod proof;
mod question;
mod replace;
mod world;

use thiserror::Error;

/// Why a proof is not confirmed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReductionError {
    /// The certificate is not one.
    #[error("the certificate cannot be read: {0}")]
    Malformed(String),
    /// Something that it says is not so.
    #[error("not confirmed: {0}")]
    NotConfirmed(String),
    /// A question has too many cases.
    #[error("too large to be confirmed: {0}")]
    TooLarge(String),
}

/// Confirms that the model in a certificate is linearizable, for any number of instances; returns how many cases were looked at.
pub fn confirm_reduction(certificate: &serde_json::Value) -> Result<usize, ReductionError> {
    let (proof, replaced) = proof::read(certificate)?;
    check::confirm(&proof, &replaced)
}
