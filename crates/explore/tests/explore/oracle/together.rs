//! Several threads of the system explore what one does: the same executions, and the same first
//! one that an observer breaks off at.

use super::program::Taste;
use super::real::{Left, code};
use super::{Program, programs, trace};
use fastrand::Rng;
use linchpin_explore::{Execution, Exploration, Options, Position, Strategy, Together, explore};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// What distinguishes an execution from others. Of executions that differ in the order of
/// independent steps only, it is not said under a bound which one is shown.
type Name = u64;

/// Where an observer broke off.
type Broken = (Position, Name);

fn name(strategy: &Strategy, execution: &Execution) -> Name {
    let mut hasher = DefaultHasher::new();
    match strategy {
        Strategy::Preemptions(_) => trace(execution).hash(&mut hasher),
        _ => execution.decisions.hash(&mut hasher),
    }
    execution.problem.is_some().hash(&mut hasher);
    hasher.finish()
}

fn alone(strategy: &Strategy, program: &Program, stop: impl Fn(Name) -> bool) -> Vec<Name> {
    let body: Rc<dyn Fn()> = Rc::new(code(program, &Arc::new(Left::default())));
    let mut all = Vec::new();
    explore(&Options::new(strategy.clone()), &body, &mut |execution| {
        let name = name(strategy, execution);
        all.push(name);
        if stop(name) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    all
}

/// All executions, the one that was broken off at first, and what was explored.
fn together(
    strategy: &Strategy,
    program: &Program,
    stop: impl Fn(Name) -> bool + Sync,
) -> (Vec<Name>, Option<Name>, Exploration) {
    let together = Together::new(strategy, Duration::from_secs(60)).unwrap();
    let work = || {
        let body: Rc<dyn Fn()> = Rc::new(code(program, &Arc::new(Left::default())));
        let (mut all, mut last) = (Vec::new(), None);
        let options = Options::new(strategy.clone());
        let position = together.work(&options, &body, &mut |execution| {
            // The others get a turn, so that what is explored is shared.
            thread::yield_now();
            let name = name(strategy, execution);
            all.push(name);
            if !stop(name) {
                return ControlFlow::Continue(());
            }
            last = Some(name);
            ControlFlow::Break(())
        });
        (all, position.zip(last))
    };
    let results: Vec<(Vec<Name>, Option<Broken>)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let first = results.iter().filter_map(|(_, found)| found.clone()).min();
    let all = results.into_iter().flat_map(|(all, _)| all).collect();
    (all, first.map(|(_, name)| name), together.explored())
}

/// The strategies that cover everything. What ends an execution early ends source-DPOR.
fn strategies(random: &mut Rng) -> (Strategy, Taste) {
    let taste = Taste::any(random);
    match random.usize(..3) {
        0 => (Strategy::Exhaustive, Taste { cells: false, panics: false, ..taste }),
        1 => (Strategy::Preemptions(random.usize(..3)), taste),
        _ => (Strategy::Weak, taste),
    }
}

fn each(cases: u64, mut check: impl FnMut(&Strategy, &Program, u64)) {
    let taste = |random: &mut Rng| strategies(random).1;
    programs(cases, taste, |program, _, seed| {
        let (strategy, _) = strategies(&mut Rng::with_seed(seed));
        check(&strategy, program, seed);
    });
}

/// Each strategy has a number.
fn number(strategy: &Strategy) -> usize {
    match strategy {
        Strategy::Exhaustive => 0,
        Strategy::Preemptions(_) => 1,
        _ => 2,
    }
}

#[test]
fn several_threads_explore_what_one_does() {
    let mut shared = [0; 3];
    each(450, |strategy, program, seed| {
        let mut expected = alone(strategy, program, |_| false);
        let (mut all, first, explored) = together(strategy, program, |_| false);
        let said = format!("LINCHPIN_SEED={seed} {strategy:?}");
        assert!(explored.complete && first.is_none(), "{said}");
        assert_eq!(explored.executions, expected.len() as u64, "{said}");
        shared[number(strategy)] += usize::from(all != expected);
        expected.sort_unstable();
        all.sort_unstable();
        if let Strategy::Preemptions(_) = strategy {
            // Two may be at the same one at the same time; it counts once.
            all.dedup();
        }
        assert_eq!(all, expected, "{said}\n{program:#?}");
    });
    eprintln!("{shared:?} were shared");
    if std::env::var_os("LINCHPIN_SEED").is_none() {
        assert!(!shared.contains(&0), "nothing was shared");
    }
}

#[test]
fn the_first_failure_is_that_of_one_thread() {
    let mut later = [0; 3];
    each(450, |strategy, program, seed| {
        // Some executions are taken for wrong.
        let stop = |name: Name| name.wrapping_add(seed).is_multiple_of(17);
        let expected = alone(strategy, program, stop);
        let (_, first, explored) = together(strategy, program, stop);
        let said = format!("LINCHPIN_SEED={seed} {strategy:?}");
        match first {
            Some(first) => assert_eq!(Some(&first), expected.last(), "{said}"),
            None => assert_eq!(explored.executions, expected.len() as u64, "{said}"),
        }
        later[number(strategy)] += usize::from(expected.len() > 3);
    });
    if std::env::var_os("LINCHPIN_SEED").is_none() {
        assert!(!later.contains(&0), "all are the first execution");
    }
}
