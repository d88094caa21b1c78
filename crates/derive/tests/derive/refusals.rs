//! Where no sub-operations can be derived, the line and the reason are said; nothing is derived
//! that leaves out what the code can do.

use linchpin_derive::{derive, prove};
use linchpin_lang::{Config, compile};
use linchpin_verdict::Verdict;

const REGISTER: &str =
    "spec { state x: int; op set(v: int) { x = v; } op get() -> int { return x; } }
shared x: int; shared y: int; shared l: lock;
struct Node { val: int, next: Node }
shared top: Node;
";

fn outcome(operations: &str) -> String {
    outcome_of(&format!("{REGISTER}{operations}"))
}

fn outcome_of(source: &str) -> String {
    let compiled = compile(source, &Config::default()).unwrap_or_else(|mistakes| {
        panic!("{source}\n{mistakes:?}");
    });
    match derive(&compiled.program) {
        Err(refusal) => refusal.to_string(),
        Ok(derivation) => {
            let tries = linchpin_derive::Tries::of(2, Some(2), 2);
            let verdict = prove(&derivation, &compiled.program, &tries).unwrap().verdict();
            match verdict {
                Verdict::Proved | Verdict::ProvedIfSequential => verdict.id().to_owned(),
                _ => "not proved".to_owned(),
            }
        }
    }
}

#[track_caller]
fn refuses(operations: &str, reason: &str) {
    let outcome = outcome(operations);
    assert!(outcome.contains(reason), "{outcome}");
}

#[track_caller]
fn answers(operations: &str, expected: &str) {
    assert_eq!(outcome(operations), expected);
}

#[test]
fn a_register_is_proved() {
    answers("op set(v: int) { x = v; }\nop get() -> int { return x; }", "proved");
    answers(
        "op set(v: int) { loop { let a = x; if cas(x, a, v) { return; } } }\nop get() -> int { return x; }",
        "proved",
    );
}

#[test]
fn a_visible_step_without_a_return_is_not_forgotten() {
    // An operation that stops after `x = v` was noticed; there is no path on which it did that.
    refuses(
        "op set(v: int) { if v == 2 { return; } x = v; let n: Node; n.val = v; }\nop get() -> int { return x; }",
        "line 5: no return is reached after this step",
    );
    refuses(
        "op set(v: int) { if v == 2 { return; } x = v; loop { let a = y; } }\nop get() -> int { return x; }",
        "line 5: no return is reached after this step",
    );
}

#[test]
fn rounds_must_change_nothing() {
    refuses(
        "op set(v: int) { loop { let a = x; y = a; if cas(x, a, v) { return; } } }\nop get() -> int { return x; }",
        "line 5: this step changes what others see, and the loop goes on at line 5",
    );
    // The field is written only in the first round, and read in the last.
    refuses(
        "op set(v: int) {
    let n = new Node {};
    let first = true;
    loop {
        let a = x;
        if first { n.val = a; first = false; }
        if a == v { let b = n.val; x = b; return; }
    }
}
op get() -> int { return x; }",
        "line 10: this field of a new object may be read before it is written again",
    );
}

#[test]
fn what_a_loop_changes_becomes_a_guess() {
    // `last` may be anything when the loop ends: not proved, and not taken for its first value.
    answers(
        "op set(v: int) { x = v; }
op get() -> int {
    let last = 0;
    loop { if y == 0 { return last; } last = x; }
}",
        "not proved",
    );
}

#[test]
fn locks_are_given_back_by_those_who_took_them() {
    refuses(
        "op set(v: int) { lock(l); x = v; unlock(l); }\nop get() -> int { unlock(l); return x; }",
        "unlocks what it has not locked itself",
    );
    answers(
        "op set(v: int) { lock(l); x = v; unlock(l); }\nop get() -> int { lock(l); let a = x; unlock(l); return a; }",
        "proved",
    );
    // A lock that is not given back: no thread gets in any more, so none sees anything wrong.
    answers(
        "op set(v: int) { lock(l); x = v; x = v; }\nop get() -> int { lock(l); let a = x; unlock(l); return a; }",
        "proved-if-sequential",
    );
}

