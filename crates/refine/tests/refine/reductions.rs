//! Each reduction leaves the verdict as it is and never makes the space larger.

use crate::support::{bounds, compiled};
use linchpin_refine::Policy;
use linchpin_refine::model::ModelProduct;
use linchpin_refine::search::{Exploration, SearchOptions, explore};
use linchpin_refine::{VerifyOptions, verify};
use linchpin_space::Reductions;

const MODELS: [&str; 4] = [
    include_str!("../../../../models/treiber_stack.lin"),
    include_str!("../../../../models/two_lock_queue.lin"),
    include_str!("../../../../models/k_register.lin"),
    include_str!("../../../../models/snzi.lin"),
];

fn states(source: &str, reductions: Reductions, policy: Policy, antichain: bool) -> usize {
    let options = SearchOptions { antichain, calls: false, ..SearchOptions::default() };
    with_options(source, reductions, policy, &options)
}

fn with_options(
    source: &str,
    reductions: Reductions,
    policy: Policy,
    options: &SearchOptions,
) -> usize {
    let program = compiled(source).program;
    let product = ModelProduct::new(&program, bounds(2, 2), reductions, policy).unwrap();
    let (outcome, stats) = explore(&product, options, &|_| {});
    assert_eq!(outcome, Exploration::Complete);
    stats.states
}

#[test]
fn each_reduction_alone_reduces() {
    type Switch = fn(&mut Reductions);
    let switches: [(&str, Switch); 7] = [
        ("canonical heap", |r| r.canonical_heap = true),
        ("dead locals", |r| r.dead_locals = true),
        ("dead fields", |r| r.dead_fields = true),
        ("thread symmetry", |r| r.thread_symmetry = true),
        ("value symmetry", |r| r.value_symmetry = true),
        ("partial order", |r| r.partial_order = true),
        ("merged events", |r| r.merged_events = true),
    ];
    let mut reduced = [false; 7];
    for source in MODELS {
        let none = states(source, Reductions::NONE, Policy::JustInTime, false);
        for (index, (name, switch)) in switches.iter().enumerate() {
            let mut reductions = Reductions::NONE;
            switch(&mut reductions);
            let with = states(source, reductions, Policy::JustInTime, false);
            assert!(with <= none, "{name}: {with} states instead of {none}");
            reduced[index] |= with < none;
        }
        let calls = SearchOptions { antichain: false, ..SearchOptions::default() };
        let calls = with_options(source, Reductions::NONE, Policy::JustInTime, &calls);
        assert!(calls < none, "calls: {calls} states instead of {none}");
        let all = states(source, Reductions::ALL, Policy::JustInTime, true);
        assert!(all * 4 <= none, "all together: {all} states instead of {none}");
        // Just in time, sets are smaller but more of them differ: there may be more states or
        // fewer.
        states(source, Reductions::ALL, Policy::Eager, false);
    }
    assert_eq!(reduced, [true; 7], "{:?}", switches.map(|(name, _)| name));
}

/// A line that only an attempt that is bound to fail executes is a line that was executed.
#[test]
fn lines_of_doomed_attempts_count() {
    let source = "spec { state s: int; op f() { } op g() { } }
struct Cell { val: int }
shared first: Cell;
shared a: Cell;
shared b: int = 0;
init { let c = new Cell {}; first = c; a = c; }
op f() {
    let o = first;
    loop {
        let t = a;
        let s = b;
        let z = 0;
        if s == 5 {
            if t == o {
                z = 1;
            }
        }
        let x = new Cell { val: z };
        if cas(a, t, x) { return; }
    }
}
op g() {
    let x = new Cell {};
    a = x;
    b = 5;
}
bounds { threads: 2, ops: 1, values: 1 }
";
    let program = compiled(source).program;
    let lines = |doomed_attempts: bool| {
        let mut options = VerifyOptions::new(bounds(1, 1));
        options.reductions.doomed_attempts = doomed_attempts;
        let report = verify(&program, &options, &|_| {}).unwrap();
        assert!(report.outcome.is_holds(), "{:?}", report.outcome);
        report.unreached
    };
    assert_eq!(lines(true), lines(false));
}

