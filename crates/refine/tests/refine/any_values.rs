//! Where a verdict is about any values, it is the one for more values than clients can pass in a
//! run, and what is not made for that is refused.

use crate::naive::{naive, random_reductions, seed_and_cases};
use crate::support::{bounds, compiled};
use fastrand::Rng;
use linchpin_engine::{Engine, ModelBounds, Request, Source, Subject};
use linchpin_ir::program::Program;
use linchpin_refine::{Refine, Report, StuckCheck, VerifyOptions, verify};
use linchpin_space::{Calls, DataUse, NotAlike, Reductions, Values};
use linchpin_verdict::{Bound, Outcome};
use std::collections::BTreeMap;

/// An object: its specification, its variables, and what its operations may be.
struct Object {
    spec: &'static str,
    shared: &'static str,
    /// The head of each operation, and its bodies: some right, some wrong.
    operations: &'static [(&'static str, &'static [&'static str])],
    /// How many values a call passes at most.
    width: i64,
}

/// What may come before the body of an operation that takes `v`.
const BEFORE: [&str; 14] = [
    "",
    "",
    "",
    "",
    "m = v;",
    "m = v;",
    "if m == 0 { m = v; }",
    "if m == v { n = true; }",
    "let o = m; if o != v { n = false; m = v; }",
    "cas(m, 0, v);",
    "if v == 2 { n = true; }",
    "if v > m { m = v; }",
    "m = v - 1;",
    "if v == 3 { m = v; }",
];

