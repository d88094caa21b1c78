//! One scenario, explored.

use super::interleaving::Steps;
use super::memory;
use super::observe::{Observer, RealTime, Wrong};
use super::program::{Mark, program};
use super::{RUNS, is_exhaustive};
use crate::definition::{Definition, Subject};
use crate::enumerate::{Alphabet, Scenarios};
use crate::failure::{Failure, Kind};
use crate::judge::Violated;
use crate::plan::{Mode, Options};
use crate::scenario::Scenario;
use linchpin_explore::{EventKind, Execution, Problem, Strategy, explore};
use linchpin_spec::Value;
use linchpin_verdict::{Limits, StopReason};
use std::ops::ControlFlow;
use std::sync::Arc;

/// A scenario and how it is explored.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) scenario: Scenario,
    pub(super) strategy: Strategy,
}

/// What was done.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) tasks: u64,
    pub(super) executions: u64,
    pub(super) operations: u64,
    /// Different in answers or order.
    pub(super) different: u64,
    pub(super) undecided: u64,
    /// Executions of which not every real-time order was judged.
    pub(super) partly: u64,
    pub(super) stopped: Option<StopReason>,
    /// Of a recording: the answers of the execution that agrees with most of it, and how many do.
    pub(super) closest: Option<(usize, Vec<Option<Value>>)>,
}

impl Tally {
    pub(super) fn add(&mut self, other: &Tally) {
        self.tasks += other.tasks;
        self.executions += other.executions;
        self.operations += other.operations;
        self.different += other.different;
        self.undecided += other.undecided;
        self.partly += other.partly;
        self.stopped = self.stopped.or(other.stopped);
        let agrees = |closest: &Option<(usize, _)>| closest.as_ref().map(|(count, _)| *count);
        if agrees(&other.closest) > agrees(&self.closest) {
            self.closest.clone_from(&other.closest);
        }
    }
}

/// What a task found and did.
pub(super) struct Outcome {
    pub(super) found: Option<Found>,
    pub(super) tally: Tally,
}

/// An execution that is wrong.
pub(super) struct Found {
    pub(super) task: Task,
    pub(super) execution: Execution,
    pub(super) answers: Vec<Option<Value>>,
    wrong: Wrong,
}

impl Task {
    /// An execution again.
    pub(super) fn replay(mode: Mode, scenario: Scenario, decisions: Vec<u32>) -> Task {
        let strategy = match mode {
            Mode::Weak => Strategy::ReplayWeak(decisions),
            _ => Strategy::Replay(decisions),
        };
        Task { scenario, strategy }
    }

    /// A scenario again, in another execution perhaps.
    pub(super) fn again(mode: Mode, scenario: Scenario, seed: u64) -> Task {
        Task { scenario, strategy: strategy(mode, RUNS, seed) }
    }

    fn is_weak(&self) -> bool {
        matches!(self.strategy, Strategy::Weak | Strategy::ReplayWeak(_))
    }

