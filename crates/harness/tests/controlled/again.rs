//! What failed is tried first the next time, and repeated on request.

use crate::weak::peterson::Counter;
use linchpin_harness::{Covered, Failure, Kind, NamedCall, Plan, Test};
use linchpin_spec::Value;
use linchpin_sync::sync::atomic::Ordering;
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
