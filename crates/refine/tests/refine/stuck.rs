//! Operations that can never return, and those that only wait.

use crate::support::{bounds_of, compiled};
use linchpin_engine::{Answer, Engine, ModelBounds, Request, Source, Subject};
use linchpin_ir::run::replay;
use linchpin_refine::{
    Failure, Holder, KeptBy, NotMade, Refine, Report, StuckCheck, StuckOperation, VerifyOptions,
    verify,
};
use linchpin_space::{Calls, Reductions};
use linchpin_verdict::{Inconclusive, Outcome};

fn options(source: &str) -> VerifyOptions {
    let compiled = compiled(source);
    VerifyOptions::new(bounds_of(&compiled))
}

fn report(source: &str) -> Report {
    verify(&compiled(source).program, &options(source), &|_| {}).unwrap()
}

/// What is stuck; the schedule has been made again by the interpreter, here once more.
fn stuck(source: &str) -> Vec<StuckOperation> {
    let (with, without) = (options(source), Reductions::NONE);
    let program = compiled(source).program;
    let mut result = Vec::new();
    for reductions in [without, with.reductions] {
        let options = VerifyOptions { reductions, ..with.clone() };
        let report = verify(&program, &options, &|_| {}).unwrap();
        assert_eq!(report.stuck, StuckCheck::Found, "{source}");
        let Outcome::Violated(found) = report.outcome else { panic!("{:?}", report.outcome) };
        let run = replay(&program, options.bounds.memory, &found.schedule).unwrap();
        assert_eq!(run.events, found.run.events);
        let Failure::Stuck(stuck) = found.failure else { panic!("{:?}", found.failure) };
        assert!(!stuck.is_empty());
        result = stuck;
    }
    result
}

fn passes(source: &str) {
    let report = report(source);
    assert!(report.outcome.is_holds(), "{:?}\n{source}", report.outcome);
    assert!(matches!(report.stuck, StuckCheck::Passed { .. }), "{:?}\n{source}", report.stuck);
}

const COUNTER: &str = "spec { state n: int; op inc() -> int { n = n + 1; return n; } }\n";

#[test]
fn a_forgotten_unlock() {
    let source = format!(
        "{COUNTER}shared l: lock;\nshared n: int;\n\
         op inc() -> int {{\n    lock(l);\n    n = n + 1;\n    let r = n;\n    return r;\n}}\n\
         bounds {{ threads: 2, ops: 2, values: 1 }}\n"
    );
    let stuck = stuck(&source);
    let [StuckOperation { kept_by: KeptBy::Wait { line, held_by, .. }, .. }] = &stuck[..] else {
        panic!("{stuck:?}");
    };
    assert_eq!(*line, 5);
    assert!(held_by.is_some());
    let unlocked = source.replace("let r = n;", "let r = n; unlock(l);");
    passes(&unlocked);
}

#[test]
fn locks_in_opposite_order() {
    let source = "spec counter;\nshared a: lock;\nshared b: lock;\nshared n: int;\n\
        op add(k: int) { lock(a); lock(b); n = n + k; unlock(b); unlock(a); }\n\
        op read() -> int { lock(b); lock(a); let r = n; unlock(a); unlock(b); return r; }\n\
        bounds { threads: 2, ops: 1, values: 1 }\n";
    let stuck = stuck(source);
    assert_eq!(stuck.len(), 2, "{stuck:?}");
    for of in &stuck {
        let KeptBy::Wait { held_by, .. } = of.kept_by else { panic!("{of:?}") };
        assert_eq!(held_by, Some(Holder { thread: 1 - of.thread, is_pending: true }));
    }
    passes(
        &source
            .replace("lock(b); lock(a);", "lock(a); lock(b);")
            .replace("unlock(a); unlock(b); return", "unlock(b); unlock(a); return"),
    );
}

const STACK: &str = "spec stack;\nstruct Node { val: int, next: Node }\nshared top: Node = null;\n\
    op push(v: int) {\n    let x = new Node { val: v };\n    loop {\n        let t = top;\n\
            x.next = t;\n        if cas(top, t, x) { return; }\n    }\n}\n";

#[test]
fn a_pop_that_never_reads_the_top_again() {
    let pop = |outside: &str, inside: &str| {
        format!(
            "{STACK}op pop() -> int? {{\n    {outside}\n    loop {{\n        {inside}\n\
             \x20       if t == null {{ return none; }}\n        let s = t.next;\n\
             \x20       if cas(top, t, s) {{ return t.val; }}\n    }}\n}}\n\
             bounds {{ threads: 2, ops: 2, values: 1 }}\n"
        )
    };
    let stuck = stuck(&pop("let t = top;", ""));
    let KeptBy::Loop { lines } = &stuck[0].kept_by else { panic!("{stuck:?}") };
    assert_eq!(stuck[0].name, "pop");
    assert!(lines.contains(&18) && !lines.contains(&13), "{lines:?}");
    passes(&pop("", "let t = top;"));
}

