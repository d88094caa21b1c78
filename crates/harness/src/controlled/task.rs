//! One scenario, explored.

use super::interleaving::{Names, Steps};
use super::memory;
use super::observe::{Observer, RealTime, Wrong};
use super::program::{Answers, Manner, Mark, program};
use super::watchdog::Worker;
use super::{GRACE, RUNS, is_exhaustive};
use crate::definition::{Definition, Subject};
use crate::enumerate::{Alphabet, Scenarios};
use crate::failure::{Failure, Kind};
use crate::judge::Violated;
use crate::plan::{Mode, Options};
use crate::scenario::Scenario;
use linchpin_explore::{EventKind, Execution, Exploration, Problem, Strategy, Together, explore};
use linchpin_history::{History, OpId};
use linchpin_spec::Value;
use linchpin_sync::runtime::{PlaceKind, took_static};
use linchpin_verdict::{Limits, StopReason};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

/// A scenario and how it is explored.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) scenario: Scenario,
    pub(super) strategy: Strategy,
}

/// Under what a task is run.
#[derive(Clone, Default)]
pub(super) struct Conditions {
    pub(super) limits: Limits,
    /// Bytes of the stack of each thread.
    pub(super) stack: Option<usize>,
    /// Whether futures may be dropped.
    pub(super) cancel: bool,
    /// Who is watched.
    pub(super) worker: Option<Arc<Worker>>,
    /// Who else may take part in a task.
    pub(super) crew: Vec<Arc<Worker>>,
    /// Whether calls and returns are steps of their own.
    pub(super) points: bool,
}

impl Conditions {
    /// The same, with calls and returns as steps.
    pub(super) fn with_points(&self) -> Conditions {
        Conditions { points: true, ..self.clone() }
    }

    /// How a scenario is run as a program.
    fn manner(&self) -> Manner {
        Manner { cancel: self.cancel, points: self.points }
    }
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
    /// The operations in which something was accessed.
    pub(super) touched: BTreeSet<usize>,
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
        self.touched.extend(&other.touched);
        self.stopped = self.stopped.or(other.stopped);
        self.closer(other.closest.clone());
    }

    fn closer(&mut self, other: Option<(usize, Vec<Option<Value>>)>) {
        let agrees = |closest: &Option<(usize, _)>| closest.as_ref().map(|(count, _)| *count);
        if agrees(&other) > agrees(&self.closest) {
            self.closest = other;
        }
    }
}

/// What a task found and did.
pub(super) struct Outcome {
    pub(super) found: Option<Found>,
    pub(super) tally: Tally,
    /// Whether another thread of the system than this accessed a static variable.
    pub(super) statics: bool,
}

