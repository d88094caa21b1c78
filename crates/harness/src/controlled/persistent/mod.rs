//! Crashes of the system: every execution is cut where a crash may come, what is left in persistent
//! memory is recovered from, and threads go on with the rest of the scenario.
//!
//! `era` is a scenario from the beginning, or from a crash, as a program; `segment` what it
//! contributes to a history; `judge` judges eras one after the other; `explorer` explores all of
//! them. `again` repeats a run, `steps` prints it, `repair` tries what would have kept what was
//! lost. Where a crash may cut an execution, and what it leaves, is in [`linchpin_explore::crash`].

mod again;
mod era;
mod explorer;
mod judge;
mod repair;
mod segment;
mod steps;

use super::task::{Tasks, kind};
use super::unseen::{accesses, nothing_seen};
use super::{RUNS, SAMPLING, TIME, is_exhaustive, memory};
use crate::covered::Covered;
use crate::definition::Definition;
use crate::error::DefinitionError;
use crate::failure::{Failure, Kind};
use crate::files;
use crate::persistent::Persistent;
use crate::plan::{Mode, OnLimit, Options};
use crate::scenario::Scenario;
use again::again;
use explorer::{Choosing, CrashTally, CrashWrong, Explorer, Found, Run};
use linchpin_explore::crash::Inserted;
use linchpin_explore::{Strategy, in_turn};
use linchpin_sync::persistent::simulation::Simulation;
use linchpin_sync::runtime::took_static;
use linchpin_verdict::{Limits, counted, grouped};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// So long a smaller failure is looked for.
const SHRINKING: Duration = Duration::from_secs(5);

/// So many executions a smaller scenario gets to fail.
const MOST_RUNS: u64 = 20_000;

/// Runs a test with crashes.
///
/// # Errors
///
/// What went wrong.
pub(super) fn run<T: Send + Sync + 'static>(
    definition: &Arc<Definition<T>>,
    mode: Mode,
    options: &Options,
) -> Result<Covered, Box<Failure>> {
    let Some(persistent) = &definition.persistent else {
        let mistake = Kind::Mistake(DefinitionError::NoRecovery);
        return Err(Box::new(Failure::of(&definition.subject.name, mistake)));
    };
    let seed = options.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
    in_turn(|_| {
        let simulation = Rc::new(Simulation::new(persistent.crashes > 0));
        let session = Session { definition, persistent, mode, options, seed, simulation };
        (session.run(), took_static())
    })
}

/// One test.
struct Session<'a, T> {
    definition: &'a Arc<Definition<T>>,
    persistent: &'a Persistent<T>,
    mode: Mode,
    options: &'a Options,
    seed: u64,
    simulation: Rc<Simulation>,
}

impl<T: Send + Sync + 'static> Session<'_, T> {
    fn run(&self) -> Result<Covered, Box<Failure>> {
        if let Some(path) = std::env::var_os("LINCHPIN_REPLAY") {
            return self.replay(Path::new(&path));
        }
        let started = Instant::now();
        let usual = if is_exhaustive(self.mode) { TIME } else { SAMPLING };
        let time = self.options.time.unwrap_or(usual);
        let free = || Some(memory::resident()? + memory::available()? / 2);
        let memory = self.options.memory.or_else(free);
        let limits = Limits { deadline: started.checked_add(time), memory, ..Limits::default() };
        let mut notes = Vec::new();
        if let Some(found) = self.last_failure(&limits, &mut notes) {
            return Err(self.failed(found, 0));
        }
        let (mut sum, mut scenarios, mut operations) = (CrashTally::default(), 0, 0);
        for (_, task) in Tasks::new(&self.definition.subject, self.mode, self.options, self.seed) {
            let resident = memory::resident().unwrap_or_default();
            if let Some(reason) = limits.exceeded(resident) {
                sum.stopped = Some(reason);
                break;
            }
            let scenario = Arc::new(task.scenario);
            let left = self.options.runs.map(|most| most.saturating_sub(sum.executions));
            let (found, tally) = self.explore(&scenario, task.strategy, &limits, left, None);
            sum.add(&tally);
            scenarios += 1;
            operations += (tally.executions + tally.after) * scenario.len() as u64;
            if let Some(found) = found {
                return Err(self.failed(found, sum.executions));
            }
            if sum.stopped.is_some() {
                break;
            }
        }
        let Options { threads, ops, .. } = *self.options;
        let name = &self.definition.subject.name;
        let mut covered = Covered::new(name, self.mode, threads, ops, self.seed);
        covered.scenarios = Some(scenarios);
        covered.operations = operations;
        covered.notes = notes;
        covered.elapsed = started.elapsed();
        self.covered(covered, &sum)
    }