#[test]
fn an_operation_that_never_returns() {
    let source = "spec counter;\nshared n: int;\nop add(k: int) { let r = n; assume(r == 9); n = k; }\n\
        op read() -> int { let r = n; return r; }\nbounds { threads: 1, ops: 2, values: 1 }\n";
    let found = stuck(source);
    assert_eq!(found[0].name, "add");
    // Alone in a loop, with one thread and two.
    for threads in [1, 2] {
        let source = format!(
            "spec {{ op f() {{ }} }}\nshared n: int;\nop f() {{ loop {{ let r = n; }} }}\n\
             bounds {{ threads: {threads}, ops: 1, values: 1 }}\n"
        );
        let found = stuck(&source);
        assert_eq!(found[0].kept_by, KeptBy::Loop { lines: vec![3] });
        // Without the check the verdict is open: nothing is known about what never returns.
        let program = compiled(&source).program;
        let options = VerifyOptions { stuck: false, ..options(&source) };
        let report = verify(&program, &options, &|_| {}).unwrap();
        assert_eq!(report.never_returned, ["f"]);
        assert_eq!(report.stuck, StuckCheck::Off);
        assert!(matches!(report.outcome, Outcome::Inconclusive(Inconclusive::Undecided(_))));
    }
}

/// A call whose condition never holds is not stuck, but nothing is known about it.
#[test]
fn an_operation_that_is_never_called() {
    let source = "spec { op f() { } op g() { } }\nshared n: int;\nop f() { n = 1; }\n\
        op g() requires false { n = 2; }\nbounds { threads: 2, ops: 2, values: 1 }\n";
    let report = report(source);
    assert_eq!(report.never_returned, ["g"]);
    assert!(matches!(report.outcome, Outcome::Inconclusive(_)), "{:?}", report.outcome);
    assert!(report.unreached.iter().any(|line| line.operation == "g" && line.line == 4));
}

const BLOCKING: &str = "spec queue;\nshared full: bool;\nshared val: int;\n\
    op enqueue(v: int) { atomic { assume(!full); full = true; val = v; } }\n\
    op dequeue() -> int? { atomic { assume(full); full = false; return val; } }\n";

#[test]
fn a_dequeue_that_waits_for_an_element() {
    // All threads wait: another thread could still call. One made its only call: it could make
    // more.
    for (threads, ops) in [(1, 2), (2, 1), (2, 2), (3, 1)] {
        passes(&format!("{BLOCKING}bounds {{ threads: {threads}, ops: {ops}, values: 2 }}\n"));
    }
    // One call of one thread: it is not stuck, but no `dequeue` returns, so nothing is known of it.
    let once = report(&format!("{BLOCKING}bounds {{ threads: 1, ops: 1, values: 2 }}\n"));
    assert!(matches!(once.stuck, StuckCheck::Passed { .. }), "{:?}", once.stuck);
    assert_eq!(once.never_returned, ["dequeue"]);
    // With nothing but dequeues there is no help.
    let alone = "spec queue;\nshared full: bool;\n\
        op dequeue() -> int? { atomic { assume(full); } return none; }\n\
        bounds { threads: 2, ops: 1, values: 1 }\n";
    assert_eq!(stuck(alone)[0].name, "dequeue");
}

#[test]
fn a_spin_lock_is_fine() {
    let source = format!(
        "{COUNTER}shared held: int;\nshared n: int;\n\
         op inc() -> int {{\n    while !cas(held, 0, 1) {{ }}\n    let r = n + 1;\n    n = r;\n\
         \x20   held = 0;\n    return r;\n}}\nbounds {{ threads: 3, ops: 2, values: 1 }}\n"
    );
    passes(&source);
    let stuck = stuck(&source.replace("held = 0;", ""));
    assert_eq!(stuck[0].kept_by, KeptBy::Loop { lines: vec![5] });
}

/// The check says that it cannot tell, and nothing is called wrong.
fn left_open(source: &str) {
    for reductions in [Reductions::NONE, Reductions::ALL] {
        let options = VerifyOptions { reductions, ..options(source) };
        let report = verify(&compiled(source).program, &options, &|_| {}).unwrap();
        assert!(!matches!(report.outcome, Outcome::Violated(_)), "{source}");
        assert_eq!(report.stuck, StuckCheck::NotMade(NotMade::FurtherCalls), "{source}");
    }
}

