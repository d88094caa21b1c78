//! Small wrong objects, each made for one way in which the analysis could overlook it. Refinement
//! finds a violation in every one; base point analysis must not say that its conditions hold.

use linchpin_base::{Analysis, Options, analyse};
use linchpin_engine::{Engine, ModelBounds, Request, Rule, Source, Subject};
use linchpin_ir::interpreter::Memory;
use linchpin_lang::{Compiled, Config, compile};
use linchpin_space::Bounds;
use linchpin_verdict::{Calls, Verdict};

fn compiled(source: &str) -> Compiled {
    compile(source, &Config::default()).unwrap_or_else(|mistakes| panic!("{mistakes:?}\n{source}"))
}

fn analysed(compiled: &Compiled) -> Analysis {
    let bounds = Bounds {
        calls: Calls::Each(compiled.bounds.ops.or_few() as u32),
        values: compiled.bounds.values,
        objects: None,
        memory: Memory::Collected,
        crashes: 0,
        thread_crashes: 0,
    };
    analyse(&compiled.program, &Options::new(bounds), &|_| {}).expect("it applies")
}

/// What refinement says of the same model within the same bounds.
fn refined(compiled: &Compiled) -> Verdict {
    let bounds = ModelBounds {
        calls: Calls::Each(compiled.bounds.ops.or_few() as u32),
        values: compiled.bounds.values,
        crashes: 0,
    };
    let source = Source::Lin { program: &compiled.program, bounds };
    let subject = Subject { name: "trap", text: "", source };
    let request = Request { stuck: false, ..Request::default() };
    linchpin_refine::Refine.answer(&subject, &request).expect("an answer")[0].verdict
}

/// The rules that a wrong object breaks; refinement must find it wrong.
fn broken(source: &str) -> Vec<Rule> {
    let compiled = compiled(source);
    assert_eq!(refined(&compiled), Verdict::Violated, "{source}");
    let analysis = analysed(&compiled);
    assert!(!analysis.holds(), "{source}");
    let mut rules: Vec<Rule> = analysis.findings.iter().map(|finding| finding.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

/// The analysis of an object that is right.
fn right(source: &str) -> Analysis {
    let compiled = compiled(source);
    assert_eq!(refined(&compiled), Verdict::HoldsWithinBounds, "{source}");
    analysed(&compiled)
}

/// `pop` reads the value of a node that it has unlinked, and a late writer changes it: that write
/// is no update step, for the node is not reachable any more.
#[test]
fn writes_to_unlinked_nodes_change_answers() {
    let rules = broken(
        "spec {
            state s: seq<int>;
            op push(v: int) { s.push_front(v); }
            op pop() -> int? { return s.pop_front(); }
            op spoil() { }
        }
        struct Node { val: int, next: Node }
        shared top: Node = null;
        op push(v: int) {
            let x = new Node { val: v };
            atomic { x.next = top; top = x; }
        }
        op pop() -> int? {
            let t: Node = null;
            atomic { t = top; if t != null { top = t.next; } }
            if t == null { return none; }
            let v = t.val;
            return v;
        }
        op spoil() {
            let t = top;
            if t != null { atomic { if top == null { t.val = 9; } } }
            return;
        }
        bounds { threads: 2, ops: 2, values: 1 }",
    );
    assert_eq!(rules, [Rule::CriticalBasePoint]);
}

/// One reader notices the first step of `one` only after `two`, another notices its last step: in
/// each run each update has at most one step that some reader notices, except in some runs.
const TWO_READERS: &str = "spec {
        state a: bool; state b: bool; state c: bool;
        op one() { a = true; c = true; }
        op two() { b = true; }
        op both() -> bool { return a && b; }
        op last() -> bool { return c; }
    }
    shared x: bool = false;
    shared y: bool = false;
    shared z: bool = false;
    op one() { x = true; z = true; }
    op two() { y = true; }
    op both() -> bool { let r = false; atomic { r = x && y; } return r; }
    op last() -> bool { let r = z; return r; }
    bounds { threads: 3, ops: 2, values: 1 }";

#[test]
fn two_readers_notice_two_steps() {
    let rules = broken(TWO_READERS);
    assert!(rules.contains(&Rule::OneStep), "{rules:?}");
}

/// A reader that looks at two places, one after the other.
#[test]
fn a_read_in_two_steps_has_no_base_point() {
    let rules = broken(
        "spec {
            state a: int; state b: int;
            op set(v: int) { a = v; b = v; }
            op get() -> (int, int) { return (a, b); }
        }
        shared x: int = 0;
        shared y: int = 0;
        op set(v: int) { atomic { x = v; y = v; } }
        op get() -> (int, int) { let a = x; let b = y; return (a, b); }
        bounds { threads: 2, ops: 1, values: 1 }",
    );
    assert_eq!(rules, [Rule::ReadBasePoint]);
}

