//! Names and types: what is accepted, and what is said about the rest.
//!
//! `docs/errors.md` shows the messages in full; here are the many cases between them.

use crate::{Config, Diagnostic, check};

/// The declarations that every case has.
const MODEL: &str = "\
spec counter;
param K: int = 3;
struct Node { val: int, next: Node, mark: Mark, opt: int?, slots: [int; 2], guard: lock }
record Mark { to: Node, dead: bool }
shared n: int; shared flag: bool; shared head: Node; shared mark: Mark; shared opt: int?;
shared cells: [int; 3]; shared guard: lock; shared owner: tid?;
local mine: int; local all: [int; 2]; local note: Mark;
fn pair() -> (int, int?) { return (1, none); }
fn nothing() { }
";

/// What is said about these statements in an operation; nothing if they are right.
fn messages(statements: &str) -> Vec<String> {
    said(&format!("{MODEL}op read() -> int {{ {statements} return 0; }}"))
}

fn said(source: &str) -> Vec<String> {
    match check(source, &Config::default()) {
        Ok(_) => Vec::new(),
        Err(mistakes) => mistakes.into_iter().map(|mistake| mistake.message).collect(),
    }
}

#[track_caller]
fn accepted(statements: &[&str]) {
    for statements in statements {
        assert_eq!(messages(statements), [""; 0], "{statements}");
    }
}

#[track_caller]
fn rejected(cases: &[(&str, &str)]) {
    for (statements, message) in cases {
        assert_eq!(messages(statements), [*message], "{statements}");
    }
}

#[test]
fn a_value_is_accepted_where_an_optional_is_expected() {
    accepted(&[
        "let a: int? = 1; a = none; a = n; a = opt;",
        "opt = 1; opt = none; opt = n; cas(opt, none, 1); cas(opt, 1, none); swap(opt, 3);",
        "if opt == 1 { } if 1 == opt { } if opt == none { } if none != opt { }",
        "let (a, b) = pair(); b = a; let c = unwrap(b) + a;",
        "let a: [int?; 2] = [1, none]; let b: [int?; 2] = [none; 2]; a = [n, opt];",
        "let x = new Node { opt: 1 }; x.opt = none; let y: int? = if flag { 1 } else { none };",
        "owner = me; if owner == me { } if owner != none { }",
    ]);
    rejected(&[
        ("let a: int = opt;", "expected `int`, found `int?`"),
        ("n = opt + 1;", "expected `int`, found `int?`"),
        ("if opt == null { }", "`null` is not `int?`"),
        ("let a = none;", "the type of this `none` is not known"),
        ("if none == none { }", "the type of this `none` is not known"),
        ("let a = unwrap(n);", "`int` is not optional"),
        ("let a = if flag { 1 } else { none };", "`none` is not `int`"),
        ("let a: int?? = 1;", "`int?` cannot be optional"),
        ("let a: Node? = null;", "`Node` cannot be optional"),
        ("if owner == 1 { }", "`tid?` cannot be compared with `int`"),
    ]);
}

#[test]
fn references_records_and_words() {
    accepted(&[
        "head = null; if head == null { } if null != head.next { } head.next.next.val = 3;",
        "mark = Mark { dead: true }; mark = Mark { dead: true, to: head }; mark = Mark { ..mark };",
        "let m = mark; m.dead = true; m = Mark { to: null, ..m }; if m == mark { }",
        "if mark.dead { } let x = mark.to.next; head.mark = mark; if head.mark.to == head { }",
    ]);
    rejected(&[
        ("head = none;", "`none` is not `Node`"),
        ("if head == 0 { }", "`Node` cannot be compared with `int`"),
        ("if head < 1 { }", "expected `int`, found `Node`"),
        ("mark.dead = true;", "a component of a record in shared memory cannot be written alone"),
        (
            "head.mark.dead = true;",
            "a component of a record in shared memory cannot be written alone",
        ),
        ("let x = new Mark { };", "`Mark` is a record, not a struct"),
        ("let x = Node { };", "`Node` is a struct, not a record"),
        ("mark = Mark { dead: true, dead: false };", "the field `dead` is given twice"),
        ("mark = Mark { live: true };", "`Mark` has no field `live`"),
        ("n = n.val;", "`int` has no field `val`"),
        ("let (a, b) = pair(); let t = pair(); if t == t { }", "`(int, int?)` is not one word"),
    ]);
}

