//! A scenario as a program that an explorer can run: the first thread makes the object, starts the
//! others, waits for them, and looks at what is left.

use super::points::Points;
use crate::definition::{Definition, Run};
use crate::scenario::{Call, Scenario};
use linchpin_spec::Value;
use linchpin_sync::{future, runtime, thread};
use std::ops::ControlFlow;
use std::panic::Location;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

/// The answers of one execution, in the order of [`calls`]; what did not return has none.
#[derive(Clone, Default)]
pub(super) struct Answers(Arc<Mutex<Vec<Option<Value>>>>);

impl Answers {
    /// What was answered in the execution that has just ended.
    pub(super) fn take(&self) -> Vec<Option<Value>> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn start(&self, count: usize) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = vec![None; count];
    }

    fn set(&self, number: usize, answer: Value) {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = answers.get_mut(number) {
            *place = Some(answer);
        }
    }
}

/// What a note in a trace says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// The call with this number is made.
    Called(usize),
    /// It returns.
    Returned(usize),
    /// Its future is dropped before it is ready.
    Dropped(usize),
    /// All threads have ended; what must hold then is looked at.
    Quiet,
    /// The object is made, in persistent memory.
    Made,
}

/// Marks words of [`Mark::Dropped`]; marks of persistent memory have the highest bit.
const DROPPED: u64 = 1 << 62;

/// No call has this number.
const MADE: u64 = u64::MAX >> 1;

impl Mark {
    /// As the word that goes into the trace.
    fn word(self) -> u64 {
        match self {
            Mark::Called(number) => 1 + 2 * number as u64,
            Mark::Returned(number) => 2 + 2 * number as u64,
            Mark::Dropped(number) => DROPPED | number as u64,
            Mark::Quiet => 0,
            Mark::Made => MADE,
        }
    }

    /// From the word in a trace.
    pub(super) fn of(word: u64) -> Mark {
        match word {
            0 => Mark::Quiet,
            MADE => Mark::Made,
            word if word & DROPPED != 0 => Mark::Dropped((word & !DROPPED) as usize),
            odd if odd % 2 == 1 => Mark::Called((odd / 2) as usize),
            even => Mark::Returned((even / 2 - 1) as usize),
        }
    }

    pub(super) fn leave(self) {
        runtime::with(|runtime| runtime.mark(self.word()));
    }
}

/// All calls of a scenario with the threads that make them, numbered: those of the first thread
/// (`None`) come before the others start.
pub(super) fn calls(scenario: &Scenario) -> Vec<(Option<usize>, &Call)> {
    let before = scenario.before.iter().map(|call| (None, call));
    let threads = scenario.threads.iter().enumerate();
    let made =
        threads.flat_map(|(thread, calls)| calls.iter().map(move |call| (Some(thread), call)));
    before.chain(made).collect()
}

/// How a scenario is run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Manner {
    /// Whether futures that are not ready may be dropped.
    pub(super) cancel: bool,
    /// Whether each call and each return is a step of its own, so that their order is that of the
    /// execution. It costs executions, and is needed only where a call makes no access.
    pub(super) points: bool,
}

/// The program of a scenario, which leaves its answers here.
pub(super) fn program<T: Send + Sync + 'static>(
    definition: &Arc<Definition<T>>,
    scenario: &Scenario,
    manner: Manner,
    answers: &Answers,
) -> Rc<dyn Fn()> {
    let (definition, answers) = (Arc::clone(definition), answers.clone());
    let scenario = Arc::new(scenario.clone());
    Rc::new(move || run(&definition, &scenario, manner, &answers))
}

fn run<T: Send + Sync + 'static>(
    definition: &Arc<Definition<T>>,
    scenario: &Arc<Scenario>,
    manner: Manner,
    answers: &Answers,
) {
    answers.start(scenario.len());
    // The plain `Arc` of std: that the threads share the object is no part of the program.
    let object = Arc::new((definition.make)());
    let points = Arc::new(Points::new(manner.points));
    for (number, call) in scenario.before.iter().enumerate() {
        let how = How { number, cancel: false, points: &Points::NONE };
        let _ = make(definition, &object, call, how, answers);
    }
    let mut first = scenario.before.len();
    let mut handles = Vec::with_capacity(scenario.threads.len());
    for (at, calls) in scenario.threads.iter().enumerate() {
        let (definition, object) = (Arc::clone(definition), Arc::clone(&object));
        let points = Arc::clone(&points);
        let (scenario, answers, numbers) = (Arc::clone(scenario), answers.clone(), first);
        first += calls.len();
        handles.push(thread::spawn(move || {
            for (call, number) in scenario.threads[at].iter().zip(numbers..) {
                let how = How { number, cancel: manner.cancel, points: &points };
                // A process makes no other call while one may still take effect.
                if make(&definition, &object, call, how, &answers).is_break() {
                    return;
                }
            }
        }));
    }
    for handle in handles {
        // A thread that panics ends the execution.
        let _ = handle.join();
    }
    Mark::Quiet.leave();
    if let Some(finally) = &definition.finally {
        finally(&object);
    }
}

/// How a call is made.
#[derive(Clone, Copy)]
pub(super) struct How<'a> {
    /// Its number.
    pub(super) number: usize,
    /// Whether its future may be dropped.
    pub(super) cancel: bool,
    pub(super) points: &'a Points,
}

/// Makes a call, and notes that and its answer; breaks if its future was dropped.
#[track_caller]
pub(super) fn make<T>(
    definition: &Definition<T>,
    object: &T,
    call: &Call,
    how: How<'_>,
    answers: &Answers,
) -> ControlFlow<()> {
    let How { number, cancel, points } = how;
    Mark::Called(number).leave();
    points.step();
    let site = Location::caller();
    let gives_up =
        || cancel && runtime::with(|runtime| runtime.choose(2, site)).is_some_and(|it| it == 1);
    let answer = match &definition.operations[call.operation] {
        Run::Call(run) => Some(run(object, &call.arguments)),
        Run::Async(run) => future::block_on_unless(run.start(object, &call.arguments), gives_up),
    };
    let Some(answer) = answer else {
        Mark::Dropped(number).leave();
        return ControlFlow::Break(());
    };
    answers.set(number, answer);
    points.step();
    Mark::Returned(number).leave();
    ControlFlow::Continue(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_words() {
        for mark in [
            Mark::Quiet,
            Mark::Made,
            Mark::Called(0),
            Mark::Returned(0),
            Mark::Called(7),
            Mark::Dropped(3),
        ] {
            assert_eq!(Mark::of(mark.word()), mark);
        }
    }
}
