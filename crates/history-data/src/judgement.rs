//! What a checker answers about a history.

use crate::{OpId, Rank};
use linchpin_verdict::Outcome;

/// The answer about a history: an order that explains it, or why none does.
pub type Judgement = Outcome<Witness, Violation>;

/// An order that explains a history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Witness {
    /// Every completed operation once, and those pending ones that take effect, in the order in
    /// which they do.
    pub order: Vec<OpId>,
}

/// Why no order explains a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Operations that conspire: no order explains these alone.
    pub core: Vec<OpId>,
    /// Those of the core that the sentence is about, in no order. A picture of the core shows them,
    /// whatever else it leaves out.
    pub blamed: Vec<OpId>,
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
pub type Monitored = Result<Judgement, NotApplicable>;

/// A refusal.
///
/// # Errors
///
/// Always: this is one.
pub fn not_applicable<T>(reason: impl Into<String>) -> Result<T, NotApplicable> {
    Err(NotApplicable { reason: reason.into() })
}