#[test]
fn arrays() {
    accepted(&[
        "cells[0] = 1; cells[n] = cells[me]; let a = [1, 2]; a[0] += 1; n = a[1] + a.len();",
        "let a: [int; K] = [0; K]; a = [1, 2, 3]; a[n] = n; head.slots[1] = 2; cas(cells[1], 0, 1);",
        "all[0] = 1; all = [1, 2]; all[n] += 2; note.dead = true; mine += 1; note = mark;",
        "let e: [int; 0] = []; let marks = [mark; 2]; let m = marks[0];",
    ]);
    rejected(&[
        ("let a = cells;", "a whole array cannot be read at once"),
        ("cells = [1, 2, 3];", "a whole array cannot be written at once"),
        ("head.slots = [1, 2];", "a whole array cannot be written at once"),
        ("cas(cells, 1, 2);", "this is a whole array"),
        ("cells[flag] = 1;", "an index is an `int` or a `tid`, not `bool`"),
        ("let a: [int; 2] = [1, 2, 3];", "expected `[int; 2]`, found `[int; 3]`"),
        ("let a = [1, true];", "expected `int`, found `bool`"),
        ("let a = [];", "the type of this array is not known"),
        ("let a = [[1]];", "`[int; 1]` is not one word"),
        ("let a = [0; 4097];", "an array cannot have 4097 elements"),
        ("let a = [0; n];", "`n` is not a constant"),
        ("n[0] = 1;", "`int` has no elements"),
        (
            "let marks = [mark; 2]; marks[0].dead = true;",
            "only elements and components of a variable itself can be assigned",
        ),
        ("let a: [(int, int); 2];", "an array cannot hold `(int, int)`"),
    ]);
}

#[test]
fn locks() {
    accepted(&["lock(guard); unlock(guard); lock(head.guard); unlock(head.guard);"]);
    rejected(&[
        ("lock(n);", "`int` is not a lock"),
        ("let g = guard;", "a lock has no value"),
        ("guard = 1;", "a lock cannot be assigned"),
        ("if lock(guard) { }", "`lock` has no value"),
        ("cas(guard, 0, 1);", "a lock has no value"),
        ("let g: lock;", "`g` would hold `lock`"),
        ("lock(guard, guard);", "`lock` cannot take 2 arguments"),
    ]);
    let global =
        |declaration: &str| said(&format!("{MODEL}{declaration} op read() -> int {{ return 0; }}"));
    assert_eq!(
        global("local l: lock;"),
        ["a lock that belongs to one thread excludes no other thread"]
    );
    assert_eq!(global("fn f(l: lock) { }"), ["a lock cannot be passed to a function"]);
    assert_eq!(global("record R { l: lock }"), ["a record cannot contain `lock`"]);
    assert_eq!(global("init { lock(guard); }"), ["`init` has no thread that could hold a lock"]);
}

#[test]
fn scopes() {
    accepted(&[
        "let x = 1; { }".split(" {").next().unwrap_or_default(),
        "let n = n; n = 2; let n = flag; if n { } mine = 1;",
        "let i = 5; for i in i..i + 2 { let j = i; i = j; } n = i;",
        "for i in 0..2 { } for i in 0..2 { }",
        "if flag { let x = 1; n = x; } else { let x = true; flag = x; }",
        "let _ = n; let _ = flag; let (_, _) = pair(); for _ in 0..2 { }",
        "loop { let x = 1; if flag { break; } atomic { if flag { continue; } break; } }",
    ]);
    rejected(&[
        ("if flag { let x = 1; } n = x;", "unknown variable `x`"),
        ("for i in 0..2 { } n = i;", "unknown variable `i`"),
        ("let x = x;", "unknown variable `x`"),
        ("let _ = 1; n = _;", "unknown variable `_`"),
        ("let (a, a) = pair();", "the variable `a` is declared twice"),
        ("let me = 1;", "`me` is built in and cannot be declared"),
        ("K = 4;", "`K` is a constant"),
        ("break;", "there is no loop to leave or continue"),
        ("atomic { continue; }", "there is no loop to leave or continue"),
    ]);
}

