//! An era: what runs from the beginning, or from a crash, to the next crash or the end.

use super::super::points::Points;
use super::super::program::{Answers, How, Mark, make};
use crate::definition::Definition;
use crate::persistent::Persistent;
use crate::scenario::{Call, Scenario};
use linchpin_sync::persistent::simulation::{Simulation, Start};
use linchpin_sync::thread;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

/// Where an era begins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Begin {
    /// Memory.
    pub(super) start: Start,
    /// Which call each thread makes next.
    pub(super) next: Vec<usize>,
}

/// Who makes a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caller {
    /// It comes before the threads start.
    Before,
    /// A thread of the scenario.
    Thread(usize),
    /// It comes when the threads have ended.
    After,
}

/// All calls of a test with crashes, numbered: as those of the scenario, then what comes after.
pub(super) fn calls<'a>(scenario: &'a Scenario, after: &'a [Call]) -> Vec<(Caller, &'a Call)> {
    let of_scenario = super::super::program::calls(scenario).into_iter();
    let of_scenario = of_scenario.map(|(thread, call)| match thread {
        Some(thread) => (Caller::Thread(thread), call),
        None => (Caller::Before, call),
    });
    of_scenario.chain(after.iter().map(|call| (Caller::After, call))).collect()
}

/// The program of an era, and where its answers will be.
pub(super) fn program<T: Send + Sync + 'static>(
    definition: &Arc<Definition<T>>,
    scenario: &Arc<Scenario>,
    begin: &Rc<Begin>,
    simulation: &Rc<Simulation>,
) -> (Rc<dyn Fn()>, Answers) {
    let answers = Answers::default();
    let (definition, scenario) = (Arc::clone(definition), Arc::clone(scenario));
    let (begin, simulation, theirs) = (Rc::clone(begin), Rc::clone(simulation), answers.clone());
    let body = move || {
        simulation.begin(&begin.start);
        if let Some(persistent) = &definition.persistent {
            run(&definition, persistent, &scenario, &begin, &simulation, &theirs);
        }
    };
    (Rc::new(body), answers)
}

fn run<T: Send + Sync + 'static>(
    definition: &Arc<Definition<T>>,
    persistent: &Persistent<T>,
    scenario: &Arc<Scenario>,
    begin: &Begin,
    simulation: &Simulation,
    answers: &Answers,
) {
    answers.start(scenario.len() + persistent.after.len());
    let pool = simulation.pool();
    let object = if begin.start.era == 0 {
        let object = Arc::new((persistent.make)(pool));
        Mark::Made.leave();
        for (number, call) in scenario.before.iter().enumerate() {
            complete(definition, &object, call, number, answers);
        }
        object
    } else {
        Arc::new((persistent.recover)(pool))
    };
    let mut first = scenario.before.len();
    let mut handles = Vec::with_capacity(scenario.threads.len());
    for (at, calls) in scenario.threads.iter().enumerate() {
        let next = begin.next.get(at).copied().unwrap_or(0);
        let numbers = first;
        first += calls.len();
        if next >= calls.len() {
            continue;
        }
        let (definition, object) = (Arc::clone(definition), Arc::clone(&object));
        let (scenario, answers) = (Arc::clone(scenario), answers.clone());
        handles.push(thread::spawn(move || {
            for (call, number) in scenario.threads[at].iter().zip(numbers..).skip(next) {
                complete(&definition, &object, call, number, &answers);
            }
        }));
    }
    for handle in handles {
        // A thread that panics ends the execution.
        let _ = handle.join();
    }
    Mark::Quiet.leave();
    for (call, number) in persistent.after.iter().zip(first..) {
        complete(definition, &object, call, number, answers);
    }
    if let Some(finally) = &definition.finally {
        finally(&object);
    }
}

/// Makes a call to its end: with crashes no future is dropped.
fn complete<T>(
    definition: &Definition<T>,
    object: &T,
    call: &Call,
    number: usize,
    answers: &Answers,
) {
    let how = How { number, cancel: false, points: &Points::NONE };
    let (ControlFlow::Continue(()) | ControlFlow::Break(())) =
        make(definition, object, call, how, answers);
}
