//! Who decides what happens next in an execution: the seam between executions and strategies.

use super::state::{Ask, State};
use crate::execution::Execution;
use crate::threads::ThreadId;
use linchpin_sync::runtime::Site;

/// What happens next.
pub(crate) enum Pick {
    /// This thread makes its access.
    Thread(ThreadId),
    /// Nothing: the execution is equivalent to one that was shown.
    Redundant,
    /// The code does not do what it did before: this thread does something else.
    Different(ThreadId),
}

/// An access that was made.
pub(crate) struct Step<'a> {
    pub(super) thread: ThreadId,
    pub(super) ask: &'a Ask,
    /// What the place held before.
    pub(super) before: u64,
    /// What was written.
    pub(super) wrote: Option<u64>,
}

/// Decides what happens next, in one execution after the other.
pub(crate) trait Scheduler {
    /// An execution begins.
    fn begin(&mut self) {}

    /// A thread that could go on.
    fn pick(&mut self, state: &State) -> Pick;

    /// One of several alternatives; nothing if the code does not do what it did before.
    fn choose(&mut self, thread: ThreadId, alternatives: usize, site: Site) -> Option<usize>;

    /// Whether other executions are explored from here on: see
    /// [`Runtime::exploring`](linchpin_sync::runtime::Runtime::exploring).
    fn explored(&mut self, _explored: bool) {}

    /// The access that was picked was made; the state is still the one before.
    fn stepped(&mut self, _state: &State, _step: &Step<'_>) {}

    /// A thread starts another one.
    fn spawned(&mut self, _parent: Option<ThreadId>, _child: ThreadId) {}

    /// No thread can go on, and not all have ended.
    fn stuck(&mut self, _state: &State) {}

    /// Some that waited in spin loops go on all the same.
    fn woken(&mut self) {}

    /// The execution was cut short by a problem.
    fn cut(&mut self) {}

    /// Whether the execution ended before all that was to be done again was done.
    fn is_short(&self) -> bool {
        false
    }

    /// Whether an execution, which has its clocks, was not shown yet.
    fn is_new(&mut self, _execution: &Execution) -> bool {
        true
    }

    /// The last execution that was new was shown, and others are to come. Answers whether it still
    /// was: another scheduler may have shown the same meanwhile.
    fn shown(&mut self) -> bool {
        true
    }

    /// Goes to the next execution, if there is one.
    fn next(&mut self) -> bool;

    /// Whether all executions of the strategy are shown when there is no next one.
    fn is_complete(&self) -> bool {
        true
    }

    /// About how many bytes it keeps.
    fn bytes(&self) -> usize {
        0
    }
}
