//! Loops that wait for others to write.

use super::word::Lock;
use super::{problems, run};
use linchpin_explore::{Problem, Strategy};
use linchpin_sync::hint::spin_loop;
use linchpin_sync::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use linchpin_sync::thread::{self, yield_now};
use std::sync::Arc;

#[test]
fn a_loop_that_waits_has_few_executions() {
    let found = problems(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let its = Arc::clone(&flag);
        let setter = thread::spawn(move || its.store(true, SeqCst));
        while !flag.load(SeqCst) {
            spin_loop();
        }
        setter.join().unwrap();
    });
    // The flag is seen at once, after one turn or after two.
    assert_eq!(found, [None, None, None]);
}

#[test]
fn a_loop_that_waits_forever_is_a_deadlock() {
    let found = problems(|| {
        let flag = AtomicBool::new(false);
        while !flag.load(SeqCst) {
            yield_now();
        }
    });
    let [Some(Problem::Deadlock { waiting })] = &found[..] else { panic!("{found:?}") };
    assert_eq!((waiting.len(), waiting[0].place), (1, None));
}

#[test]
fn loops_under_a_lock_that_wait_forever_are_a_deadlock() {
    let body = || {
        let shared = Arc::new((Lock::new(), AtomicBool::new(false)));
        let wait = |shared: Arc<(Lock, AtomicBool)>| {
            move || {
                loop {
                    shared.0.lock();
                    let ready = shared.1.load(SeqCst);
                    shared.0.unlock();
                    if ready {
                        return;
                    }
                    yield_now();
                }
            }
        };
        let handles = [thread::spawn(wait(Arc::clone(&shared))), thread::spawn(wait(shared))];
        handles.into_iter().for_each(|handle| handle.join().unwrap());
    };
    let explored = run(Strategy::Exhaustive, body, |execution| {
        assert!(matches!(execution.problem, Some(Problem::Deadlock { .. })));
        assert!(execution.events.len() < 60, "turns of no use are not shown");
    });
    assert!(explored.complete);
}

#[test]
fn a_loop_may_give_up_when_all_wait() {
    let found = problems(|| {
        let flag = AtomicBool::new(false);
        for _ in 0..20 {
            if flag.load(SeqCst) {
                return;
            }
            spin_loop();
        }
    });
    assert_eq!(found, [None]);
}

#[test]
fn a_pause_outside_of_a_loop_decides_nothing() {
    // All four answers of two loads, with a pause after each read.
    let seen = Arc::new(std::sync::Mutex::new(std::collections::BTreeSet::new()));
    let answers = Arc::clone(&seen);
    let body = move || {
        let shared = Arc::new((AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0)));
        let its = Arc::clone(&shared);
        let first = thread::spawn(move || {
            let other = shared.2.load(SeqCst);
            yield_now();
            shared.0.store(1, SeqCst);
            other + shared.1.load(SeqCst)
        });
        let second = thread::spawn(move || {
            let other = its.2.load(SeqCst);
            yield_now();
            its.1.store(1, SeqCst);
            other + its.0.load(SeqCst)
        });
        let answer = (first.join().unwrap(), second.join().unwrap());
        answers.lock().unwrap().insert(answer);
    };
    run(Strategy::Exhaustive, body, |execution| assert_eq!(execution.problem, None));
    assert_eq!(*seen.lock().unwrap(), [(0, 1), (1, 0), (1, 1)].into());
}
