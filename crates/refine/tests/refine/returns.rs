//! Whether an operation can get stuck, against a naive judge: every state of the interpreter, no
//! reduction, one question for each state and thread.

use crate::naive::random_reductions;
use crate::support::{bounds, compiled};
use fastrand::Rng;
use linchpin_ir::interpreter::{Machine, Memory, Move, State, Status};
use linchpin_ir::program::Program;
use linchpin_refine::{Failure, NotMade, StuckCheck, VerifyOptions, verify};
use linchpin_space::Reductions;
use linchpin_spec::Value;
use linchpin_verdict::Outcome;
use std::collections::HashSet;

/// What clients may do beyond the bounds.
#[derive(Clone, Copy)]
struct Clients {
    /// Each thread, and one more, may make so many calls more than the bound says.
    further: usize,
    /// Arguments are `1..=values`.
    values: i64,
    /// More states than this are not judged.
    most: usize,
}

/// What the engine tries.
const TRIED: Clients = Clients { further: 2, values: 2, most: 5_000 };

/// What it does not try: an operation that it calls stuck stays so.
const MORE: Clients = Clients { further: 3, values: 3, most: 10_000 };

/// A state and the calls that each thread has left.
type Node = (State, Vec<usize>);

/// Who moves, whether it responds, and where that leads.
type Arc = (usize, bool, Node);

fn arcs(machine: &Machine, values: i64, (state, calls): &Node) -> Vec<Arc> {
    let mut all = Vec::new();
    for thread in 0..state.threads.len() {
        let moves = match &state.threads[thread].status {
            Status::Running { .. } => vec![Move::Step { thread }],
            Status::Interrupted { .. } | Status::Resolving { .. } | Status::Resolved { .. } => {
                vec![]
            }
            Status::Returning { .. } => vec![Move::Respond { thread }],
            Status::Idle if calls[thread] == 0 => vec![],
            Status::Idle => {
                let call = move |operation: usize, value: i64| {
                    let arguments = vec![Value::Int(value)];
                    Move::Invoke { thread, operation, arguments }
                };
                let operations = &machine.program().threads[thread].operations;
                let calls = operations
                    .iter()
                    .flat_map(|&of| (1..=values).map(move |value| call(of, value)));
                calls.collect()
            }
        };
        for what in moves {
            let mut calls = calls.clone();
            calls[thread] -= usize::from(matches!(what, Move::Invoke { .. }));
            let responds = matches!(what, Move::Respond { .. });
            for successor in machine.successors(state, &what) {
                let next = successor.result.expect("these programs do not go wrong");
                all.push((thread, responds, (next, calls.clone())));
            }
        }
    }
    all
}

/// All that can be reached, in some order; `None` if it is too much.
fn reachable(machine: &Machine, clients: Clients, from: Vec<Node>) -> Option<Vec<Node>> {
    let mut seen: HashSet<Node> = from.iter().cloned().collect();
    let mut all = from;
    let mut at = 0;
    while at < all.len() {
        for (_, _, next) in arcs(machine, clients.values, &all[at].clone()) {
            if seen.insert(next.clone()) {
                all.push(next);
            }
        }
        if all.len() > clients.most {
            return None;
        }
        at += 1;
    }
    Some(all)
}

/// Whether some operation can get stuck; `None` if there are too many states.
fn gets_stuck(program: &Program, calls: usize, clients: Clients) -> Option<bool> {
    let machine = Machine::new(program, Memory::Collected);
    let threads = program.threads.len();
    let start = (machine.initial().unwrap(), vec![calls; threads]);
    let mut extended = program.clone();
    extended.threads.push(program.threads[0].clone());
    let larger = Machine::new(&extended, Memory::Collected);
    let extend = |(state, calls): &Node| {
        let mut state = state.clone();
        state.threads.push(State::idle_thread(program));
        let calls = calls.iter().copied().chain([0]).map(|left| left + clients.further).collect();
        (state, calls)
    };
    for node in reachable(&machine, TRIED, vec![start])? {
        for thread in (0..threads).filter(|thread| node.0.pending(*thread).is_some()) {
            if !can_return(&larger, clients, extend(&node), thread)? {
                return Some(true);
            }
        }
    }
    Some(false)
}

/// Whether some continuation leads to the response of a thread; `None` if there are too many.
fn can_return(machine: &Machine, clients: Clients, from: Node, thread: usize) -> Option<bool> {
    let mut seen = HashSet::from([from.clone()]);
    let mut stack = vec![from];
    while let Some(node) = stack.pop() {
        let mut next = arcs(machine, clients.values, &node);
        if next.iter().any(|&(who, responds, _)| who == thread && responds) {
            return Some(true);
        }
        // What the thread itself does is tried first.
        next.sort_by_key(|(who, ..)| *who == thread);
        let new = next.into_iter().map(|(_, _, to)| to).filter(|to| seen.insert(to.clone()));
        stack.extend(new.collect::<Vec<_>>());
        if seen.len() > clients.most {
            return None;
        }
    }
    Some(false)
}

