//! Random programs over references, where reductions that look at what lasts have something to do:
//! attempts that fail, links that are set once, variables that only move forward, and code that
//! breaks each of these habits.
//!
//! The specification answers anything below a bound. So a program is wrong if and only if some run
//! answers that much, or goes wrong by itself: an explorer that remembers nothing but states of the
//! interpreter can tell. It shares nothing with the engine but the interpreter.

use crate::naive::{random_reductions, seed_and_cases};
use crate::support::{bounds, compiled};
use fastrand::Rng;
use linchpin_ir::domain::{Domain, DomainBounds};
use linchpin_ir::interpreter::{Machine, Memory, Move, State, Status};
use linchpin_ir::program::Program;
use linchpin_refine::model::ModelProduct;
use linchpin_refine::search::{SearchOptions, explore};
use linchpin_refine::{Policy, VerifyOptions, verify};
use linchpin_space::Reductions;
use linchpin_spec::Value;
use linchpin_verdict::Outcome;
use std::collections::HashSet;

/// Programs with more states than this are left out.
const MAX_STATES: usize = 6_000;

/// What a statement may be. The retry loops come first.
const STATEMENTS: [&str; 37] = [
    "loop { p = a; if cas(a, p, q) { break; } }",
    "loop { p = a; q.next = p; if cas(a, p, q) { break; } }",
    "loop { p = a; if p == null { break; } let s = p.next; if cas(a, p, s) { r = p.val; break; } }",
    "loop { p = a; let s = b; if p == a { if cas(b, s, q) { r = 3; break; } } }",
    "loop { p = b; if p == null { break; } let s = p.next; if p == b { if s == null { if cas(p.next, s, q) \
     { cas(b, p, q); break; } } else { cas(b, p, s); } } }",
    "loop { p = a; if p == null { break; } let e = b; let s = p.next; if p == a { if p == e { if s == null \
     { r = 4; break; } cas(b, e, s); } else { r = s.val; if cas(a, p, s) { break; } } } }",
    "p = a; loop { if cas(a, p, q) { break; } if p == q { break; } p = a; }",
    "loop { p = a; let s = a; q.next = s; if cas(a, p, q) { break; } }",
    "loop { p = a; let s = a; let t = 2; if s != p { t = 6; } if cas(a, p, q) { r = t; break; } }",
    "let n = 0; loop { p = a; if cas(a, p, q) { r = n; break; } n = n + 1; if n == 3 { break; } }",
    "loop { let o = q.next; p = a; q.next = p; if cas(a, p, q) { if o != null { r = 5; } break; } }",
    "loop { p = a; q.val = r; if cas(a, p, q) { break; } r = q.val; }",
    "loop { p = b; let s: Cell = null; if p != null { s = p.next; } if s == null { if cas(b, p, q) { break; } } else { \
     if cas(b, p, s) { r = 5; } } }",
    "loop { let c = k; if cas(k, c, c + 1) { r = c; break; } }",
    "loop { let c = k; p = a; if cas(k, c, c + 1) { if p == q { r = 5; } break; } }",
    "p = a;",
    "p = b;",
    "q = a;",
    "q = new Cell { val: v };",
    "q = new Cell { val: v, next: p };",
    "if p != null { q = p.next; }",
    "if p != null { p.next = q; }",
    "if p != null { p.val = v; }",
    "if p != null { if cas(p.next, null, q) { r = 1; } }",
    "if p != null { p.next = null; }",
    "if cas(a, p, q) { r = 5; }",
    "if cas(b, p, q) { r = 6; }",
    "if a == p { r = 2; }",
    "if p == q { r = 7; }",
    "if p != null { r = p.val; }",
    "if p != null { let s = p.next; if s != null { if cas(a, p, s) { r = 4; } } }",
    "a = q;",
    "b = p;",
    "k = v;",
    "if k == v { r = 6; }",
    "let o = b; if o != null { q = o; q.val = v; }",
    "if p != null { let s = p.next; if s == p { r = 6; } }",
];

/// How many of them are retry loops.
const LOOPS: usize = 15;

/// A random program. Each draws its statements from a few, so that habits are kept now and then.
pub fn program(random: &mut Rng) -> String {
    let some: Vec<&str> = (0..random.usize(2..6))
        .map(|_| STATEMENTS[random.usize(LOOPS..STATEMENTS.len())])
        .collect();
    let mut operations = String::new();
    for name in ["f", "g"] {
        let mut body = vec![STATEMENTS[random.usize(..LOOPS)]];
        for _ in 0..random.usize(1..4) {
            body.insert(random.usize(..=body.len()), some[random.usize(..some.len())]);
        }
        let body: String = body.iter().map(|statement| format!("    {statement}\n")).collect();
        let first = if random.bool() { "new Cell { val: v }" } else { "a" };
        operations += &format!(
            "op {name}(v: int) -> int {{\n    let r = 0;\n    let p = a;\n    let q = {first};\n\
             {body}    return r;\n}}\n"
        );
    }
    let init = match random.u8(..3) {
        0 => "",
        1 => "init { let c = new Cell {}; a = c; b = c; }\n",
        _ => "init { let c = new Cell {}; a = new Cell { next: c }; b = c; }\n",
    };
    let bound = random.u8(2..8);
    format!(
        "spec {{\n    state s: int;\n    op f(v: int) -> int {{ let r = choose(0..{bound}); return r; }}\n    \
         op g(v: int) -> int {{ let r = choose(0..{bound}); return r; }}\n}}\n\
         struct Cell {{ val: int, next: Cell }}\nshared a: Cell;\nshared b: Cell;\nshared k: int = 0;\n{init}{operations}\
         bounds {{ threads: 2, ops: 2, values: 2 }}\n// bound {bound}\n"
    )
}

