//! Runs that start after a preload: against the naive explorer, which makes the calls itself and
//! judges whole histories, those of the preload included.

use crate::generator;
use crate::naive::{naive_from, random_reductions};
use crate::support::{bounds, compiled, explained, object};
use fastrand::Rng;
use linchpin_ir::domain::{Domain, DomainBounds};
use linchpin_ir::interpreter::{Machine, Memory, Move, State, Status};
use linchpin_ir::program::{Operation, PreloadCall, Program};
use linchpin_ir::run::{Event, EventKind, PreloadError, replay};
use linchpin_refine::model::ModelError;
use linchpin_refine::{Counterexample, Strategy, VerifyOptions, Walk, Walks, verify};
use linchpin_space::Reductions;
use linchpin_verdict::Outcome;

/// One thread makes the calls alone: the state and the events, `Err` with whether a step fails
/// where there is none, or more than one way on.
fn made(program: &Program) -> Result<(State, Vec<Event>), bool> {
    let machine = Machine::new(program, Memory::Collected);
    let mut state = machine.initial().expect("it starts");
    let mut events = Vec::new();
    for PreloadCall { operation, arguments } in &program.preload {
        let (operation, arguments) = (*operation, arguments.clone());
        let event = |kind, value| Event { process: 0, kind, operation, value, time: 0 };
        events.push(event(EventKind::Invoke, Operation::argument(&arguments)));
        let mut what = Move::Invoke { thread: 0, operation, arguments };
        while what != (Move::Respond { thread: 0 }) {
            let mut ways = machine.successors(&state, &what);
            if ways.len() != 1 {
                return Err(false);
            }
            state = ways.remove(0).result.map_err(|_| true)?;
            what = match &state.threads[0].status {
                Status::Returning { value, .. } => {
                    events.push(event(EventKind::Ok, value.clone()));
                    Move::Respond { thread: 0 }
                }
                _ => Move::Step { thread: 0 },
            };
        }
        state = machine.respond(&state, 0).expect("it has returned").0;
    }
    Ok((state, events))
}

/// A program with a few random calls first.
fn preloaded(program: &Program, values: i64, random: &mut Rng) -> Program {
    let bounds = DomainBounds { values, threads: program.threads.len() };
    let mut call = || {
        let operation = random.usize(..program.operations.len());
        let domain = Domain::of_arguments(&program.operations[operation], bounds).expect("finite");
        let arguments = domain.nth(random.u64(..domain.size())).expect("one of them");
        PreloadCall { operation, arguments: arguments.as_list().expect("a list").to_vec() }
    };
    let preload = (0..2).map(|_| call()).collect();
    Program { preload, ..program.clone() }
}

/// A counterexample is a whole run: its schedule makes it again, and no order explains it.
fn is_real(program: &Program, found: &Counterexample) -> bool {
    let run = replay(program, Memory::Collected, &found.schedule).expect("it can be made again");
    let faulted = matches!(run.end, linchpin_ir::run::End::Faulted(_));
    run == found.run && (faulted || !explained(&run.events, &object(program)))
}

#[test]
fn agrees_with_the_naive_explorer_after_a_preload() {
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let (seed, cases) = (number("LINCHPIN_SEED", 1), number("LINCHPIN_CASES", 200));
    let (mut holding, mut violated, mut at_once, mut refused) = (0, 0, 0, 0);
    for number in 0..cases {
        let mut random = Rng::with_seed(seed.wrapping_add(number));
        let source = generator::model(&mut random);
        let compiled = compiled(&source);
        let values = compiled.bounds.values.or_few();
        let program = preloaded(&compiled.program, values, &mut random);
        let at = format!("seed {} {:?}\n{source}", seed.wrapping_add(number), program.preload);
        let mut options = VerifyOptions::new(bounds(1, values));
        options.search.workers = 1;
        options.stuck = false;
        let start = made(&program);
        if start == Err(false) {
            let error = verify(&program, &options, &|_| {}).expect_err(&at);
            let is_preload = matches!(
                error,
                ModelError::Preload(PreloadError::Branches { .. } | PreloadError::Blocked { .. })
            );
            assert!(is_preload, "{error}, {at}");
            refused += 1;
            continue;
        }
        let expected = match start {
            Err(_) => Some(false),
            Ok((_, events)) if !explained(&events, &object(&program)) => Some(false),
            Ok((state, events)) => naive_from(&program, 1, values, state, events),
        };
        let Some(expected) = expected else { continue };
        for combination in 0..4 {
            match combination {
                0 => {}
                1 => options.reductions = Reductions::NONE,
                _ => options.reductions = random_reductions(&mut random),
            }
            let report = verify(&program, &options, &|_| {}).expect(&at);
            assert_eq!(report.outcome.is_holds(), expected, "{:?} {at}", options.reductions);
            if let Outcome::Violated(found) = &report.outcome {
                assert!(is_real(&program, found), "{at}");
                at_once += usize::from(found.preload == found.schedule.len());
            }
        }
        match expected {
            true => holding += 1,
            false => violated += 1,
        }
    }
    println!(
        "seed {seed}: {holding} hold, {violated} do not, {at_once} at once, {refused} refused"
    );
    assert!(holding > 40 && violated > 20 && refused > 5, "{holding} {violated} {refused}");
}

/// All ways to look for the double pop of the Snark deque find it, and show a run that is one.
#[test]
fn every_order_finds_the_double_pop() {
    let source = include_str!("../../../../models/broken/snark_deque_double_pop.lin");
    let program = compiled(source).program;
    let walk = |walk| Strategy::Walks(Walks { walk, seed: 0, runs: 1_000_000 });
    for strategy in [Strategy::DepthFirst, walk(Walk::Uniform)] {
        let mut options = VerifyOptions::new(bounds(3, 1));
        options.strategy = strategy;
        options.shortest_budget = 0;
        let report = verify(&program, &options, &|_| {}).expect("a report");
        let found = report.outcome.violation().expect("it is found");
        assert!(is_real(&program, found), "{strategy:?}");
        assert!(found.preload > 0 && found.preload < found.schedule.len());
    }
}