/// An attempt that has no effect but may end in two places is not taken to either: which it is
/// depends on what others do before it looks.
#[test]
fn attempts_that_may_end_in_two_places_stay() {
    for leave in ["if s == 1 { break; }", "if s != 1 { } else { break; }"] {
        // After `a` has moved, the `cas` of a call of `f` that has read it is bound to fail. Then
        // it begins again, and succeeds; or it leaves the loop, if it sees what `g` does next, and
        // answers how often `a` has moved. Other runs leave the loop too, after the second move.
        let source = format!(
            "spec {{ state s: int; op f() -> int {{ let r = choose(2..4); return r; }} op g() {{ }} }}
            struct Cell {{ val: int }}
            shared a: Cell;
            shared b: int = 0;
            shared moves: int = 0;
            init {{ a = new Cell {{}}; }}
            op f() -> int {{
                let x = new Cell {{}};
                loop {{
                    let t = a;
                    let s = b;
                    if cas(a, t, x) {{ return 3; }}
                    {leave}
                }}
                let m = moves;
                return m;
            }}
            op g() {{
                let y = new Cell {{}};
                atomic {{ a = y; moves = moves + 1; }}
                b = 1;
            }}
            role caller: f;
            role mover: g;
            bounds {{ caller: 1, mover: 1, ops(caller): 1, ops(mover): 2, values: 1 }}"
        );
        let program = compiled(&source).program;
        for doomed_attempts in [true, false] {
            let mut options = VerifyOptions::new(bounds(1, 1));
            options.reductions.doomed_attempts = doomed_attempts;
            let report = verify(&program, &options, &|_| {}).unwrap();
            let found = report.outcome.violation().is_some();
            assert!(found, "{leave} {doomed_attempts}: {:?}", report.outcome);
        }
    }
}

/// Fields that do not change any more matter to partial order; steps of others and attempts that
/// are bound to fail go.
#[test]
fn what_lasts_reduces() {
    type Without = fn(&mut Reductions);
    let without: [Without; 4] = [
        |r| r.settled_fields = false,
        |r| r.ample_steps = false,
        |r| r.doomed_attempts = false,
        |r| r.validated_reads = false,
    ];
    let queue = include_str!("../../../../models/ms_queue.lin");
    let all = states(queue, Reductions::ALL, Policy::JustInTime, true);
    for without in without {
        let mut reductions = Reductions::ALL;
        without(&mut reductions);
        let more = states(queue, reductions, Policy::JustInTime, true);
        assert!(all < more, "{all} states instead of {more}");
    }
    let one = states(queue, Reductions::ALL.one_thread_at_a_time(), Policy::JustInTime, true);
    assert!(all * 3 < one * 2, "{all} states instead of {one}");
}

/// Where each operation reads one variable and swaps it, operations happen at once.
#[test]
fn validated_attempts_are_one_transition() {
    let stack = include_str!("../../../../models/treiber_stack.lin");
    let all = states(stack, Reductions::ALL, Policy::JustInTime, true);
    let apart = states(stack, Reductions::ALL.one_step_at_a_time(), Policy::JustInTime, true);
    assert!(all * 4 < apart, "{all} states instead of {apart}");
}

/// A line that only an attempt executes that others come between is a line that was executed; one
/// that no run executes is not.
#[test]
fn lines_of_validated_attempts_count() {
    let source = "spec counter;
shared n: int = 0;
op add(d: int) {
    loop {
        let c = n;
        if cas(n, c, c + d) { return; }
        let z = 1;
        if z == 2 {
            z = 3;
        }
        let d = n;
        if d == 7 {
            z = 4;
        }
    }
}
op read() -> int { return n; }
bounds { threads: 2, ops: 1, values: 1 }
";
    let program = compiled(source).program;
    let lines = |validated_reads: bool| {
        let mut options = VerifyOptions::new(bounds(1, 1));
        options.reductions.validated_reads = validated_reads;
        let report = verify(&program, &options, &|_| {}).unwrap();
        assert!(report.outcome.is_holds(), "{:?}", report.outcome);
        report.unreached.iter().map(|unreached| unreached.line).collect::<Vec<_>>()
    };
    assert_eq!(lines(true), [9, 13]);
    assert_eq!(lines(false), [9, 13]);
}

