//! Locks, spin loops, join: threads that wait.

use super::{executions, problems, with_options};
use crate::execution::Problem;
use crate::options::{Options, Strategy};
use linchpin_sync::cell::UnsafeCell;
use linchpin_sync::hint::spin_loop;
use linchpin_sync::runtime::{self, Action, Identity, Memory, Place, PlaceKind};
use linchpin_sync::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{self, Acquire, Relaxed, Release, SeqCst},
    fence,
};
use linchpin_sync::thread;
use std::panic::Location;
use std::sync::Arc;

/// A lock as `linchpin-sync` makes them.
struct Lock {
    identity: Identity,
    word: std::sync::atomic::AtomicU64,
}

impl Memory for Lock {
    fn get(&self) -> u64 {
        self.word.load(Ordering::Relaxed)
    }
    fn set(&self, value: u64) {
        self.word.store(value, Ordering::Relaxed);
    }
}

impl Lock {
    const fn new() -> Lock {
        Lock { identity: Identity::new(), word: std::sync::atomic::AtomicU64::new(0) }
    }

    #[track_caller]
    fn access(&self, action: Action<'_>) {
        let place = Place { identity: &self.identity, memory: self, kind: PlaceKind::Mutex };
        runtime::with(|runtime| runtime.access(place, action, Location::caller()));
    }

    #[track_caller]
    fn lock(&self) {
        let change = |word| (word == 0).then_some(1);
        self.access(Action::Await { change: &change, order: Acquire });
    }

    #[track_caller]
    fn unlock(&self) {
        self.access(Action::Store(0, Release));
    }
}

struct Shared<L> {
    lock: L,
    data: UnsafeCell<u64>,
}

// SAFETY: the engine stops at races.
unsafe impl<L> Sync for Shared<L> {}
// SAFETY: as above.
unsafe impl<L> Send for Shared<L> {}

impl<L> Shared<L> {
    #[track_caller]
    fn add(&self) -> u64 {
        // SAFETY: the engine stops at races.
        self.data.with_mut(|data| unsafe {
            *data += 1;
            *data
        })
    }
}

/// Threads that add to a cell, with something done before and after.
fn adders<L: 'static>(count: usize, lock: impl Fn() -> L, enter: fn(&L), leave: fn(&L)) {
    let shared = Arc::new(Shared { lock: lock(), data: UnsafeCell::new(0) });
    let threads: Vec<_> = (0..count)
        .map(|_| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                enter(&shared.lock);
                shared.add();
                leave(&shared.lock);
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(shared.add(), count as u64 + 1);
}

#[test]
fn a_lock_orders_its_sections() {
    for (threads, orders) in [(1, 1), (2, 2), (3, 6), (4, 24)] {
        let (all, exploration) =
            executions(move || adders(threads, Lock::new, Lock::lock, Lock::unlock));
        assert!(all.iter().all(|execution| execution.problem.is_none()));
        assert_eq!(exploration.executions, orders);
        println!("{threads} threads: {exploration:?}");
    }
}

#[test]
fn without_a_lock_sections_race() {
    let found = problems(|| adders(2, Lock::new, |_| {}, |_| {}));
    assert!(matches!(found[..], [Problem::Race { .. }]), "{found:?}");
}

#[test]
fn locks_taken_in_different_orders_are_a_deadlock() {
    let found = problems(|| {
        let locks = Arc::new([Lock::new(), Lock::new()]);
        let theirs = Arc::clone(&locks);
        let other = thread::spawn(move || {
            theirs[1].lock();
            theirs[0].lock();
            theirs[0].unlock();
            theirs[1].unlock();
        });
        locks[0].lock();
        locks[1].lock();
        locks[1].unlock();
        locks[0].unlock();
        other.join().unwrap();
    });
    let [Problem::Deadlock { waiting }] = &found[..] else { panic!("{found:?}") };
    assert_eq!(waiting.len(), 2);
    assert!(waiting.iter().all(|waiting| waiting.place == Some(PlaceKind::Mutex)));
}

