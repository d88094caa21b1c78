//! A register in persistent memory, and a journal that must be written before it.

use linchpin_harness::{Covered, Failure, Instruction, Kind, NamedCall, Plan, Test, ToValue};
use linchpin_history_data::Property;
use linchpin_sync::persistent::{AtomicU64, Line, Ordering::SeqCst, Pool, fence, flush, persist};

linchpin_sync::persistent! {
    struct Root {
        value: AtomicU64,
    }
}

/// When a write is written back.
#[derive(Clone, Copy, PartialEq)]
enum Writes {
    Back,
    Never,
}

struct Register(Pool, Writes, bool);

impl Register {
    fn write(&self, value: u64) {
        let root = self.0.root::<Root>();
        root.value.store(value, SeqCst);
        if self.1 == Writes::Back {
            persist(root);
        }
    }

    fn read(&self) -> u64 {
        let root = self.0.root::<Root>();
        let value = root.value.load(SeqCst);
        // What was read must not be lost: a later crash would take it back.
        if self.2 {
            persist(root);
        }
        value
    }
}

fn call(name: &str, arguments: &[u64]) -> NamedCall {
    NamedCall::new(name, arguments.iter().map(ToValue::to_value).collect())
}

fn check(writes: Writes, reads: bool, plan: Plan, crashes: usize) -> Result<Covered, Box<Failure>> {
    Test::persistent("register", move |pool| Register(pool.clone(), writes, reads))
        .spec(linchpin_harness::Specification::from("register").starting_from(0_u64))
        .plan(plan)
        .op("write", (1_u64..3,), |register, (value,)| register.write(value))
        .op("read", (), |register, ()| register.read())
        .recover(move |pool| Register(pool.clone(), writes, reads))
        .crashes(crashes)
        .after(vec![call("read", &[])])
        .folder(None)
        .check()
}

#[test]
fn a_register_that_is_written_back_is_durable() {
    let covered =
        check(Writes::Back, true, Plan::exhaustive(), 1).unwrap_or_else(|e| panic!("{e}"));
    assert!(covered.complete, "{covered}");
    println!("{covered}");
    let text = covered.to_string();
    assert!(text.contains("1 crash at most"), "{text}");
    assert!(!text.contains("No crash lost"), "{text}");
}

#[test]
fn a_write_that_is_not_written_back_is_lost() {
    let failure = check(Writes::Never, true, Plan::exhaustive(), 1).expect_err("it is lost");
    let text = failure.to_string();
    println!("{text}");
    assert_eq!(failure.kind, Kind::NotLinearizable);
    assert_eq!(failure.property, Some(Property::Durable));
    assert!(text.contains("not durably linearizable"), "{text}");
    assert!(text.contains("LOST"), "{text}");
    assert_eq!(failure.history.crashes.len(), 1);
    let scenario = failure.scenario.as_ref().expect("a scenario");
    assert_eq!(scenario.len(), 1, "one write is enough: {scenario:?}");
    // As `Writes::Back` does, which holds.
    assert_eq!(repaired_by(&failure), ["root.value.store(value, SeqCst);"], "{text}");
    assert!(text.contains("a `persist` of what it accesses: "), "{text}");
}

/// The code after which something was seen to help.
fn repaired_by(failure: &Failure) -> Vec<&str> {
    let repairs = failure.repairs.as_ref().expect("something was lost");
    assert_eq!(repairs.undecided, 0, "{failure}");
    repairs.found.iter().filter_map(|repair| repair.source.as_deref()).collect()
}

#[test]
fn a_read_of_what_may_be_lost_is_found() {
    let failure = check(Writes::Back, false, Plan::exhaustive(), 1).expect_err("it was read");
    let text = failure.to_string();
    assert!(text.contains("read → ") && text.contains("LOST"), "{text}");
    let scenario = failure.scenario.as_ref().expect("a scenario");
    assert_eq!(scenario.len(), 2, "a write and a read: {scenario:?}");
    // The store is persisted as soon as can be: the one who read it must not trust that.
    assert_eq!(repaired_by(&failure), ["let value = root.value.load(SeqCst);"], "{text}");
    assert_eq!(failure.repairs.as_ref().map(|repairs| repairs.tried_in_vain), Some(2), "{text}");
}