/// Where the search that would tell of some lines is stopped, what was found is kept, and nothing is
/// said about these lines.
#[test]
fn lines_that_are_not_found_out_are_open() {
    let source = "spec { state s: int; op inc() { s = s + 1; } }
shared n: int = 0;
op inc() {
    loop {
        let c = n;
        #[lin] if cas(n, c, c + 1) { return; }
        let z = 0;
        if c == 5 {
            z = 1;
        }
    }
}
bounds { threads: 3, ops: 3, values: 1 }
";
    let program = compiled(source).program;
    let report = |configurations: Option<u64>, points: bool| {
        let mut options = VerifyOptions::new(bounds(3, 1));
        options.search.limits.configurations = configurations;
        (options.stuck, options.points) = (false, points);
        verify(&program, &options, &|_| {}).unwrap()
    };
    for points in [true, false] {
        let all = report(None, points);
        let some = report(Some(all.stats.states as u64), points);
        assert!(all.outcome.is_holds() && some.outcome.is_holds(), "{:?}", some.outcome);
        assert!(all.unreached.is_empty() && all.open_lines.is_empty(), "{all:?}");
        let open: Vec<u32> = some.open_lines.iter().map(|open| open.line).collect();
        assert!(some.unreached.is_empty() && open == [9], "{some:?}");
        assert_eq!((all.points, all.stats.states), (some.points, some.stats.states));
    }
}

/// Something goes wrong within the bounds of a program, with **validated-reads** and without.
fn is_violated(source: &str) {
    let compiled = compiled(source);
    for validated_reads in [true, false] {
        let mut options = VerifyOptions::new(bounds(1, compiled.bounds.values.or_few()));
        options.reductions.validated_reads = validated_reads;
        options.stuck = false;
        let report = verify(&compiled.program, &options, &|_| {}).unwrap();
        let found = report.outcome.violation().is_some();
        assert!(found, "{validated_reads}: {:?}\n{source}", report.outcome);
    }
}

/// An attempt is cut into its steps where its effect does not tell that what it has read is still so.
#[test]
fn attempts_that_are_not_validated_stay() {
    let attempts = [
        // Another variable was read: after the one that is swapped, or before it, or only to decide.
        "let c = n; let d = m; if c == 0 { if cas(n, c, 7) { return d; } }",
        "let d = m; let c = n; if c == 0 { if cas(n, c, 7) { return d; } }",
        "let c = n; let d = m; let r = 0; if d == 4 { r = 4; } if c == 0 { if cas(n, c, 7) { return r; } }",
        // The variable was read twice: the second value is kept, decides, decides later, is written.
        "let c = n; let d = n; if c == 0 { if cas(n, c, 7) { return 4 * d; } }",
        "let c = n; let d = n; let r = 0; if d == 1 { r = 4; } if c == 0 { if cas(n, c, 7) { return r; } }",
        "let c = n; let d = n; let e = d == 1; let r = 0; if e { r = 4; } \
         if c == 0 { if cas(n, c, 7) { return r; } }",
        "let c = n; let d = n; let e = d == 1; let z = x.val; let r = 0; if e { r = 4; } \
         if c == 0 { if cas(n, c, 7) { return r; } }",
        "let c = n; let d = n; x.val = d; if c == 0 { if cas(n, c, 7) { return 4 * x.val; } }",
        // It is swapped once more, or how often that failed is remembered: in a local, in an object.
        "let c = n; if c == 0 { if cas(n, c, 7) { return 0; } if cas(n, c, 7) { return 4; } }",
        "let c = n; if c == 0 { if cas(n, c, 7) { return 4 * f; } f = 1; }",
        "let o = x.val; let c = n; x.val = 4; if cas(n, c, c) { return o; }",
        "let c = n; let o = x.val; x.val = 4; if cas(n, c, c) { return o; }",
        // What it found is answered without an effect.
        "let c = n; let d = n; if c == 0 { if d == 1 { return 4; } } if cas(n, c, c) { return 0; }",
        // It reads something after its effect.
        "let c = n; let ok = cas(n, c, 7); let d = m; if ok { return d; }",
        // It goes wrong on its way back.
        "let c = n; if cas(n, c, c) { return 0; } let d = m; assert(d != 4);",
        // What it has written itself decides whether something else is swapped than was read.
        "let c = n; x.val = 1; let d = x.val; if d == 1 { if cas(n, 0, 7) { return 4 * c; } }",
    ];
    for attempt in attempts {
        // `n` goes back and forth, and `m` is 4 only while `n` is 1.
        let source = format!(
            "spec {{ state s: int; op f() -> int {{ let r = choose(0..4); return r; }} op g() {{ }} }}
            struct Box {{ val: int }}
            shared n: int = 0;
            shared m: int = 0;
            op f() -> int {{
                let f = 0;
                let x = new Box {{}};
                loop {{ {attempt} }}
            }}
            op g() {{ n = 1; m = 4; m = 0; n = 0; }}
            role caller: f;
            role mover: g;
            bounds {{ caller: 1, mover: 1, ops: 1, values: 1 }}"
        );
        is_violated(&source);
    }
}