const OBJECTS: [Object; 5] = [
    Object {
        spec: "register(0)",
        shared: "shared x: int = 0;",
        operations: &[
            (
                "write(v: int)",
                &[
                    "x = v;",
                    "x = v;",
                    "let o = x; cas(x, o, v);",
                    "let o = x; if o != v { x = v; }",
                    "if !n { x = v; }",
                    "x = 0; x = v;",
                    "let o = x; if m != o { x = v; } else { x = m; }",
                ],
            ),
            (
                "read() -> int",
                &[
                    "return x;",
                    "return x;",
                    "let o = x; let p = x; if o == p { return o; } return p;",
                    "let o = x; let p = m; if o == p { return p; } return o;",
                    "if n { return m; } return x;",
                    "let o = x; x = 0; return o;",
                    "return m;",
                ],
            ),
        ],
        width: 1,
    },
    Object {
        spec: "cas-register(1)",
        shared: "shared x: int = 1;",
        operations: &[
            ("write(v: int)", &["x = v;", "x = v;", "let o = x; if o != v { x = v; }"]),
            (
                "read() -> int",
                &["return x;", "return x;", "if n { return m; } return x;", "return m;"],
            ),
            (
                "cas(v: int, w: int) -> bool",
                &[
                    "if cas(x, v, w) { return true; } return false;",
                    "if cas(x, v, w) { return true; } return false;",
                    "let o = x; if o == v { x = w; return true; } return false;",
                    "let o = x; if o == v { x = w; } if o == w { return false; } return o == v;",
                    "if v == w { if x == v { return true; } return false; } \
                     if cas(x, v, w) { return true; } return false;",
                ],
            ),
        ],
        width: 2,
    },
    Object {
        spec: "set",
        shared: "shared x: int = 0; shared y: int = 0; shared l: lock;",
        operations: &[
            (
                "add(v: int) -> bool",
                &[
                    "let r = false; lock(l); if x != v { if y != v { if x == 0 { x = v; r = true; } \
                     else { if y == 0 { y = v; r = true; } } } } unlock(l); return r;",
                    "let r = false; lock(l); if x != v { if x == 0 { x = v; r = true; } \
                     else { if y != v { y = v; r = true; } } } unlock(l); return r;",
                    "if x == v { return false; } if y == v { return false; } \
                     if cas(x, 0, v) { return true; } if cas(y, 0, v) { return true; } return false;",
                ],
            ),
            (
                "contains(v: int) -> bool",
                &[
                    "let r = false; lock(l); if x == v { r = true; } if y == v { r = true; } \
                     unlock(l); return r;",
                    "if x == v { return true; } if y == v { return true; } return false;",
                ],
            ),
        ],
        width: 1,
    },
    Object {
        spec: "stack",
        shared: "struct Cell { val: int, next: Cell } shared top: Cell;",
        operations: &[
            (
                "push(v: int)",
                &[
                    "let c = new Cell { val: v }; loop { let t = top; c.next = t; \
                     if cas(top, t, c) { return; } }",
                    "let c = new Cell { val: v }; loop { let t = top; c.next = t; \
                     if cas(top, t, c) { return; } }",
                    "let c = new Cell { val: v }; let t = top; c.next = t; top = c;",
                    "let c = new Cell { val: v }; loop { let t = top; if t != null { \
                     if t.val == v { return; } } c.next = t; if cas(top, t, c) { return; } }",
                    "let c = new Cell { val: v }; if n { c.val = m; } loop { let t = top; \
                     c.next = t; if cas(top, t, c) { return; } }",
                ],
            ),
            (
                "pop() -> int?",
                &[
                    "loop { let t = top; if t == null { return none; } let s = t.next; \
                     if cas(top, t, s) { return t.val; } }",
                    "loop { let t = top; if t == null { return none; } let s = t.next; \
                     if cas(top, t, s) { return t.val; } }",
                    "let t = top; if t == null { return none; } top = t.next; return t.val;",
                    "loop { let t = top; if t == null { return none; } let s = t.next; \
                     if s != null { if s.val == t.val { s = s.next; } } \
                     if cas(top, t, s) { return t.val; } }",
                    "loop { let t = top; if t == null { return none; } let s = t.next; \
                     if cas(top, t, s) { let r = t.val; if r == m { return m; } return r; } }",
                ],
            ),
        ],
        width: 1,
    },
    Object {
        spec: "queue",
        shared: "shared x: int = 0; shared y: int = 0; shared z: int = 0; shared l: lock;",
        operations: &[
            (
                "enqueue(v: int)",
                &[
                    "lock(l); if x == 0 { x = v; } else { if y == 0 { y = v; } else { z = v; } } \
                     unlock(l);",
                    "lock(l); if x == 0 { x = v; } else { if y == 0 { y = v; } else { z = v; } } \
                     unlock(l);",
                    "lock(l); if x == 0 { x = v; } else { z = y; y = v; } unlock(l);",
                    "lock(l); if x == 0 { x = v; } else { if y == 0 { if x != v { y = v; } } \
                     else { z = v; } } unlock(l);",
                    "if cas(x, 0, v) { return; } if cas(y, 0, v) { return; } z = v;",
                    "x = v;",
                ],
            ),
            (
                "dequeue() -> int?",
                &[
                    "let r = 0; lock(l); r = x; x = y; y = z; z = 0; unlock(l); \
                     if r == 0 { return none; } return r;",
                    "let r = 0; lock(l); r = x; x = y; y = z; z = 0; unlock(l); \
                     if r == 0 { return none; } return r;",
                    "let r = 0; lock(l); r = x; x = y; y = z; z = 0; if r == x { if x == y { x = 0; } } \
                     unlock(l); if r == 0 { return none; } return r;",
                    "let r = x; if r == 0 { return none; } x = y; y = z; z = 0; return r;",
                    "let r = 0; lock(l); r = z; if r == 0 { r = y; } if r == 0 { r = x; } x = 0; y = 0; \
                     z = 0; unlock(l); if r == 0 { return none; } return r;",
                ],
            ),
        ],
        width: 1,
    },
];

fn model(object: &Object, random: &mut Rng) -> String {
    let mut operations = String::new();
    for (head, bodies) in object.operations {
        let before = match head.contains("v: int") {
            true => BEFORE[random.usize(..BEFORE.len())],
            false => "",
        };
        let body = bodies[random.usize(..bodies.len())];
        operations += &format!("op {head} {{ {before} {body} }}\n");
    }
    format!(
        "spec {};\n{}\nshared m: int = 0;\nshared n: bool = false;\n{operations}\
         bounds {{ threads: 2, ops: 2, values: 2 }}\n",
        object.spec, object.shared
    )
}

pub fn options(calls: usize, values: Values) -> VerifyOptions {
    let mut options = VerifyOptions::new(bounds(calls, 2));
    options.bounds.values = values;
    options.search.workers = 1;
    options.stuck = false;
    options.shortest_budget = 0;
    options
}

