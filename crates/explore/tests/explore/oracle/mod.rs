//! Engines against an interpreter that enumerates all interleavings, on random programs.

mod naive;
mod program;
mod real;
mod together;

use super::run;
use fastrand::Rng;
use linchpin_explore::{EventKind, Execution, Exploration, Strategy};
use program::{Outcome, Outcomes, Program, Taste};
use real::{Left, code, outcome};
use std::collections::HashSet;
use std::sync::Arc;

/// Calls this with as many random programs; the seed of each is printed if it fails.
fn programs(
    cases: u64,
    taste: impl Fn(&mut Rng) -> Taste,
    mut check: impl FnMut(&Program, Taste, u64),
) {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let cases = number("LINCHPIN_CASES").unwrap_or(cases);
    let (first, cases) = match number("LINCHPIN_SEED") {
        Some(seed) => (seed, 1),
        None => (fastrand::u64(..1 << 48), cases),
    };
    eprintln!("seeds {first} to {}", first + cases - 1);
    for seed in first..first + cases {
        let mut random = Rng::with_seed(seed);
        let taste = taste(&mut random);
        let program = Program::random(&mut random, taste);
        check(&program, taste, seed);
    }
}

/// Runs a program: how it ended, each time.
fn explored(
    strategy: Strategy,
    program: &Program,
    mut observe: impl FnMut(&Execution),
) -> (Outcomes, Exploration) {
    let left = Arc::new(Left::default());
    let mut outcomes = Outcomes::new();
    let explored = run(strategy, code(program, &left), |execution| {
        outcomes.insert(outcome(execution, &left));
        observe(execution);
    });
    (outcomes, explored)
}

/// Fails with what is missing and what is too much.
fn compare(expected: &Outcomes, found: &Outcomes, program: &Program, seed: u64) {
    if expected == found {
        return;
    }
    let missing: Vec<_> = expected.difference(found).take(3).collect();
    let wrong: Vec<_> = found.difference(expected).take(3).collect();
    panic!("LINCHPIN_SEED={seed}\n{program:#?}\nmissing: {missing:#?}\nwrong: {wrong:#?}");
}

/// What executions have in common that differ in the order of independent steps only.
fn trace(execution: &Execution) -> Vec<(usize, Vec<u32>, String)> {
    let events = execution.events.iter().zip(&execution.clocks);
    let mut trace: Vec<_> = events
        .map(|(event, clock)| {
            let what = match event.kind {
                EventKind::Access { read, wrote, .. } => format!("{read:?} {wrote:?}"),
                // Cells are numbered by their first accesses.
                EventKind::Cell { access, .. } => format!("{access:?}"),
                ref other => format!("{other:?}"),
            };
            (event.thread, clock.clone(), what)
        })
        .collect();
    // Events of one thread are ordered by its own clock.
    trace.sort_by_key(|(thread, clock, _)| (*thread, clock[*thread]));
    trace
}

#[test]
fn all_interleavings_have_a_representative_and_only_one() {
    let mut counts = [0u64; 6];
    programs(3000, Taste::any, |program, taste, seed| {
        let mut traces = HashSet::new();
        let mut twice = 0;
        let (found, explored) = explored(Strategy::Exhaustive, program, |execution| {
            twice += u64::from(!traces.insert(trace(execution)));
        });
        assert!(explored.complete, "LINCHPIN_SEED={seed}");
        let expected = naive::outcomes(program, None);
        compare(&expected, &found, program, seed);
        // The order that an observer sees does not have what spin loops wait for, and what ends in
        // a problem under one choice is explored again under the others.
        let cut = |outcome: &Outcome| matches!(outcome, Outcome::Race | Outcome::Panicked(_));
        if !taste.spins && !found.iter().any(cut) {
            assert_eq!(twice, 0, "LINCHPIN_SEED={seed}\n{program:#?}");
        }
        let has = |kind: fn(&Outcome) -> bool| u64::from(expected.iter().any(kind));
        counts[0] += has(|outcome| matches!(outcome, Outcome::Done(..)));
        counts[1] += has(|outcome| matches!(outcome, Outcome::Deadlock(..)));
        counts[2] += has(|outcome| matches!(outcome, Outcome::Race));
        counts[3] += has(|outcome| matches!(outcome, Outcome::Panicked(_)));
        counts[4] += explored.executions;
        counts[5] += explored.redundant;
    });
    let [done, deadlocks, races, panics, shown, redundant] = counts;
    eprintln!(
        "{done} programs end, {deadlocks} deadlock, {races} race, {panics} panic; \
         {shown} executions, {redundant} redundant"
    );
    if std::env::var_os("LINCHPIN_SEED").is_none() {
        assert!([done, deadlocks, races, panics].iter().all(|&count| count > 0));
    }
}

#[test]
fn what_waits_takes_part_when_the_rest_sleeps() {
    use program::Instruction::{Cas, Load, Lock, Store, Unlock};
    // The second thread reads before the third one writes, and waits for its lock forever; the third
    // compares before the first one writes. The first sleeps when that is explored.
    let program = Program(vec![
        vec![Cas(2, 0, 2), Lock(0), Unlock(0)],
        vec![Cas(1, 2, 2), Load(0), Lock(1)],
        vec![Store(0, 2), Lock(1), Cas(2, 2, 1)],
    ]);
    let (found, _) = explored(Strategy::Exhaustive, &program, |_| ());
    compare(&naive::outcomes(&program, None), &found, &program, 0);
}

#[test]
fn a_step_that_ends_in_a_problem_does_not_sleep() {
    use program::Instruction::{CellRead, CellWrite, Load, PanicIf};
    // The race is seen only if the first thread, which panics, comes second.
    let program =
        Program(vec![vec![Load(1), CellWrite(0), PanicIf(0)], vec![Load(2), CellRead(0)]]);
    let (found, _) = explored(Strategy::Exhaustive, &program, |_| ());
    compare(&naive::outcomes(&program, None), &found, &program, 0);
}

#[test]
fn bounded_interleavings_are_complete() {
    // A pause is a point where a switch costs nothing, which the interpreter does not know.
    let taste = |random: &mut Rng| Taste { spins: false, yields: false, ..Taste::any(random) };
    programs(400, taste, |program, _, seed| {
        for most in 0..3 {
            let mut traces = HashSet::new();
            let (found, explored) = explored(Strategy::Preemptions(most), program, |execution| {
                assert!(execution.preemptions <= most);
                assert!(traces.insert(trace(execution)), "LINCHPIN_SEED={seed}");
            });
            assert!(explored.complete, "LINCHPIN_SEED={seed}");
            compare(&naive::outcomes(program, Some(most)), &found, program, seed);
        }
    });
}

#[test]
fn random_executions_and_replays_are_interleavings() {
    programs(400, Taste::any, |program, _, seed| {
        let expected = naive::outcomes(program, None);
        let strategies =
            [Strategy::Random { runs: 20, seed }, Strategy::Pct { runs: 20, depth: 3, seed }];
        for strategy in strategies {
            let mut shown = Vec::new();
            let (found, explored) =
                explored(strategy, program, |execution| shown.push(execution.clone()));
            assert_eq!((explored.executions, explored.complete), (20, false));
            assert!(found.is_subset(&expected), "LINCHPIN_SEED={seed}");
            let last = shown.pop().unwrap();
            let replay = Strategy::Replay(last.decisions.clone());
            self::explored(replay, program, |execution| {
                assert_eq!(execution.events, last.events, "LINCHPIN_SEED={seed}");
                assert_eq!(execution.problem, last.problem, "LINCHPIN_SEED={seed}");
            });
        }
    });
}