#[test]
fn a_thread_that_locks_twice_waits_for_ever() {
    let found = problems(|| {
        let lock = Arc::new(Lock::new());
        let theirs = Arc::clone(&lock);
        let other = thread::spawn(move || theirs.lock());
        lock.lock();
        lock.unlock();
        other.join().unwrap();
    });
    // Only if the other one was first.
    let [Problem::Deadlock { waiting }] = &found[..] else { panic!("{found:?}") };
    assert_eq!(waiting.len(), 1);
}

#[test]
fn a_spin_loop_ends_when_the_flag_is_set() {
    for writes in 1..4u64 {
        let (all, exploration) = executions(move || {
            let shared = Arc::new(Shared { lock: AtomicU64::new(0), data: UnsafeCell::new(0) });
            let theirs = Arc::clone(&shared);
            let other = thread::spawn(move || {
                theirs.add();
                for value in 1..=writes {
                    theirs.lock.store(value, Release);
                }
            });
            while shared.lock.load(Acquire) != writes {
                spin_loop();
            }
            assert_eq!(shared.add(), 2);
            other.join().unwrap();
        });
        assert!(all.iter().all(|execution| execution.problem.is_none()), "{all:#?}");
        println!("{writes} writes: {exploration:?}");
        // The loop reads any ascending sequence of writes that ends with the last.
        assert_eq!(exploration.executions, 1 << writes);
    }
}

#[test]
fn a_spin_loop_for_nothing_is_a_deadlock() {
    let found = problems(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&flag);
        let other = thread::spawn(move || theirs.store(false, Release));
        while !flag.load(Acquire) {
            thread::yield_now();
        }
        other.join().unwrap();
    });
    let [Problem::Deadlock { waiting }] = &found[..] else { panic!("{found:?}") };
    assert_eq!(waiting[0].place, None);
}

/// Of a loop that never ends, two rounds are shown; they can be repeated.
#[test]
fn a_loop_that_never_ends_is_shown_briefly() {
    let body = || {
        let flag = AtomicBool::new(false);
        while !flag.load(Acquire) {
            spin_loop();
        }
    };
    let (all, _) = executions(body);
    let [execution] = &all[..] else { panic!("{all:#?}") };
    assert!(matches!(execution.problem, Some(Problem::Deadlock { .. })));
    assert_eq!(execution.events.len(), 3, "{execution:#?}");
    let strategy = Strategy::ReplayWeak(execution.decisions.clone());
    let (again, _) = with_options(&Options::new(strategy), body);
    assert_eq!(again[0].problem, execution.problem);
}

/// A thread that tries a few times and then does something else is not said to wait for ever.
#[test]
fn a_thread_may_lose_patience() {
    let (all, _) = executions(|| {
        let flag = Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
        let theirs = Arc::clone(&flag);
        let other = thread::spawn(move || {
            while theirs.1.load(Acquire) == 0 {
                spin_loop();
            }
        });
        let mut tries = 0;
        while flag.0.load(Acquire) == 0 && tries < 20 {
            tries += 1;
            spin_loop();
        }
        flag.1.store(1, Release);
        other.join().unwrap();
    });
    assert!(!all.is_empty());
    assert!(all.iter().all(|execution| execution.problem.is_none()), "{all:#?}");
}

#[test]
fn pauses_outside_of_loops_do_not_wait() {
    let (all, _) = executions(|| {
        let flag = AtomicU64::new(0);
        thread::yield_now();
        flag.load(Relaxed);
        thread::yield_now();
        thread::yield_now();
        flag.load(Relaxed);
        thread::yield_now();
        for _ in 0..3 {
            spin_loop();
        }
    });
    assert!(matches!(&all[..], [execution] if execution.problem.is_none()), "{all:#?}");
}

