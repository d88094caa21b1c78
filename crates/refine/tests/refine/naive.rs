//! The naive explorer: all interleavings by the interpreter, every history judged by the oracle.
//! Shares nothing with the engine but the interpreter.

use crate::generator;
use crate::support::{bounds, compiled, explained, object};
use fastrand::Rng;
use linchpin_ir::domain::{Domain, DomainBounds};
use linchpin_ir::interpreter::{Machine, Memory, Move, State, Status};
use linchpin_ir::model_spec::ModelObject;
use linchpin_ir::program::{Operation, Program};
use linchpin_ir::run::{Event, EventKind};
use linchpin_refine::{VerifyOptions, verify};
use linchpin_space::Reductions;
use linchpin_verdict::Outcome;
use std::collections::HashSet;

/// Bigger spaces than this are not explored naively.
const MAX_NODES: usize = 12_000;

type Seen = HashSet<(State, Vec<usize>, Vec<(usize, bool, String)>)>;

struct Explorer<'a> {
    machine: Machine,
    object: &'a ModelObject,
    values: i64,
    seen: Seen,
    judged: HashSet<Vec<(usize, bool, String)>>,
}

/// What the naive explorer found: `Some(true)` if every history is linearizable and no step goes
/// wrong; `None` if it gave up.
pub fn naive(program: &Program, calls: usize, values: i64) -> Option<bool> {
    let state = Machine::new(program, Memory::Collected).initial().unwrap();
    naive_from(program, calls, values, state, Vec::new())
}

/// The same of runs that go on from this state, to which these events have led.
pub fn naive_from(
    program: &Program,
    calls: usize,
    values: i64,
    state: State,
    mut events: Vec<Event>,
) -> Option<bool> {
    let object = object(program);
    let mut explorer = Explorer {
        machine: Machine::new(program, Memory::Collected),
        object: &object,
        values,
        seen: HashSet::new(),
        judged: HashSet::new(),
    };
    explorer.explore(state, vec![calls; program.threads.len()], &mut events)
}

pub fn key(events: &[Event]) -> Vec<(usize, bool, String)> {
    let of = |event: &Event| {
        let invoked = event.kind == EventKind::Invoke;
        (event.process, invoked, format!("{} {}", event.operation, event.value))
    };
    events.iter().map(of).collect()
}

impl Explorer<'_> {
    fn explore(
        &mut self,
        state: State,
        calls: Vec<usize>,
        events: &mut Vec<Event>,
    ) -> Option<bool> {
        if self.seen.len() > MAX_NODES {
            return None;
        }
        if !self.seen.insert((state.clone(), calls.clone(), key(events))) {
            return Some(true);
        }
        if events.last().is_some_and(|event| event.kind == EventKind::Ok)
            && self.judged.insert(key(events))
            && !explained(events, self.object)
        {
            return Some(false);
        }
        for thread in 0..state.threads.len() {
            let moves = all_moves(&self.machine, self.values, &state, thread, calls[thread]);
            for (what, event) in moves {
                let mut calls = calls.clone();
                if matches!(what, Move::Invoke { .. }) {
                    calls[thread] -= 1;
                }
                for successor in self.machine.successors(&state, &what) {
                    let Ok(next) = successor.result else { return Some(false) };
                    events.extend(event.clone());
                    let answer = self.explore(next, calls.clone(), events);
                    if event.is_some() {
                        events.pop();
                    }
                    if answer != Some(true) {
                        return answer;
                    }
                }
            }
        }
        Some(true)
    }
}

