//! Sets of events that hold, with an event, all that its thread did before: one count a thread.

use smallvec::SmallVec;

/// An event of a graph: a thread of the graph, and the place in its program order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct EventId {
    pub(super) thread: u32,
    pub(super) index: u32,
}

/// How many of the first events of each thread are in a set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock(SmallVec<[u32; 6]>);

impl Clock {
    /// How many events of a thread are in it.
    pub(super) fn count(&self, thread: u32) -> u32 {
        self.0.get(thread as usize).copied().unwrap_or(0)
    }

    /// Whether an event is in it.
    pub(super) fn has(&self, event: EventId) -> bool {
        self.count(event.thread) > event.index
    }

    /// Puts an event in, with all that its thread did before.
    pub(super) fn insert(&mut self, event: EventId) {
        let thread = event.thread as usize;
        if self.0.len() <= thread {
            self.0.resize(thread + 1, 0);
        }
        self.0[thread] = self.0[thread].max(event.index + 1);
    }

    /// Puts in what is in another one.
    pub(super) fn join(&mut self, other: &Clock) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }
}

/// What is known at an event; see [`super::graph`].
#[derive(Clone, Debug, Default)]
pub(super) struct Clocks {
    /// What it depends on by program order and reads-from, with itself.
    pub(super) prefix: Clock,
    /// What happens before it, with itself.
    pub(super) happens: Clock,
    /// What an acquire fence after it learns: the messages of all that the thread has read.
    pub(super) acquirable: Clock,
    /// What happens before the last release fence of the thread.
    pub(super) released: Clock,
    /// Of a write: what one who reads it learns if it acquires.
    pub(super) message: Clock,
}

impl Clocks {
    /// What a new thread knows.
    pub(super) fn of_child(&self) -> Clocks {
        Clocks { prefix: self.prefix.clone(), happens: self.happens.clone(), ..Clocks::default() }
    }
}