/// Whether no run answers `bound` or more, and none goes wrong; `None` if there are too many
/// states.
fn is_right(program: &Program, calls: usize, values: i64, bound: i64) -> Option<bool> {
    let machine = Machine::new(program, Memory::Collected);
    let start = (machine.initial().unwrap(), vec![calls; program.threads.len()]);
    let mut seen: HashSet<(State, Vec<usize>)> = HashSet::from([start.clone()]);
    let mut open = vec![start];
    while let Some((state, calls)) = open.pop() {
        if seen.len() > MAX_STATES {
            return None;
        }
        for thread in 0..calls.len() {
            let mut left = calls.clone();
            let moves = match &state.threads[thread].status {
                Status::Running { .. } => vec![Move::Step { thread }],
                Status::Returning { value: Value::Int(value), .. } if *value >= bound => {
                    return Some(false);
                }
                Status::Returning { .. } => vec![Move::Respond { thread }],
                Status::Idle if calls[thread] > 0 => {
                    left[thread] -= 1;
                    invocations(program, thread, values)
                }
                _ => vec![],
            };
            for what in moves {
                for successor in machine.successors(&state, &what) {
                    let Ok(next) = successor.result else { return Some(false) };
                    if seen.insert((next.clone(), left.clone())) {
                        open.push((next, left.clone()));
                    }
                }
            }
        }
    }
    Some(true)
}

fn invocations(program: &Program, thread: usize, values: i64) -> Vec<Move> {
    let bounds = DomainBounds { values, threads: program.threads.len() };
    let mut all = Vec::new();
    for &operation in &program.threads[thread].operations {
        let arguments = Domain::of_arguments(&program.operations[operation], bounds).unwrap();
        all.extend(arguments.values().map(|arguments| Move::Invoke {
            thread,
            operation,
            arguments: arguments.as_list().unwrap().to_vec(),
        }));
    }
    all
}

/// How many programs of which kind there were, and in how many each reduction acted.
#[derive(Debug, Default)]
struct Counts {
    right: usize,
    wrong: usize,
    too_large: usize,
    settled: usize,
    ample: usize,
    doomed: usize,
    validated: usize,
}

/// Counts which reductions act on a program: whether there are more states without settled fields,
/// and whether steps of others were taken along.
fn count_acting(program: &Program, calls: usize, counts: &mut Counts) {
    let options = SearchOptions { workers: 1, ..SearchOptions::default() };
    let states = |reductions: Reductions| {
        let product =
            ModelProduct::new(program, bounds(calls, 2), reductions, Policy::JustInTime).unwrap();
        let (_, stats) = explore(&product, &options, &|_| {});
        (stats.implementation_states, product)
    };
    let (all, product) = states(Reductions::ALL);
    counts.ample += usize::from(product.space.took_ample_steps());
    counts.validated += usize::from(product.space.took_validated_attempts());
    let (_, product) = states(Reductions { validated_reads: false, ..Reductions::ALL });
    counts.doomed += usize::from(product.space.ended_doomed_attempts());
    let alone = Reductions::ALL.one_thread_at_a_time();
    let (with, _) = states(alone);
    let (without, _) = states(Reductions { settled_fields: false, ..alone });
    counts.settled += usize::from(with != without);
    assert!(all <= without, "{all} states instead of {without}");
}

#[test]
fn references_agree_with_all_runs() {
    // For a long run: LINCHPIN_SEED=7 LINCHPIN_CASES=10000 cargo test --release -p linchpin-refine
    // references
    let (seed, cases) = seed_and_cases(250);
    let mut counts = Counts::default();
    for number in 0..cases {
        let seed = seed.wrapping_add(number);
        let mut random = Rng::with_seed(seed);
        let source = program(&mut random);
        let bound = source.trim_end().rsplit(' ').next().unwrap().parse().unwrap();
        let compiled = compiled(&source);
        let calls = random.usize(1..3);
        let Some(expected) = is_right(&compiled.program, calls, 2, bound) else {
            counts.too_large += 1;
            continue;
        };
        match expected {
            true => counts.right += 1,
            false => counts.wrong += 1,
        }
        if expected {
            count_acting(&compiled.program, calls, &mut counts);
        }
        for combination in 0..4 {
            let mut options = VerifyOptions::new(bounds(calls, 2));
            options.search.workers = 1;
            options.stuck = false;
            options.shortest_budget = if combination == 0 { 0 } else { 2_000 };
            if combination > 0 {
                options.reductions = random_reductions(&mut random);
                options.search.calls = random.bool();
            }
            let report = verify(&compiled.program, &options, &|_| {}).unwrap();
            let found = match &report.outcome {
                Outcome::Holds(()) => true,
                Outcome::Violated(_) => false,
                // Some programs are in a loop for ever.
                Outcome::Inconclusive(_) if !report.never_returned.is_empty() => true,
                Outcome::Inconclusive(reason) => {
                    panic!(
                        "seed {seed}: {reason} ({expected}) calls {calls} {:?}\n{source}",
                        options.reductions
                    )
                }
            };
            assert_eq!(
                found, expected,
                "seed {seed} calls {calls} {:?}\n{source}",
                options.reductions
            );
        }
    }
    println!("seed {seed}: {counts:?}");
    if cases < 200 {
        return;
    }
    let least = usize::try_from(cases / 12).unwrap();
    assert!(counts.right > least && counts.wrong > least, "{counts:?}");
    assert!(counts.settled > 0 && counts.ample > 0, "{counts:?}");
    assert!(counts.doomed > 0 && counts.validated > 0, "{counts:?}");
}
