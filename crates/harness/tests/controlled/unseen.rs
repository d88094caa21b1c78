//! Objects that are not, or not only, built on `linchpin-sync`: nothing wrong is said of them.

use linchpin_harness::{Covered, Failure, Kind, Plan, Test, fresh};
use linchpin_sync::sync::atomic as seen;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// Every mode in which executions are controlled.
fn plans() -> [Plan; 5] {
    let sampled = |plan: Plan| plan.seed(7).runs(500).ops(2);
    [
        Plan::exhaustive(),
        Plan::preemptions().ops(2),
        Plan::weak(),
        sampled(Plan::random()),
        sampled(Plan::pct()),
    ]
}

type Outcome = Result<Covered, Box<Failure>>;

/// It is the test that is wrong, and that is said with what to do.
fn is_a_mistake_of_the_test(outcome: Outcome) {
    let failure = outcome.expect_err("nothing is known of the object");
    assert!(matches!(failure.kind, Kind::Unseen(_)), "{failure}");
    let text = failure.to_string();
    assert!(text.contains("no access was seen"), "{text}");
    assert!(text.contains("mistake of the test"), "{text}");
    assert!(text.contains("`linchpin::sync`"), "{text}");
    assert!(text.contains("`native`"), "{text}");
    assert!(!text.contains("linearizable"), "{text}");
}

#[test]
fn a_right_object_of_std_is_not_judged() {
    for plan in plans() {
        // Additions of nothing are right in every order, others only in the one that there was.
        for amounts in [vec![0], vec![1, 2]] {
            let test = Test::new("unseen-counter", || AtomicU64::new(0))
                .spec("counter")
                .plan(plan.clone())
                .folder(None)
                .op("fetch_add", (amounts,), |o, (n,): (u64,)| o.fetch_add(n, SeqCst));
            is_a_mistake_of_the_test(test.check());
        }
        let test = Test::new("unseen-queue", || Mutex::new(VecDeque::<u64>::new()))
            .spec("queue")
            .plan(plan)
            .folder(None)
            .op("enqueue", (fresh,), |q, (v,): (u64,)| q.lock().unwrap().push_back(v))
            .op("dequeue", (), |q, ()| q.lock().unwrap().pop_front());
        is_a_mistake_of_the_test(test.check());
    }
}

/// One thread makes its calls one after the other, whatever the object is made of.
#[test]
fn one_thread_needs_no_access() {
    let covered = Test::new("unseen-alone", || AtomicU64::new(0))
        .spec("counter")
        .plan(Plan::exhaustive().threads(1).ops(3))
        .folder(None)
        .op("fetch_add", (1..3u64,), |o, (n,): (u64,)| o.fetch_add(n, SeqCst))
        .check()
        .unwrap_or_else(|failure| panic!("{failure}"));
    assert!(covered.unseen, "{covered}");
    assert!(!covered.to_string().contains("Everything"), "{covered}");
}

/// A counter that one operation changes by what is seen, and another one reads elsewhere.
struct Mixed {
    steps: seen::AtomicU64,
    count: AtomicU64,
}

#[test]
fn a_right_object_that_is_partly_seen_is_not_called_wrong() {
    for plan in plans() {
        let mode = plan.mode;
        let outcome = Test::new("unseen-mixed", || Mixed {
            steps: seen::AtomicU64::new(0),
            count: AtomicU64::new(0),
        })
        .spec("counter")
        .plan(plan)
        .folder(None)
        .op("fetch_add", (1..2u64,), |o: &Mixed, (n,): (u64,)| {
            o.steps.fetch_add(1, SeqCst);
            o.count.fetch_add(n, SeqCst)
        })
        .op("read", (), |o, ()| o.count.load(SeqCst))
        .check();
        match outcome {
            Ok(covered) => {
                assert!(covered.to_string().contains("no access was seen in `read`"), "{covered}");
            }
            Err(failure) => {
                println!("{mode}: {failure}");
                assert!(
                    matches!(failure.kind, Kind::Unseen(_) | Kind::Nondeterministic(_)),
                    "{failure}"
                );
            }
        }
    }
}

/// Each operation accesses a place of its own, which says nothing about the order of the two.
struct Apart {
    steps: [seen::AtomicU64; 2],
    count: AtomicU64,
}

#[test]
fn a_right_object_whose_state_is_not_seen_is_not_called_wrong() {
    for plan in plans() {
        let make =
            || Apart { steps: [const { seen::AtomicU64::new(0) }; 2], count: AtomicU64::new(0) };
        let test = Test::new("unseen-apart", make)
            .spec("counter")
            .plan(plan)
            .folder(None)
            .op("fetch_add", (1..2u64,), |o: &Apart, (n,): (u64,)| {
                o.steps[0].fetch_add(1, SeqCst);
                o.count.fetch_add(n, SeqCst)
            })
            .op("read", (), |o, ()| {
                o.steps[1].fetch_add(1, SeqCst);
                o.count.load(SeqCst)
            });
        if let Err(failure) = test.check() {
            println!("{failure}");
            assert!(
                matches!(failure.kind, Kind::Unseen(_) | Kind::Nondeterministic(_)),
                "{failure}"
            );
        }
    }
}

/// An answer that depends on nothing is wrong where it stands, and that is shown by an execution.
#[test]
fn a_wrong_answer_without_an_access_is_found() {
    for plan in plans() {
        let failure = Test::new("unseen-constant", || seen::AtomicU64::new(0))
            .spec("counter")
            .plan(plan)
            .folder(None)
            .op("add", (1..2u64,), |o: &seen::AtomicU64, (n,): (u64,)| {
                o.fetch_add(n, SeqCst);
            })
            .op("read", (), |_, ()| 0_u64)
            .check()
            .expect_err("`read` does not count");
        assert_eq!(failure.kind, Kind::NotLinearizable, "{failure}");
        let text = failure.to_string();
        assert!(text.contains("note: no access was seen in `read`"), "{text}");
        assert!(!text.contains("points.rs"), "{text}");
        let scenario = failure.scenario.as_ref().expect("a scenario");
        assert!(scenario.len() <= 2, "{text}");
    }
}

/// The same of an object of std that is wrong even if calls come one after the other.
#[test]
fn a_wrong_object_of_std_is_found_where_calls_alone_show_it() {
    for plan in plans() {
        let failure = Test::new("unseen-lossy", || AtomicU64::new(0))
            .spec("counter")
            .plan(plan)
            .folder(None)
            .op("fetch_add", (1..2u64,), |o, (n,): (u64,)| o.fetch_add(n / 2, SeqCst))
            .check()
            .expect_err("it adds nothing");
        assert_eq!(failure.kind, Kind::NotLinearizable, "{failure}");
    }
}
