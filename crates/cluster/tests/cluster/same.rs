//! The same answers as one process gives.

use crate::support::{asked, bounds, compiled, together, watched};
use crate::{crash_generator, generator};
use fastrand::Rng;
use linchpin_ir::program::Program;
use linchpin_refine::model::ModelError;
use linchpin_refine::search::Stats;
use linchpin_refine::{ClusterError, Report, VerifyOptions, verify};
use linchpin_space::Bounds;
use linchpin_verdict::{Inconclusive, Outcome, StopFlag, StopReason};
use std::time::{Duration, Instant};

/// All that is said about a model but its cost.
fn said(report: &Report) -> (String, String, Vec<String>, Vec<String>, bool) {
    let outcome = match &report.outcome {
        Outcome::Holds(()) => "holds".to_owned(),
        Outcome::Violated(found) => format!("{:?}", std::mem::discriminant(&found.failure)),
        Outcome::Inconclusive(why) => format!("{why}"),
    };
    let crash = report.crash.as_ref().map(|crash| (crash.property, crash.fails.clone()));
    let more = format!("{crash:?} {:?} {} {}", report.points, report.any_calls, report.bounded);
    let mut unreached: Vec<String> = report.unreached.iter().map(ToString::to_string).collect();
    let mut never_returned = report.never_returned.clone();
    // Where something was found, what was seen before it depends on the order.
    if report.outcome.violation().is_some() {
        unreached.clear();
        never_returned.clear();
    }
    (outcome, more, unreached, never_returned, report.stats.is_closed)
}

/// Compares what several processes say with what one says.
fn compare(
    program: &Program,
    options: &VerifyOptions,
    processes: usize,
    workers: usize,
    at: &str,
) -> Report {
    let alone = verify(program, options, &|_| {}).expect("a report");
    let all = together(&vec![(program, options.clone()); processes], workers);
    let mut all: Vec<Report> = all.into_iter().map(|one| one.expect("a report")).collect();
    let first = all.remove(0);
    assert_eq!(said(&first), said(&alone), "{at}");
    let counts = |report: &Report| {
        let stats = &report.stats;
        // What was explored when something was found depends on the order.
        let states = report.outcome.is_holds().then_some(stats.implementation_states);
        (stats.depth, states)
    };
    assert_eq!(counts(&first), counts(&alone), "{at}");
    if alone.outcome.is_holds() && !options.search.antichain && !options.search.calls {
        let counts = |report: &Report| (report.stats.states, report.stats.transitions);
        assert_eq!(counts(&first), counts(&alone), "{at}");
    }
    // The others come to the same, and leave it to the first to say what goes wrong.
    for other in all {
        assert_eq!(other.outcome.is_holds(), alone.outcome.is_holds(), "{at}");
        assert_eq!(other.stats.states, first.stats.states, "{at}");
        assert_eq!(other.unreached, first.unreached, "{at}");
    }
    alone
}

fn seed_and_cases(cases: u64) -> (u64, u64) {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse().expect("a number"));
    (number("LINCHPIN_SEED").unwrap_or(1), number("LINCHPIN_CASES").unwrap_or(cases))
}

#[test]
fn random_programs_are_judged_by_several_processes_as_by_one() {
    let (seed, cases) = seed_and_cases(24);
    let (mut holding, mut violated) = (0, 0);
    for seed in seed..seed + cases {
        let mut random = Rng::with_seed(seed);
        let source = generator::model(&mut random);
        let mut options = asked(bounds(2, 2));
        // Without these, every state is counted.
        options.search.antichain = random.bool();
        options.search.calls = options.search.antichain;
        let (processes, workers) = (random.usize(1..4), random.usize(1..3));
        let at = format!("seed {seed}, {processes} of {workers}\n{source}");
        let found = compare(&compiled(&source, None), &options, processes, workers, &at);
        match found.outcome {
            Outcome::Holds(()) => holding += 1,
            _ => violated += 1,
        }
    }
    let has_both = holding * 5 > cases && violated * 5 > cases;
    assert!(cases < 20 || has_both, "{holding} hold, {violated} do not");
}

#[test]
fn random_programs_with_crashes_are_judged_by_several_processes_as_by_one() {
    let (seed, cases) = seed_and_cases(4);
    for seed in seed..seed + cases {
        let (source, memory) = crash_generator::model(&mut Rng::with_seed(seed));
        let options = asked(Bounds { crashes: 1, memory, ..bounds(1, 2) });
        let at = format!("seed {seed}\n{source}");
        compare(&compiled(&source, None), &options, 2, 1, &at);
    }
}

