//! Every mode but the native one: executions under an explorer's control, each judged.
//!
//! A test is a row of *tasks*, each a scenario with a strategy (`task`). They are taken in order by
//! as many workers as there are cores. A task runs its scenario as a program (`program`), and
//! judges the histories that each execution stands for (`observe`). The first task that fails is
//! made smaller (`shrink`), and becomes a failure with its steps (`interleaving`).

mod interleaving;
pub(crate) mod memory;
mod observe;
mod persistent;
mod points;
mod program;
mod replay;
mod sequence;
mod shrink;
mod task;
mod unseen;
mod watchdog;
mod words;

use crate::covered::Covered;
use crate::definition::Definition;
use crate::failure::{Failure, Kind};
use crate::files::{self, Regression};
use crate::plan::{Mode, OnLimit, Options};
use linchpin_explore::in_turn;
use linchpin_sync::runtime::took_static;
use linchpin_verdict::{Limits, StopFlag, StopReason};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use task::{Conditions, Found, Tally, Task, Tasks};
use watchdog::{PATIENCE, Watchdog, Worker};

/// So long a test explores, unless it says otherwise.
const TIME: Duration = Duration::from_secs(60);

/// So long a test samples, unless it says otherwise.
const SAMPLING: Duration = Duration::from_secs(5);

/// So long tasks that come before one that failed may go on.
///
/// The failure that is shown is that of the first task, whichever worker was faster, unless the
/// tasks before it take longer than this.
const GRACE: Duration = Duration::from_secs(1);

/// So many executions a test samples, unless it says otherwise.
const RUNS: u64 = 20_000;

/// Runs a test under a scheduler of our own.
///
/// # Errors
///
/// What went wrong.
pub fn run<T: Send + Sync + 'static>(
    definition: &Arc<Definition<T>>,
    mode: Mode,
    options: &Options,
) -> Result<Covered, Box<Failure>> {
    if definition.has_crashes() {
        return persistent::run(definition, mode, options);
    }
    if let Some(path) = std::env::var_os("LINCHPIN_REPLAY") {
        return replay::run(definition, mode, options, &path);
    }
    Session::new(definition, mode, options).run()
}

/// Whether a mode covers everything within its bounds, if nothing stops it.
fn is_exhaustive(mode: Mode) -> bool {
    matches!(mode, Mode::Exhaustive | Mode::Preemptions(_) | Mode::Weak)
}

/// One test.
struct Session<T> {
    definition: Arc<Definition<T>>,
    mode: Mode,
    options: Options,
    watchdog: Arc<Watchdog>,
    started: Instant,
    deadline: Instant,
    seed: u64,
    /// At most so many bytes, of the whole process.
    memory: Option<usize>,
    /// What is known of the last failure of this test.
    notes: Vec<String>,
}

/// What the workers share.
struct Shared {
    /// The tasks that are being run, and how to stop them.
    running: Mutex<Vec<(u64, StopFlag)>>,
    /// A task has ended.
    ended: Condvar,
    found: Mutex<Option<(u64, Found)>>,
    tally: Mutex<Tally>,
    runs: AtomicU64,
    /// Whether a static variable was accessed.
    statics: AtomicBool,
}

impl Shared {
    /// The next task, unless one has failed: those that are left come after it.
    fn next(&self, tasks: &Mutex<Tasks<'_>>, stop: &StopFlag) -> Option<(u64, Task)> {
        let mut tasks = tasks.lock().unwrap_or_else(PoisonError::into_inner);
        if self.found.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
            return None;
        }
        let (number, task) = tasks.next()?;
        // INVARIANT: noted before the next task is taken, so that all tasks before a given one are
        // noted or have ended.
        self.running().push((number, stop.clone()));
        Some((number, task))
    }

    /// A task has ended. If it failed, those after it are stopped, and those before it soon.
    fn end(&self, number: u64, found: Option<Found>) {
        let mut running = self.running();
        running.retain(|(other, _)| *other != number);
        self.ended.notify_all();
        let Some(found) = found else { return };
        {
            let mut first = self.found.lock().unwrap_or_else(PoisonError::into_inner);
            if first.as_ref().is_some_and(|(other, _)| *other < number) {
                return;
            }
            *first = Some((number, found));
        }
        for (_, stop) in running.iter().filter(|(other, _)| *other > number) {
            stop.ask(StopReason::Interrupt);
        }
        let until = Instant::now() + GRACE;
        while running.iter().any(|(other, _)| *other < number) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                running.iter().for_each(|(_, stop)| stop.ask(StopReason::Interrupt));
                return;
            }
            let waited = self.ended.wait_timeout(running, left);
            (running, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn running(&self) -> MutexGuard<'_, Vec<(u64, StopFlag)>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Clone for Session<T> {
    fn clone(&self) -> Self {
        Session {
            definition: Arc::clone(&self.definition),
            options: self.options.clone(),
            watchdog: Arc::clone(&self.watchdog),
            notes: self.notes.clone(),
            ..*self
        }
    }
}

