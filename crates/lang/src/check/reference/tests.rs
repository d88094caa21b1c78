//! What a `reference { }` block may say, and what is said about the rest.

use crate::{Config, check};

/// The model around every block. Of its functions, a reference may call those up to `hidden`.
const MODEL: &str = "\
spec counter;
param K: int = 3;
struct Node { val: int, next: Node, guard: lock }
record Mark { to: Node, dead: bool }
shared n: int; shared head: Node; shared cells: [int; 3]; shared guard: lock;
local mine: int; local note: Mark;
fn sum(x: Node) -> int { let s = 0; while x != null { s += x.val; x = x.next; } return s; }
fn twice(x: Node) -> int { #[base(n == threads)] let s = sum(x); #[lin(when mine == 0)] return s; }
fn guarded(x: Node) { lock(x.guard); unlock(x.guard); }
fn hidden() -> int { let n = 3; let mine = n; return mine + K; }
fn writes() { n = 1; }
fn locks() { lock(guard); }
fn element() -> int { return cells[0]; }
fn keeps() { mine = 2; }
fn kept() -> int { return mine; }
fn noted() -> bool { note.dead = true; return note.dead; }
fn who() -> tid { return me; }
fn how_many() -> int { return threads; }
fn room() -> int { let a: [int; threads]; return a[0]; }
fn gives_back(x: Node) { free(x); }
fn deep(x: Node) -> int { if x == null { deeper(); } return sum(x); }
fn deeper() { writes(); }
op read() -> int { return n; }
";

fn said(source: &str) -> Vec<String> {
    match check(source, &Config::default()) {
        Ok(_) => Vec::new(),
        Err(mistakes) => mistakes.into_iter().map(|mistake| mistake.message).collect(),
    }
}

/// What is said about this block.
fn messages(block: &str) -> Vec<String> {
    said(&format!("{MODEL}reference {{ {block} }}"))
}

/// What is said about these statements in the operation, with some variables declared.
fn in_read(statements: &str) -> Vec<String> {
    messages(&format!(
        "shared m: int; shared h: Node; shared o: tid?; shared a: [int; 2]; shared l: lock;
         op read() -> int {{ {statements} return 0; }}"
    ))
}

#[track_caller]
fn rejected(message: &str, said: fn(&str) -> Vec<String>, cases: &[&str]) {
    for case in cases {
        assert_eq!(said(case), [message], "{case}");
    }
}

#[test]
fn what_a_reference_may_do() {
    for block in [
        "shared n: int = K; op read() -> int { n = 1; return n; }",
        "shared n: bool; shared cells: int; op read() -> int { if n { return cells; } return 0; }",
        "shared h: Node; init { h = new Node { val: K }; } op read() -> int { return h.val; }",
        "op read() -> int { let n = 1; return n; }",
    ] {
        assert_eq!(messages(block), [""; 0], "{block}");
    }
    for statements in [
        "lock(l); o = none; unlock(l); if h != null { lock(h.guard); }",
        "cas(m, 0, 1); atomic { m += 1; } a[0] = faa(m, choose(0..2)); assume(m == 1); assert(true);",
        "let d = Mark { to: h, dead: false }; if d.dead { return MAX; }",
        "guarded(h); m = sum(h) + twice(h) + hidden();",
    ] {
        assert_eq!(in_read(statements), [""; 0], "{statements}");
    }
}

#[test]
fn variables_of_the_model_are_not_in_scope() {
    rejected(
        "`n` is a variable of the model, not of its reference",
        in_read,
        &["return n;", "n = 1;", "n += 1;", "cas(n, 0, 1);", "let x = [1, n];", "sum(h); m = n;"],
    );
    rejected(
        "`cells` is a variable of the model, not of its reference",
        in_read,
        &["cells[0] = 1;", "m = cells[m];"],
    );
    rejected(
        "`mine` is a variable of the model, not of its reference",
        in_read,
        &["mine = 1;", "m = mine;"],
    );
    let guard = "`guard` is a variable of the model, not of its reference";
    rejected(guard, in_read, &["lock(guard);"]);
    rejected(
        "`n` is a variable of the model, not of its reference",
        messages,
        &[
            "init { n = 1; } op read() -> int { return 0; }",
            "shared m: int = n; op read() -> int { return m; }",
        ],
    );
    rejected("unknown variable `nn`", in_read, &["m = nn;"]);
}

#[test]
fn declarations_of_a_reference() {
    for (block, message) in [
        ("shared m: int; shared k: int = m;", "`m` is not a constant"),
        ("shared n: int; shared k: int = n;", "`n` is not a constant"),
        ("shared a: int; shared a: int;", "the variable `a` is declared twice"),
        ("shared K: int;", "the variable `K` is declared twice"),
        ("shared me: int;", "`me` is built in and cannot be declared"),
        ("shared s: seq<int>;", "`seq` is only for specifications"),
        ("shared a: [int; threads];", "a reference does not know how many threads there are"),
        ("init { } init { }", "a reference has one `init`"),
        ("shared l: lock; init { lock(l); }", "`init` has no thread that could hold a lock"),
    ] {
        assert_eq!(messages(&format!("{block} op read() -> int {{ return 0; }}")), [message]);
    }
    let once = "reference { op read() -> int { return 0; } }";
    assert_eq!(said(&format!("{MODEL}{once}{once}")), ["a model has one `reference`"]);
}

#[test]
fn functions_that_need_what_only_the_model_has() {
    for call in [
        "writes()",
        "locks()",
        "element()",
        "keeps()",
        "kept()",
        "noted()",
        "who()",
        "how_many()",
        "room()",
        "gives_back(h)",
        "deep(h)",
        "deeper()",
    ] {
        let name = call.split('(').next().unwrap_or_default();
        let message = format!("a reference cannot call `{name}`");
        rejected(&message, in_read, &[&format!("{call};")]);
        let block = format!("shared h: Node; init {{ {call}; }} op read() -> int {{ return 0; }}");
        rejected(&message, messages, &[&block]);
    }
    rejected("`read` is an operation, which only clients call", in_read, &["m = read();"]);
}

#[test]
fn the_operations_are_those_of_the_model() {
    let ends = "op read() -> int { return 0; }";
    let other = format!("{ends} op add(k: int) {{ }}");
    let again = format!("{ends} {ends}");
    for (block, expected) in [
        ("", &["the reference has no operation `read`"][..]),
        (
            "op raed() -> int { return 0; }",
            &["the reference has no operation `read`", "the model has no operation `raed`"],
        ),
        (&other, &["the model has no operation `add`"]),
        (&again, &["the operation `read` is declared twice"]),
        ("op read() -> int? { return 0; }", &["`read` differs from the `read` of the model"]),
        ("op read(k: int) -> int { return k; }", &["`read` differs from the `read` of the model"]),
        ("op read() { }", &["`read` differs from the `read` of the model"]),
        ("op read() -> int { }", &["`read` can end without returning a value"]),
        (
            "op read() -> int requires true { return 0; }",
            &["`requires` is for operations that clients call"],
        ),
    ] {
        assert_eq!(messages(block), expected, "{block}");
    }
    let model = "spec counter; shared n: int; op add(k: int in 0..3) { n = k; }";
    assert_eq!(said(&format!("{model} reference {{ op add(k: int) {{ }} }}")), [""; 0]);
    let range = said(&format!("{model} reference {{ op add(k: int in 0..3) {{ }} }}"));
    assert_eq!(range, ["`in` is for `int` parameters of operations that clients call"]);
}

#[test]
fn there_are_no_threads_and_no_claims() {
    for (statements, message) in [
        ("o = me;", "`me` is the thread that calls an operation; there is none here"),
        ("m = threads;", "a reference does not know how many threads there are"),
        ("free(h);", "`free` has no place in a reference"),
        ("#[lin] m = 1;", "`#[lin]` cannot stand here"),
        ("#[lin(when returns 0)] m = 1;", "`#[lin]` cannot stand here"),
        ("#[base(m == 0)] m = 1;", "a reference has no base conditions"),
    ] {
        assert_eq!(in_read(statements), [message], "{statements}");
    }
}
