//! What failed is tried first the next time, and repeated on request.

use crate::weak::peterson::Counter;
use linchpin_harness::{Covered, Failure, Kind, NamedCall, Plan, Test};
use linchpin_spec::Value;
use linchpin_sync::sync::atomic::{AtomicU64, Ordering};
use std::path::Path;

fn counter(folder: &Path, order: Ordering) -> Result<Covered, Box<Failure>> {
    let add = |count: &mut u64, _: (usize,)| {
        *count += 1;
        *count - 1
    };
    let call = |me| vec![NamedCall::new("add", vec![Value::Int(me)])];
    Test::new("counter", move || Counter::new(order))
        .model(0_u64)
        .folder(Some(folder.to_owned()))
        .plan(Plan::weak())
        .scenario(vec![call(0), call(1)])
        .op("add", (0..2usize,), |counter, (me,): (usize,)| counter.add(me), add)
        .check()
}

#[test]
fn stronger_orderings_end_a_failure_of_weaker_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let failure = counter(folder.path(), Ordering::AcqRel).expect_err("both threads enter");
    assert_eq!(failure.kind, Kind::NotLinearizable, "{failure}");
    // The decisions of that failure are tried first, and are no execution any more.
    let covered = counter(folder.path(), Ordering::SeqCst).unwrap_or_else(|it| panic!("{it}"));
    assert!(covered.complete, "{covered}");
    assert!(covered.notes.iter().any(|note| note.contains("does not fail any more")), "{covered}");
    let again = counter(folder.path(), Ordering::AcqRel).expect_err("both threads enter");
    assert_eq!(again.rounds, 0, "it is tried first");
}

/// A counter that loads and stores, or adds in one step.
fn two_steps(folder: &Path, plan: Plan, in_two: bool) -> Result<Covered, Box<Failure>> {
    let add = |count: &mut u64, ()| {
        *count += 1;
        *count - 1
    };
    let call = || vec![NamedCall::new("add", vec![])];
    Test::new("two-steps", || AtomicU64::new(0))
        .model(0_u64)
        .folder(Some(folder.to_owned()))
        .plan(plan)
        .scenario(vec![call(), call()])
        .op(
            "add",
            (),
            move |counter, ()| {
                if !in_two {
                    return counter.fetch_add(1, Ordering::SeqCst);
                }
                let old = counter.load(Ordering::SeqCst);
                counter.store(old + 1, Ordering::SeqCst);
                old
            },
            add,
        )
        .check()
}

#[test]
fn code_that_has_drifted_is_said_to_have() {
    for plan in [Plan::exhaustive(), Plan::weak(), Plan::random().seed(1)] {
        let folder = tempfile::tempdir().expect("a folder");
        two_steps(folder.path(), plan.clone(), true).expect_err("one addition is lost");
        let covered = two_steps(folder.path(), plan, false).unwrap_or_else(|it| panic!("{it}"));
        let notes = covered.notes.join("; ");
        assert!(notes.contains("does not fail any more, and the code has drifted"), "{notes}");
    }
}