pub fn report(program: &Program, options: &VerifyOptions) -> Report {
    verify(program, options, &|_| {}).expect("a report")
}

fn holds(report: &Report) -> bool {
    match &report.outcome {
        Outcome::Holds(()) => true,
        Outcome::Violated(_) => false,
        Outcome::Inconclusive(reason) => panic!("{reason}"),
    }
}

/// How many programs of one specification came out how.
#[derive(Debug, Default)]
pub struct Counts {
    pub moved: [usize; 2],
    pub compared: [usize; 2],
    pub refused: usize,
    /// With two values the verdict is another one.
    pub differs: usize,
    /// The same among those that were refused.
    pub refused_differs: usize,
    /// Two values were found to stand for all.
    pub lifted: usize,
    /// The naive explorer came to an end.
    pub naive: usize,
}

#[test]
fn any_values_are_as_many_as_can_be_passed() {
    // For a long run: LINCHPIN_SEED=7 LINCHPIN_CASES=20000 cargo test --release -p linchpin-refine
    // any_values
    let (seed, cases) = seed_and_cases(150);
    let mut all: BTreeMap<&str, Counts> = BTreeMap::new();
    for number in 0..cases {
        let seed = seed.wrapping_add(number);
        let mut random = Rng::with_seed(seed);
        let object = &OBJECTS[random.usize(..OBJECTS.len())];
        let source = model(object, &mut random);
        let program = compiled(&source).program;
        // Pairs of values that are told apart are many.
        let calls = if object.width == 1 { random.usize(1..3) } else { 1 };
        let counts = all.entry(object.spec).or_default();
        one(&program, object.width, calls, counts, &mut random, &format!("seed {seed}\n{source}"));
    }
    for (spec, counts) in &all {
        println!("seed {seed} {spec}: {counts:?}");
    }
    let total = |of: fn(&Counts) -> usize| all.values().map(of).sum::<usize>();
    if cases < 150 {
        return;
    }
    assert!(total(|of| of.moved[0]) > 0 && total(|of| of.moved[1]) > 0, "{all:?}");
    assert!(total(|of| of.lifted) > 0 && total(|of| of.naive) > 0, "{all:?}");
    assert!(total(|of| of.differs) > 0 && total(|of| of.refused_differs) > 0, "{all:?}");
    for counts in all.values() {
        assert!(counts.compared[0] + counts.moved[0] > 0, "{all:?}");
        assert!(counts.compared[1] + counts.moved[1] > 0, "{all:?}");
        assert!(counts.refused > 0, "{all:?}");
    }
}

/// Compares a program with any values with the same with more values than clients can pass.
pub fn one(
    program: &Program,
    width: i64,
    calls: usize,
    counts: &mut Counts,
    random: &mut Rng,
    at: &str,
) {
    // One more than clients can pass, beside the one that some objects start with.
    let many = width * 2 * i64::try_from(calls).unwrap() + 2;
    let apart = Reductions { value_symmetry: false, ..Reductions::ALL };
    let expected = |values: i64| {
        let mut options = options(calls, Values::UpTo(values));
        options.reductions = apart;
        holds(&report(program, &options))
    };
    let with_many = expected(many);
    if calls == 1
        && let Some(naive) = naive(program, calls, many)
    {
        assert_eq!(naive, with_many, "{at}");
        counts.naive += 1;
    }
    let with_two = expected(2);
    let mut asked = options(calls, Values::Any);
    if random.bool() {
        asked.reductions =
            Reductions { value_symmetry: random.bool(), ..random_reductions(random) };
    }
    let any = report(program, &asked);
    match (&any.not_any, &any.symmetry.data) {
        (Some(_), _) => {
            counts.refused += 1;
            counts.refused_differs += usize::from(with_many != with_two);
            assert!(!holds(&any) || any.values == Values::UpTo(2), "{at}");
            assert_eq!(holds(&any), with_two, "{at}");
        }
        (None, data) => {
            assert_eq!(
                holds(&any),
                with_many,
                "{calls} calls, {data:?} {:?} {at}",
                asked.reductions
            );
            assert!(!holds(&any) || any.values == Values::Any, "{at}");
            counts.differs += usize::from(with_many != with_two);
            match data {
                DataUse::Moved => counts.moved[usize::from(with_many)] += 1,
                DataUse::Compared => counts.compared[usize::from(with_many)] += 1,
                DataUse::Other(why) => panic!("{why} {at}"),
            }
        }
    }
    // Two values may turn out to stand for all.
    let two = report(program, &options(calls, Values::UpTo(2)));
    assert_eq!(holds(&two), with_two, "{at}");
    if holds(&two) && two.values == Values::Any {
        counts.lifted += 1;
        assert!(with_many, "{at}");
        assert!(any.not_any.is_none(), "{at}");
    }
}

