//! A run with crashes again: era by era, from the decisions that were taken.

use super::era::{Begin, program};
use super::explorer::{CrashWrong, Found, Run, made};
use super::judge::CrashJudge;
use super::segment::{Segment, Segments, next_calls};
use crate::definition::Definition;
use crate::persistent::Persistent;
use crate::scenario::Scenario;
use linchpin_explore::crash::{After, Crashable, Cut};
use linchpin_explore::{Execution, Options, Problem, Strategy, explore};
use linchpin_spec::Value;
use linchpin_sync::persistent::simulation::{Allocation, Resolved, Simulation};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

/// An era that was executed again.
pub(super) struct Shown {
    pub(super) execution: Execution,
    pub(super) answers: Vec<Option<Value>>,
    /// For each event whether it came before the crash.
    pub(super) before: Vec<bool>,
    /// What the crash may leave, if there was one.
    pub(super) after: Option<After>,
    pub(super) allocations: Vec<Allocation>,
    /// What turned out to be left by the crash before this era.
    pub(super) resolved: Vec<Resolved>,
    pub(super) base: usize,
}

/// The eras of a run, and what is wrong with them now.
pub(super) struct Again {
    pub(super) eras: Vec<Shown>,
    pub(super) segments: Vec<Rc<Segment>>,
    pub(super) wrong: Option<CrashWrong>,
}

/// Executes a run again; nothing if the code does something else now.
pub(super) fn again<T: Send + Sync + 'static>(
    definition: &Arc<Definition<T>>,
    persistent: &Persistent<T>,
    scenario: &Arc<Scenario>,
    simulation: &Rc<Simulation>,
    runs: &[Run],
) -> Option<Again> {
    let mut segments = Segments::default();
    let mut found = Again { eras: Vec::new(), segments: Vec::new(), wrong: None };
    let mut begin = Rc::new(Begin::default());
    for Run { decisions, cut } in runs {
        let (body, answers) = program(definition, scenario, &begin, simulation);
        let options = Options::new(Strategy::Replay(decisions.clone()));
        let mut executed = None;
        explore(&options, &body, &mut |execution| {
            executed = Some(execution.clone());
            ControlFlow::Break(())
        });
        let (execution, answers) = (executed?, answers.take());
        if let Some(Problem::Nondeterministic { .. }) = execution.problem {
            return None;
        }
        let (start, settled) = (&begin.start, made(&execution));
        let crashable = Crashable::new(&execution, simulation, start, settled, None);
        let is_cut = |cut: &Cut| {
            let whole = crashable.whole();
            cut.0.len() == whole.0.len() && cut.0.iter().zip(&whole.0).all(|(cut, all)| cut <= all)
        };
        if !cut.as_ref().is_none_or(is_cut) {
            return None;
        }
        let is_before = |at: usize| cut.as_ref().is_none_or(|cut| crashable.is_before(cut, at));
        let before: Vec<bool> = (0..execution.events.len()).map(is_before).collect();
        let after = cut.as_ref().map(|cut| crashable.after(cut));
        drop(crashable);
        let segment = segments.of(&execution, &answers, |at| before[at]);
        if let Some(after) = &after {
            let next = next_calls(scenario, &persistent.after, &begin, &segment);
            begin = Rc::new(Begin { start: after.start.clone(), next });
        }
        found.segments.push(segment);
        let (allocations, resolved) = (simulation.allocations(), simulation.resolved());
        let base = simulation.base();
        found.eras.push(Shown { execution, answers, before, after, allocations, resolved, base });
    }
    let (after, property) = (&persistent.after, persistent.property);
    let mut judge = CrashJudge::new(&definition.subject, scenario, after, property);
    let problem = found.eras.last().and_then(|era| era.execution.problem.clone());
    found.wrong = match problem {
        Some(problem) => Some(CrashWrong::Problem(problem)),
        None => judge.judge(&found.segments).map(|it| CrashWrong::Violated(Box::new(it))),
    };
    Some(found)
}

impl Found {
    /// What repeats it, as the numbers that go into a file: for each era its decisions, and for
    /// each thread how much of it came before the crash.
    pub(super) fn decisions(&self) -> Vec<u32> {
        let mut numbers = vec![self.runs.len() as u32];
        for Run { decisions, cut } in &self.runs {
            numbers.push(decisions.len() as u32);
            numbers.extend(decisions);
            let cut = cut.as_ref().map_or(&[][..], |cut| &cut.0);
            numbers.push(cut.len() as u32);
            numbers.extend(cut);
        }
        numbers
    }
}

/// From these numbers; nothing if they are none.
pub(super) fn runs(numbers: &[u32]) -> Option<Vec<Run>> {
    let (count, mut rest) = numbers.split_first()?;
    let mut runs = Vec::new();
    let mut list = || {
        let (count, numbers) = rest.split_first()?;
        let (list, left) = numbers.split_at_checked(usize::try_from(*count).ok()?)?;
        rest = left;
        Some(list.to_vec())
    };
    for _ in 0..*count {
        let (decisions, cut) = (list()?, list()?);
        runs.push(Run { decisions, cut: (!cut.is_empty()).then_some(Cut(cut)) });
    }
    (!runs.is_empty() && rest.is_empty()).then_some(runs)
}