/// A counter whose increments are lost. The second write of the same value changes nothing.
#[test]
fn a_lost_update_has_no_base_point() {
    let rules = broken(
        "spec counter;
        shared n: int = 0;
        op fetch_add(d: int) -> int { let a = n; n = a + d; return a; }
        bounds { threads: 2, ops: 1, values: 2 }",
    );
    assert_eq!(rules, [Rule::CriticalBasePoint, Rule::ReadBasePoint]);
}

/// Alone every call is right about itself; only the specification is another.
#[test]
fn the_wrong_specification_is_noticed() {
    let rules = broken(
        "spec stack;
        shared a: int = 0;
        op push(v: int) { a = v; }
        op pop() -> int? {
            let v = swap(a, 0);
            if v == 0 { return none; }
            return v;
        }
        bounds { threads: 1, ops: 4, values: 1 }",
    );
    assert_eq!(rules, [Rule::Confirmation]);
}

/// A write of `set` whose two halves may interleave with those of another `set`.
#[test]
fn interleaving_writes_do_not_commute() {
    let rules = broken(
        "spec {
            state a: int; state b: int;
            op set(v: int) { a = v; b = v; }
            op same() -> bool { return a == b; }
        }
        shared x: int = 0;
        shared y: int = 0;
        op set(v: int) { x = v; y = v; }
        op same() -> bool { let r = false; atomic { r = x == y; } return r; }
        bounds { threads: 3, ops: 1, values: 2 }",
    );
    assert!(rules.contains(&Rule::OneStep), "{rules:?}");
    assert!(rules.contains(&Rule::Commute), "{rules:?}");
}

/// A step of an operation that answers by what it finds after its update.
#[test]
fn an_answer_read_after_the_update_is_disturbed() {
    let rules = broken(
        "spec {
            state n: int;
            op next() -> int { n = n + 1; return n; }
        }
        shared n: int = 0;
        op next() -> int { faa(n, 1); let r = n; return r; }
        bounds { threads: 2, ops: 1, values: 1 }",
    );
    assert!(rules.contains(&Rule::CriticalBasePoint), "{rules:?}");
}

/// Every write is atomic and every read is one step: nothing to find.
#[test]
fn a_register_holds() {
    let analysis = right(
        "spec register(0);
        shared x: int = 0;
        op write(v: int) { x = v; }
        op read() -> int { let r = x; return r; }
        bounds { threads: 3, ops: 2, values: 2 }",
    );
    assert!(analysis.holds());
}

/// A write that becomes visible at its second step, under a lock.
#[test]
fn two_writes_of_which_one_is_noticed_hold() {
    let analysis = right(
        "spec register(0);
        shared x: [int; 2];
        shared at: int = 0;
        shared m: lock;
        op write(v: int) {
            lock(m);
            let i = at;
            x[1 - i] = v;
            at = 1 - i;
            unlock(m);
        }
        op read() -> int { let r = 0; atomic { r = x[at]; } return r; }
        bounds { threads: 3, ops: 1, values: 2 }",
    );
    assert!(analysis.holds(), "{:?}", analysis.findings);
    let lines: Vec<u32> = analysis.tally.steps.keys().map(|(_, line)| *line).collect();
    assert_eq!(lines.len(), 2);
}

/// Two writes that cancel out, of a variable that no other thread touches: both are update steps.
#[test]
fn steps_that_others_cannot_notice_are_told_apart() {
    let analysis = right(
        "spec { op a() { } }
        shared x: int;
        op a() { x = 1; x = 0; }
        bounds { threads: 1, ops: 2, values: 1 }",
    );
    assert!(analysis.holds(), "{:?}", analysis.findings);
    assert_eq!(analysis.shared.len(), 2);
}

/// An operation that makes nodes for ever when it runs alone: the analysis ends.
#[test]
fn an_endless_run_alone_ends() {
    let compiled = compiled(
        "spec { op a() { } op b() { } }
        struct B { n: B }
        shared m: lock;
        shared h: int;
        op a() { lock(m); h = 1; h = 0; unlock(m); }
        op b() { lock(m); let t: B = null; while h == 1 { t = new B { n: t }; } unlock(m); }
        bounds { threads: 2, ops: 2, values: 1 }",
    );
    let analysis = analysed(&compiled);
    assert!(analysis.stopped.is_none());
}