#[test]
fn it_is_found_by_chance_too() {
    for plan in [Plan::random().seed(1), Plan::pct().seed(1)] {
        let failure = check(Writes::Back, false, plan.clone(), 1).expect_err("it was read");
        assert!(failure.to_string().contains("LOST"), "{failure}");
        let covered =
            check(Writes::Back, true, plan.runs(500), 2).unwrap_or_else(|e| panic!("{e}"));
        assert!(!covered.complete, "{covered}");
    }
}

#[test]
fn two_crashes() {
    let plan = Plan::exhaustive().threads(2).ops(1);
    let covered = check(Writes::Back, true, plan, 2).unwrap_or_else(|e| panic!("{e}"));
    assert!(covered.complete && covered.to_string().contains("2 crashes at most"), "{covered}");
}

#[test]
fn without_crashes_nothing_is_lost() {
    let covered = check(Writes::Never, false, Plan::exhaustive(), 0);
    assert!(covered.unwrap_or_else(|e| panic!("{e}")).complete);
}

linchpin_sync::persistent! {
    struct Journal {
        first: Line<AtomicU64>,
        second: Line<AtomicU64>,
    }
}

/// Both cells are set, one after the other; recovery trusts the second.
struct Both(Pool);

#[test]
fn a_panic_in_recovery_is_found() {
    let failure = Test::persistent("both", |pool: &Pool| Both(pool.clone()))
        .spec("counter")
        .plan(Plan::exhaustive().threads(1).ops(1))
        .op("add", (1_u64..2,), |both, (_,)| {
            let journal = both.0.root::<Journal>();
            journal.first.store(1, SeqCst);
            journal.second.store(1, SeqCst);
        })
        .recover(|pool| {
            let journal = pool.root::<Journal>();
            let (first, second) = (journal.first.load(SeqCst), journal.second.load(SeqCst));
            assert!(second <= first, "the second was written and the first was not");
            Both(pool.clone())
        })
        .folder(None)
        .check()
        .expect_err("lines are written back in any order");
    let text = failure.to_string();
    assert!(matches!(failure.kind, Kind::Panicked(_)), "{text}");
    assert!(text.contains("the second was written") && text.contains("after a crash"), "{text}");
    println!("{text}");
}

#[test]
fn mistakes_are_said() {
    let test = || Test::new("mistake", || Both(Pool::new())).spec("counter").folder(None);
    let test = || test().op("add", (1_u64..2,), |_, (_,)| ());
    let said = |result: Result<Covered, Box<Failure>>| result.expect_err("a mistake").to_string();
    assert!(said(test().crashes(1).check()).contains("no `recover"));
    assert!(said(test().recover(|pool| Both(pool.clone())).check()).contains("|pool|"));
    let weak = Test::persistent("weak", |pool| Both(pool.clone()))
        .spec("counter")
        .folder(None)
        .plan(Plan::weak())
        .op("add", (1_u64..2,), |_, (_,)| ())
        .recover(|pool| Both(pool.clone()));
    assert!(said(weak.check()).contains("knows no crashes"));
    let volatile = Test::persistent("volatile", |_| AtomicU64::new(0))
        .spec("counter")
        .folder(None)
        .plan(Plan::exhaustive())
        .op("add", (1_u64..2,), |cell, (n,)| {
            cell.fetch_add(n, SeqCst);
        })
        .recover(|_| AtomicU64::new(0));
    assert!(said(volatile.check()).contains("in no persistent pool"));
}

