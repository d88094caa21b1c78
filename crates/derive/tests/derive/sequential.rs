//! What is said about sequential executions of code.

use crate::models::{models, verdict};
use linchpin_derive::{Attempt, Conclusion, Obstacle, Passed, Tries, derive, prove};
use linchpin_lang::{Config, compile};
use linchpin_subop::sequential::{NotTaken, Sequential};
use linchpin_verdict::{Assumption, Verdict};

fn attempt(source: &str, tries: &Tries) -> Attempt {
    let compiled =
        compile(source, &Config::default()).unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
    let derivation = derive(&compiled.program).unwrap_or_else(|refusal| panic!("{refusal}"));
    prove(&derivation, &compiled.program, tries).unwrap()
}

fn tries() -> Tries {
    Tries::of(2, Some(2), 2)
}

/// Each of them was called proved when constants, 0 and long executions were not tried.
#[test]
fn wrong_sequential_executions_are_found_and_replayed() {
    let all = models("tests/sequential");
    assert!(all.len() >= 9);
    for (name, source) in all {
        let attempt = attempt(&source, &tries());
        // These two are wrong with integers that clients do not pass.
        if ["negative", "zero_is_empty"].contains(&name.as_str()) {
            assert!(attempt.otherwise.is_some(), "{name}: {:?}", attempt.conclusion());
            assert_eq!(attempt.passed, Passed::AboveZero, "{name}");
            continue;
        }
        assert_eq!(attempt.verdict(), Verdict::Violated, "{name}: {:?}", attempt.conclusion());
        assert!(attempt.proof.is_proved(), "{name}: it is about sequential executions");
    }
}

#[track_caller]
fn shows(source: &str) {
    let attempt = attempt(source, &tries());
    assert_eq!(
        attempt.verdict(),
        Verdict::Proved,
        "{:?}\n{}",
        attempt.sequential,
        attempt.form.text()
    );
}

#[test]
fn simple_states_are_shown() {
    shows(
        "spec register(0); shared x: int; op write(v: int) { x = v; } op read() -> int { return x; }",
    );
    shows(
        "spec { state x: int; op get() -> int { return x; } op swap_if(a: int, b: int) -> bool { if x == a { x = b; return true; } return false; } }
shared x: int;
op get() -> int { return x; }
op swap_if(a: int, b: int) -> bool { return cas(x, a, b); }",
    );
    shows(
        "spec counter; shared x: int;
op add(n: int in 1..3) { loop { let a = x; if n == 1 { if cas(x, a, a + 1) { return; } } else { if cas(x, a, a + 2) { return; } } } }
op read() -> int { return x; }",
    );
    shows(
        "spec { state on: bool; op flip() -> bool { on = !on; return on; } op get() -> bool { return on; } }
shared b: bool;
op flip() -> bool { atomic { if b { b = false; return false; } else { b = true; return true; } } }
op get() -> bool { return b; }",
    );
    shows(
        "spec { state x: int?; op put(v: int) { x = v; } op take() -> int? { let a = x; x = none; return a; } }
shared x: int?;
op put(v: int) { x = v; }
op take() -> int? { return swap(x, none); }",
    );
    shows(
        "spec { state x: int; op set(v: int) { if v > x { x = v; } } op get() -> int { return x; } }
shared x: int;
op set(v: int) { atomic { if x < v { x = v; } } }
op get() -> int { return x; }",
    );
}

#[test]
fn what_is_not_understood_is_not_shown() {
    // Right up to 10 000, which nothing mentions before it is added up.
    let source = "spec { state x: int; op inc() { x = x + 1; } op get() -> int { return x; } }
shared x: int;
op inc() { atomic { if x < 10000 { x = x + 1; } } }
op get() -> int { return x; }";
    let found = attempt(source, &tries());
    let never = Conclusion::Inconclusive(Obstacle::NeverExecuted(vec!["inc_2".to_owned()]));
    assert_eq!(found.conclusion(), never);
    // The state of the specification is more than a few words.
    let source = "spec { state s: seq<int>; op put(v: int) { s.push_back(v); } }
shared x: int;
op put(v: int) { x = v; }";
    assert_eq!(verdict(source), Verdict::ProvedIfSequential);
}

#[test]
fn branches_of_the_specification_that_were_not_taken_are_named() {
    let source = "spec {
    state x: int;
    op add(v: int) -> bool {
        if x == 0 { x = 1; }
        if x > 1 {
            return false;
        }
        return true;
    }
}
shared x: int;
op add(v: int) -> bool { x = v; return true; }";
    let attempt = attempt(source, &tries());
    let Some(tried) = attempt.sequential.tried() else { panic!("{:?}", attempt.sequential) };
    assert!(tried.not_taken.contains(&NotTaken::SpecificationLine(5)), "{:?}", tried.not_taken);
}

