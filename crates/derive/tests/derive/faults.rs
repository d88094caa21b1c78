//! Where steps may fail: what is said never to happen, refinement must not find.

use crate::fuzz::{number, wrong};
use crate::generator;
use crate::models::models;
use fastrand::Rng;
use linchpin_lang::{Config, compile};
use linchpin_refine::search::Wrong;

/// Where steps may fail as far as derivation knows, in words; none if nothing can be derived.
fn possible(source: &str) -> Option<Vec<String>> {
    let compiled = compile(source, &Config::default()).ok()?;
    let derivation = linchpin_derive::derive(&compiled.program).ok()?;
    let mut found: Vec<String> = derivation
        .possible_faults()
        .iter()
        .map(|fault| format!("line {}: {}", fault.line, fault.what))
        .collect();
    found.dedup();
    Some(found)
}

/// Whether refinement finds a step that fails.
fn fails(source: &str, threads: usize, calls: u32) -> bool {
    wrong(source, threads, calls) == Some(Wrong::Fault)
}

/// What is inserted somewhere: accesses and assertions, many of which fail.
const EXTRA: &[&str] = &[
    "assert(t != null);",
    "assert(s != null);",
    "assert(h != t);",
    "assert(x != null);",
    "assert(x != t);",
    "assert(head != null);",
    "assert(tail != null);",
    "assert(top == null || t != null);",
    "assert(s == t.next);",
    "assert(a >= 0);",
    "assert(x <= 2);",
    "assert(b != 7);",
    "let q = s.next;",
    "let q = t.val;",
    "if t != null { let q = t.next; }",
    "let q = x.next;",
    "free(t);",
];

#[test]
fn nothing_fails_that_is_said_never_to() {
    let seed = number("LINCHPIN_SEED", 11);
    let cases = number("LINCHPIN_CASES", 120);
    println!("seed {seed}, {cases} cases");
    let (mut safe, mut failing) = (0, 0);
    for case in 0..cases {
        let mut random = Rng::with_seed(seed.wrapping_mul(1_000_003).wrapping_add(case));
        let known = random.u8(..4) > 0;
        let source =
            if known { generator::known(&mut random) } else { generator::model(&mut random) };
        let mut lines: Vec<String> = source.lines().map(str::to_owned).collect();
        // Where it is no mistake.
        let (mut wanted, mut tries) = (random.usize(1..=2), 0);
        while wanted > 0 && tries < 30 {
            tries += 1;
            let at = random.usize(..lines.len());
            let mut longer = lines.clone();
            longer.insert(at, format!("    {}", EXTRA[random.usize(..EXTRA.len())]));
            if compile(&longer.join("\n"), &Config::default()).is_ok() {
                (lines, wanted) = (longer, wanted - 1);
            }
        }
        let source = lines.join("\n");
        let Some(possible) = possible(&source) else { continue };
        let bad = fails(&source, 2, 2);
        failing += u32::from(bad);
        if possible.is_empty() {
            safe += 1;
            assert!(
                !bad && !fails(&source, 3, 1) && !fails(&source, 2, 3),
                "seed {seed}, case {case}: a step fails\n{source}"
            );
        }
    }
    println!("{safe} where nothing fails, {failing} where something does");
    assert!(safe * 20 > cases as u32 && failing * 20 > cases as u32, "both should occur");
}

/// Every call answers 0, so that nothing goes wrong but steps that fail.
const OBJECT: &str =
    "spec { state x: int; op set(v: int) { x = v; } op get(i: int) -> int { return 0; } }
shared x: int; shared cells: [int; 2]; shared top: Node; shared maybe: int? = none;
struct Node { val: int, next: Node }
init { top = new Node { }; }
";

/// Where `set` (line 5) and `get` (line 6) may fail.
#[track_caller]
fn finds(set: &str, get: &str, expected: &[&str]) {
    let source = format!(
        "{OBJECT}op set(v: int) {{ {set} }}\nop get(i: int in 0..2) -> int {{ {get} return 0; }}"
    );
    compile(&source, &Config::default()).unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
    let found = possible(&source).expect("it can be derived");
    assert_eq!(found, expected, "{source}");
    assert_eq!(fails(&source, 2, 2), !expected.is_empty(), "{source}");
}

#[test]
fn fields_of_null() {
    finds("", "let a = top.val;", &[]);
    finds("", "let n = top.next; let a = n.val;", &["line 6: `n` is null"]);
    finds("", "let n = top.next; if n != null { let a = n.val; }", &[]);
    // Another operation takes the object away, or not.
    finds("top = null;", "let n = top; let a = n.val;", &["line 6: `n` is null"]);
    finds("top = new Node { val: v };", "let n = top; let a = n.val;", &[]);
    finds("top.next = null;", "let n = top; n.val = 1;", &[]);
    finds(
        "if v == 2 { top.next = top; }",
        "let n = top.next; if i == 1 { n.val = 1; }",
        &["line 6: `n` is null"],
    );
}

#[test]
fn objects_given_back() {
    finds("", "free(top);", &[]);
    finds("top = null;", "let n = top; free(n);", &["line 6: what is given back is null"]);
}

#[test]
fn assertions() {
    finds("x = 1;", "assert(x != 2);", &[]);
    finds("x = v;", "assert(x < 2);", &["line 6: an assertion fails"]);
    // Another call comes between the write and the look.
    finds("x = v; assert(x == v);", "", &["line 5: an assertion fails"]);
    finds("", "let n = top; assert(n != null);", &[]);
}

#[test]
fn indices() {
    finds("", "let a = cells[i];", &[]);
    finds("", "let a = cells[i + 1];", &["line 6: an index is out of range"]);
    finds("if v >= 0 && v < 2 { let a = cells[v]; }", "", &[]);
    finds("let a = cells[v];", "", &["line 5: an index is out of range"]);
}

#[test]
fn values_of_none() {
    finds(
        "maybe = v;",
        "let m = maybe; let a = unwrap(m);",
        &["line 6: the value of `none` is taken"],
    );
    finds("maybe = v;", "let m = maybe; if m != none && unwrap(m) == 1 { x = 1; }", &[]);
    finds(
        "maybe = v;",
        "let m = maybe; if m != none || unwrap(m) == 1 { x = 1; }",
        &["line 6: the value of `none` is taken"],
    );
}

#[test]
fn words_that_are_twice_in_one_cas() {
    finds("", "let n = top; cas([n.val, x], [0, 0], [1, 1]);", &[]);
    finds("", "let n = top; let m = top; cas([n.val, m.next], [0, null], [1, null]);", &[]);
    finds(
        "",
        "let n = top; let m = top; cas([n.val, m.val], [0, 0], [1, 1]);",
        &["line 6: a word is twice in one `cas`"],
    );
}

#[test]
fn loops_without_a_step() {
    finds("", "let a = 0; loop { if a == 0 { break; } }", &[]);
}

/// It may be left at any time, and it may go on for ever: both engines say so, and neither goes on
/// for ever itself.
#[test]
fn loops_of_choices_end() {
    finds(
        "",
        "loop { if choose(0..2) == 0 { break; } }",
        &["line 6: a loop never gives other threads a turn"],
    );
    finds("", "loop { if choose(0..2) == 0 { break; } let a = x; }", &[]);
}

/// A step fails in each of these, in most of them beyond the bounds.
#[test]
fn failing_models_are_not_said_never_to_fail() {
    let all = models("tests/failing");
    assert!(all.len() >= 11);
    for (name, source) in all {
        assert!(possible(&source).is_none_or(|found| !found.is_empty()), "{name}");
    }
}
