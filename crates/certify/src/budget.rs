//! How much is looked at before a checker says that it cannot tell.

use std::time::Instant;

/// When to give up.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// After so many configurations of one search, counted over all events.
    pub configurations: usize,
    /// At this instant, if there is one.
    pub deadline: Option<Instant>,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { configurations: 3_000_000, deadline: None }
    }
}

impl Budget {
    /// Whether the instant has come.
    pub(crate) fn is_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}
