//! What goes wrong in executions is found, and what does not is not.

use super::word::Lock;
use super::{problems, run, run_with};
use linchpin_explore::{Options, Problem, Strategy};
use linchpin_sync::cell::UnsafeCell;
use linchpin_sync::runtime::{self, Resource};
use linchpin_sync::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use linchpin_sync::thread;
use std::panic::Location;
use std::sync::Arc;

/// A cell that threads share.
struct Shared(UnsafeCell<u64>);

// SAFETY: threads of an execution are coroutines of one thread; races are what is tested.
unsafe impl Sync for Shared {}
// SAFETY: as above.
unsafe impl Send for Shared {}

impl Shared {
    #[track_caller]
    fn add(&self) {
        // SAFETY: the pointer is used at once.
        self.0.with_mut(|value| unsafe { *value += 1 });
    }
}

/// Runs two threads, and joins them.
fn two(first: impl FnOnce() + Send + 'static, second: impl FnOnce() + Send + 'static) {
    let handles = [thread::spawn(first), thread::spawn(second)];
    handles.into_iter().for_each(|handle| handle.join().unwrap());
}

#[test]
fn locks_in_opposite_orders_deadlock() {
    let found = problems(|| {
        let (a, b) = (Arc::new(Lock::new()), Arc::new(Lock::new()));
        let (c, d) = (Arc::clone(&a), Arc::clone(&b));
        let both = |first: Arc<Lock>, second: Arc<Lock>| {
            move || {
                first.lock();
                second.lock();
                second.unlock();
                first.unlock();
            }
        };
        two(both(a, b), both(d, c));
    });
    // Either thread is first, or both have one lock.
    assert_eq!(found.len(), 3);
    let deadlocks: Vec<_> = found.into_iter().flatten().collect();
    let [Problem::Deadlock { waiting }] = &deadlocks[..] else { panic!("{deadlocks:?}") };
    let threads: Vec<_> = waiting.iter().map(|waiting| waiting.thread).collect();
    assert_eq!(threads, [0, 1, 2]);
}

#[test]
fn a_wakeup_is_lost() {
    let found = problems(|| {
        let ready = Arc::new(AtomicBool::new(false));
        let token = Arc::new(Lock::new());
        token.lock();
        let (its_ready, its_token) = (Arc::clone(&ready), Arc::clone(&token));
        let sleeping = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&sleeping);
        two(
            move || {
                if !ready.load(SeqCst) {
                    // Wrong: it says that it sleeps after it looked.
                    sleeping.store(true, SeqCst);
                    token.lock();
                }
            },
            move || {
                its_ready.store(true, SeqCst);
                if seen.load(SeqCst) {
                    its_token.unlock();
                }
            },
        );
    });
    assert!(found.iter().flatten().any(|problem| matches!(problem, Problem::Deadlock { .. })));
    assert!(found.iter().any(Option::is_none));
}

#[test]
fn accesses_without_a_lock_race() {
    let found = problems(|| {
        let cell = Arc::new(Shared(UnsafeCell::new(0)));
        let its = Arc::clone(&cell);
        two(move || cell.add(), move || its.add());
    });
    assert!(matches!(found[..], [Some(Problem::Race { first: 1, second: 2, .. })]), "{found:?}");
}

#[test]
fn accesses_with_a_lock_do_not_race() {
    let found = problems(|| {
        let shared = Arc::new((Lock::new(), Shared(UnsafeCell::new(0))));
        let its = Arc::clone(&shared);
        let add = |shared: Arc<(Lock, Shared)>| {
            move || {
                shared.0.lock();
                shared.1.add();
                shared.0.unlock();
            }
        };
        two(add(shared), add(its));
    });
    assert_eq!(found, [None, None]);
}

#[test]
fn the_order_of_accesses_is_no_synchronization() {
    // Both write `flag`; that one write comes after the other orders nothing.
    let found = problems(|| {
        let shared = Arc::new((AtomicU64::new(0), Shared(UnsafeCell::new(0))));
        let its = Arc::clone(&shared);
        let add = |shared: Arc<(AtomicU64, Shared)>| {
            move || {
                shared.1.add();
                shared.0.store(1, SeqCst);
            }
        };
        two(add(shared), add(its));
    });
    assert!(found.iter().all(|found| matches!(found, Some(Problem::Race { .. }))), "{found:?}");
}

#[test]
fn a_message_is_synchronization() {
    let found = problems(|| {
        let shared = Arc::new((AtomicU64::new(0), Shared(UnsafeCell::new(0))));
        let its = Arc::clone(&shared);
        two(
            move || {
                shared.1.add();
                shared.0.store(1, SeqCst);
            },
            move || {
                if its.0.load(SeqCst) == 1 {
                    its.1.add();
                }
            },
        );
    });
    assert_eq!(found, [None, None]);
}

fn acquire() -> u64 {
    let site = Location::caller();
    runtime::with(|runtime| runtime.acquired(Resource::Tracked, site)).unwrap()
}

fn release(resource: u64) {
    let site = Location::caller();
    runtime::with(|runtime| runtime.released(resource, site));
}

