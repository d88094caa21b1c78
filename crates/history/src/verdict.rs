//! What a checker answers, and what may stop it.

use crate::history::{OpId, Rank};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The answer about a history. A verdict is a value, never an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Some order of the operations explains it.
    Holds(Witness),
    /// No order does.
    Violated(Violation),
    /// Nobody knows: what stopped the search.
    Inconclusive(String),
}

/// An order that explains a history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Witness {
    /// Every completed operation once, and those pending ones that take effect, in the order in which they do.
    pub order: Vec<OpId>,
}

/// Why no order explains a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Operations that conspire: no order explains these alone.
    pub core: Vec<OpId>,
    /// Why, in a sentence.
    pub explanation: String,
    /// The first event at which the history so far cannot be explained, if known.
    pub at: Option<Rank>,
}

/// A checker for one data type that cannot judge this history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotApplicable {
    /// Why not, such as "the value 7 is written twice".
    pub reason: String,
}

/// What a checker of one data type answers.
pub type Monitored = Result<Verdict, NotApplicable>;

/// The reason to give up when somebody asked for it.
pub const STOPPED: &str = "stopped";

/// When to give up.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Stop at this instant.
    pub deadline: Option<Instant>,
    /// Stop when the search keeps about so many bytes.
    pub memory: Option<usize>,
    /// Stop when somebody sets this.
    pub stop: Option<Arc<AtomicBool>>,
}

impl Limits {
    /// Why to give up, if it is time to; `bytes` is about what the search keeps. Costs a system call: ask now and then.
    pub fn exceeded(&self, bytes: usize) -> Option<String> {
        if self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Some(STOPPED.to_owned());
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Some("the time limit was reached".to_owned());
        }
        if self.memory.is_some_and(|limit| bytes > limit) {
            return Some("the memory limit was reached".to_owned());
        }
        None
    }
}