/// Statements over two numbers, two locks and a name. A lock may be forgotten.
fn statements(random: &mut Rng, depth: usize) -> String {
    let mut text = String::new();
    for _ in 0..random.usize(1..=2) {
        let x = if random.bool() { "x" } else { "y" };
        let l = if random.bool() { "l" } else { "k" };
        let c = ["0", "1", "v"][random.usize(..3)];
        let piece = match random.u8(..16) {
            0 => format!("{x} = {c};"),
            1 => format!("cas({x}, {c}, v);"),
            2 => format!("while {x} == {c} {{ }}"),
            3 => format!("while !cas({x}, 0, {c}) {{ }}"),
            4 => format!("assume({x} != {c});"),
            5 | 6 if depth > 0 => {
                format!("lock({l}); {} unlock({l});", statements(random, depth - 1))
            }
            7 => format!("lock({l});"),
            8 if depth > 0 => format!("if {x} == {c} {{ {} }}", statements(random, depth - 1)),
            9 => format!("{x} = choose(0..2);"),
            10 => format!("let o = new Box {{ n: {c} }}; let b = choose(0..2); assume(o.n != b);"),
            11 => format!("loop {{ let a = {x}; if cas({x}, a, v) {{ break; }} }}"),
            12 => "loop { owner = me; if owner == me { break; } }".to_owned(),
            13 => format!("let a = {x}; loop {{ if cas({x}, a, v) {{ break; }} }}"),
            14 => format!("let o = new Box {{ n: 0 }}; o.n = v; {x} = o.n;"),
            _ => format!("atomic {{ if {x} == {c} {{ y = 0; }} }}"),
        };
        text.push_str(&piece);
        text.push(' ');
    }
    text
}

fn source(random: &mut Rng) -> String {
    let (first, second) = (statements(random, 1), statements(random, 1));
    format!(
        "spec {{ op first(v: int) {{ }} op second(v: int) {{ }} }}\nstruct Box {{ n: int }}\n\
         shared x: int;\nshared y: int;\nshared l: lock;\nshared k: lock;\nshared owner: tid?;\n\
         op first(v: int) {{ {first} }}\nop second(v: int) {{ {second} }}\n\
         bounds {{ threads: 2, ops: 1, values: 2 }}\n"
    )
}

#[test]
fn agrees_with_a_naive_judge() {
    // For a long run: LINCHPIN_SEED=7 LINCHPIN_CASES=20000 cargo test -p linchpin-refine
    // naive_judge
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let (seed, cases) = (number("LINCHPIN_SEED", 1), number("LINCHPIN_CASES", 300));
    let mut counts = [0u64; 4];
    for case in 0..cases {
        let mut random = Rng::with_seed(seed.wrapping_mul(1 << 32).wrapping_add(case));
        let source = source(&mut random);
        let program = compiled(&source).program;
        let Some(expected) = gets_stuck(&program, 1, TRIED) else {
            counts[3] += 1;
            continue;
        };
        let mut decided = true;
        for combination in 0..4 {
            let mut options = VerifyOptions::new(bounds(1, 2));
            options.search.workers = 1;
            match combination {
                0 => {}
                1 => options.reductions = Reductions::NONE,
                _ => options.reductions = random_reductions(&mut random),
            }
            let report = verify(&program, &options, &|_| {}).unwrap();
            let found = match (&report.outcome, &report.stuck) {
                (Outcome::Violated(found), StuckCheck::Found) => {
                    assert!(matches!(found.failure, Failure::Stuck(_)));
                    true
                }
                (_, StuckCheck::Passed { .. }) => false,
                // Clients that call more often, or with other arguments, might help.
                (_, StuckCheck::NotMade(NotMade::FurtherCalls)) if expected => {
                    decided = false;
                    continue;
                }
                other => panic!("case {case}: {other:?}\n{source}"),
            };
            assert_eq!(found, expected, "case {case}: {:?}\n{source}", options.reductions);
        }
        if expected && decided {
            assert_ne!(gets_stuck(&program, 1, MORE), Some(false), "case {case}\n{source}");
        }
        counts[if decided { usize::from(expected) } else { 2 }] += 1;
    }
    println!("[fine, stuck, open, too large]: {counts:?}");
    assert!(counts[0] * 8 > cases && counts[1] * 8 > cases, "{counts:?}");
}