/// Every move that a thread may make that has so many calls left, and the event that it is.
pub fn all_moves(
    machine: &Machine,
    values: i64,
    state: &State,
    thread: usize,
    calls: usize,
) -> Vec<(Move, Option<Event>)> {
    let program = machine.program();
    let event =
        |kind, operation, value| Some(Event { process: thread, kind, operation, value, time: 0 });
    match &state.threads[thread].status {
        Status::Running { .. } => vec![(Move::Step { thread }, None)],
        Status::Interrupted { .. } | Status::Resolving { .. } | Status::Resolved { .. } => {
            vec![]
        }
        Status::Returning { operation, value } => {
            let event = event(EventKind::Ok, *operation, value.clone());
            vec![(Move::Respond { thread }, event)]
        }
        Status::Idle if calls == 0 => vec![],
        Status::Idle => {
            let mut all = Vec::new();
            for &operation in &program.threads[thread].operations {
                let bounds = DomainBounds { values, threads: program.threads.len() };
                let of = &program.operations[operation];
                for arguments in Domain::of_arguments(of, bounds).unwrap().values() {
                    let arguments = arguments.as_list().unwrap().to_vec();
                    let argument = Operation::argument(&arguments);
                    let call = Move::Invoke { thread, operation, arguments };
                    all.push((call, event(EventKind::Invoke, operation, argument)));
                }
            }
            all
        }
    }
}

pub fn random_reductions(random: &mut Rng) -> Reductions {
    Reductions {
        canonical_heap: random.bool(),
        dead_locals: random.bool(),
        dead_fields: random.bool(),
        thread_symmetry: random.bool(),
        value_symmetry: random.bool(),
        partial_order: random.bool(),
        merged_events: random.bool(),
        settled_fields: random.bool(),
        ample_steps: random.bool(),
        doomed_attempts: random.bool(),
        validated_reads: random.bool(),
        ..Reductions::ALL
    }
}

/// The first seed and the number of cases of a random test: as the environment says, or `cases`.
pub fn seed_and_cases(cases: u64) -> (u64, u64) {
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    (number("LINCHPIN_SEED", 1), number("LINCHPIN_CASES", cases))
}

/// How often what was compared.
#[derive(Debug, Default)]
pub struct Counts {
    holding: usize,
    violated: usize,
    too_large: usize,
}

/// The engine and the naive explorer agree on random programs, whatever reductions are used.
pub fn compare(seed: u64, programs: usize, combinations: usize) -> Counts {
    let mut counts = Counts::default();
    for number in 0..programs as u64 {
        let mut random = Rng::with_seed(seed.wrapping_add(number));
        let source = generator::model(&mut random);
        let compiled = compiled(&source);
        let calls = if random.u8(..3) == 0 { 1 } else { 2 };
        let values = compiled.bounds.values.or_few();
        let Some(expected) = naive(&compiled.program, calls, values) else {
            counts.too_large += 1;
            continue;
        };
        match expected {
            true => counts.holding += 1,
            false => counts.violated += 1,
        }
        for combination in 0..combinations {
            let mut options = VerifyOptions::new(bounds(calls, values));
            options.search.workers = 1;
            options.stuck = false;
            match combination {
                0 => {}
                1 => options.reductions = Reductions::NONE,
                _ => {
                    options.reductions = random_reductions(&mut random);
                    options.just_in_time = random.bool();
                    options.search.antichain = random.bool();
                    options.search.calls = random.bool();
                }
            }
            let report = verify(&compiled.program, &options, &|_| {}).unwrap();
            let found = match &report.outcome {
                Outcome::Holds(()) => true,
                Outcome::Violated(_) => false,
                Outcome::Inconclusive(reason) => panic!("{reason}\n{source}"),
            };
            let used = &options.reductions;
            assert_eq!(
                found,
                expected,
                "seed {} {used:?} jit {} antichain {} calls {}\n{source}",
                seed.wrapping_add(number),
                options.just_in_time,
                options.search.antichain,
                options.search.calls
            );
        }
    }
    counts
}

#[test]
fn agrees_with_the_naive_explorer() {
    // For a long run: LINCHPIN_SEED=7 LINCHPIN_CASES=10000 cargo test --release -p linchpin-refine
    // naive
    let (seed, cases) = seed_and_cases(400);
    let counts = compare(seed, cases as usize, 6);
    println!("seed {seed}: {counts:?}");
    let least = cases as usize / 8;
    assert!(counts.holding > least && counts.violated > least, "{counts:?}");
}