/// Models with claimed points that suffice and that fail, with lines that are never reached, with
/// operations that never return; right and broken.
#[test]
fn models_are_judged_by_three_processes_as_by_one() {
    let models = [
        ("treiber_stack", true),
        ("ms_queue", true),
        ("lazy_set", true),
        ("broken/treiber_stack_split_pop_cas", false),
        ("broken/ms_queue_blind_append", false),
    ];
    for (name, holds) in models {
        let path = format!("{}/../../models/{name}.lin", env!("CARGO_MANIFEST_DIR"));
        let source =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let program = compiled(&source, Some(2));
        for points in [true, false] {
            let mut options = asked(bounds(2, 2));
            options.points = points;
            let found = compare(&program, &options, 3, 1, name);
            assert_eq!(found.outcome.is_holds(), holds, "{name}");
        }
    }
}

const STUCK: &str = "spec register; shared x: int? = none;
op write(v: int) { x = v; }
op read() -> int? { loop { let r = x; if r == 77 { return r; } } }
bounds { threads: 2, ops: 1, values: 2 }";

#[test]
fn what_never_returns_is_known_to_all() {
    let options = asked(bounds(1, 2));
    let found = compare(&compiled(STUCK, None), &options, 2, 1, STUCK);
    assert_eq!(found.never_returned, ["read"]);
}

const STACK: &str = include_str!("../../../../models/treiber_stack.lin");

#[test]
fn processes_with_something_else_to_do_are_refused() {
    let (one, other) = (compiled(STACK, Some(2)), compiled(STUCK, None));
    let options = asked(bounds(1, 2));
    let refused = |of: Result<Report, ModelError>| match of {
        Err(ModelError::Cluster(error)) => error,
        other => panic!("{other:?}"),
    };
    let both = together(&[(&one, options.clone()), (&other, options.clone())], 1);
    for (process, error) in [1, 0].into_iter().zip(both.into_iter().map(refused)) {
        assert!(
            matches!(&error, ClusterError::AnotherModel(peer) if peer.process == process),
            "{error}"
        );
    }
    let both = together(&[(&one, options.clone()), (&one, asked(bounds(2, 2)))], 1);
    for error in both.into_iter().map(refused) {
        assert!(matches!(&error, ClusterError::OtherOptions(_)), "{error}");
    }
}

#[test]
fn a_limit_of_one_process_ends_all_of_them() {
    let program = compiled(STACK, Some(3));
    let options = asked(bounds(5, 2));
    let mut little = options.clone();
    little.search.limits.memory = Some(1 << 20);
    let stop = StopFlag::default();
    let mut asked_to = options.clone();
    asked_to.search.limits.stop = Some(stop.clone());
    for (limited, reason) in [(little, StopReason::Memory), (asked_to, StopReason::Interrupt)] {
        let begun = |_: &Stats| {
            if reason == StopReason::Interrupt {
                stop.ask(reason);
            }
        };
        let all = watched(&[(&program, options.clone()), (&program, limited)], 1, &begun);
        let all: Vec<Report> = all.into_iter().map(|one| one.expect("a report")).collect();
        let why = |report: &Report| match &report.outcome {
            Outcome::Inconclusive(why) => why.clone(),
            other => panic!("{other:?}"),
        };
        assert!(
            matches!(why(&all[1]), Inconclusive::Stopped { by, .. } if by == reason),
            "{:?}",
            all[1].outcome
        );
        assert!(matches!(why(&all[0]), Inconclusive::Undecided(_)), "{:?}", all[0].outcome);
        assert!(why(&all[0]).to_string().starts_with("process 1 (127.0.0.1:"));
    }
}

#[test]
fn a_process_that_never_comes_is_not_waited_for_beyond_the_limit() {
    let program = compiled(STACK, Some(2));
    let mut options = asked(bounds(1, 2));
    options.search.limits.deadline = Some(Instant::now() + Duration::from_millis(200));
    let hosts = crate::support::free_hosts(2);
    for process in [0, 1] {
        let cluster = linchpin_cluster::Processes::new(hosts.clone(), process, 1).expect("one");
        let options =
            VerifyOptions { cluster: Some(std::sync::Arc::new(cluster)), ..options.clone() };
        let report = verify(&program, &options, &|_| {}).expect("a report");
        let Outcome::Inconclusive(Inconclusive::Stopped { by, .. }) = report.outcome else {
            panic!("{:?}", report.outcome);
        };
        assert_eq!(by, StopReason::Time);
    }
}
