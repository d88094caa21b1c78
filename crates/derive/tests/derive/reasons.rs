//! What the first line of an answer says, and what it assumes.

use linchpin_derive::Reduce;
use linchpin_engine::{Answer, Engine, Faults, ModelBounds, Request, Source, Subject};
use linchpin_lang::{Config, compile};
use linchpin_verdict::{Assumption, Values, Verdict};

fn answer(text: &str) -> Answer {
    let compiled = compile(text, &Config::default()).unwrap_or_else(|found| panic!("{found:?}"));
    let bounds = ModelBounds {
        calls: linchpin_verdict::Calls::Each(2),
        values: Values::UpTo(2),
        crashes: 0,
    };
    let source = Source::Lin { program: &compiled.program, bounds };
    let subject = Subject { name: "model.lin", text, source };
    Reduce.answer(&subject, &Request::default()).unwrap().remove(0)
}

const WHAT: &str = "linearizable for any number of threads, operations and heap objects";

/// The assertion fails as soon as there are three threads.
#[test]
fn a_proof_where_a_step_may_fail_says_so() {
    let answer = answer(
        "spec { state x: int; op b() { } op chk() { } op get() -> int { return x; } op set(v: int) { x = v; } }
shared x: int = 0; shared y: int = 0;
op b() { let p = faa(y, 1); let q = faa(y, -1); }
op chk() { let t = y; assert(t < 2); }
op get() -> int { return x; }
op set(v: int) { x = v; }",
    );
    assert_eq!(answer.verdict, Verdict::ProvedIfSequential);
    let open = "line 4 (an assertion fails)";
    assert_eq!(answer.reason, format!("{WHAT} if no step fails, which is not shown of {open}"));
    assert_eq!(answer.faults, Faults::Open);
    let assumed = Assumption::NoStepFails { open: vec![open.to_owned()] };
    assert!(answer.assumptions.contains(&assumed), "{:?}", answer.assumptions);
    // It does not rest on sequential executions that were tried.
    assert_eq!(answer.sequential(), None);
}

#[test]
fn both_conditions_are_said() {
    let answer = answer(include_str!("../../../../models/ms_queue.lin"));
    let first = format!(
        "{WHAT} if sequentially correct and no step fails, which is not shown of line 54 (`s` is null); sequential executions tried: "
    );
    assert_eq!(answer.verdict, Verdict::ProvedIfSequential);
    assert!(answer.reason.starts_with(&first), "{}", answer.reason);
}

/// Three threads may wait for each other for ever.
#[test]
fn no_proof_says_that_operations_return() {
    let answer = answer(
        "spec { state x: int; op p() -> int { return x; } op q(v: int) { x = v; } op r() -> int { return x; } }
shared x: int = 0;
shared a: lock; shared b: lock; shared c: lock;
op p() -> int { lock(a); lock(b); let r = x; unlock(b); unlock(a); return r; }
op q(v: int) { lock(b); lock(c); x = v; unlock(c); unlock(b); }
op r() -> int { lock(c); lock(a); let r = x; unlock(a); unlock(c); return r; }",
    );
    assert_eq!(answer.verdict, Verdict::Proved);
    let first = format!("{WHAT}; that they return is checked within bounds only");
    assert_eq!(answer.reason, first);
    assert!(answer.assumptions.contains(&Assumption::Returning), "{:?}", answer.assumptions);
}

#[test]
fn a_specification_that_was_not_executed_is_said() {
    let answer = answer(
        "spec {
    state s: seq<int>;
    op put(v: int) {
        if s.len() > 1000 { s = []; }
        s.push_back(v);
    }
}
shared x: int;
op put(v: int) { x = v; }",
    );
    assert_eq!(answer.verdict, Verdict::ProvedIfSequential);
    let last = "; not all of the specification was executed";
    assert!(answer.reason.ends_with(last), "{}", answer.reason);
}
