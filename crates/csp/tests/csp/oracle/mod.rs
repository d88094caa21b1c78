//! The checker against a naive enumeration of traces, on random small processes, with reduction on
//! and off. `LINCHPIN_SEED` repeats one case, `LINCHPIN_CASES` makes it a long fuzzer.

mod generate;
mod naive;

use generate::Case;
use linchpin_csp::{Failure, Options, Report, parse, verify};
use linchpin_verdict::{Outcome, StopReason};
use naive::World;
use std::collections::BTreeSet;

/// Traces are compared up to this many visible events.
const DEPTH: usize = 4;

/// Cases that need more bytes than this are left out.
const MEMORY: usize = 1 << 20;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

#[derive(Debug, Default)]
struct Tally {
    holds: usize,
    violated: usize,
    deadlocks: usize,
    deadlock_free: usize,
    too_large: usize,
    stopped: usize,
    fewer_states: usize,
    more_states: usize,
}

#[test]
fn random_processes_get_the_verdict_of_the_naive_enumeration() {
    let (seed, cases) = (setting("LINCHPIN_SEED", 0xc5b), setting("LINCHPIN_CASES", 800));
    println!("LINCHPIN_SEED={seed} LINCHPIN_CASES={cases}");
    let mut tally = Tally::default();
    for at in 0..cases {
        one(seed + at, &mut tally);
    }
    println!("{tally:?}");
    if cases >= 500 {
        let enough = cases as usize / 8;
        assert!(tally.holds > enough && tally.violated > enough, "one-sided: {tally:?}");
        assert!(
            tally.deadlocks > enough && tally.deadlock_free > enough / 4,
            "one-sided: {tally:?}"
        );
        assert!(tally.fewer_states > enough, "reduction does nothing: {tally:?}");
    }
}

fn check(source: &str, reduce: bool, antichain: bool) -> Vec<Report> {
    let model = parse(source, &[]).unwrap_or_else(|mistakes| {
        let shown: Vec<_> = mistakes.iter().map(|m| m.render("case.csp", source, false)).collect();
        panic!("{}", shown.join("\n"))
    });
    let mut options = Options { reduce, ..Options::default() };
    options.search.workers = 1;
    options.search.antichain = antichain;
    options.search.limits.memory = Some(MEMORY);
    verify(&model, &options, &|_| {})
}

fn one(seed: u64, tally: &mut Tally) {
    let case = Case::new(&mut fastrand::Rng::with_seed(seed));
    let source = case.source();
    let world = World { definitions: &case.definitions };
    let limit = 2_000;
    let implementation = world.traces(&case.implementation, DEPTH, limit);
    let specification = world.traces(&case.specification, DEPTH, limit);
    let deadlocks = world.deadlocks(&case.implementation, limit);
    let mut states = Vec::new();
    for (reduce, antichain) in [(false, false), (false, true), (true, false), (true, true)] {
        let reports = check(&source, reduce, antichain);
        let context = || {
            format!(
                "LINCHPIN_SEED={seed} LINCHPIN_CASES=1 reduce={reduce} antichain={antichain}\n{source}\n{}\n{}",
                reports[0], reports[1]
            )
        };
        states.push(reports[0].stats.states);
        if let (Some(implementation), Some(specification)) = (&implementation, &specification) {
            refinement(&reports[0].outcome, implementation, specification, &context);
        }
        match (&reports[1].outcome, deadlocks) {
            (_, None) | (Outcome::Inconclusive(_), _) => {}
            (Outcome::Holds(()), Some(false))
            | (Outcome::Violated(Failure::Run(_)), Some(true)) => {}
            _ => panic!("deadlock: the oracle says {deadlocks:?}\n{}", context()),
        }
        if reduce && antichain {
            match &reports[0].outcome {
                Outcome::Holds(()) => tally.holds += 1,
                Outcome::Violated(Failure::Run(_)) => tally.violated += 1,
                Outcome::Inconclusive(_) => tally.stopped += 1,
                Outcome::Violated(Failure::Fault { .. }) => panic!("{}", context()),
            }
        }
    }
    tally.too_large += usize::from(implementation.is_none() || specification.is_none());
    tally.deadlocks += usize::from(deadlocks == Some(true));
    tally.deadlock_free += usize::from(deadlocks == Some(false));
    tally.more_states += usize::from(states[2] > states[0]);
    tally.fewer_states += usize::from(states[2] < states[0]);
}

type Traces = BTreeSet<Vec<String>>;

fn refinement(
    outcome: &Outcome<(), Failure>,
    implementation: &Traces,
    specification: &Traces,
    context: &dyn Fn() -> String,
) {
    let missing: Vec<&Vec<String>> = implementation.difference(specification).collect();
    let shortest = missing.iter().map(|trace| trace.len()).min();
    match outcome {
        Outcome::Holds(()) => {
            assert!(missing.is_empty(), "{:?} is no trace of Spec\n{}", missing[0], context());
        }
        Outcome::Violated(Failure::Run(counterexample)) => {
            let trace: Vec<String> =
                counterexample.trace().into_iter().map(str::to_owned).collect();
            assert!(counterexample.shortest, "{}", context());
            if trace.len() <= DEPTH {
                assert!(missing.contains(&&trace), "{trace:?} is fine\n{}", context());
                assert_eq!(
                    Some(trace.len()),
                    shortest,
                    "{trace:?} is not the shortest\n{}",
                    context()
                );
            } else {
                assert_eq!(shortest, None, "{trace:?} is not the shortest\n{}", context());
            }
        }
        Outcome::Inconclusive(reason) => {
            assert_eq!(reason.stopped_by(), Some(StopReason::Memory), "{}", context());
        }
        Outcome::Violated(Failure::Fault { .. }) => panic!("{}", context()),
    }
}