#[test]
fn lists_of_arguments_that_were_left_out_are_said() {
    let source =
        "spec { state s: seq<int>; op put(a: int, b: int, c: int, d: int) { s.push_back(a); } }
shared x: int;
op put(a: int, b: int, c: int, d: int) { x = a; }";
    let Some(Assumption::SequentialExecutions(known)) =
        attempt(source, &tries()).sequential.assumption()
    else {
        panic!();
    };
    let linchpin_verdict::Sequential::Tried { integers, all_arguments, .. } = &known else {
        panic!("{known:?}");
    };
    assert_eq!((&integers[..], *all_arguments), (&[1, 2][..], false), "{known}");
    assert!(known.to_string().contains("or not all lists of arguments -2^63"), "{known}");
}

#[test]
fn bounds_are_obeyed() {
    let source = include_str!("../../../../models/treiber_stack.lin");
    let found = attempt(source, &Tries::of(2, Some(2), 4));
    let tried = found.sequential.tried().unwrap();
    assert_eq!(found.verdict(), Verdict::ProvedIfSequential);
    assert!(tried.calls() >= 4, "{tried:?}");
    assert!((-1..=4).all(|value| tried.integers().contains(&value)), "{:?}", tried.integers());
    let found = attempt(source, &Tries::of(2, Some(2), 5000));
    assert!(matches!(found.sequential, Sequential::NotTried(_)));
    let few = Tries::of(2, Some(2), 1000);
    let expected =
        |obstacle: &Obstacle| matches!(obstacle, Obstacle::FewCalls { .. } | Obstacle::NotTried(_));
    match attempt(source, &few).conclusion() {
        Conclusion::Inconclusive(obstacle) if expected(&obstacle) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_operation_that_is_never_executed_is_not_proved() {
    let source = "spec register(0); shared x: int;
op write(v: int in 0..3) { x = v; }
op read() -> int { let a = x; assume(a == 7); return a; }";
    match attempt(source, &tries()).conclusion() {
        Conclusion::Inconclusive(Obstacle::NeverExecuted(names)) => assert_eq!(names, ["read"]),
        other => panic!("{other:?}"),
    }
}

/// Clients of a bounded check pass integers above 0, and models take others for marks of their own:
/// what is wrong only with those is no violation, and no proof for all integers.
#[test]
fn a_mark_that_no_client_passes_is_no_violation() {
    let mailbox = "spec { state m: int?;
        op put(v: int) -> bool { if m != none { return false; } m = v; return true; }
        op take() -> int? { let r = m; m = none; return r; } }
        shared x: int = 0;
        op put(v: int) -> bool { return cas(x, 0, v); }
        op take() -> int? { let r = swap(x, 0); if r == 0 { return none; } return r; }
        bounds { threads: 2, ops: 2, values: 2 }";
    let found = attempt(mailbox, &Tries::of(2, Some(2), 2));
    assert_eq!(found.passed, Passed::AboveZero);
    assert!(found.otherwise.is_some());
    assert!(found.verdict().is_proof(), "{:?}", found.conclusion());
    // The same mark where clients do pass it.
    let broken = mailbox.replace("swap(x, 0); if r == 0", "swap(x, 0); if r == 1");
    let found = attempt(&broken, &Tries::of(2, Some(2), 2));
    let Conclusion::Violated(calls) = found.conclusion() else { panic!("{found:?}") };
    assert!(found.otherwise.is_none(), "{calls:?}");
}

/// A step that fails in a call with the integer that it is compared with is found, not assumed away.
#[test]
fn a_step_that_fails_in_a_call_alone_is_found() {
    let source = |test: &str| {
        format!(
            "spec register(0); shared x: int = 0;
            op write(v: int) {{ assert({test}); x = v; }} op read() -> int {{ return x; }}
            bounds {{ threads: 2, ops: 2, values: 2 }}"
        )
    };
    let found = attempt(&source("v != 9"), &tries());
    let Conclusion::Fails(failing) = found.conclusion() else { panic!("{:?}", found.conclusion()) };
    assert_eq!(failing.calls.len(), 1);
    assert_eq!(failing.fault.line, 2);
    let never = attempt(&source("v == v"), &tries());
    assert!(never.verdict().is_proof(), "{:?}", never.conclusion());
}