const STACK: &str = "spec stack;
    struct Cell { val: int, next: Cell }
    shared top: Cell; shared m: int = 0;
    op push(v: int) { BEFORE let c = new Cell { val: v };
        loop { let t = top; c.next = t; if cas(top, t, c) { return; } } }
    op pop() -> int? { loop { let t = top; if t == null { return none; } let s = t.next;
        if cas(top, t, s) { return t.val; } } }
    bounds { threads: 2, ops: 2, values: 2 }";

fn stack(before: &str) -> Program {
    compiled(&STACK.replace("BEFORE", before)).program
}

/// What is done with values decides which runs stand for all.
#[test]
fn what_is_done_with_values_is_found() {
    let found = |before: &str| {
        let report = report(&stack(before), &options(1, Values::UpTo(2)));
        report.symmetry.data
    };
    assert_eq!(found(""), DataUse::Moved);
    assert_eq!(found("m = v;"), DataUse::Moved);
    // No value is 0, so which are equal does not matter here.
    assert_eq!(found("if m == 0 { m = v; }"), DataUse::Moved);
    assert_eq!(found("cas(m, 0, v);"), DataUse::Moved);
    assert_eq!(found("if m == v { m = 0; }"), DataUse::Compared);
    assert_eq!(found("let o = m; cas(m, o, v);"), DataUse::Compared);
    let other = |why: fn(String) -> NotAlike| DataUse::Other(why("push".to_owned()));
    assert_eq!(found("if v == 7 { return; }"), other(NotAlike::Constant));
    assert_eq!(found("m = v; m = 9;"), other(NotAlike::Constant));
    assert_eq!(found("if v < m { return; }"), other(NotAlike::Computed));
    assert_eq!(found("m = v + 1;"), other(NotAlike::Computed));
    assert_eq!(found("m = v; faa(m, 1);"), other(NotAlike::Computed));
    let indexed = STACK
        .replace("shared top", "shared a: [int; 9]; shared top")
        .replace("BEFORE", "a[v] = 0;");
    let indexed = report(&compiled(&indexed).program, &options(1, Values::UpTo(2)));
    assert_eq!(indexed.symmetry.data, other(NotAlike::Computed));
    // A specification that is not known to treat all values alike.
    let counter = "spec counter; shared n: int = 0;
        op add(k: int) { n = k; } op read() -> int { return n; }
        bounds { threads: 2, ops: 1, values: 2 }";
    let counter = report(&compiled(counter).program, &options(1, Values::Any));
    assert_eq!(counter.not_any, Some(NotAlike::Specification));
}

/// Objects that go wrong only with equal values, or only with three different ones.
#[test]
fn values_that_matter_are_tried() {
    let verdict = |before: &str, calls: usize, values: Values| {
        holds(&report(&stack(before), &options(calls, values)))
    };
    let equal = "if m == v { return; } m = v;";
    assert!(verdict(equal, 1, Values::UpTo(1)) == verdict(equal, 1, Values::Any));
    assert!(!verdict(equal, 2, Values::Any), "a value that is pushed twice is lost");
    // Three different values one after the other: two are not enough to see it.
    let three = "let o = m; if o == 0 { m = v; } else { if o != v { \
                 let p = top; if p != null { let q = p.val; if q != o { if q != v { return; } } } } }";
    assert!(verdict(three, 2, Values::UpTo(2)));
    assert!(!verdict(three, 2, Values::UpTo(3)) && !verdict(three, 2, Values::Any));
    // One that is told apart from all others is refused.
    let seventh = "if v == 7 { return; }";
    let refused = report(&stack(seventh), &options(2, Values::Any));
    assert_eq!(refused.not_any, Some(NotAlike::Constant("push".to_owned())));
    assert_eq!((holds(&refused), refused.values), (true, Values::UpTo(2)));
}

