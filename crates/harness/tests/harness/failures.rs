//! Failures as people see them, and their files.

use expect_test::expect;
use linchpin_harness::{Failure, NamedCall, Plan, Recorder, Specification, Test, fresh};
use linchpin_history::{CheckOptions, check};
use linchpin_history_data::Object;
use linchpin_ingest::{ReadOptions, read_path};
use std::fs;
use std::path::Path;

/// A register that forgets what is written.
fn forgetful(folder: Option<&Path>) -> Test<(), Specification> {
    Test::new("tests::forgetful", || ())
        .spec(Specification::from("register").starting_from(0))
        .plan(Plan::native().seed(1).runs(10))
        .op("write", (fresh,), |(), (_,): (u64,)| ())
        .op("read", (), |(), ()| 0)
        .scenario(vec![vec![
            NamedCall::new("read", vec![]),
            NamedCall::new("write", vec![7.into()]),
            NamedCall::new("read", vec![]),
        ]])
        .folder(folder.map(Path::to_owned))
}

fn failure(folder: Option<&Path>) -> Box<Failure> {
    forgetful(folder).check().expect_err("it forgets")
}

#[test]
fn a_failure_says_what_happened() {
    expect![[r#"
        tests::forgetful: not linearizable

        the initial value was there before 7; but write(7) by process 0 returned before read → 0 by process 0 was called, so 7 was there before the initial value

        | process 0 |
        | write(7)  |
        | read → 0  |

        The core, which no order explains:
        process 0  ├─write(7)─┤ ├─read → 0─┤

        scenario: { write(7), read }
        found by: native, after 1 round, seed 1
        note: the machine chose the schedule: a seed draws the same scenarios, no more
    "#]]
    .assert_eq(&failure(None).to_string());
}

#[test]
fn its_files_are_a_history_and_a_scenario() {
    let folder = tempfile::tempdir().expect("a folder");
    let failure = failure(Some(folder.path()));
    let files = failure.files.as_ref().expect("files");
    let history = fs::read_to_string(&files.history).expect("a history");
    expect![[r#"
        {"process":0,"type":"invoke","f":"write","value":7}
        {"process":0,"type":"ok","f":"write","value":null}
        {"process":0,"type":"invoke","f":"read","value":null}
        {"process":0,"type":"ok","f":"read","value":0}
    "#]]
    .assert_eq(&history);
    let text = failure.to_string();
    assert!(text.contains("linchpin check "), "{text}");
    assert!(text.contains("--spec register --init '0'"), "{text}");
    let regression = files.regression.as_ref().expect("a scenario");
    assert!(fs::read_to_string(regression).is_ok_and(|text| text.contains(r#"["write",7]"#)));
}

#[test]
fn its_history_is_read_and_judged_like_any_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let failure = failure(Some(folder.path()));
    let files = failure.files.as_ref().expect("files");
    let object = Object::builtin("register", Some(0.into())).expect("a register");
    let options = ReadOptions::new(&object.name, object.spec.operations());
    let mut history = read_path(&files.history, &options).expect("a history").history;
    let checked = check(&object, &mut history, &CheckOptions::default()).expect("judged");
    assert!(checked.judgement.violation().is_some());
}

/// The same test with a register that is right.
fn fixed(folder: &Path) -> Test<std::sync::atomic::AtomicU64, Specification> {
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
    Test::new("tests::forgetful", AtomicU64::default)
        .spec(Specification::from("register").starting_from(0))
        .plan(Plan::native().runs(10))
        .op("write", (fresh,), |register, (value,)| register.store(value, SeqCst))
        .op("read", (), |register, ()| register.load(SeqCst))
        .folder(Some(folder.to_owned()))
}

#[test]
fn what_failed_is_tried_first_and_said_to_be_fixed() {
    let folder = tempfile::tempdir().expect("a folder");
    failure(Some(folder.path()));
    let covered = fixed(folder.path()).check().expect("it is fixed");
    assert!(covered.to_string().contains("does not fail any more"), "{covered}");
}

#[test]
fn a_file_that_makes_no_sense_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    for text in ["", "{}", r#"{"before":[],"threads":[[["pull"]]]}"#] {
        fs::write(folder.path().join("tests-forgetful.json"), text).expect("written");
        let covered = fixed(folder.path()).check().expect("it is right");
        assert!(covered.notes.is_empty(), "{covered}");
    }
}

#[test]
#[should_panic(expected = "The core, which no order explains")]
fn a_recorded_history_can_fail_a_test() {
    let recorder = Recorder::new(&Object::builtin("queue", None).expect("a queue"));
    let mut process = recorder.process();
    process.call("enqueue", 7, || ());
    process.call("dequeue", (), || None::<u8>);
    linchpin_harness::assert_linearizable!(recorder, "queue");
}