#[test]
fn two_writes_are_two_steps() {
    answers(
        "op set(v: int) { x = v; y = v; }\nop get() -> int { let a = x; return y; }",
        "not proved",
    );
    answers("op set(v: int) { x = 1; x = v; }\nop get() -> int { return x; }", "not proved");
    answers("op set(v: int) { atomic { x = 1; x = v; } }\nop get() -> int { return x; }", "proved");
}

#[test]
fn what_is_not_covered_is_named() {
    refuses("op set(v: int) { x = v * 2; }\nop get() -> int { return x; }", "line 5: arithmetic");
    refuses(
        "op set(v: int) { let a = ll(x); sc(x, v); }\nop get() -> int { return x; }",
        "line 5: `ll` and `sc`",
    );
}

#[test]
fn answers_keep_their_shape() {
    // What a built-in register holds is any value.
    let get = |answer: &str| {
        format!(
            "record R {{ v: int }}\nspec register(0);\nshared x: int;\nop write(v: int) {{ x = v; }}\nop read() -> {answer}"
        )
    };
    let refused = |answer: &str, reason: &str| {
        let outcome = outcome_of(&get(answer));
        assert!(outcome.starts_with("line 5: ") && outcome.contains(reason), "{outcome}");
    };
    assert_eq!(outcome_of(&get("int { return x; }")), "proved");
    refused("R { let a = x; return R { v: a }; }", "less than two components");
    refused("(int, R) { let a = x; return (a, R { v: a }); }", "a record or tuple inside");
    refused("((int, int), int) { let a = x; return ((a, a), a); }", "a record or tuple inside");
    refused("(int, bool) { let a = x; return (a, true); }", "truth values inside of an answer");
    refused("bool { let a = x; return a == 1; }", "an answer is a truth value");
    // A list of integers, some of which may be missing, is one.
    let pair = "spec { state x: int; op set(v: int) { x = v; } op get() -> (int, int?) { return (x, none); } }
shared x: int;
op set(v: int) { x = v; }
op get() -> (int, int?) { let a = x; return (a, none); }";
    assert_eq!(outcome_of(pair), "proved");
}

#[test]
fn long_loops_are_refused_and_end() {
    refuses(
        "op set(v: int) { let n = 0; for i in 0..100000 { n = n + 1; } x = v; }\nop get() -> int { return x; }",
        "too many",
    );
    refuses(
        "op set(v: int) { for i in 0..100000 { let a = y; } x = v; }\nop get() -> int { return x; }",
        "too many",
    );
}

#[test]
fn what_is_tested_after_a_visible_step_is_not_known_before_it() {
    // `set(2)` is not allowed to take effect. It writes, and then waits for ever: `get` may see it.
    let with = |set: &str| {
        format!(
            "spec {{ state x: int; op set(v: int) {{ assume(v == 1); x = v; }} op get() -> int {{ return x; }} }}
shared x: int;
op set(v: int) {{ {set} }}
op get() -> int {{ return x; }}"
        )
    };
    // An `assume` of locals restricts the step that it follows.
    assert_eq!(outcome_of(&with("x = v; assume(v == 1);")), "proved-if-sequential");
    assert_eq!(outcome_of(&with("x = v; let a = x; assume(v == 1);")), "not proved");
    assert_eq!(outcome_of(&with("let a = x; assume(v == 1); x = v;")), "proved-if-sequential");
    // The same with a value that was read.
    let copy = |step: &str| {
        format!(
            "spec {{ state x: int; state y: int; op put(v: int) {{ y = v; }} op copy() {{ assume(y == 1); x = y; }} op get() -> int {{ return x; }} }}
shared x: int;
shared y: int;
op put(v: int) {{ y = v; }}
op copy() {{ {step} }}
op get() -> int {{ return x; }}"
        )
    };
    assert_eq!(outcome_of(&copy("let a = y; x = a; let b = y; assume(a == 1);")), "not proved");
}
