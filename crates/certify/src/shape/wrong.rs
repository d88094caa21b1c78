//! What keeps a certificate from being confirmed.

use thiserror::Error;

/// What is wrong with a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum What {
    /// The answer differs from that of the reference, or may.
    #[error("the answer may differ from that of the reference")]
    Answer,
    /// There is no linearization point.
    #[error("it returns without a linearization point")]
    NoPoint,
    /// There is a second linearization point.
    #[error("it passes a second linearization point")]
    SecondPoint,
    /// The step fails, or may.
    #[error("a step may fail: {0}")]
    Fault(&'static str),
    /// The reference does not answer.
    #[error("the reference {0}")]
    Reference(&'static str),
    /// Something that this checker does not follow.
    #[error("beyond this checker: {0}")]
    Beyond(&'static str),
    /// No state of the certificate covers what the step leads to.
    #[error("it leads to a state that none of the certificate covers")]
    NotCovered,
}
