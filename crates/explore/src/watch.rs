//! Where the threads of an exploration are, for one who looks on from another thread of the system.
//!
//! Code that waits for something of which the explorer knows nothing, such as a lock of std that a
//! suspended thread holds, never comes back. The exploring thread cannot tell; an onlooker can.

use linchpin_sync::runtime::Site;
use std::panic::Location;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

/// Threads beyond these share the last lane.
const LANES: usize = 64;

/// What an exploration is at. One thread of the system explores, any may look on.
#[derive(Debug)]
pub struct Watch {
    /// How often a thread was resumed or came back: odd while one runs.
    turns: AtomicU64,
    /// The thread that was resumed last.
    thread: AtomicUsize,
    lanes: [Lane; LANES],
}

/// Of one thread.
#[derive(Debug)]
struct Lane {
    /// What it asked for last.
    site: AtomicPtr<Location<'static>>,
    /// Its last note, and one; 0 if it left none.
    mark: AtomicU64,
}

/// A thread of the code that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Running {
    /// The number of its turn: while it stays the same, the thread has not come back.
    pub turn: u64,
    /// Which thread.
    pub thread: usize,
}

/// Where a thread stopped last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stood {
    /// Its last access, if it made one.
    pub site: Option<Site>,
    /// Its last note: see [`linchpin_sync::runtime::Runtime::mark`].
    pub mark: Option<u64>,
}

impl Default for Watch {
    fn default() -> Watch {
        let lane = |_| Lane { site: AtomicPtr::new(ptr::null_mut()), mark: AtomicU64::new(0) };
        Watch {
            turns: AtomicU64::new(0),
            thread: AtomicUsize::new(0),
            lanes: std::array::from_fn(lane),
        }
    }
}

impl Watch {
    fn lane(&self, thread: usize) -> &Lane {
        &self.lanes[thread.min(LANES - 1)]
    }

    /// A thread is new.
    pub(crate) fn added(&self, thread: usize) {
        let lane = self.lane(thread);
        lane.site.store(ptr::null_mut(), Ordering::Relaxed);
        lane.mark.store(0, Ordering::Relaxed);
    }

    /// A thread is resumed.
    pub(crate) fn entered(&self, thread: usize) {
        self.thread.store(thread, Ordering::Relaxed);
        self.turned();
    }

    /// A thread came back, and asks for something at this site.
    pub(crate) fn left(&self, thread: usize, site: Option<Site>, mark: Option<u64>) {
        let lane = self.lane(thread);
        if let Some(site) = site {
            lane.site.store(ptr::from_ref(site).cast_mut(), Ordering::Relaxed);
        }
        if let Some(mark) = mark {
            lane.mark.store(mark.wrapping_add(1), Ordering::Relaxed);
        }
        self.turned();
    }

    // Only the exploring thread writes, so this is no update.
    fn turned(&self) {
        self.turns.store(self.turns.load(Ordering::Relaxed) + 1, Ordering::Release);
    }

    /// The thread of the code that runs now, if one does.
    pub fn running(&self) -> Option<Running> {
        let turn = self.turns.load(Ordering::Acquire);
        let thread = self.thread.load(Ordering::Relaxed);
        (turn % 2 == 1).then_some(Running { turn, thread })
    }

    /// Where a thread stopped last. It means something while the exploration stands still.
    pub fn stood(&self, thread: usize) -> Stood {
        let lane = self.lane(thread);
        let site = lane.site.load(Ordering::Relaxed);
        // SAFETY: what is stored was made from a `Site`, which lives for ever.
        let site = unsafe { site.as_ref() };
        Stood { site, mark: lane.mark.load(Ordering::Relaxed).checked_sub(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_runs_until_it_comes_back() {
        let watch = Watch::default();
        assert_eq!(watch.running(), None);
        watch.entered(3);
        let running = watch.running();
        assert_eq!(running, Some(Running { turn: 1, thread: 3 }));
        let site = Location::caller();
        watch.left(3, Some(site), None);
        watch.left(2, None, Some(0));
        watch.entered(2);
        assert_ne!(watch.running(), running);
        assert_eq!(watch.stood(3), Stood { site: Some(site), mark: None });
        assert_eq!(watch.stood(2), Stood { site: None, mark: Some(0) });
        watch.added(3);
        assert_eq!(watch.stood(3), Stood { site: None, mark: None });
    }
}
