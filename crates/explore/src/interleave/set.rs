//! Sets of threads.

use crate::threads::ThreadId;

/// So many threads an execution may have.
pub(super) const MOST_THREADS: usize = 128;

/// A set of threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ThreadSet(u128);

impl ThreadSet {
    pub(super) fn insert(&mut self, thread: ThreadId) {
        self.0 |= 1 << thread;
    }

    pub(super) fn remove(&mut self, thread: ThreadId) {
        self.0 &= !(1 << thread);
    }

    pub(super) fn contains(self, thread: ThreadId) -> bool {
        self.0 >> thread & 1 == 1
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    pub(super) fn union(self, other: ThreadSet) -> ThreadSet {
        ThreadSet(self.0 | other.0)
    }

    pub(super) fn without(self, other: ThreadSet) -> ThreadSet {
        ThreadSet(self.0 & !other.0)
    }

    pub(super) fn meets(self, other: ThreadSet) -> bool {
        self.0 & other.0 != 0
    }

    /// The thread with the smallest index.
    pub(super) fn first(self) -> Option<ThreadId> {
        (self.0 != 0).then(|| self.0.trailing_zeros() as usize)
    }

    /// By index.
    pub(super) fn iter(self) -> impl Iterator<Item = ThreadId> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let first = ThreadSet(left).first()?;
            left &= left - 1;
            Some(first)
        })
    }
}