#[test]
fn one_mistake_is_reported_once() {
    rejected(&[
        (
            "let x = undefined; x.next = x; n = x + 1; let (a, b) = x;",
            "unknown variable `undefined`",
        ),
        ("let x: Nod = null; x.next = x; head = x;", "unknown type `Nod`"),
        ("let (a, b, c) = pair(); n = a + c; b.next = a;", "3 names for 2 values"),
        ("let x = nothing(); n = x;", "`x` would hold `()`"),
        ("let me = 1; let y = me + 1;", "`me` is built in and cannot be declared"),
    ]);
    let global = |declaration: &str, body: &str| {
        said(&format!("{MODEL}{declaration} op read() -> int {{ {body} return 0; }}"))
    };
    let uses = "x = x; f(x, x); let r: R = R { }; r.a = g.a; let s = new S { a: 1 }; s.a = s.b;";
    let unknown = |name: &str| [format!("unknown type `{name}`")];
    let rest = "shared g: R; fn f(a: int, b: int) { } struct S { a: int, b: int }";
    assert_eq!(
        global(&format!("shared x: Nod; record R {{ a: int }} {rest}"), &uses.replace("g.a", "1")),
        unknown("Nod")
    );
    assert_eq!(
        global("record R { a: Nod } shared g: R;", "let r: R = R { a: 1 }; g = r; n = g.a;"),
        unknown("Nod")
    );
    assert_eq!(
        global("struct S { a: Nod, b: int }", "let s = new S { a: 1, b: 2 }; s.a = s.a; s.b = 3;"),
        unknown("Nod")
    );
    assert_eq!(global("fn f(a: Nod) -> int { return a; }", "f(1); n = f(1, 2);"), unknown("Nod"));
    assert_eq!(global("fn f() -> Nod { return 1; }", "f(); f(1);"), unknown("Nod"));
    assert_eq!(global("param P: Nod = 1; shared a: [int; P];", "a[0] = P;"), unknown("Nod"));
}

#[test]
fn constants() {
    let constant = |value: &str| {
        said(&format!("{MODEL}shared c: int = {value}; op read() -> int {{ return c; }}"))
    };
    for value in ["1", "-K", "K * 2 + threads", "MAX", "if K > 2 { 1 } else { 0 }", "7 % K"] {
        assert_eq!(constant(value), [""; 0], "{value}");
    }
    assert_eq!(constant("n"), ["`n` is not a constant"]);
    assert_eq!(constant("f()"), ["`f(…)` is not a constant"]);
    assert_eq!(constant("choose(0..2)"), ["`choose(…)` is not a constant"]);
    assert_eq!(constant("me"), ["`me` is the thread that calls an operation; there is none here"]);
    assert_eq!(constant("1 / 0"), ["this number cannot be computed"]);
    assert_eq!(constant("MAX + 1"), ["this number cannot be computed"]);
    assert_eq!(constant("nothing"), ["unknown constant `nothing`"]);
    let record = "shared m: Mark = Mark { dead: true, to: null }; op read() -> int { return 0; }";
    assert_eq!(said(&format!("{MODEL}{record}")), [""; 0], "in any order");
}

#[test]
fn clients() {
    let client = |declarations: &str| {
        said(&format!(
            "spec counter; shared n: int; op add(k: int) {{ }} op read() -> int {{ return n; }} {declarations}"
        ))
    };
    assert_eq!(client("bounds { threads: 2, ops: 1, values: 1, size: 1 }"), [""; 0]);
    assert_eq!(client("role a: add; role r: read, add; bounds { a: 0, r: 2 }"), [""; 0]);
    assert_eq!(client("bounds { ops: 0 }"), ["the bound `ops` cannot be 0"]);
    assert_eq!(client("bounds { threads: 257 }"), ["the bound `threads` cannot be 257"]);
    assert_eq!(client("bounds { ops: 1, ops: 2 }"), ["the bound `ops` is declared twice"]);
    assert_eq!(client("role a: add; bounds { a: 0 }"), ["this model has 0 threads"]);
    assert_eq!(client("role a: add, add;"), ["`add` is named twice"]);
    assert_eq!(client("role a: add; role a: read;"), ["the name `a` is taken"]);
    assert_eq!(client("role ops: add;"), ["the name `ops` is taken"]);
    let many = "role a: add; role r: read; bounds { a: 200, r: 200 }";
    assert_eq!(client(many), ["this model has 400 threads"]);
}

