//! Strategies other than the exhaustive one, and what all have in common.

use super::{run, run_with};
use linchpin_explore::{Event, EventKind, Execution, Options, Strategy};
use linchpin_sync::runtime::{self, PlaceKind};
use linchpin_sync::sync::atomic::{AtomicU64, Ordering::SeqCst};
use linchpin_sync::thread;
use linchpin_verdict::StopReason;
use std::panic::Location;
use std::sync::Arc;

/// Two threads that count, not atomically, and choose by how much.
fn counters() {
    let counter = Arc::new(AtomicU64::new(0));
    let handles = [0, 1].map(|number| {
        let counter = Arc::clone(&counter);
        thread::spawn(move || {
            runtime::with(|runtime| runtime.mark(number));
            let site = Location::caller();
            let more = runtime::with(|runtime| runtime.choose(2, site)).unwrap() as u64;
            let before = counter.load(SeqCst);
            counter.store(before + more, SeqCst);
        })
    });
    handles.into_iter().for_each(|handle| handle.join().unwrap());
}

fn events(strategy: Strategy) -> Vec<Vec<Event>> {
    let mut all = Vec::new();
    run(strategy, counters, |execution| all.push(execution.events.clone()));
    all
}

#[test]
fn a_replay_repeats_an_execution() {
    let strategies = [
        Strategy::Exhaustive,
        Strategy::Preemptions(1),
        Strategy::Random { runs: 50, seed: 3 },
        Strategy::Pct { runs: 50, depth: 3, seed: 3 },
    ];
    for strategy in strategies {
        let mut shown = Vec::new();
        run(strategy, counters, |execution| shown.push(execution.clone()));
        assert!(shown.len() > 4);
        for execution in shown {
            let mut again = Vec::new();
            let replay = Strategy::Replay(execution.decisions.clone());
            run(replay, counters, |execution| again.push(execution.clone()));
            let [again] = &again[..] else { panic!("one execution") };
            assert_eq!(again.events, execution.events);
            assert_eq!(again.clocks, execution.clocks);
            assert_eq!(again.preemptions, execution.preemptions);
        }
    }
}

#[test]
fn a_replay_that_is_impossible_says_so() {
    let mut found = Vec::new();
    let replay = Strategy::Replay(vec![0, 0, 0, 0, 0, 9]);
    run(replay, counters, |execution| found.push(execution.problem.clone()));
    let problem = found[0].as_ref().map(ToString::to_string).unwrap_or_default();
    assert!(problem.contains("not deterministic"), "{found:?}");
}

#[test]
fn random_executions_depend_on_the_seed_alone() {
    let random = |seed| events(Strategy::Random { runs: 20, seed });
    assert_eq!(random(1), random(1));
    assert_ne!(random(1), random(2));
    let pct = |seed| events(Strategy::Pct { runs: 20, depth: 3, seed });
    assert_eq!(pct(1), pct(1));
    assert_ne!(pct(1), pct(2));
}

#[test]
fn preemptions_are_counted() {
    // Lost updates need one preemption.
    let lost = |execution: &Execution| {
        let writes = execution.events.iter().filter_map(|event| match event.kind {
            EventKind::Access { place, wrote, .. } => {
                wrote.filter(|_| execution.places[place] == PlaceKind::Atomic)
            }
            _ => None,
        });
        let taken = execution.events.iter().filter_map(|event| match event.kind {
            EventKind::Choose { taken, .. } => Some(taken as u64),
            _ => None,
        });
        taken.sum::<u64>() == 2 && writes.max() == Some(1)
    };
    for (most, expected) in [(0, false), (1, true), (2, true)] {
        let mut found = false;
        let explored = run(Strategy::Preemptions(most), counters, |execution| {
            assert!(execution.preemptions <= most);
            found |= lost(execution);
        });
        assert!(explored.complete);
        assert_eq!(found, expected, "{most}");
    }
}

#[test]
fn limits_are_kept() {
    let options = Options { executions: Some(3), ..Options::new(Strategy::Exhaustive) };
    let explored = run_with(&options, counters, |_| ());
    assert_eq!((explored.executions, explored.complete), (3, false));
    assert_eq!(explored.stopped, Some(StopReason::Budget));

    let mut options = Options::new(Strategy::Exhaustive);
    options.limits.deadline = Some(std::time::Instant::now());
    let explored = run_with(&options, counters, |_| ());
    assert_eq!((explored.executions, explored.stopped), (0, Some(StopReason::Time)));
}

#[test]
fn clocks_say_what_precedes_what() {
    run(Strategy::Exhaustive, counters, |execution| {
        let spawns = |child| {
            let is_it = |event: &Event| event.kind == EventKind::Spawn { thread: child };
            execution.events.iter().position(is_it).unwrap()
        };
        for (number, event) in execution.events.iter().enumerate() {
            if event.thread > 0 {
                assert!(execution.precedes(spawns(event.thread), number));
            }
            if let EventKind::Access { from: Some(from), read, .. } = event.kind {
                assert!(from == number || execution.precedes(from, number));
                let EventKind::Access { wrote, .. } = execution.events[from].kind else {
                    panic!("what is read was written")
                };
                assert_eq!(read, wrote);
            }
        }
        // All threads are joined.
        let last = execution.events.len() - 1;
        assert!((0..last).all(|number| execution.precedes(number, last)));
        let marks = execution.events.iter().enumerate().filter_map(|(number, event)| {
            matches!(event.kind, EventKind::Mark(_)).then_some(number)
        });
        let marks: Vec<_> = marks.collect();
        assert!(!execution.precedes(marks[0], marks[1]));
    });
}
