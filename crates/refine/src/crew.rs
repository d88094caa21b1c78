//! Threads that do work together in phases: no phase begins before all have ended the one before.
//!
//! They are made once for many phases. A phase may take less time than it takes to wake a thread
//! up, so a worker that waits looks for a while before it sleeps.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, panicking, scope};

/// How often one looks before it sleeps.
const LOOKS: usize = 1 << 13;

/// Where all members wait for each other.
pub(crate) struct Gate {
    state: Mutex<Members>,
    opened: Condvar,
    /// How often it was opened.
    times: AtomicUsize,
    failed: AtomicBool,
}

struct Members {
    count: usize,
    arrived: usize,
}

impl Gate {
    fn new(count: usize) -> Gate {
        Gate {
            state: Mutex::new(Members { count, arrived: 0 }),
            opened: Condvar::new(),
            times: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
        }
    }

    fn members(&self) -> MutexGuard<'_, Members> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_if_complete(&self, members: &mut Members) -> bool {
        let complete = members.arrived >= members.count;
        if complete {
            members.arrived = 0;
            self.times.fetch_add(1, Ordering::Release);
            self.opened.notify_all();
        }
        complete
    }

    /// Waits until all members are here. What they did before is seen after it.
    pub fn pass(&self) {
        // INVARIANT: it is not opened before this member has arrived.
        let times = self.times.load(Ordering::Acquire);
        {
            let mut members = self.members();
            members.arrived += 1;
            if self.open_if_complete(&mut members) {
                return;
            }
        }
        for _ in 0..LOOKS {
            if self.times.load(Ordering::Acquire) != times {
                return;
            }
            spin_loop();
        }
        let mut members = self.members();
        while self.times.load(Ordering::Acquire) == times {
            members = self.opened.wait(members).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether a member has failed. All should leave then.
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    /// One member less to wait for.
    fn leave(&self) {
        let mut members = self.members();
        members.count -= 1;
        self.open_if_complete(&mut members);
    }
}

/// A member. However it ends, the others do not wait for it any more.
struct Member<'g>(&'g Gate);

impl Drop for Member<'_> {
    fn drop(&mut self) {
        if panicking() {
            self.0.failed.store(true, Ordering::Release);
        }
        self.0.leave();
    }
}

/// Lets the first worker lead on this thread, and the others follow, each on one of its own. The
/// leader is told how many they are: fewer than asked for where no thread can be made. `None` if a
/// follower failed.
pub(crate) fn together<W: Send, T>(
    workers: &mut [W],
    lead: impl FnOnce(&Gate, usize, &mut W) -> T,
    follow: impl Fn(&Gate, usize, &mut W) + Sync,
) -> Option<T> {
    let asked = workers.len();
    let gate = Gate::new(asked);
    let (own, rest) = workers.split_first_mut()?;
    let (gate, follow) = (&gate, &follow);
    scope(|scope| {
        let leader = Member(gate);
        let mut threads = Vec::new();
        for (number, worker) in (1..).zip(rest) {
            let work = move || {
                let _member = Member(gate);
                follow(gate, number, worker);
            };
            match Builder::new().spawn_scoped(scope, work) {
                Ok(thread) => threads.push(thread),
                Err(_) => break,
            }
        }
        let count = 1 + threads.len();
        (count..asked).for_each(|_| gate.leave());
        let result = lead(gate, count, own);
        drop(leader);
        let ended = threads.into_iter().map(|thread| thread.join().is_ok());
        ended.fold(true, |all, ended| all & ended).then_some(result)
    })
}
