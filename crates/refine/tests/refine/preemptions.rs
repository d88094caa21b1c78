//! How many preemptions something wrong needs: the engine says so by what it finds within a bound,
//! the oracle by all runs of the interpreter, move by move, each with its whole history.

use crate::generator;
use crate::naive::{all_moves, key, random_reductions, seed_and_cases};
use crate::support::{bounds, compiled, explained, object};
use fastrand::Rng;
use linchpin_ir::interpreter::{Machine, Memory, Move, State, Status};
use linchpin_ir::program::Program;
use linchpin_ir::run::{Event, EventKind};
use linchpin_refine::{Strategy, VerifyOptions, verify};
use linchpin_space::Reductions;
use std::collections::{HashSet, VecDeque};

/// Bigger spaces than this are not explored.
const MAX_NODES: usize = 12_000;

#[derive(Clone)]
struct Run {
    state: State,
    calls: Vec<usize>,
    events: Vec<Event>,
    last: Option<usize>,
    preemptions: usize,
    is_wrong: bool,
}

struct TooLarge;

/// Whether a thread is in the middle of an operation and can move.
fn could_go_on(machine: &Machine, state: &State, thread: usize) -> bool {
    let is_inside = !matches!(state.threads[thread].status, Status::Idle);
    let moves = all_moves(machine, 1, state, thread, 0);
    is_inside && moves.iter().any(|(what, _)| !machine.successors(state, what).is_empty())
}

/// The fewest preemptions with which something goes wrong, `None` if nothing does.
fn fewest(program: &Program, calls: usize, values: i64) -> Result<Option<usize>, TooLarge> {
    let machine = Machine::new(program, Memory::Collected);
    let object = object(program);
    let first = Run {
        state: machine.initial().expect("it starts"),
        calls: vec![calls; program.threads.len()],
        events: Vec::new(),
        last: None,
        preemptions: 0,
        is_wrong: false,
    };
    // What costs nothing goes to the front, so runs come in the order of their preemptions.
    let mut runs = VecDeque::from([first]);
    let mut seen = HashSet::new();
    while let Some(run) = runs.pop_front() {
        if run.is_wrong {
            return Ok(Some(run.preemptions));
        }
        if !seen.insert((run.state.clone(), run.calls.clone(), key(&run.events), run.last)) {
            continue;
        }
        if seen.len() > MAX_NODES {
            return Err(TooLarge);
        }
        let interrupts = run.last.filter(|last| could_go_on(&machine, &run.state, *last));
        for thread in 0..run.state.threads.len() {
            let is_preempted = interrupts.is_some_and(|last| last != thread);
            for (what, event) in all_moves(&machine, values, &run.state, thread, run.calls[thread])
            {
                for successor in machine.successors(&run.state, &what) {
                    let mut next = Run { last: Some(thread), ..run.clone() };
                    next.preemptions += usize::from(is_preempted);
                    next.calls[thread] -= usize::from(matches!(what, Move::Invoke { .. }));
                    next.events.extend(event.clone());
                    let returned = event.as_ref().is_some_and(|of| of.kind == EventKind::Ok);
                    match successor.result {
                        Ok(state) => next.state = state,
                        Err(_) => next.is_wrong = true,
                    }
                    next.is_wrong |= returned && !explained(&next.events, &object);
                    if is_preempted { runs.push_back(next) } else { runs.push_front(next) }
                }
            }
        }
    }
    Ok(None)
}

/// For a long run: `LINCHPIN_SEED=7 LINCHPIN_CASES=1000 cargo test --release -p linchpin-refine
/// preemptions`.
#[test]
fn exactly_as_many_preemptions_are_needed_as_the_naive_explorer_says() {
    let (seed, cases) = seed_and_cases(150);
    let (mut holding, mut needed, mut too_large) = (0, [0; 4], 0);
    for number in seed..seed + cases {
        let mut random = Rng::with_seed(number);
        let source = generator::model(&mut random);
        let compiled = compiled(&source);
        let calls = if random.u8(..3) == 0 { 2 } else { 1 };
        let values = compiled.bounds.values.or_few();
        let Ok(expected) = fewest(&compiled.program, calls, values) else {
            too_large += 1;
            continue;
        };
        let all = [Reductions::ALL, Reductions::NONE, random_reductions(&mut random)];
        for reductions in all {
            let is_found = |most: usize| {
                let mut options = VerifyOptions::new(bounds(calls, values));
                options.strategy = Strategy::Preemptions(most);
                options.reductions = reductions;
                options.stuck = false;
                options.shortest_budget = 0;
                let report = verify(&compiled.program, &options, &|_| {}).expect("a report");
                report.outcome.violation().is_some()
            };
            let at = format!("seed {number}, {expected:?}, {reductions:?}\n{source}");
            match expected {
                None => assert!(!is_found(1000), "nothing is wrong: {at}"),
                Some(most) => {
                    assert!(is_found(most), "{at}");
                    assert!(most == 0 || !is_found(most - 1), "with fewer: {at}");
                }
            }
        }
        match expected {
            None => holding += 1,
            Some(most) => needed[most.min(3)] += 1,
        }
    }
    println!("seed {seed}: {holding} hold, {needed:?} need so many, {too_large} too large");
    assert!(holding * 5 > cases && needed[0] > 0 && needed[1] * 10 > needed.iter().sum());
}

/// An answer that needs a value to be seen, then another, then the first again.
#[test]
fn every_interruption_counts_but_not_the_way_back() {
    let source = "
        spec { op look() -> bool { return false; } op set(v: int) { } }
        shared x: int = 0;
        op look() -> bool {
            let a = x;
            let b = x;
            let c = x;
            return a == 0 && b == 1 && c == 2;
        }
        op set(v: int) { x = v; }
    ";
    let program = compiled(source).program;
    let is_found = |most: usize| {
        let mut options = VerifyOptions::new(bounds(2, 2));
        options.strategy = Strategy::Preemptions(most);
        options.stuck = false;
        verify(&program, &options, &|_| {}).expect("a report").outcome.violation().is_some()
    };
    assert_eq!([0, 1, 2].map(is_found), [false, false, true]);
}

/// A thread that waits for a lock is not interrupted.
#[test]
fn waiting_is_no_preemption() {
    let source = "
        spec { op swap() -> bool { return false; } op hold() { } }
        shared x: int = 0;
        shared l: lock;
        op hold() { lock(l); x = 1; unlock(l); }
        op swap() -> bool {
            let a = x;
            lock(l);
            let b = x;
            unlock(l);
            return a == 0 && b == 1;
        }
    ";
    let program = compiled(source).program;
    let is_found = |most: usize| {
        let mut options = VerifyOptions::new(bounds(1, 1));
        options.strategy = Strategy::Preemptions(most);
        options.stuck = false;
        verify(&program, &options, &|_| {}).expect("a report").outcome.violation().is_some()
    };
    // `hold` is interrupted while it has the lock; `swap` reads `x` and waits.
    assert_eq!([0, 1].map(is_found), [false, true]);
}