/// An execution that is wrong.
pub(super) struct Found {
    pub(super) task: Task,
    pub(super) execution: Execution,
    pub(super) answers: Vec<Option<Value>>,
    pub(super) wrong: Wrong,
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
        conditions: &Conditions,
        runs: Option<u64>,
    ) -> Outcome {
        let limits = &conditions.limits;
        if let Some(worker) = &conditions.worker {
            worker.takes(&self.scenario);
        }
        if !conditions.crew.is_empty()
            && let Some(together) = Together::new(&self.strategy, GRACE)
        {
            return self.run_together(together, definition, conditions, runs);
        }
        let mut looks = vec![Look::new(definition, &self, limits)];
        let body = program(definition, &self.scenario, conditions.manner(), &looks[0].answers);
        let options = self.options(conditions, conditions.worker.as_ref(), runs);
        let explored = explore(&options, &body, &mut |execution| looks[0].at(execution));
        let tally = self.tally(&explored, &mut looks);
        let found = looks.pop().and_then(|look| look.found);
        Outcome { found: found.map(|found| found.of(self)), tally, statics: false }
    }

    /// The same with the crew: one scenario on several cores.
    fn run_together<T: Send + Sync + 'static>(
        self,
        together: Together,
        definition: &Arc<Definition<T>>,
        conditions: &Conditions,
        runs: Option<u64>,
    ) -> Outcome {
        let work = |worker: Option<&Arc<Worker>>| {
            if let Some(worker) = worker {
                worker.takes(&self.scenario);
            }
            let mut look = Look::new(definition, &self, &conditions.limits);
            let body = program(definition, &self.scenario, conditions.manner(), &look.answers);
            let options = self.options(conditions, worker, runs);
            let position = together.work(&options, &body, &mut |execution| look.at(execution));
            (look, position, took_static())
        };
        let done: Vec<_> = thread::scope(|scope| {
            let crew: Vec<_> =
                conditions.crew.iter().map(|one| scope.spawn(|| work(Some(one)))).collect();
            let mut done = vec![work(conditions.worker.as_ref())];
            for thread in crew {
                done.push(thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
            done
        });
        let explored = together.explored();
        let statics = done.iter().any(|(_, _, statics)| *statics);
        // What was found last by the one whose failure is the first of all.
        let (positions, mut looks): (Vec<_>, Vec<_>) =
            done.into_iter().map(|(look, position, _)| (position, look)).unzip();
        let tally = self.tally(&explored, &mut looks);
        let found = positions.into_iter().zip(looks);
        let found = found.filter_map(|(position, look)| Some((position?, look.found?)));
        let first = found.min_by(|(one, _), (other, _)| one.cmp(other));
        Outcome { found: first.map(|(_, found)| found.of(self)), tally, statics }
    }

    fn options(
        &self,
        conditions: &Conditions,
        worker: Option<&Arc<Worker>>,
        runs: Option<u64>,
    ) -> linchpin_explore::Options {
        let mut options = linchpin_explore::Options::new(self.strategy.clone());
        options.limits = conditions.limits.clone();
        options.executions = runs;
        options.stack = conditions.stack.unwrap_or(options.stack);
        options.watch = worker.map(|worker| Arc::clone(&worker.watch));
        options
    }

    fn tally<T>(&self, explored: &Exploration, looks: &mut [Look<'_, T>]) -> Tally {
        let failed = looks.iter().any(|look| look.found.is_some());
        let sampled = !matches!(
            self.strategy,
            Strategy::Exhaustive | Strategy::Preemptions(_) | Strategy::Weak
        );
        let budget = (!explored.complete && !sampled && !failed).then_some(StopReason::Budget);
        let too_much = looks.iter().find_map(|look| look.too_much);
        let mut tally = Tally {
            tasks: 1,
            executions: explored.executions,
            operations: explored.executions * self.scenario.len() as u64,
            stopped: explored.stopped.or(too_much).or(budget).filter(|_| !failed),
            ..Tally::default()
        };
        let mut different = FxHashSet::default();
        for look in looks {
            tally.undecided += look.observer.undecided();
            tally.partly += look.observer.partly;
            tally.touched.append(&mut look.observer.touched);
            tally.closer(look.closest.take());
            let seen = look.observer.take_seen();
            if different.is_empty() { different = seen } else { different.extend(seen) }
        }
        tally.different = different.len() as u64;
        tally
    }
}

/// One who judges executions of a task.
struct Look<'a, T> {
    definition: &'a Definition<T>,
    limits: &'a Limits,
    observer: Observer<'a>,
    /// Where the program leaves its answers.
    answers: Answers,
    found: Option<Unlike>,
    closest: Option<(usize, Vec<Option<Value>>)>,
    too_much: Option<StopReason>,
    executions: u64,
}

/// An execution that is wrong, of whatever task.
struct Unlike {
    execution: Execution,
    answers: Vec<Option<Value>>,
    wrong: Wrong,
}

impl Unlike {
    fn of(self, task: Task) -> Found {
        let Unlike { execution, answers, wrong } = self;
        Found { task, execution, answers, wrong }
    }
}

impl<'a, T> Look<'a, T> {
    fn new(definition: &'a Definition<T>, task: &'a Task, limits: &'a Limits) -> Look<'a, T> {
        let (subject, deadline) = (&definition.subject, limits.deadline);
        Look {
            definition,
            limits,
            observer: Observer::new(subject, &task.scenario, task.is_weak(), deadline),
            answers: Answers::default(),
            found: None,
            closest: None,
            too_much: None,
            executions: 0,
        }
    }

    /// Looks at an execution.
    fn at(&mut self, execution: &Execution) -> ControlFlow<()> {
        let answers = self.answers.take();
        let subject = &self.definition.subject;
        if let Some(recorded) = &subject.recorded {
            closer(&mut self.closest, recorded, &answers, subject.before.len());
        }
        if let Some(wrong) = self.observer.judge(execution, answers.clone()) {
            self.found = Some(Unlike { execution: execution.clone(), answers, wrong });
            return ControlFlow::Break(());
        }
        self.executions += 1;
        // What threads owned that were left waiting is lost, and only the system counts it.
        let bytes = match self.executions % 1024 {
            0 => memory::resident().unwrap_or_default().max(self.observer.bytes()),
            _ => self.observer.bytes(),
        };
        if self.limits.memory.is_some_and(|most| bytes > most) {
            self.too_much = Some(StopReason::Memory);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
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

    /// The history that no order explains, and its core.
    pub(super) fn violated(&self) -> Option<(&History, &[OpId])> {
        match &self.wrong {
            Wrong::NotLinearizable(violated, _) => {
                Some((&violated.history, &violated.violation.core))
            }
            Wrong::NotExplained(found) => Some((found.history.operations(), &found.violation.core)),
            Wrong::Stuck(_) | Wrong::Problem(_) => None,
        }
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
        let names = Names::new(&task.scenario, &execution);
        let who = |thread| match thread {
            0 => "the first thread".to_owned(),
            other => names.of(other),
        };
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
                stuck.notes.extend(execution.problem.as_ref().map(|problem| told(problem, &who)));
                stuck
            }
            Wrong::Problem(history) => failure(kind(&execution, &who)).history(history),
        };
        let steps = Steps {
            subject,
            scenario: &task.scenario,
            execution: &execution,
            answers: &answers,
            weak,
        };
        if let Kind::Race(_) = failure.kind {
            failure.notes.push(
                "only what is of linchpin orders accesses of its cells: if a lock or an atomic of \
                 std keeps these two apart, use that of linchpin::sync in the test"
                    .to_owned(),
            );
        }
        failure.interleaving = Some(steps.text(&real_time));
        failure.decisions = Some(execution.decisions);
        failure
    }
}

/// A problem in words. That the first thread waits for the others says nothing.
fn told(problem: &Problem, who: &dyn Fn(usize) -> String) -> String {
    let mut problem = problem.clone();
    if let Problem::Deadlock { waiting } = &mut problem
        && waiting.len() > 1
    {
        waiting.retain(|one| one.thread != 0 || one.place != Some(PlaceKind::Join));
    }
    problem.told(who)
}

/// What kind of failure a problem is.
pub(super) fn kind(execution: &Execution, who: &dyn Fn(usize) -> String) -> Kind {
    let Some(problem) = &execution.problem else { return Kind::Stuck };
    let quiet = execution.events.iter().any(|event| match event.kind {
        EventKind::Mark(word) => Mark::of(word) == Mark::Quiet,
        _ => false,
    });
    let told = || told(problem, who);
    match problem {
        Problem::Panicked { thread: 0, message } if quiet => Kind::FinallyFailed(message.clone()),
        Problem::Panicked { message, .. } => Kind::Panicked(message.clone()),
        Problem::Deadlock { .. } => Kind::Deadlock(told()),
        Problem::Race { .. } => Kind::Race(told()),
        Problem::Leaked { .. } | Problem::UsedAfterFree { .. } => Kind::Memory(told()),
        Problem::TooLong { .. } => Kind::Endless(told()),
        Problem::Nondeterministic { .. } => Kind::Nondeterministic(told()),
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