fn use_it(resource: u64) {
    let site = Location::caller();
    runtime::with(|runtime| runtime.used(resource, site));
}

#[test]
fn what_is_not_given_back_leaks() {
    let body = || {
        let flag = Arc::new(AtomicBool::new(false));
        let its = Arc::clone(&flag);
        let resource = acquire();
        two(
            move || flag.store(true, SeqCst),
            move || {
                if its.load(SeqCst) {
                    release(resource);
                }
            },
        );
    };
    let found = problems(body);
    assert_eq!(found.iter().flatten().count(), 1);
    assert!(matches!(found.iter().flatten().next(), Some(Problem::Leaked { .. })));
    let options = Options { leaks: false, ..Options::new(Strategy::Exhaustive) };
    run_with(&options, body, |execution| assert_eq!(execution.problem, None));
}

#[test]
fn use_after_free_is_found_in_whatever_order_it_is_run() {
    for user_first in [false, true] {
        let found = problems(move || {
            let resource = acquire();
            if user_first {
                two(move || use_it(resource), move || release(resource));
            } else {
                two(move || release(resource), move || use_it(resource));
            }
        });
        assert!(matches!(found[..], [Some(Problem::UsedAfterFree { .. })]), "{found:?}");
    }
    let found = problems(|| {
        let resource = acquire();
        release(resource);
        release(resource);
    });
    assert!(matches!(found[..], [Some(Problem::UsedAfterFree { .. })]), "{found:?}");
}

#[test]
fn use_before_a_join_is_none_after_free() {
    let found = problems(|| {
        let resource = acquire();
        two(move || use_it(resource), move || use_it(resource));
        release(resource);
    });
    assert_eq!(found, [None]);
}

#[test]
fn a_panic_ends_the_execution() {
    let found = problems(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let its = Arc::clone(&flag);
        two(
            move || flag.store(true, SeqCst),
            move || {
                if its.load(SeqCst) {
                    std::panic::resume_unwind(Box::new("it was set"));
                }
            },
        );
    });
    let message = "it was set".to_owned();
    assert!(found.contains(&Some(Problem::Panicked { thread: 2, message })), "{found:?}");
    assert!(found.contains(&None));
}

#[test]
fn an_endless_execution_is_too_long() {
    let body = || {
        let flag = AtomicBool::new(false);
        while !flag.load(SeqCst) {}
    };
    let options = Options { steps: 100, ..Options::new(Strategy::Exhaustive) };
    let mut found = Vec::new();
    run_with(&options, body, |execution| found.push(execution.problem.clone()));
    let [Some(problem @ Problem::TooLong { steps: 100, again: Some((0, site)) })] = &found[..]
    else {
        panic!("{found:?}");
    };
    assert!(site.file().ends_with("problems.rs"));
    let told = problem.told(&|_| "the loop".to_owned());
    assert!(told.contains(&format!("of the loop at {site}")), "{told}");
    assert!(told.contains("spin_loop"), "{told}");
}

#[test]
fn code_that_is_not_deterministic_is_found() {
    let runs = std::cell::Cell::new(0);
    let mut found = Vec::new();
    let body = move || {
        let shared = Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
        let its = Arc::clone(&shared);
        runs.set(runs.get() + 1);
        let odd = runs.get() % 2 == 1;
        two(
            move || {
                let place = if odd { &shared.0 } else { &shared.1 };
                place.store(1, SeqCst);
            },
            move || its.0.store(2, SeqCst),
        );
    };
    let explored = run(Strategy::Exhaustive, body, |execution| {
        found.push(execution.problem.clone());
    });
    assert!(!explored.complete);
    let last = found.last().unwrap();
    assert!(matches!(last, Some(Problem::Nondeterministic { .. })), "{found:?}");
}

#[test]
fn code_that_does_less_the_second_time_is_found() {
    let runs = std::cell::Cell::new(0);
    let body = move || {
        runs.set(runs.get() + 1);
        let counter = AtomicU64::new(0);
        let site = Location::caller();
        if runs.get() == 1 {
            counter.load(SeqCst);
            runtime::with(|runtime| runtime.choose(2, site));
        }
    };
    let mut found = Vec::new();
    run(Strategy::Exhaustive, body, |execution| found.push(execution.problem.clone()));
    assert!(matches!(found[..], [None, Some(Problem::Nondeterministic { .. })]), "{found:?}");
    let body = || {
        let flag = AtomicBool::new(false);
        flag.load(SeqCst);
    };
    let mut found = Vec::new();
    run(Strategy::Replay(vec![0, 0]), body, |execution| found.push(execution.problem.clone()));
    assert!(matches!(found[..], [Some(Problem::Nondeterministic { .. })]), "{found:?}");
}

static COUNTER: AtomicU64 = AtomicU64::new(7);

#[test]
fn static_variables_begin_alike() {
    let body = || {
        let add = || {
            COUNTER.fetch_add(1, SeqCst);
        };
        two(add, add);
        assert_eq!(COUNTER.load(SeqCst), 9);
    };
    let explored = run(Strategy::Exhaustive, body, |execution| {
        assert_eq!(execution.problem, None);
    });
    assert_eq!(explored.executions, 2);
}