    /// Explores until an execution is wrong. `runs` is how many executions are left.
    pub(super) fn run<T: Send + Sync + 'static>(
        self,
        definition: &Arc<Definition<T>>,
        limits: &Limits,
        runs: Option<u64>,
    ) -> Outcome {
        let (body, answers) = program(definition, &self.scenario);
        let weak = self.is_weak();
        let mut observer =
            Observer::new(&definition.subject, &self.scenario, weak, limits.deadline);
        let mut options = linchpin_explore::Options::new(self.strategy.clone());
        options.limits = limits.clone();
        options.executions = runs;
        let mut found = None;
        let mut executions = 0_u64;
        let mut closest = None;
        let mut too_much = None;
        let explored = explore(&options, &body, &mut |execution| {
            let answers = answers.take();
            if let Some(recorded) = &definition.subject.recorded {
                closer(&mut closest, recorded, &answers, definition.subject.before.len());
            }
            if let Some(wrong) = observer.judge(execution, answers.clone()) {
                found = Some((execution.clone(), answers, wrong));
                return ControlFlow::Break(());
            }
            executions += 1;
            // What threads owned that were left waiting is lost, and only the system counts it.
            let bytes = match executions % 1024 {
                0 => memory::resident().unwrap_or_default().max(observer.bytes()),
                _ => observer.bytes(),
            };
            if limits.memory.is_some_and(|most| bytes > most) {
                too_much = Some(StopReason::Memory);
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        let sampled = !matches!(
            self.strategy,
            Strategy::Exhaustive | Strategy::Preemptions(_) | Strategy::Weak
        );
        let budget =
            (!explored.complete && !sampled && found.is_none()).then_some(StopReason::Budget);
        let tally = Tally {
            tasks: 1,
            executions: explored.executions,
            operations: explored.executions * self.scenario.len() as u64,
            different: observer.different(),
            undecided: observer.undecided(),
            partly: observer.partly,
            closest,
            stopped: explored.stopped.or(too_much).or(budget).filter(|_| found.is_none()),
        };
        drop(observer);
        let found = found.map(|(execution, answers, wrong)| Found {
            task: self,
            execution,
            answers,
            wrong,
        });
        Outcome { found, tally }
    }
}

/// Keeps the answers that agree with most of a recording.
fn closer(
    closest: &mut Option<(usize, Vec<Option<Value>>)>,
    recorded: &[Option<Value>],
    answers: &[Option<Value>],
    before: usize,
) {
    let answers = answers.get(before..).unwrap_or_default();
    let agrees =
        |(said, answer): &(&Option<Value>, &Option<Value>)| said.is_none() || said == answer;
    let count = recorded.iter().zip(answers).filter(agrees).count();
    if closest.as_ref().is_none_or(|(most, _)| count > *most) {
        *closest = Some((count, answers.to_vec()));
    }
}

pub(super) fn strategy(mode: Mode, runs: u64, seed: u64) -> Strategy {
    match mode {
        Mode::Exhaustive | Mode::Native => Strategy::Exhaustive,
        Mode::Preemptions(most) => Strategy::Preemptions(most),
        Mode::Weak => Strategy::Weak,
        Mode::Random => Strategy::Random { runs, seed },
        Mode::Pct(depth) => Strategy::Pct { runs, depth, seed },
    }
}

impl Found {
    /// Whether the code did something else than before.
    pub(super) fn is_drift(&self) -> bool {
        matches!(self.execution.problem, Some(Problem::Nondeterministic { .. }))
    }

    /// Whether it is the same kind of thing as another.
    pub(super) fn is_like(&self, other: &Found) -> bool {
        let kind = |found: &Found| {
            let problem = found.execution.problem.as_ref().map(std::mem::discriminant);
            (std::mem::discriminant(&found.wrong), problem)
        };
        kind(self) == kind(other)
    }

    /// As a failure of the test.
    pub(super) fn failure<T>(self, definition: &Definition<T>, mode: Mode) -> Failure {
        let subject = &definition.subject;
        let Found { task, execution, answers, wrong } = self;
        let weak = task.is_weak();
        let failure = |kind| Failure::new(subject, kind, mode).scenario(subject, &task.scenario);
        let mut real_time = RealTime::default();
        let mut failure = match wrong {
            Wrong::NotLinearizable(violated, order) => {
                real_time = order;
                failure(Kind::NotLinearizable).violated(*violated)
            }
            Wrong::NotExplained(unexplained) => {
                let order = unexplained.history.order().clone();
                let (history, violation) =
                    (unexplained.history.operations().clone(), unexplained.violation);
                let violated = Violated { history, violation, possible: Vec::new() };
                let mut failure = failure(Kind::NotLinearizable).violated(violated);
                failure.order = Some(order);
                failure
            }
            Wrong::Stuck(history) => {
                let mut stuck = failure(Kind::Stuck).history(history);
                stuck.notes.extend(execution.problem.as_ref().map(Problem::to_string));
                stuck
            }
            Wrong::Problem(history) => failure(kind(&execution)).history(history),
        };
        let steps = Steps {
            subject,
            scenario: &task.scenario,
            execution: &execution,
            answers: &answers,
            weak,
        };
        failure.interleaving = Some(steps.text(&real_time));
        failure.decisions = Some(execution.decisions);
        failure
    }
}

/// What kind of failure a problem is.
pub(super) fn kind(execution: &Execution) -> Kind {
    let Some(problem) = &execution.problem else { return Kind::Stuck };
    let quiet = execution.events.iter().any(|event| match event.kind {
        EventKind::Mark(word) => Mark::of(word) == Mark::Quiet,
        _ => false,
    });
    match problem {
        Problem::Panicked { thread: 0, message } if quiet => Kind::FinallyFailed(message.clone()),
        Problem::Panicked { message, .. } => Kind::Panicked(message.clone()),
        Problem::Deadlock { .. } => Kind::Deadlock(problem.to_string()),
        Problem::Race { .. } => Kind::Race(problem.to_string()),
        Problem::Leaked { .. } | Problem::UsedAfterFree { .. } => Kind::Memory(problem.to_string()),
        Problem::TooLong { .. } => Kind::Endless(problem.to_string()),
        Problem::Nondeterministic { .. } => Kind::Nondeterministic(problem.to_string()),
    }
}

/// All tasks of a test, numbered.
pub(super) struct Tasks<'a> {
    next: u64,
    kind: Source<'a>,
    mode: Mode,
}

/// Where scenarios come from.
enum Source<'a> {
    /// The one that the test says.
    One(Option<Scenario>),
    /// All within bounds.
    All(&'a Subject, Scenarios<'a>),
    /// By chance, so many executions of each.
    Drawn { subject: &'a Subject, options: &'a Options, seed: u64, left: u64 },
}

