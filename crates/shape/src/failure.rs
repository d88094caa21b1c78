//! What stops a proof.

use crate::heap::Lost;
use std::fmt;

/// A step that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// A field of null is accessed.
    Null,
    /// An assertion is false, or may be.
    Assertion,
    /// `unwrap` of `none`.
    Unwrap,
    /// Division by zero.
    Arithmetic,
    /// A `cas` of several words names one of them twice.
    RepeatedPlace,
    /// A lock that the thread does not hold is given back.
    ForeignUnlock,
}

/// What stops a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The answer differs from that of the reference.
    WrongAnswer,
    /// The operation returns and has passed no linearization point, nor is there an instant at
    /// which its answer would have been right.
    NoPoint,
    /// The operation passes a second linearization point.
    SecondPoint,
    /// A step fails.
    Fault(Fault),
    /// The reference fails, or gives no answer.
    Reference(ReferenceFault),
    /// A fact is lost.
    Lost(Lost),
    /// A step goes on for ever without touching shared state.
    EndlessStep,
    /// No call of the operation returns, in any state: a proof would be about nothing.
    NeverReturns,
}

/// What is wrong with the reference: it must answer every call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReferenceFault {
    /// A step of it fails.
    Fails(Fault),
    /// It waits.
    Blocks,
    /// It may not come to an end.
    Loops,
}

/// What stops a proof, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Failure {
    /// What.
    pub cause: Cause,
    /// The operation.
    pub operation: usize,
    /// The source line.
    pub line: u32,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fault::Null => "a field of null is accessed",
            Fault::Assertion => "an assertion may be false",
            Fault::Unwrap => "`unwrap` of `none`",
            Fault::Arithmetic => "division by zero",
            Fault::RepeatedPlace => "a `cas` names one word twice",
            Fault::ForeignUnlock => "a lock is given back by a thread that does not hold it",
        })
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::WrongAnswer => f.write_str("the answer differs from that of the reference"),
            Cause::NoPoint => f.write_str(
                "it returns before any linearization point, and at no instant since its call would the reference have given this answer",
            ),
            Cause::SecondPoint => f.write_str("it passes a second linearization point"),
            Cause::Fault(fault) => fault.fmt(f),
            Cause::Reference(ReferenceFault::Fails(fault)) => write!(f, "the reference fails: {fault}"),
            Cause::Reference(ReferenceFault::Blocks) => f.write_str("the reference blocks"),
            Cause::Reference(ReferenceFault::Loops) => {
                f.write_str("the reference may not come to an end")
            }
            Cause::Lost(lost) => write!(f, "the abstraction loses {lost}"),
            Cause::NeverReturns => f.write_str("no call of it ever returns"),
            Cause::EndlessStep => f.write_str("a step goes on without touching shared state"),
        }
    }
}