impl<T: Send + Sync + 'static> Session<T> {
    fn new(definition: &Arc<Definition<T>>, mode: Mode, options: &Options) -> Self {
        let started = Instant::now();
        let usual = if is_exhaustive(mode) { TIME } else { SAMPLING };
        let time = options.time.unwrap_or(usual);
        let deadline = started.checked_add(time).unwrap_or(started + Duration::from_secs(1 << 30));
        let seed = options.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
        // Without a limit: half of what is free, on top of what is taken.
        let free = || Some(memory::resident()? + memory::available()? / 2);
        let memory = options.memory.or_else(free);
        let (definition, options) = (Arc::clone(definition), options.clone());
        let watchdog = Arc::default();
        let notes = Vec::new();
        Session { definition, mode, options, watchdog, started, deadline, seed, memory, notes }
    }

    fn run(self) -> Result<Covered, Box<Failure>> {
        in_turn(|alone| {
            // Scenarios that are explored beside each other do not know how many runs are left.
            let counted = self.options.runs.is_some()
                && is_exhaustive(self.mode)
                && self.definition.subject.scenario.is_none();
            let cores = || thread::available_parallelism().map_or(1, usize::from);
            let workers = if alone || counted { 1 } else { cores() };
            let mut attempt = self.clone();
            let patience = self.options.patience.unwrap_or(PATIENCE);
            match self.watchdog.watch(patience, move || attempt.attempt(workers)) {
                Ok(result) => result,
                Err(hang) => (Err(hang.failure(&self.definition.subject, self.mode)), false),
            }
        })
    }

    /// Runs the test, and says whether a worker has accessed a static variable.
    fn attempt(&mut self, workers: usize) -> (Result<Covered, Box<Failure>>, bool) {
        // What is done before and after the exploration is that of a worker too.
        let worker = self.watchdog.worker();
        if let Some(found) = self.last_failure(&worker) {
            return (Err(self.failed(found, 0, worker)), false);
        }
        let shared = Shared {
            running: Mutex::new(Vec::new()),
            ended: Condvar::new(),
            found: Mutex::new(None),
            tally: Mutex::new(Tally::default()),
            runs: AtomicU64::new(0),
            statics: AtomicBool::new(false),
        };
        let subject = &self.definition.subject;
        let tasks = Mutex::new(Tasks::new(subject, self.mode, &self.options, self.seed));
        thread::scope(|scope| {
            // This thread is a worker too, so that a test with one task starts no thread.
            for _ in 1..workers.min(self.task_count()) {
                scope.spawn(|| self.work(&tasks, &shared, &[]));
            }
            // Where there is one task only, the others take part in it.
            let crew = workers - workers.min(self.task_count());
            let crew: Vec<_> = (0..crew).map(|_| self.watchdog.worker()).collect();
            self.work(&tasks, &shared, &crew);
        });
        let statics = shared.statics.into_inner();
        let tally = shared.tally.into_inner().unwrap_or_else(PoisonError::into_inner);
        let found = shared.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        // What was found while others disturbed it need not be so.
        let result = match found {
            Some((_, found)) => Err(self.failed(found, tally.executions, worker)),
            None => self.covered(tally),
        };
        (result, statics)
    }

    fn task_count(&self) -> usize {
        if self.definition.subject.scenario.is_some() && is_exhaustive(self.mode) {
            1
        } else {
            usize::MAX
        }
    }

    /// Takes tasks until there are none, one has failed, or a limit is reached.
    fn work(&self, tasks: &Mutex<Tasks<'_>>, shared: &Shared, crew: &[Arc<Worker>]) {
        self.take_tasks(tasks, shared, crew);
        if took_static() {
            shared.statics.store(true, Ordering::Relaxed);
        }
    }

    fn take_tasks(&self, tasks: &Mutex<Tasks<'_>>, shared: &Shared, crew: &[Arc<Worker>]) {
        let worker = self.watchdog.worker();
        loop {
            let stop = StopFlag::default();
            let Some((number, task)) = shared.next(tasks, &stop) else { return };
            let mut conditions = self.conditions(stop, &worker);
            conditions.crew = crew.to_vec();
            if let Some(reason) = conditions.limits.exceeded(memory::resident().unwrap_or_default())
            {
                shared.end(number, None);
                self.add(shared, Tally { stopped: Some(reason), ..Tally::default() });
                return;
            }
            let left = self.runs_left(shared);
            let outcome = task.run(&self.definition, &conditions, left);
            shared.statics.fetch_or(outcome.statics, Ordering::Relaxed);
            shared.runs.fetch_add(outcome.tally.executions, Ordering::Relaxed);
            shared.end(number, outcome.found);
            let stopped = outcome.tally.stopped;
            self.add(shared, outcome.tally);
            if stopped.is_some() {
                return;
            }
        }
    }

    fn runs_left(&self, shared: &Shared) -> Option<u64> {
        let most = self.options.runs?;
        Some(most.saturating_sub(shared.runs.load(Ordering::Relaxed)))
    }

    fn add(&self, shared: &Shared, tally: Tally) {
        shared.tally.lock().unwrap_or_else(PoisonError::into_inner).add(&tally);
    }

    fn conditions(&self, stop: StopFlag, worker: &Arc<Worker>) -> Conditions {
        let (deadline, memory) = (Some(self.deadline), self.memory);
        let limits = Limits { deadline, memory, stop: Some(stop), ..Limits::default() };
        let worker = Some(Arc::clone(worker));
        let Options { stack, cancel, .. } = self.options;
        Conditions { limits, stack, cancel, worker, ..Conditions::default() }
    }

    /// Tries what failed the last time first.
    fn last_failure(&mut self, worker: &Arc<Worker>) -> Option<Found> {
        let Regression { path, scenario, decisions } =
            files::last_failure(&self.definition.subject)?;
        let conditions = self.conditions(StopFlag::default(), worker);
        let mut drifted = "";
        if let Some(decisions) = decisions {
            let task = Task::replay(self.mode, scenario.clone(), decisions);
            match task.run(&self.definition, &conditions, None).found {
                Some(found) if !found.is_drift() => return Some(found),
                Some(_) => drifted = ", and the code has drifted: it does something else now",
                None => {}
            }
        }
        let task = Task::again(self.mode, scenario, self.seed);
        let found = task.run(&self.definition, &conditions, Some(RUNS)).found;
        if found.is_none() {
            let path = path.display();
            self.notes.push(format!(
                "what failed the last time ({path}) does not fail any more{drifted}"
            ));
        }
        found
    }

    fn failed(&self, found: Found, executions: u64, worker: Arc<Worker>) -> Box<Failure> {
        let Options { stack, cancel, .. } = self.options;
        let conditions =
            Conditions { stack, cancel, worker: Some(worker), ..Conditions::default() };
        let unseen = found.rests_on();
        let mut failure = match unseen.is_empty() {
            true => self.seen(found, &conditions),
            false => self.unseen(&found, &unseen, &conditions),
        };
        failure.seed = self.seed;
        failure.rounds = executions;
        Box::new(failure)
    }

    /// A failure that rests on what was seen, unless it turns out that it does not.
    fn seen(&self, found: Found, conditions: &Conditions) -> Failure {
        let smaller = shrink::smaller(&self.definition, self.mode, found, conditions);
        if smaller.answers_otherwise(&self.definition, conditions) {
            let subject = &self.definition.subject;
            let failure = Failure::new(subject, unseen::otherwise(), self.mode);
            return failure.scenario(subject, &smaller.task.scenario);
        }
        smaller.failure(&self.definition, self.mode)
    }

    /// A failure that rests on calls without an access: it must happen as it is told, or it is that
    /// of the test.
    fn unseen(
        &self,
        found: &Found,
        operations: &BTreeSet<usize>,
        conditions: &Conditions,
    ) -> Failure {
        let subject = &self.definition.subject;
        let Some(found) = found.confirmed(&self.definition, conditions) else {
            let kind = match unseen::accesses(&found.execution) {
                true => unseen::partly_seen(subject, operations),
                false => unseen::nothing_seen(self.mode),
            };
            return Failure::new(subject, kind, self.mode).scenario(subject, &found.task.scenario);
        };
        // Memory is sequentially consistent then.
        let points = conditions.with_points();
        let smaller = shrink::smaller(&self.definition, Mode::Exhaustive, found, &points);
        let mut failure = smaller.failure(&self.definition, self.mode);
        // Calls and returns are no steps when it is repeated.
        failure.decisions = None;
        let names = unseen::names(subject, operations);
        failure.notes.push(format!("no access was seen in {names}"));
        failure
    }

    /// Whether the code can answer what a recording says, and if not, where it differs at least.
    fn compared(&self, tally: &Tally) -> Option<String> {
        let subject = &self.definition.subject;
        let (recorded, (agree, answers)) = (subject.recorded.as_ref()?, tally.closest.as_ref()?);
        if *agree == recorded.len() {
            return Some("the code can answer what was recorded".to_owned());
        }
        let scenario = subject.scenario.as_ref()?;
        let calls = program::calls(scenario).into_iter().filter(|(thread, _)| thread.is_some());
        let differs =
            calls.zip(recorded).zip(answers).find_map(|(((thread, call), said), answer)| {
                let said = said.as_ref()?;
                let answer = answer.as_ref()?;
                let name = &subject.operations[call.operation].name;
                let thread = thread?;
                (said != answer).then(|| {
                    format!("{name} by process {thread} answered {said} there, and {answer} here")
                })
            });
        let difference = differs.unwrap_or_else(|| "a call does not return here".to_owned());
        Some(format!(
            "no execution answers what was recorded; in the closest one {agree} of {} calls agree: {difference}",
            recorded.len()
        ))
    }

    fn covered(&self, tally: Tally) -> Result<Covered, Box<Failure>> {
        let subject = &self.definition.subject;
        let Options { threads, ops, .. } = self.options;
        let mut covered = Covered::new(&subject.name, self.mode, threads, ops, self.seed);
        covered.scenarios = Some(tally.tasks);
        covered.rounds = tally.executions;
        covered.operations = tally.operations;
        covered.histories = tally.different;
        covered.undecided = tally.undecided;
        covered.elapsed = self.started.elapsed();
        covered.complete = is_exhaustive(self.mode)
            && tally.stopped.is_none()
            && tally.undecided + tally.partly == 0;
        covered.notes = self.notes.clone();
        let all = 0..subject.operations.len();
        let unseen: BTreeSet<usize> = all.filter(|at| !tally.touched.contains(at)).collect();
        covered.unseen = tally.touched.is_empty();
        if covered.unseen && threads > 1 && covered.rounds > 0 {
            let kind = unseen::nothing_seen(self.mode);
            return Err(Box::new(Failure::new(subject, kind, self.mode)));
        }
        if !covered.unseen && !unseen.is_empty() {
            let names = unseen::names(subject, &unseen);
            covered.notes.push(format!("no access was seen in {names}"));
        }
        covered.notes.extend(self.compared(&tally));
        if let Some(reason) = tally.stopped {
            covered.notes.push(reason.to_string());
        }
        if tally.partly > 0 {
            let partly =
                format!("of {} executions only one real-time order was judged", tally.partly);
            covered.notes.push(partly);
        }
        let must_complete = match self.options.on_limit {
            Some(on_limit) => on_limit == OnLimit::Fail,
            // A test that says that it covers everything must not pass when it did not.
            None => is_exhaustive(self.mode),
        };
        if must_complete
            && !covered.complete
            && (is_exhaustive(self.mode) || tally.stopped.is_some())
        {
            let limit = Kind::Limit(covered.to_string());
            return Err(Box::new(Failure::new(subject, limit, self.mode)));
        }
        Ok(covered)
    }
}
