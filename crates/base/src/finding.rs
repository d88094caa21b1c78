//! Conditions that fail, each with the first place where it does.

use crate::outcome::{Ending, Outcome, Words};
use crate::shared::Calls;
use linchpin_engine::Rule;
use std::rc::Rc;

/// A move of a thread in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The state, by its number.
    pub state: u32,
    /// The thread that moves, as that state numbers them.
    pub thread: usize,
    /// What it calls, if it was idle.
    pub call: Option<usize>,
}

/// What goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The critical sequence begins in a state that is no base point for just what the call does.
    Begins {
        /// The call.
        call: usize,
        /// What it would do if it went on alone.
        actual: Rc<Outcome>,
    },
    /// A step of another thread changes what a call in or after its critical sequence still does.
    Disturbed {
        /// The call.
        call: usize,
        /// What it had still to do.
        before: Rc<Outcome>,
        /// What it has to do now.
        after: Rc<Outcome>,
        /// Whether the step is the very one that the call had to take next.
        helped: bool,
    },
    /// Update steps of one call change the base points of another, and they interleave.
    Changes {
        /// The call whose steps they are.
        by: usize,
        /// The other.
        of: usize,
    },
    /// Critical steps of two calls do not commute.
    Order {
        /// The call that steps first.
        first: usize,
        /// The other.
        second: usize,
        /// Whether the other order is possible at all.
        possible: bool,
        /// The thread that steps second, and what it calls if it was idle.
        then: (usize, Option<usize>),
    },
    /// A second step of a call changes what read-only operations answer.
    TwoSteps {
        /// The call.
        call: usize,
        /// The read-only calls.
        reads: Calls,
    },
    /// No state since the call is a base point for the answer.
    NeverSeen {
        /// The call.
        call: usize,
        /// What it answers.
        answer: Words,
    },
    /// The specification does not allow the answer where the call takes effect.
    NotSpecified {
        /// The call.
        call: usize,
        /// How it ends.
        ending: Ending,
    },
}

/// A condition that fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which.
    pub rule: Rule,
    /// For which operation, by its index.
    pub operation: usize,
    /// Because of which other, if one is involved.
    pub other: Option<usize>,
    /// The source line of the step.
    pub line: u32,
    /// Where: the move that shows it.
    pub place: Place,
    /// What goes wrong.
    pub detail: Detail,
}

/// Findings: the first of each kind.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    all: Vec<Finding>,
}

impl Findings {
    /// Keeps a finding unless there is one like it.
    pub fn add(&mut self, finding: Finding) {
        let key = |of: &Finding| (of.rule, of.operation, of.other, of.line);
        if !self.all.iter().any(|other| key(other) == key(&finding)) {
            self.all.push(finding);
        }
    }

    /// All of them, in the order in which they were found.
    pub fn iter(&self) -> impl Iterator<Item = &Finding> {
        self.all.iter()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}
