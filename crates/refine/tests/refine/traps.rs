//! Programs in which something almost lasts: a reduction that believed it would miss the run that
//! answers 9. One for each thing that is looked at before a step is taken along.

use crate::support::{bounds, compiled};
use linchpin_refine::{VerifyOptions, verify};
use linchpin_space::Reductions;
use linchpin_verdict::Outcome;

/// A program of two operations, neither of which may answer 9, over two cells `first` and what it
/// leads to, with `a` at the first.
fn program(f: &str, g: &str) -> String {
    format!(
        "spec {{\n    state s: int;\n    op f() -> int {{ let r = choose(0..9); return r; }}\n    \
         op g() -> int {{ let r = choose(0..9); return r; }}\n}}\n\
         struct Cell {{ val: int, next: Cell }}\nshared first: Cell;\nshared a: Cell;\n\
         shared box: Cell;\nshared save: Cell;\nshared d: int = 0;\nshared e: int = 0;\n\
         init {{\n    let y = new Cell {{ val: 2 }};\n    let x = new Cell {{ val: 1, next: y }};\n    \
         let z = new Cell {{ val: 3, next: y }};\n    first = x;\n    a = x;\n    box = z;\n}}\n\
         op f() -> int {{\n{f}\n    return 0;\n}}\nop g() -> int {{\n{g}\n    return 0;\n}}\n\
         bounds {{ threads: 2, ops: 1, values: 1 }}\n"
    )
}

/// An attempt that succeeds only if `a` was away and came back: between its reads of `d` and `e`
/// both were set, while `a` was away.
const COMES_BACK: &str = "    let o = first;
    let q = new Cell {};
    loop {
        let p = a;
        let y = d;
        let x = e;
        if cas(a, p, q) {
            if p == o { if y == 0 { if x == 1 { return 9; } } }
            return 0;
        }
    }";

/// Whether a program is right, with all reductions and with none.
fn verdicts(source: &str) -> [bool; 2] {
    let program = compiled(source).program;
    [Reductions::ALL, Reductions::NONE].map(|reductions| {
        let mut options =
            VerifyOptions { reductions, stuck: false, ..VerifyOptions::new(bounds(1, 1)) };
        options.shortest_budget = 0;
        match verify(&program, &options, &|_| {}).unwrap().outcome {
            Outcome::Holds(()) => true,
            Outcome::Violated(_) => false,
            Outcome::Inconclusive(reason) => panic!("{reason}\n{source}"),
        }
    })
}

fn goes_wrong(f: &str, g: &str) {
    let source = program(f, g);
    assert_eq!(verdicts(&source), [false, false], "{source}");
}

#[test]
fn an_object_comes_back_from_a_local() {
    goes_wrong(
        COMES_BACK,
        "    let o = a;\n    let n = new Cell {};\n    a = n;\n    d = 1;\n    e = 1;\n    a = o;",
    );
}

#[test]
fn an_object_comes_back_from_a_field() {
    goes_wrong(
        COMES_BACK,
        "    let c = box;\n    let o = a;\n    c.next = o;\n    let n = new Cell {};\n    a = n;\n    \
         d = 1;\n    e = 1;\n    let z = c.next;\n    a = z;",
    );
}

#[test]
fn an_object_comes_back_from_a_variable() {
    goes_wrong(
        COMES_BACK,
        "    let o = a;\n    save = o;\n    let n = new Cell {};\n    a = n;\n    d = 1;\n    e = 1;\n    \
         let z = save;\n    a = z;",
    );
}

#[test]
fn a_variable_moves_backward() {
    goes_wrong(
        COMES_BACK,
        "    let o = first;\n    let n = o.next;\n    if cas(a, o, n) {\n        d = 1;\n        e = 1;\n        \
         cas(a, n, o);\n    }",
    );
}

#[test]
fn links_close_a_cycle() {
    let f = COMES_BACK.replace("let q = new Cell {};", "").replace(
        "if cas(a, p, q)",
        "let s = p.next;\n        if s == null { return 0; }\n        if cas(a, p, s)",
    );
    let g = "    let o = first;
    let n = o.next;
    if n != null {
        if cas(a, o, n) {
            d = 1;
            e = 1;
            if cas(n.next, null, o) {
                let m = n.next;
                if m != null { cas(a, n, m); }
            }
        }
    }";
    goes_wrong(&f, g);
}

/// An attempt without effect that ends in one of two places: which, depends on others.
#[test]
fn an_attempt_ends_in_two_places() {
    let f = "    let p = a;\n    let x = e;\n    let t = a;\n    if t == p { return 0; }\n    \
             if x == 1 { d = 5; return 9; }\n    d = 6;";
    goes_wrong(f, "    let n = new Cell {};\n    a = n;\n    e = 1;");
}

/// Reads `d` before a field: both are set in the other order in between.
fn field_changes(field: &str) -> String {
    format!(
        "    let c = box;\n    let y = d;\n    let v = c.{field};\n    let w = v{};\n    \
         if y == 0 {{ if w == 7 {{ return 9; }} }}",
        if field == "next" { ".val" } else { "" }
    )
}

#[test]
fn a_field_is_written_again() {
    let g = "    let c = box;\n    let n = new Cell { val: 7 };\n    d = 1;\n    c.next = n;";
    goes_wrong(&field_changes("next"), g);
    let g = "    let c = box;\n    let o = c.next;\n    let n = new Cell { val: 7 };\n    d = 1;\n    \
             cas(c.next, o, n);";
    goes_wrong(&field_changes("next"), g);
}

#[test]
fn a_new_object_is_written_after_it_was_given_away() {
    let g = "    let x = new Cell {};\n    box = x;\n    d = 1;\n    x.val = 7;";
    goes_wrong(&field_changes("val"), g);
    let g = "    let x = new Cell {};\n    let y = x;\n    box = y;\n    d = 1;\n    x.val = 7;";
    goes_wrong(&field_changes("val"), g);
    let g = "    let o = box;\n    let x = new Cell {};\n    cas(box, o, x);\n    d = 1;\n    x.val = 7;";
    goes_wrong(&field_changes("val"), g);
}

/// A local is written through and then gets another object, in one step: of that one the field is
/// still needed.
#[test]
fn a_local_stands_for_two_objects() {
    let f = "    let x = new Cell {};\n    let y = box;\n    atomic { x.next = null; d = 1; x = y; }\n    \
             e = 1;\n    let z = x.next;\n    if z == null { return 9; }";
    let source = program(f, "    let y = e;");
    assert_eq!(verdicts(&source), [true, true], "{source}");
}

/// Two steps that touch different words, of which the second makes the transition of the first
/// longer: a step that was looked at and left for later concerns no other thread any more. Whether
/// such steps lead to the same state in either order depends on where each transition ends, so to
/// leave one order out is to miss the run that is wrong. With claimed points, and without.
#[test]
fn orders_of_steps_that_touch_different_words() {
    const PROGRAMS: [&str; 2] =
        [include_str!("orders/ends_at_a_point.lin"), include_str!("orders/ends_in_atomic.lin")];
    for source in PROGRAMS {
        let program = compiled(source).program;
        for points in [true, false] {
            for ample_steps in [true, false] {
                let reductions = Reductions { ample_steps, ..Reductions::ALL };
                let options = VerifyOptions {
                    reductions,
                    points,
                    stuck: false,
                    ..VerifyOptions::new(bounds(1, 1))
                };
                let outcome = verify(&program, &options, &|_| {}).unwrap().outcome;
                assert!(
                    matches!(outcome, Outcome::Violated(_)),
                    "{points} {ample_steps}\n{source}"
                );
            }
        }
    }
}