    fn explore(
        &self,
        scenario: &Arc<Scenario>,
        strategy: Strategy,
        limits: &Limits,
        runs: Option<u64>,
        inserted: Option<Inserted>,
    ) -> (Option<Found>, CrashTally) {
        let seed = match strategy {
            Strategy::Random { seed, .. } | Strategy::Pct { seed, .. } => Some(seed),
            _ => None,
        };
        let choosing = Choosing { strategy, seed, runs, inserted };
        let (definition, persistent) = (self.definition, self.persistent);
        Explorer::new(definition, persistent, scenario, &self.simulation, limits, choosing).run()
    }

    /// Tries what failed the last time first.
    fn last_failure(&self, limits: &Limits, notes: &mut Vec<String>) -> Option<Found> {
        let regression = files::last_failure(&self.definition.subject)?;
        let scenario = Arc::new(regression.scenario);
        let runs = regression.decisions.as_deref().and_then(again::runs);
        if let Some(found) = runs.and_then(|runs| self.found(&scenario, runs)) {
            return Some(found);
        }
        let strategy = super::task::strategy(self.mode, RUNS, self.seed);
        let found = self.explore(&scenario, strategy, limits, Some(RUNS), None).0;
        if found.is_none() {
            let path = regression.path.display();
            notes.push(format!("what failed the last time ({path}) does not fail any more"));
        }
        found
    }

    /// What is wrong with a run now, if something is.
    fn found(&self, scenario: &Arc<Scenario>, runs: Vec<Run>) -> Option<Found> {
        let (definition, persistent) = (self.definition, self.persistent);
        let again = again(definition, persistent, scenario, &self.simulation, &runs)?;
        Some(Found { scenario: Arc::clone(scenario), runs, wrong: again.wrong? })
    }

    /// One run again: `LINCHPIN_REPLAY` names the file of a failure.
    fn replay(&self, path: &Path) -> Result<Covered, Box<Failure>> {
        let subject = &self.definition.subject;
        let mistake = |reason: String| {
            let mistake = DefinitionError::Replay { path: path.display().to_string(), reason };
            Box::new(Failure::of(&subject.name, Kind::Mistake(mistake)))
        };
        let regression = files::regression_at(subject, path).map_err(mistake)?;
        let runs = regression.decisions.as_deref().and_then(again::runs);
        let runs = runs.ok_or_else(|| mistake("it has no decisions".to_owned()))?;
        let scenario = Arc::new(regression.scenario);
        if let Some(found) = self.found(&scenario, runs) {
            let mut failure = self.failure(found);
            failure.rounds = 1;
            return Err(Box::new(failure));
        }
        let Options { threads, ops, .. } = *self.options;
        let mut covered = Covered::new(&subject.name, self.mode, threads, ops, 0);
        covered.rounds = 1;
        covered.notes.push("the run of the failure does not fail any more".to_owned());
        Ok(covered)
    }

    fn failed(&self, found: Found, executions: u64) -> Box<Failure> {
        let found = self.smaller(found);
        let mut failure = self.failure(found);
        failure.seed = self.seed;
        failure.rounds = executions;
        Box::new(failure)
    }

    /// The failure with as few calls as are found in time.
    fn smaller(&self, mut found: Found) -> Found {
        let deadline = Instant::now().checked_add(SHRINKING);
        let limits = Limits { deadline, ..Limits::default() };
        loop {
            let smaller = candidates(&found.scenario).into_iter().find_map(|scenario| {
                limits.exceeded(0).is_none().then_some(())?;
                let scenario = Arc::new(scenario);
                let runs = Some(MOST_RUNS);
                let tried = self.explore(&scenario, Strategy::Exhaustive, &limits, runs, None).0?;
                let same =
                    std::mem::discriminant(&tried.wrong) == std::mem::discriminant(&found.wrong);
                same.then_some(tried)
            });
            match smaller {
                Some(smaller) => found = smaller,
                None => return found,
            }
        }
    }

