//! Calls of which no access was seen.
//!
//! What does not go through `linchpin-sync` is invisible here: a call without an access is taken to
//! depend on nothing that is shared, so it may come anywhere between its neighbours. Of an object
//! that is built on something else this is not true, and neither is what follows from it. So before
//! a failure that rests on such a call is reported, it must happen again in an execution in which
//! calls and returns are steps of their own ([`Found::confirmed`]); otherwise the test is at fault,
//! not the object.

use super::observe::{Wrong, made};
use super::program::calls;
use super::sequence::linearized;
use super::task::{Conditions, Found, Task};
use crate::definition::{Definition, Subject};
use crate::failure::Kind;
use crate::plan::Mode;
use linchpin_explore::{Event, EventKind, Execution, Strategy};
use linchpin_history::OpId;
use linchpin_sync::runtime::PlaceKind;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// So many executions a failure gets to happen again.
const RUNS: u64 = 20_000;

/// So long this may take.
const TIME: Duration = Duration::from_secs(5);

/// What is to be done about it.
const ADVICE: &str = "In this mode an object must be built on `linchpin::sync` and \
                      `linchpin::cell`, not on std's; `native` runs any object as it is";

/// What to say of a test in which no thread accessed anything.
pub(super) fn nothing_seen(mode: Mode) -> Kind {
    Kind::Unseen(format!(
        "no access was seen, so nothing is known of the object: this is a mistake of the test. \
         {ADVICE} (this is `{mode}`)"
    ))
}

/// What to say of an answer that is wrong only if a call without an access may come anywhere.
pub(super) fn partly_seen(subject: &Subject, operations: &BTreeSet<usize>) -> Kind {
    let names = names(subject, operations);
    Kind::Unseen(format!(
        "no access was seen in {names}, and what it answers depends on something that is not seen: \
         this is a mistake of the test, and nothing is known of the object. {ADVICE}"
    ))
}

/// What to say of answers that depend on the order in which code ran between its accesses.
pub(super) fn otherwise() -> Kind {
    Kind::Unseen(format!(
        "the same calls with the same accesses answered something else when they were executed \
         again, so they depend on something that is not seen: this is a mistake of the test, and \
         nothing is known of the object. {ADVICE}"
    ))
}

/// Whether another thread than the first has accessed something; that it ends is a write too.
pub(super) fn accesses(execution: &Execution) -> bool {
    let accesses = |event: &Event| match event.kind {
        EventKind::Access { place, .. } => {
            execution.places.get(place).is_some_and(|kind| *kind != PlaceKind::Join)
        }
        EventKind::Cell { .. } => true,
        _ => false,
    };
    execution.events.iter().any(|event| event.thread != 0 && accesses(event))
}

/// The names of operations: `` `get` and `len` ``.
pub(super) fn names(subject: &Subject, operations: &BTreeSet<usize>) -> String {
    let names = operations.iter().filter_map(|at| subject.operations.get(*at));
    let names: Vec<String> = names.map(|operation| format!("`{}`", operation.name)).collect();
    names.join(" and ")
}

impl Found {
    /// The operations without an access on which the failure rests: they are in its core.
    pub(super) fn rests_on(&self) -> BTreeSet<usize> {
        let scenario = &self.task.scenario;
        let made = made(scenario, &self.execution, &self.answers);
        let all = calls(scenario);
        let is_unseen = |number: &usize| made.get(*number).is_some_and(|made| !made.touched);
        let core = self.core().into_iter().filter(is_unseen);
        core.filter_map(|number| all.get(number)).map(|(_, call)| call.operation).collect()
    }

    /// The numbers of the calls of threads that no order explains.
    fn core(&self) -> Vec<usize> {
        let Some((history, core)) = self.violated() else { return Vec::new() };
        let number = |id: OpId| {
            let process = history[id].process;
            let thread: usize = history.processes.get(process as usize)?.parse().ok()?;
            let threads = &self.task.scenario.threads;
            let first = self.task.scenario.before.len();
            let first = first + threads.get(..thread)?.iter().map(Vec::len).sum::<usize>();
            // The calls of a thread are in the history in their order.
            let earlier = history.ids().filter(|other| *other < id);
            Some(first + earlier.filter(|other| history[*other].process == process).count())
        };
        core.iter().filter_map(|id| number(*id)).collect()
    }

    /// Whether the code answers something else when the failure is repeated in the order in which
    /// it is told: then its answers depend on something that is not seen. An order that cannot be
    /// followed says nothing.
    pub(super) fn answers_otherwise<T: Send + Sync + 'static>(
        &self,
        definition: &Arc<Definition<T>>,
        conditions: &Conditions,
    ) -> bool {
        let Some(strategy) = self.as_told() else { return false };
        let task = Task { scenario: self.task.scenario.clone(), strategy };
        match task.run(definition, conditions, None).found {
            Some(found) => !found.is_drift() && found.answers != self.answers,
            None => true,
        }
    }

    /// What repeats a violation in the order in which it is told.
    fn as_told(&self) -> Option<Strategy> {
        let (scenario, execution) = (&self.task.scenario, &self.execution);
        let real_time = match &self.wrong {
            Wrong::NotExplained(_) => {
                return Some(Strategy::ReplayWeak(execution.decisions.clone()));
            }
            Wrong::NotLinearizable(_, real_time) => real_time,
            Wrong::Stuck(_) | Wrong::Problem(_) => return None,
        };
        let order = linearized(scenario, execution, &self.answers, real_time);
        let mut decisions = Vec::new();
        for at in order {
            let event = &execution.events[at];
            match event.kind {
                EventKind::Access { .. } => decisions.push(u32::try_from(event.thread).ok()?),
                // It is taken when its thread comes there, which the order does not say.
                EventKind::Choose { .. } => return None,
                _ => {}
            }
        }
        Some(Strategy::Replay(decisions))
    }

    /// The same kind of failure in an execution of the scenario in which every call and every
    /// return is a step, so that the order of calls is the one in which they were made.
    pub(super) fn confirmed<T: Send + Sync + 'static>(
        &self,
        definition: &Arc<Definition<T>>,
        conditions: &Conditions,
    ) -> Option<Found> {
        let mut conditions = conditions.with_points();
        conditions.limits.deadline = Instant::now().checked_add(TIME);
        let task = Task { scenario: self.task.scenario.clone(), strategy: Strategy::Exhaustive };
        let found = task.run(definition, &conditions, Some(RUNS)).found?;
        found.violated().is_some().then_some(found)
    }
}
