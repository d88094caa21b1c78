//! Several threads of the system explore what one does: the same executions, and the same first
//! one that an observer breaks off at.

use super::program::Taste;
use super::real::{Left, code};
use super::{Program, programs};
use fastrand::Rng;
use linchpin_explore::{Execution, Exploration, Options, Position, Strategy, Together, explore};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// What distinguishes an execution from others.
type Decisions = Vec<u32>;

/// Where an observer broke off.
type Broken = (Position, Decisions);

fn alone(program: &Program, mut stop: impl FnMut(&Execution) -> bool) -> Vec<Decisions> {
    let body: Rc<dyn Fn()> = Rc::new(code(program, &Arc::new(Left::default())));
    let mut all = Vec::new();
    explore(&Options::new(Strategy::Exhaustive), &body, &mut |execution| {
        all.push(execution.decisions.clone());
        if stop(execution) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    all
}

/// All executions, the one that was broken off at first, and what was explored.
fn together(
    program: &Program,
    workers: usize,
    stop: impl Fn(&Execution) -> bool + Sync,
) -> (Vec<Decisions>, Option<Decisions>, Exploration) {
    let together = Together::new(Duration::from_secs(60));
    let work = || {
        let body: Rc<dyn Fn()> = Rc::new(code(program, &Arc::new(Left::default())));
        let (mut all, mut last) = (Vec::new(), None);
        let position =
            together.work(&Options::new(Strategy::Exhaustive), &body, &mut |execution| {
                // The others get a turn, so that what is explored is shared.
                thread::yield_now();
                all.push(execution.decisions.clone());
                if !stop(execution) {
                    return ControlFlow::Continue(());
                }
                last = Some(execution.decisions.clone());
                ControlFlow::Break(())
            });
        (all, position.zip(last))
    };
    let results: Vec<(Vec<Decisions>, Option<Broken>)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let first = results.iter().filter_map(|(_, found)| found.clone()).min();
    let all = results.into_iter().flat_map(|(all, _)| all).collect();
    (all, first.map(|(_, decisions)| decisions), together.explored())
}

/// Programs without what ends an execution early.
fn harmless(random: &mut Rng) -> Taste {
    Taste { cells: false, panics: false, ..Taste::any(random) }
}

#[test]
fn several_threads_explore_what_one_does() {
    let mut shared = 0;
    programs(600, harmless, |program, _, seed| {
        let mut expected = alone(program, |_| false);
        let (mut all, first, explored) = together(program, 3, |_| false);
        assert!(explored.complete && first.is_none(), "LINCHPIN_SEED={seed}");
        assert_eq!(explored.executions, expected.len() as u64, "LINCHPIN_SEED={seed}");
        shared += usize::from(all != expected);
        expected.sort_unstable();
        all.sort_unstable();
        assert_eq!(all, expected, "LINCHPIN_SEED={seed}\n{program:#?}");
    });
    if std::env::var_os("LINCHPIN_SEED").is_none() {
        assert!(shared > 0, "nothing was shared");
    }
}

#[test]
fn the_first_failure_is_that_of_one_thread() {
    let mut later = 0;
    programs(600, harmless, |program, _, seed| {
        // Some executions are taken for wrong.
        let stop = |execution: &Execution| {
            let sum = execution.decisions.iter().enumerate().map(|(at, one)| at as u32 * one);
            (sum.sum::<u32>() + seed as u32).is_multiple_of(17)
        };
        let expected = alone(program, stop);
        let (all, first, _) = together(program, 3, stop);
        match first {
            Some(first) => assert_eq!(Some(&first), expected.last(), "LINCHPIN_SEED={seed}"),
            None => assert_eq!(all.len(), expected.len(), "LINCHPIN_SEED={seed}"),
        }
        later += usize::from(expected.len() > 3);
    });
    if std::env::var_os("LINCHPIN_SEED").is_none() {
        assert!(later > 0, "all are the first execution");
    }
}