/// The register that is not written back, with its files in a folder.
fn with_files(folder: &std::path::Path, writes: Writes) -> Result<Covered, Box<Failure>> {
    Test::persistent("lost", move |pool| Register(pool.clone(), writes, true))
        .spec(linchpin_harness::Specification::from("register").starting_from(0_u64))
        .plan(Plan::exhaustive())
        .op("write", (1_u64..3,), |register, (value,)| register.write(value))
        .op("read", (), |register, ()| register.read())
        .recover(move |pool| Register(pool.clone(), writes, true))
        .after(vec![call("read", &[])])
        .folder(Some(folder.to_owned()))
        .check()
}

#[test]
fn a_failure_has_files_and_is_tried_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let failure = with_files(folder.path(), Writes::Never).expect_err("it is lost");
    let text = failure.to_string();
    assert!(text.contains("--spec register --init '0' --property durable"), "{text}");
    let files = failure.files.expect("files");
    let history = std::fs::read_to_string(&files.history).expect("a history");
    let lines: Vec<&str> = history.lines().collect();
    let [called, returned, crash, ..] = lines[..] else { panic!("{history}") };
    assert!(called.contains("invoke") && returned.contains("ok"), "{history}");
    assert_eq!(crash, r#"{"type":"crash"}"#);
    let again = with_files(folder.path(), Writes::Never).expect_err("it is lost again");
    assert_eq!(again.rounds, 0, "{again}");
    assert_eq!(again.decisions, failure.decisions);
    let covered = with_files(folder.path(), Writes::Back).unwrap_or_else(|e| panic!("{e}"));
    assert!(covered.to_string().contains("does not fail any more"), "{covered}");
}

linchpin_sync::persistent! {
    struct Counted {
        value: Line<AtomicU64>,
        writes: Line<AtomicU64>,
    }
}

/// What stands after the store of a write, which an update of another line follows.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Follows {
    Nothing,
    Flush,
    FlushAndFence,
}

/// A register whose writes are counted, or not.
struct CountedRegister(Pool, Follows, bool);

impl CountedRegister {
    fn write(&self, value: u64) {
        let root = self.0.root::<Counted>();
        root.value.store(value, SeqCst);
        if self.1 != Follows::Nothing {
            flush(&*root.value);
        }
        if self.1 == Follows::FlushAndFence {
            fence();
        }
        if self.2 {
            root.writes.fetch_add(1, SeqCst);
        }
    }
}

/// One write, and a read of what a crash has left.
fn counted(follows: Follows, counts: bool) -> Result<Covered, Box<Failure>> {
    Test::persistent("counted", move |pool| CountedRegister(pool.clone(), follows, counts))
        .spec(linchpin_harness::Specification::from("register").starting_from(0_u64))
        .plan(Plan::exhaustive())
        .op("write", (1_u64..2,), |register, (value,)| register.write(value))
        .op("read", (), |register, ()| register.0.root::<Counted>().value.load(SeqCst))
        .recover(move |pool| CountedRegister(pool.clone(), follows, counts))
        .scenario(vec![vec![call("write", &[1])]])
        .after(vec![call("read", &[])])
        .folder(None)
        .check()
}

#[test]
fn the_weakest_repair_is_named() {
    let named = |follows, counts| {
        let failure = counted(follows, counts).expect_err("the write is lost");
        let repairs = failure.repairs.as_ref().expect("something was lost");
        assert_eq!(repairs.undecided, 0, "{failure}");
        repairs.found.iter().map(|repair| repair.instruction).collect::<Vec<_>>()
    };
    // The update that follows waits for a flush. With it, the code passes.
    assert_eq!(named(Follows::Nothing, true), [Instruction::Flush]);
    assert!(counted(Follows::Flush, true).is_ok());
    // Nothing waits: a persist after the store, or a fence after the flush. With it, it passes.
    assert_eq!(named(Follows::Nothing, false), [Instruction::Persist]);
    assert_eq!(named(Follows::Flush, false), [Instruction::Persist, Instruction::Fence]);
    assert!(counted(Follows::FlushAndFence, false).is_ok());
}