/// Operations that wait for a number that more calls, or larger arguments, would reach.
#[test]
fn more_calls_would_end_the_wait() {
    const BOUNDS: &str = "bounds { threads: 2, ops: 2, values: 2 }\n";
    let latch = |start: u32, down: &str| {
        format!(
            "spec {{ state n: int = {start}; op await() {{ assume(n <= 0); }} op down() {{ n = n - 1; }} }}\n\
             shared n: int = {start};\nop await() {{ let a = n; assume(a <= 0); }}\n\
             op down() {{ {down} }}\n{BOUNDS}"
        )
    };
    let by_cas = "loop { let a = n; let b = a - 1; if cas(n, a, b) { return; } }";
    for down in ["faa(n, -1);", by_cas, "atomic { n = n - 1; }"] {
        left_open(&latch(20, down));
        passes(&latch(3, down));
    }
    // The number decides what is written, and that is tested.
    left_open(&format!(
        "spec {{ op await() {{ }} op down() {{ }} }}\nshared n: int = 20;\nshared open: bool;\n\
         op await() {{ assume(open); }}\n\
         op down() {{ let a = faa(n, -1); if a == 1 {{ open = true; }} }}\n{BOUNDS}"
    ));
    // Only a larger argument would do: written, or deciding what is written, or in a field.
    let other = |declared: &str, wait: &str, set: &str| {
        format!(
            "spec {{ op wait() {{ }} op set(v: int) {{ }} }}\nstruct Cell {{ n: int }}\n{declared}\n\
             op wait() {{ {wait} }}\nop set(v: int) {{ {set} }}\n{BOUNDS}"
        )
    };
    left_open(&other("shared x: int;", "let a = x; assume(a >= 10);", "x = v;"));
    left_open(&other("shared x: int;", "atomic { let a = x; assume(a >= 10); }", "x = v;"));
    left_open(&other("shared x: bool;", "assume(x);", "if v == 7 { x = true; }"));
    left_open(&other("shared x: bool;", "assume(x);", "let b = v == 7; x = b;"));
    left_open(&other("shared x: [int; 2];", "while x[1] < 10 { }", "x[1] = v;"));
    left_open(&other(
        "shared x: Cell = null;",
        "loop { let c = x; if c != null { let a = c.n; if a >= 10 { return; } } }",
        "let c = new Cell { n: v }; x = c;",
    ));
    // The lock is given back only by an operation that waits for such a number.
    left_open(&other(
        "shared x: int;\nshared l: lock;",
        "lock(l); let a = x; assume(a >= 10); unlock(l);",
        "x = v;",
    ));
}

/// Numbers that only ever get constants have no further values, and a number that is not tested
/// does not matter.
#[test]
fn no_number_of_calls_would_end_the_wait() {
    let source = format!(
        "{COUNTER}shared held: int;\nshared n: int;\n\
         op inc() -> int {{\n    while !cas(held, 0, 1) {{ }}\n    let r = faa(n, 1);\n\
         \x20   if r == 1 {{ held = 0; }}\n    return r + 1;\n}}\n\
         bounds {{ threads: 2, ops: 2, values: 1 }}\n"
    );
    assert_eq!(stuck(&source)[0].kept_by, KeptBy::Loop { lines: vec![5] });
    let counted = "spec { op wait() { } op set(v: int) { } }\nshared x: int;\nshared n: int;\n\
        op wait() { let b = n; let a = x; assume(a == 7); }\n\
        op set(v: int) { faa(n, v); x = choose(0..3); }\nbounds { threads: 2, ops: 2, values: 2 }\n";
    assert_eq!(stuck(counted)[0].name, "wait");
    let ranged =
        counted.replace("v: int) { faa", "v: int in 1..4) { faa").replace("choose(0..3)", "v");
    assert_eq!(stuck(&ranged)[0].name, "wait");
}

/// A bound on objects keeps a step from being taken; that is no reason to be stuck.
#[test]
fn a_bound_on_objects_is_not_stuck() {
    let source = format!(
        "{STACK}op pop() -> int? {{\n    loop {{\n        let t = top;\n        if t == null {{ return none; }}\n\
         \x20       if cas(top, t, t.next) {{ return t.val; }}\n    }}\n}}\n\
         bounds {{ threads: 2, ops: 2, values: 1 }}\n"
    );
    let mut options = options(&source);
    options.bounds.calls = Calls::Unlimited;
    options.bounds.objects = Some(2);
    let report = verify(&compiled(&source).program, &options, &|_| {}).unwrap();
    assert!(report.outcome.is_holds() && report.bounded, "{:?}", report.outcome);
    assert!(matches!(report.stuck, StuckCheck::Passed { .. }), "{:?}", report.stuck);
}