    /// As a failure of the test.
    fn failure(&self, found: Found) -> Failure {
        let subject = &self.definition.subject;
        let decisions = found.decisions();
        let (definition, persistent) = (self.definition, self.persistent);
        let again = again(definition, persistent, &found.scenario, &self.simulation, &found.runs);
        let new = |kind| {
            let mut failure = Failure::new(subject, kind, self.mode);
            failure.property = Some(persistent.property);
            failure.scenario(subject, &found.scenario)
        };
        let is_blind = again
            .as_ref()
            .is_some_and(|again| again.eras.iter().all(|era| !accesses(&era.execution)));
        let mut failure = match found.wrong {
            // Calls without an access are taken to overlap, which they need not do.
            CrashWrong::Violated(_) if is_blind && found.scenario.threads.len() > 1 => {
                return new(nothing_seen(self.mode));
            }
            CrashWrong::Violated(violated) => new(Kind::NotLinearizable).violated(*violated),
            CrashWrong::Problem(problem) => {
                let last = again.as_ref().and_then(|again| again.eras.last());
                let who = |thread| format!("thread {thread}");
                let kind = last.map_or_else(
                    || Kind::Panicked(problem.to_string()),
                    |era| kind(&era.execution, &who),
                );
                new(kind)
            }
        };
        let Some(again) = again else {
            failure.notes.push("the run cannot be repeated: the code is not deterministic".into());
            return failure;
        };
        if failure.violation.is_none() {
            let after = &persistent.after;
            let judge =
                judge::CrashJudge::new(subject, &found.scenario, after, persistent.property);
            let taken = vec![0; again.segments.len()];
            failure.history = judge.history(&again.segments, &taken).unwrap_or_default();
            if again.eras.len() > 1 {
                failure.notes.push("this happened after a crash, in `recover` or later".into());
            }
        }
        let (scenario, after) = (&found.scenario, &persistent.after);
        let steps = steps::Steps { subject, scenario, after, eras: &again.eras };
        failure.interleaving = Some(steps.text());
        failure.repairs = self.repairs(&found.scenario, &again);
        failure.decisions = Some(decisions);
        failure
    }

    fn covered(&self, mut covered: Covered, sum: &CrashTally) -> Result<Covered, Box<Failure>> {
        covered.unseen = !sum.accessed;
        if covered.unseen && covered.threads > 1 && sum.executions > 0 {
            let kind = nothing_seen(self.mode);
            return Err(Box::new(Failure::new(&self.definition.subject, kind, self.mode)));
        }
        covered.rounds = sum.executions;
        covered.histories = sum.different;
        covered.undecided = sum.undecided;
        covered.complete =
            is_exhaustive(self.mode) && sum.stopped.is_none() && sum.undecided + sum.partly == 0;
        if self.persistent.crashes > 0 {
            covered.notes.push(format!(
                "{} at most: {}, {} after them, a store was lost in {} of these",
                counted(self.persistent.crashes, "crash").replace("crashs", "crashes"),
                counted(sum.crashes, "different crash").replace("crashs", "crashes"),
                counted(sum.after, "execution"),
                grouped(sum.lossy),
            ));
        }
        if self.persistent.crashes > 0 && sum.lossy == 0 {
            let vacuous =
                "No crash lost a store that was read again: this says little about flushes.";
            covered.notes.push(vacuous.to_owned());
        }
        if self.persistent.crashes > 0 && self.persistent.after.is_empty() {
            let blind =
                "Nothing is called after the threads: add `after { … }` to see what is lost.";
            covered.notes.push(blind.to_owned());
        }
        if let Some(reason) = sum.stopped {
            covered.notes.push(reason.to_string());
        }
        if sum.partly > 0 {
            let partly = counted(sum.partly, "execution");
            covered.notes.push(format!("of {partly} not every order or crash was looked at"));
        }
        let must_complete = match self.options.on_limit {
            Some(on_limit) => on_limit == OnLimit::Fail,
            None => is_exhaustive(self.mode),
        };
        if must_complete && !covered.complete && (is_exhaustive(self.mode) || sum.stopped.is_some())
        {
            let limit = Kind::Limit(covered.to_string());
            return Err(Box::new(Failure::new(&self.definition.subject, limit, self.mode)));
        }
        Ok(covered)
    }
}

/// The scenarios with one call less: the later calls first.
fn candidates(scenario: &Scenario) -> Vec<Scenario> {
    let mut smaller: Vec<Scenario> = (0..scenario.before.len())
        .map(|at| {
            let mut smaller = scenario.clone();
            smaller.before.remove(at);
            smaller
        })
        .collect();
    for (thread, calls) in scenario.threads.iter().enumerate() {
        for at in 0..calls.len() {
            let mut less = scenario.without(thread, at);
            less.threads.retain(|calls| !calls.is_empty());
            if !less.threads.is_empty() {
                smaller.push(less);
            }
        }
    }
    smaller.reverse();
    smaller
}

impl CrashTally {
    fn add(&mut self, other: &CrashTally) {
        self.executions += other.executions;
        self.after += other.after;
        self.lossy += other.lossy;
        self.crashes += other.crashes;
        self.different += other.different;
        self.undecided += other.undecided;
        self.partly += other.partly;
        self.accessed |= other.accessed;
        self.stopped = self.stopped.or(other.stopped);
    }
}