/// The object may start with values: those that clients pass may be equal to them.
#[test]
fn values_at_the_start_are_values() {
    let source = |start: i64| {
        format!(
            "spec register({start}); shared x: int = {start}; shared y: int = {start};
            op write(v: int) {{ let o = y; if o == v {{ return; }} x = v; }}
            op read() -> int {{ return x; }}
            bounds {{ threads: 1, ops: 2, values: 1 }}"
        )
    };
    for start in [1, 2, 4, 9] {
        let program = compiled(&source(start)).program;
        // A second write of the first value is lost, if clients pass that one.
        let any = report(&program, &options(3, Values::Any));
        assert!(any.not_any.is_none() && !holds(&any), "{start}");
        let few = report(&program, &options(3, Values::UpTo(1)));
        assert!(start == 1 || holds(&few) && few.values == Values::UpTo(1), "{start}");
    }
    let far = report(&compiled(&source(300)).program, &options(3, Values::Any));
    assert_eq!(far.not_any, Some(NotAlike::Start(300)));
    // Nothing is compared with 0 that a client passes.
    let any = report(&compiled(&source(0)).program, &options(3, Values::Any));
    assert!(holds(&any) && any.values == Values::Any, "{any:?}");
}

/// Any number of operations, of any values, where both close.
#[test]
fn any_values_and_any_number_of_operations() {
    let source = "spec register(0); shared x: int = 0;
        op write(v: int) { x = v; } op read() -> int { return x; }
        bounds { threads: 2, ops: 2, values: 2 }";
    let program = compiled(source).program;
    for (calls, values) in [
        (Calls::Unlimited, Values::Any),
        (Calls::Each(4), Values::Any),
        (Calls::Unlimited, Values::UpTo(5)),
    ] {
        let mut options = options(1, values);
        options.bounds.calls = calls;
        options.stuck = true;
        let found = report(&program, &options);
        assert!(holds(&found) && found.values == Values::Any, "{calls:?} {values:?} {found:?}");
        assert!(found.any_calls || calls == Calls::Unlimited, "{found:?}");
        assert!(matches!(found.stuck, StuckCheck::Passed { any_values: true, .. }), "{found:?}");
    }
    // A write is one step, so besides the value that is there one more is enough; with one name,
    // nothing is said of all values.
    for (last, values) in [(2, Values::Any), (1, Values::UpTo(1))] {
        let mut few = options(1, Values::UpTo(last));
        few.bounds.calls = Calls::Unlimited;
        assert_eq!(report(&program, &few).values, values);
    }
}

/// The verdict names the values, and a model may ask for any.
#[test]
fn the_verdict_says_any_values() {
    let answer = |before: &str, values: &str| {
        let source = STACK.replace("BEFORE", before).replace("values: 2", values);
        let compiled = compiled(&source);
        let bounds =
            ModelBounds { calls: Calls::Each(2), values: compiled.bounds.values, crashes: 0 };
        let source = Source::Lin { program: &compiled.program, bounds };
        let subject = Subject { name: "stack.lin", text: "", source };
        let mut answers = Refine.answer(&subject, &Request::default()).expect("an answer");
        answers.remove(0)
    };
    let any = answer("", "values: any");
    assert!(
        any.reason.ends_with("2 threads, 2 operations each, any values above 0"),
        "{}",
        any.reason
    );
    assert!(any.bounds.contains(&Bound::Values(Values::Any)), "{:?}", any.bounds);
    let few = answer("", "values: 2");
    assert!(few.bounds.contains(&Bound::Values(Values::UpTo(2))), "{:?}", few.bounds);
    let refused = answer("if v == 7 { return; }", "values: any");
    assert!(refused.bounds.contains(&Bound::Values(Values::UpTo(2))), "{:?}", refused.bounds);
    let why = |note: &String| note.starts_with("not for any values: integers that `push` takes");
    assert!(refused.notes.iter().any(why), "{:?}", refused.notes);
}