/// A step that the bound on objects refuses does not hide an operation that is stuck.
#[test]
fn a_bound_on_objects_hides_nothing() {
    let source = |test: &str, set: &str| {
        format!(
            "spec {{ op push(v: int) {{ }} op wait() {{ }} }}\nstruct Node {{ v: int, next: Node }}\n\
             shared top: Node = null;\nshared x: int;\n\
             op push(v: int) {{\n    let n = new Node {{ v: v }};\n    loop {{\n        let t = top;\n\
             \x20       n.next = t;\n        if cas(top, t, n) {{ {set} return; }}\n    }}\n}}\n\
             op wait() {{ if cas(x, 0, 1) {{ return; }} let q = x; assume({test}); }}\n\
             role a: push;\nrole b: wait;\nbounds {{ a: 1, b: 1, ops: 1, values: 1 }}\n"
        )
    };
    let checked = |source: &str, objects: usize| {
        let mut options = options(source);
        options.bounds.calls = Calls::Unlimited;
        options.bounds.objects = Some(objects);
        verify(&compiled(source).program, &options, &|_| {}).unwrap()
    };
    for objects in 1..=3 {
        assert_eq!(checked(&source("q == 7", ""), objects).stuck, StuckCheck::Found);
        // A further push, which the bound refuses, ends the wait.
        let helped = checked(&source("q == 7", "x = 7;"), objects).stuck;
        assert!(matches!(helped, StuckCheck::Passed { .. }), "{helped:?}");
        // And here it cannot be told whether it would.
        let open = checked(&source("q == 90", "faa(x, 1);"), objects);
        assert_eq!(open.stuck, StuckCheck::NotMade(NotMade::ObjectBound));
        assert!(!matches!(open.outcome, Outcome::Violated(_)));
    }
}

#[test]
fn the_bound_on_states_is_told() {
    let source = format!("{BLOCKING}bounds {{ threads: 2, ops: 2, values: 1 }}\n");
    let options = VerifyOptions { stuck_states: 5, ..options(&source) };
    let report = verify(&compiled(&source).program, &options, &|_| {}).unwrap();
    assert!(report.outcome.is_holds());
    assert_eq!(report.stuck, StuckCheck::NotMade(NotMade::TooManyStates { bound: 5 }));
}

/// A `return` that no run executes is unreached, though it touches nothing.
#[test]
fn a_return_that_is_never_executed() {
    let source = "spec { op f() -> int { return 1; } }\nshared n: int;\nop f() -> int {\n    let r = n;\n\
        \x20   if r == 5 {\n        return 2;\n    }\n    return 1;\n}\n\
        bounds { threads: 2, ops: 2, values: 1 }\n";
    let report = report(source);
    assert!(report.outcome.is_holds() && report.never_returned.is_empty());
    let lines: Vec<String> = report.unreached.iter().map(ToString::to_string).collect();
    assert_eq!(lines, ["f:6"]);
}

/// What the engine answers.
fn answer(source: &str, stuck: bool) -> Answer {
    let compiled = compiled(source);
    let calls = bounds_of(&compiled).calls;
    let bounds = ModelBounds { calls, values: compiled.bounds.values, crashes: 0 };
    let source = Source::Lin { program: &compiled.program, bounds };
    let subject = Subject { name: "model", text: "", source };
    let request = Request { stuck, ..Request::default() };
    Refine.answer(&subject, &request).unwrap().remove(0)
}

/// The first line says it if the check was not made.
#[test]
fn the_first_line_says_what_was_not_checked() {
    let open = "spec { op await() { } op down() { } }\nshared n: int = 40;\n\
        op await() { let a = n; assume(a <= 38 || a <= 0); }\nop down() { faa(n, -1); }\n\
        bounds { threads: 2, ops: 2, values: 1 }\n";
    let (fine, open) = (open, open.replace("a <= 38 || ", ""));
    let ending = "; not decided whether operations can get stuck";
    assert!(!answer(fine, true).reason.contains("stuck"));
    assert!(answer(&open, true).reason.ends_with(ending), "{}", answer(&open, true).reason);
    let ending = "; whether operations can get stuck was not checked";
    assert!(answer(fine, false).reason.ends_with(ending), "{}", answer(fine, false).reason);
}

/// The holder of a lock that has returned will not give it back.
#[test]
fn what_keeps_an_operation_is_said() {
    let source = |rest: &str| {
        format!(
            "spec {{ op f() {{ }} op g() {{ }} }}\nshared a: lock;\nshared b: lock;\n\
             op f() {{ lock(a); {rest} }}\n\
             op g() {{ lock(b); lock(a); unlock(a); unlock(b); }}\n\
             bounds {{ threads: 2, ops: 1, values: 1 }}\n"
        )
    };
    let said = |source: &str| {
        let found = answer(source, true).counterexample.unwrap();
        found.explanation.clone()
    };
    assert!(said(&source("")).contains("which has returned"), "{}", said(&source("")));
    let opposite = said(&source("lock(b); unlock(b); unlock(a);"));
    assert!(opposite.contains("held by") && !opposite.contains("returned"), "{opposite}");
}
