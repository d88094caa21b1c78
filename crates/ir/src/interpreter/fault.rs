//! Faults: what makes a step wrong by itself, whatever the specification says.

use std::fmt;
use thiserror::Error;

/// A step that went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Error)]
pub struct Fault {
    /// How.
    pub kind: FaultKind,
    /// Whose step it was; no thread's in `init` and `recover`.
    pub thread: Option<usize>,
    /// The operation: index into [`Program::operations`](crate::program::Program::operations); none
    /// in `init`, `recover` and `recover(t)`.
    pub operation: Option<usize>,
    /// The name of the operation, or `init` or `recover`.
    pub name: String,
    /// The source line.
    pub line: u32,
    /// What it tried to do, with the values of the variables involved.
    pub action: String,
}

/// The ways in which a step can go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum FaultKind {
    /// A field of `null`.
    #[error("null dereference")]
    NullDereference,
    /// An element that the array or sequence does not have.
    #[error("index {index} out of range (length {length})")]
    IndexOutOfRange {
        /// The index.
        index: i64,
        /// How many elements there are.
        length: usize,
    },
    /// The value of `none`.
    #[error("unwrap of none")]
    UnwrapNone,
    /// `/` or `%` by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// A number beyond 64 bits.
    #[error("integer overflow")]
    Overflow,
    /// An `assert` that does not hold.
    #[error("assertion failed")]
    AssertionFailed,
    /// An access to an object after `free`.
    #[error("use after free")]
    UseAfterFree,
    /// A second `free`.
    #[error("double free")]
    DoubleFree,
    /// An `unlock` by a thread that does not hold the lock.
    #[error("unlock of a lock {}", held_by(*holder))]
    UnlockNotHeld {
        /// Who does hold it.
        holder: Option<i64>,
    },
    /// A multi-word `cas` with a word in it twice.
    #[error("the same word twice in one cas")]
    SameWordTwice,
    /// A `choose` from a range too large to enumerate.
    #[error("too many choices ({0}; at most {limit})", limit = super::MAX_CHOICES)]
    TooManyChoices(u64),
    /// A step that goes on and on without a shared access.
    #[error("this loop never gives other threads a turn")]
    LocalLoop,
    /// An `init` that cannot run to its end.
    #[error("init is blocked")]
    BlockedInit,
    /// A `recover` that cannot run to its end.
    #[error("recover is blocked")]
    BlockedRecovery,
    /// A `choose` in `init`: the initial state must be one state.
    #[error("a choice in init")]
    ChoiceInInit,
    /// A value, index or node that the types of the program rule out: a bug in whatever built the
    /// program.
    #[error("ill-typed program (a bug in the lowering, not in the model)")]
    IllTyped,
}

fn held_by(holder: Option<i64>) -> String {
    holder.map_or("that is free".to_owned(), |thread| format!("held by thread {thread}"))
}

/// ``null dereference at line 24 in `pop` by thread 1: read t.next, where t is null``.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at line {}", self.kind, self.line)?;
        match self.operation {
            Some(_) => write!(f, " in `{}`", self.name)?,
            None => write!(f, " in {}", self.name)?,
        }
        if let Some(thread) = self.thread {
            write!(f, " by thread {thread}")?;
        }
        if !self.action.is_empty() {
            write!(f, ": {}", self.action)?;
        }
        Ok(())
    }
}
