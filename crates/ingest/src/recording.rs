//! A history with what is known of how it was recorded.

use crate::format::Format;
use crate::places::{Annotation, Places};
use crate::remark::Remark;
use linchpin_history::{History, Precedence};

/// What was read.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The history.
    pub history: History,
    /// Which operations precede which, where the recording says so itself (`after`). Then ranks
    /// only tell where events stand. Never there unless
    /// [`ReadOptions::partial`](crate::ReadOptions).
    pub precedence: Option<Precedence>,
    /// The format that it was in.
    pub format: Format,
    /// Whether operations have keys, so that the history is one of many objects.
    pub has_keys: bool,
    /// How many operations returned.
    pub completed: u64,
    /// How many of them answered something, so that the answer could be wrong.
    pub answered: u64,
    /// How many operations are known not to have happened, and are not in the history.
    pub failed: u64,
    /// How many lines (blank ones and comments aside) hold no event of the history.
    pub skipped_lines: u64,
    /// What people should know about how it was read.
    pub notes: Vec<String>,
    /// Which choices were made in reading it that could be made in another way: to be said always.
    pub remarks: Vec<Remark>,
    /// Where its events stand in what was read.
    pub places: Places,
    /// What the log says beside the history, in order.
    pub annotations: Vec<Annotation>,
    /// Whether any operation of the specification answers anything.
    answers: bool,
}

/// What is counted while reading.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub has_keys: bool,
    pub completed: u64,
    pub answered: u64,
    pub failed: u64,
    pub skipped_lines: u64,
    /// Reads of which the answer is not known, and which are not in the history.
    pub unknown_reads: u64,
}

impl Recording {
    pub(crate) fn new(
        history: History,
        format: Format,
        counts: Counts,
        answers: bool,
        notes: Vec<String>,
    ) -> Recording {
        let Counts { has_keys, completed, answered, failed, skipped_lines, unknown_reads: _ } =
            counts;
        Recording {
            history,
            precedence: None,
            format,
            has_keys,
            completed,
            answered,
            failed,
            skipped_lines,
            notes,
            remarks: Vec::new(),
            places: Places::default(),
            annotations: Vec::new(),
            answers,
        }
    }

    /// Whether a verdict about this history says nothing, because nothing was observed: no
    /// operation returned, or none that did answered although the object has operations that
    /// answer. (Those of a mutex do not; that they return is what is observed.)
    pub fn is_vacuous(&self) -> bool {
        self.completed == 0 || (self.answers && self.answered == 0)
    }
}