/// The same for links: what a variable leads to does not tell whether the variable has moved, unless
/// it only moves forward.
#[test]
fn attempts_on_links_that_are_not_validated_stay() {
    let attempts = [
        // It links behind an object that the variable has left.
        (
            "let t = a; let s = t.next; if t == a { if s == null { if cas(t.next, s, x) { return 0; } } }",
            "let o = a; a = x; let p = o.next; let q = o.next; if p == null { if q != null { return 4; } } \
             return 0;",
        ),
        // It finds a link that was not there when it read the variable, which only moves forward.
        (
            "let t = a; let s = t.next; if s == null { if cas(t.next, s, x) { return 0; } } \
             else { if cas(n, 1, 1) { return 4; } }",
            "let o = a; atomic { if cas(o.next, null, x) { if cas(a, o, x) { n = 1; } } } n = 0; return 0;",
        ),
        // It finds a link that was not there when it read the variable.
        (
            "let t = a; let s = t.next; if s == null { if cas(a, t, t) { return 0; } } else { return 4; }",
            "let o = a; a = x; let done = cas(o.next, null, x); return 0;",
        ),
    ];
    for (attempt, mover) in attempts {
        let source = format!(
            "spec {{
                state s: int;
                op f() -> int {{ let r = choose(0..4); return r; }}
                op g() -> int {{ let r = choose(0..4); return r; }}
            }}
            struct Node {{ next: Node }}
            shared a: Node;
            shared n: int = 0;
            init {{ a = new Node {{}}; }}
            op f() -> int {{
                let x = new Node {{}};
                loop {{ {attempt} }}
            }}
            op g() -> int {{
                let x = new Node {{}};
                {mover}
            }}
            bounds {{ threads: 2, ops: 1, values: 1 }}"
        );
        is_violated(&source);
    }
}

/// An operation that gets stuck in the middle of an attempt does, although the attempt goes on where
/// nothing comes between.
#[test]
fn attempts_that_wait_stay() {
    let source = "spec { state s: int; op f() { } op g() { } }
shared n: int = 0;
op f() {
    loop {
        let c = n;
        atomic { let d = n; assume(d == c); }
        if cas(n, c, c) { return; }
    }
}
op g() { n = 1; }
role caller: f;
role mover: g;
bounds { caller: 1, mover: 1, ops: 1, values: 1 }";
    let program = compiled(source).program;
    for validated_reads in [true, false] {
        let mut options = VerifyOptions::new(bounds(1, 1));
        options.reductions.validated_reads = validated_reads;
        let report = verify(&program, &options, &|_| {}).unwrap();
        let stuck = report.outcome.violation().is_some();
        assert!(stuck, "{validated_reads}: {:?} {:?}", report.outcome, report.stuck);
    }
}

/// Where an attempt swaps what no other thread can reach, it goes on as if nothing had happened; so
/// what comes then has to be looked at, or the attempt is none.
#[test]
fn attempts_on_objects_of_their_own_stay() {
    const PROGRAMS: [&str; 3] = [
        include_str!("attempts/swaps_what_it_wrote.lin"),
        include_str!("attempts/swaps_its_own.lin"),
        include_str!("attempts/fails_after_its_own.lin"),
    ];
    for source in PROGRAMS {
        is_violated(source);
    }
}

/// A step that reads many variables which may still be set parts into very many ways: then the
/// attempt is not looked at to its end.
#[test]
fn attempts_with_many_ways_end() {
    let numbers = || 0..40;
    let all = |of: &dyn Fn(i32) -> String| numbers().map(of).collect::<String>();
    let source = format!(
        "spec {{ state s: int; op f() {{ }} op g() {{ }} }}
        struct Cell {{ val: int }}
        shared k: int = 0;
        {}
        op f() {{
            loop {{
                let c = k;
                let j = 0;
                if c == 1 {{ if cas(k, c, 1) {{ return; }} }}
                atomic {{ {} j = 1; }}
            }}
        }}
        op g() {{ let x = new Cell {{}}; {} k = 1; }}
        role caller: f;
        role mover: g;
        bounds {{ caller: 1, mover: 1, ops: 1, values: 1 }}",
        all(&|n| format!("shared w{n}: Cell;\n")),
        all(&|n| format!("let s{n} = w{n}; ")),
        all(&|n| format!("cas(w{n}, null, x); ")),
    );
    let mut options = VerifyOptions::new(bounds(1, 1));
    options.stuck = false;
    let report = verify(&compiled(&source).program, &options, &|_| {}).unwrap();
    assert!(report.outcome.is_holds(), "{:?}", report.outcome);
}