/// So many executions a scenario that was drawn by chance has.
const RUNS_A_SCENARIO: u64 = 50;

impl<'a> Tasks<'a> {
    pub(super) fn new(
        subject: &'a Subject,
        mode: Mode,
        options: &'a Options,
        seed: u64,
    ) -> Tasks<'a> {
        let kind = match &subject.scenario {
            Some(scenario) if is_exhaustive(mode) => Source::One(Some(scenario.clone())),
            None if is_exhaustive(mode) => Source::All(
                subject,
                Scenarios::new(&subject.operations, options.threads, options.ops),
            ),
            _ => Source::Drawn { subject, options, seed, left: options.runs.unwrap_or(RUNS) },
        };
        Tasks { next: 0, kind, mode }
    }

    fn scenario(&mut self) -> Option<(Scenario, u64, u64)> {
        match &mut self.kind {
            Source::One(scenario) => Some((scenario.take()?, 0, 0)),
            Source::All(subject, scenarios) => Some((subject.complete(scenarios.next()?), 0, 0)),
            Source::Drawn { subject, options, seed, left } => {
                if *left == 0 {
                    return None;
                }
                let runs = RUNS_A_SCENARIO.min(*left);
                *left -= runs;
                let seed = seed.wrapping_add(self.next);
                let mut random = fastrand::Rng::with_seed(seed);
                let scenario = match &subject.scenario {
                    Some(scenario) => scenario.clone(),
                    None => {
                        let drawn = Alphabet::new(&subject.operations).scenario(
                            &mut random,
                            options.threads,
                            options.ops,
                            subject.first_fresh(),
                        );
                        subject.complete(drawn)
                    }
                };
                Some((scenario, runs, seed))
            }
        }
    }
}

impl Iterator for Tasks<'_> {
    type Item = (u64, Task);

    fn next(&mut self) -> Option<(u64, Task)> {
        let (scenario, runs, seed) = self.scenario()?;
        let number = self.next;
        self.next += 1;
        Some((number, Task { scenario, strategy: strategy(self.mode, runs, seed) }))
    }
}