#[test]
fn base_conditions() {
    let base = |formula: &str| messages(&format!("let x = head; #[base({formula})] n = 1;"));
    for formula in [
        "n == 0 && head != null",
        "null == head.next",
        "opt == 1",
        "1 == opt",
        "none == opt",
        "mark.dead",
        "reach(head, next, x)",
        "reach(head, mark.to, null)",
        "cells[0] < mine",
        "owner == me",
        "forall a: Node { exists b: Node { a.next == b || a.val <= K } }",
    ] {
        assert_eq!(base(formula), [""; 0], "{formula}");
    }
    for (formula, message) in [
        ("n", "expected `bool`, found `int`"),
        ("head == 1", "`Node` cannot be compared with `int`"),
        ("reach(head, val, x)", "following this does not lead from node to node"),
        ("reach(head, next.val, x)", "following this does not lead from node to node"),
        ("reach(head, mark, x)", "following this does not lead from node to node"),
        ("reach(head, mark.val, x)", "`Mark` has no field `val`"),
        ("reach(head, nxt, x)", "`Node` has no field `nxt`"),
        ("reach(n, next, x)", "`reach` starts at a reference, not at `int`"),
        ("forall a: Nod { true }", "unknown struct `Nod`"),
        ("pair() == 1", "this cannot stand in a base condition"),
    ] {
        assert_eq!(base(formula), [message], "{formula}");
    }
}

#[test]
fn specifications() {
    let model = "shared n: int; op put(v: int) { n = v; } op take() -> int? { return none; }";
    let spec = |block: &str| said(&format!("spec {{ {block} }} {model}"));
    let right = "op put(v: int) { s.push_back(v); } op take() -> int? { return s.pop_front(); }";
    assert_eq!(spec(&format!("state s: seq<int>; {right}")), [""; 0]);
    assert_eq!(spec(&format!("state s: seq<int> = [1, 2]; {right}")), [""; 0]);
    assert_eq!(
        spec(&format!("state s: set<int>; {right}")),
        ["unknown method `push_back`", "unknown method `pop_front`"]
    );
    assert_eq!(spec("op put(v: int) { }"), ["the specification has no operation `take`"]);
    let differs = "op put(v: int, w: int) { } op take() -> int? { return none; }";
    assert_eq!(spec(differs), ["`put` differs from the `put` of the specification"]);
    let atomic =
        "state k: int; op put(v: int) { atomic { k = v; } } op take() -> int? { return none; }";
    assert_eq!(spec(atomic), ["a specification is atomic already"]);
    let lin = "state k: int; op put(v: int) { #[lin] k = v; } op take() -> int? { return none; }";
    assert_eq!(spec(lin), ["`#[lin]` cannot stand here"]);
    let range = "op put(v: int in 0..2) { } op take() -> int? { return none; }";
    assert_eq!(spec(range), ["`in` is for `int` parameters of operations that clients call"]);
}

/// What is said about a model with these declarations besides those that every case has.
fn declared(items: &str) -> Vec<String> {
    said(&format!("{MODEL}op read() -> int {{ return 0; }}\n{items}"))
}

#[test]
fn persistent_memory() {
    let right = [
        "persistent shared p: int; op write() { p = 1; flush(p); fence; persist(p); }",
        "persistent struct Leaf { l: lock, next: Leaf } persistent shared p: Leaf;
         op write() { lock(p.l); persist(p.next); unlock(p.l); }",
        "persistent shared p: [int; 2]; fn flush(i: int) { persist(p[i]); } op write() { flush(1); }",
        "persistent shared p: int; recover { p = 0; persist(p); }
         recover(t: tid) -> int? { if t == me { return p; } return none; }",
        "persistent shared p: int; bounds { crashes: 0 }",
        "record Ref { to: Leaf } persistent struct Leaf { n: int } persistent shared p: Ref;",
    ];
    for items in right {
        let wrong = declared(items);
        // The specification of these models has no `write`.
        let wrong: Vec<&String> = wrong.iter().filter(|said| !said.contains("`write`")).collect();
        assert!(wrong.is_empty(), "{items}: {wrong:?}");
    }
    let wrong = [
        ("op write() { flush(n); }", "`flush` of a volatile place"),
        ("op write() { fence; }", "`fence` guarantees what was flushed"),
        ("persistent shared p: Mark;", "a persistent reference to the volatile struct `Node`"),
        ("persistent struct Leaf { up: [Node; 2] }", "a persistent reference to the volatile"),
        ("persistent shared p: [lock; 2];", "a lock does not survive a crash"),
        ("persistent shared p: int; recover { lock(guard); }", "`recover` has no thread"),
        ("persistent shared p: int; recover { mine = 1; }", "`recover` runs while there are none"),
        ("persistent shared p: int; recover { ll(p); }", "`recover` has no thread"),
        ("persistent shared p: int; recover(t: int) -> int? { return none; }", "one thread"),
        ("persistent shared p: int; recover(t: tid) -> bool? { return none; }", "no operation"),
        ("persistent shared p: int; op write() { flush(p, p); }", "`flush` takes one place"),
        ("bounds { crashes: -1 }", "the bound `crashes` cannot be -1"),
        ("bounds { crashes: 5 }", "the bound `crashes` cannot be 5"),
        ("struct Leaf { #[line(a)] n: int }", "only persistent memory lies on lines"),
        ("recover(t: tid) -> int? { return none; }", "nothing here would survive one"),
        (
            "persistent shared p: int; fn f() { persist(p); }
             reference { op read() -> int { f(); return 0; } }",
            "a reference cannot call `f`",
        ),
    ];
    for (items, expected) in wrong {
        let said = declared(items);
        assert!(said.iter().any(|message| message.contains(expected)), "{items}: {said:?}");
    }
}

