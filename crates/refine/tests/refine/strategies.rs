//! Whatever the order in which runs are looked at, the answer is the same where all are, and what
//! is found is never wrong.

use crate::generator;
use crate::support::{bounds, compiled};
use fastrand::Rng;
use linchpin_ir::program::Program;
use linchpin_refine::{Counterexample, Strategy, VerifyOptions, Walk, Walks, verify};
use linchpin_verdict::Outcome;

fn outcome(program: &Program, strategy: Strategy) -> Outcome<(), Box<Counterexample>> {
    let mut options = VerifyOptions::new(bounds(2, 2));
    options.strategy = strategy;
    options.stuck = false;
    options.points = false;
    verify(program, &options, &|_| {}).expect("a report").outcome
}

fn walks(walk: Walk, runs: u64) -> Strategy {
    Strategy::Walks(Walks { walk, seed: 7, runs })
}

#[test]
fn all_orders_agree_on_random_programs() {
    let seed = std::env::var("LINCHPIN_SEED").map_or(1, |seed| seed.parse().expect("a seed"));
    let cases = std::env::var("LINCHPIN_CASES").map_or(60, |cases| cases.parse().expect("cases"));
    let (mut holding, mut violated, mut by_chance) = (0, 0, 0);
    for number in 0..cases {
        let mut random = Rng::with_seed(seed + number);
        let source = generator::model(&mut random);
        let program = compiled(&source).program;
        let at = format!("seed {}\n{source}", seed + number);
        let breadth = outcome(&program, Strategy::BreadthFirst);
        let depth = outcome(&program, Strategy::DepthFirst);
        assert_eq!(depth.is_holds(), breadth.is_holds(), "depth first, {at}");
        assert_eq!(depth.violation().is_some(), breadth.violation().is_some(), "{at}");
        let many = outcome(&program, Strategy::Preemptions(1000));
        assert_eq!(many.is_holds(), breadth.is_holds(), "many preemptions, {at}");
        let walked = outcome(&program, walks(Walk::Uniform, 200));
        let pct = outcome(&program, walks(Walk::Priorities { changes: 2 }, 200));
        match breadth {
            Outcome::Violated(found) => {
                violated += 1;
                // A run has no more preemptions than switches.
                let enough = outcome(&program, Strategy::Preemptions(found.switches));
                assert!(enough.violation().is_some(), "{} switches, {at}", found.switches);
                by_chance += usize::from(walked.violation().is_some());
                by_chance += usize::from(pct.violation().is_some());
            }
            _ => {
                holding += 1;
                for by_chance in [walked, pct] {
                    // A pass by chance is none.
                    assert!(matches!(by_chance, Outcome::Inconclusive(_)), "{at}");
                }
            }
        }
    }
    assert!(holding * 5 > cases && violated * 5 > cases, "{holding} hold, {violated} do not");
    assert!(by_chance > usize::try_from(violated).expect("small"), "{by_chance} of {violated}");
}

/// The outcome of walks is decided by the seed, not by the number of workers.
#[test]
fn walks_are_their_seed() {
    let source = include_str!("../../../../models/broken/treiber_stack_split_pop_cas.lin");
    let program = compiled(source).program;
    let schedule = |workers: usize| {
        let mut options = VerifyOptions::new(bounds(2, 2));
        options.strategy = walks(Walk::Priorities { changes: 2 }, 100_000);
        options.search.workers = workers;
        options.shortest_budget = 0;
        let report = verify(&program, &options, &|_| {}).expect("a report");
        report.outcome.violation().map(|found| found.schedule.clone()).expect("it is found")
    };
    assert_eq!(schedule(1), schedule(4));
}

/// Levels rise above what is worth a second worker and fall below it again, and no state gets lost.
#[test]
fn workers_do_not_change_which_states_there_are() {
    let program = compiled(include_str!("../../../../models/ms_queue.lin")).program;
    let states = |workers: usize| {
        let mut options = VerifyOptions::new(bounds(2, 2));
        // Forms that depend on which of two equal states comes first would be counted.
        options.reductions.thread_symmetry = false;
        options.reductions.value_symmetry = false;
        (options.stuck, options.points) = (false, false);
        (options.search.calls, options.search.workers) = (false, workers);
        let report = verify(&program, &options, &|_| {}).expect("a report");
        assert!(report.outcome.is_holds());
        report.stats.implementation_states
    };
    let one = states(1);
    assert!(one > 2000, "levels of some size: {one}");
    assert_eq!([states(2), states(3)], [one; 2]);
}