fn swap_lock(lock: &AtomicU64) {
    while lock.swap(1, Acquire) == 1 {
        spin_loop();
    }
}

#[test]
fn a_lock_of_swap_orders_its_sections() {
    for threads in [2, 3] {
        let (all, exploration) = executions(move || {
            adders(threads, || AtomicU64::new(0), swap_lock, |lock| lock.store(0, Release));
        });
        assert!(all.iter().all(|execution| execution.problem.is_none()), "{all:#?}");
        println!("{threads} threads: {exploration:?}");
    }
    let found = problems(|| {
        adders(2, || AtomicU64::new(0), swap_lock, |lock| lock.store(0, Relaxed));
    });
    assert!(matches!(found[..], [Problem::Race { .. }, ..]), "{found:?}");
}

/// Peterson's lock: right with `SeqCst` fences or accesses, and broken without.
fn peterson(order: fn(Ordering) -> Ordering, fences: bool) -> Vec<Problem> {
    problems(move || {
        let lock = || [AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0)];
        let shared = Arc::new(Shared { lock: lock(), data: UnsafeCell::new(0) });
        let enter = move |shared: &Shared<[AtomicU64; 3]>, me: usize| {
            shared.lock[me].store(1, order(Release));
            shared.lock[2].store(1 - me as u64, order(Release));
            if fences {
                fence(SeqCst);
            }
            while shared.lock[1 - me].load(order(Acquire)) == 1
                && shared.lock[2].load(order(Acquire)) == 1 - me as u64
            {
                spin_loop();
            }
            shared.add();
            shared.lock[me].store(0, Release);
        };
        let theirs = Arc::clone(&shared);
        let other = thread::spawn(move || enter(&theirs, 1));
        enter(&shared, 0);
        other.join().unwrap();
    })
}

#[test]
fn petersons_lock_needs_sequential_consistency() {
    assert_eq!(peterson(|_| SeqCst, false), []);
    let found = peterson(|order| order, false);
    assert!(matches!(found[..], [Problem::Race { .. }, ..]), "{found:?}");
}

#[test]
fn a_join_waits_and_synchronizes() {
    let (all, exploration) = executions(|| {
        let value = Arc::new(AtomicU64::new(0));
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let value = Arc::clone(&value);
                thread::spawn(move || value.fetch_add(1, Relaxed))
            })
            .collect();
        let sum: u64 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert_eq!(sum, 3);
        assert_eq!(value.load(Relaxed), 3);
    });
    assert_eq!((all.len(), exploration.redundant), (6, 0));
}

#[test]
fn threads_start_threads() {
    let (all, _) = executions(|| {
        let value = Arc::new(AtomicU64::new(0));
        let start = |times: u64| {
            let value = Arc::clone(&value);
            thread::spawn(move || {
                let theirs = Arc::clone(&value);
                let child = thread::spawn(move || theirs.fetch_add(times, Relaxed));
                value.fetch_add(times, Relaxed);
                child.join().unwrap();
            })
        };
        let threads = [start(1), start(10)];
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(value.load(Relaxed), 22);
    });
    // Four updates in any order.
    assert_eq!(all.len(), 24);
    assert!(all.iter().all(|execution| execution.problem.is_none()));
}

#[test]
fn a_new_thread_knows_what_its_parent_did() {
    let (all, _) = executions(|| {
        let shared = Arc::new(Shared { lock: AtomicU64::new(0), data: UnsafeCell::new(0) });
        shared.add();
        shared.lock.store(1, Relaxed);
        let theirs = Arc::clone(&shared);
        let child = thread::spawn(move || {
            let seen = [theirs.lock.load(Relaxed), theirs.lock.load(Relaxed)];
            assert_eq!((seen, theirs.add()), ([1, 1], 2));
        });
        child.join().unwrap();
    });
    assert!(matches!(&all[..], [execution] if execution.problem.is_none()), "{all:#?}");
}