/// The calls of a preload as the program has them, or what is said against them.
fn preloaded(items: &str, asked: Option<&str>) -> Result<String, Vec<String>> {
    let source = format!(
        "spec stack; param K: int = 2; shared n: int; {items} op push(v: int in -1..10) {{ n = v; }} \
         op pop() -> int? {{ return none; }} fn helper() {{ }}"
    );
    let config = Config { preload: asked.map(str::to_owned), ..Config::default() };
    let compiled = crate::compile(&source, &config);
    let messages = |mistakes: Vec<Diagnostic>| mistakes.into_iter().map(|of| of.message).collect();
    compiled.map(|of| of.program.preload_shown().unwrap_or_default()).map_err(messages)
}

#[test]
fn preloads() {
    let right = |items: &str, shown: &str| assert_eq!(preloaded(items, None), Ok(shown.to_owned()));
    right("", "");
    right("preload { }", "");
    right("preload { push(1); push(K + 1); pop(); }", "push(1); push(3); pop()");
    right("preload { push(-1); pop() }", "push(-1); pop()");
    let wrong = |items: &str, message: &str| {
        assert_eq!(preloaded(items, None), Err(vec![message.to_owned()]), "{items}");
    };
    wrong("preload { psh(1); }", "unknown operation `psh`");
    wrong("preload { helper(); }", "unknown operation `helper`");
    wrong("preload { push(); }", "`push` takes 1 argument");
    wrong("preload { push(1, 2); }", "`push` takes 1 argument");
    wrong("preload { push(10); }", "clients do not pass 10 to `push`");
    wrong("preload { push(-2); }", "clients do not pass -2 to `push`");
    wrong("preload { push(true); }", "expected `int`, found `bool`");
    wrong("preload { push(n); }", "`n` is not a constant");
    wrong("preload { } preload { }", "a model has one `preload`");
    wrong("preload { push(1) pop(); }", "expected `;`, found `pop`");
    wrong("preload { 1; }", "expected a call of an operation, found `1`");
    // The word is a name everywhere else.
    right("shared preload: int; fn f() { let preload = preload; }", "");
}

#[test]
fn a_preload_that_is_asked_for_takes_the_place_of_the_declared_one() {
    let asked = |asked: &str| preloaded("preload { push(1); }", Some(asked));
    assert_eq!(asked("push(2); push(1)"), Ok("push(2); push(1)".to_owned()));
    assert_eq!(asked("push(2);"), Ok("push(2)".to_owned()));
    assert_eq!(asked("  "), Ok(String::new()));
    let wrong = |text: &str, message: &str| {
        assert_eq!(asked(text), Err(vec![format!("`--preload`: {message}")]), "{text}");
    };
    wrong("psh(1)", "unknown operation `psh`");
    wrong("push(1); } op f() {", "expected a call of an operation, found `op`");
    wrong("push(1", "expected `,` or `)`, found `}`");
    // A mistake in the model is one whatever is asked for.
    let both = preloaded("preload { psh(1); }", Some("push(1)"));
    assert_eq!(both, Err(vec!["unknown operation `psh`".to_owned()]));
}
