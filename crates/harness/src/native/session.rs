//! One native test: what is played next, and for how long. How it is played is in `play`.

use super::batch::Batch;
use super::long::LONG;
use super::team::Team;
use crate::controlled::memory;
use crate::covered::Covered;
use crate::definition::Definition;
use crate::enumerate::Alphabet;
use crate::execution::Execution;
use crate::failure::{Failure, Kind};
use crate::files;
use crate::judge::{Judge, Violated};
use crate::plan::{Mode, OnLimit, Options};
use crate::scenario::Scenario;
use crate::stuck::may_wait;
use fastrand::Rng;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Objects made ahead.
pub(super) const BATCH: usize = 200;

/// How long a test takes that does not say.
const TIME: Duration = Duration::from_secs(1);

/// So many threads may be left waiting, in one test.
pub(super) const LEFT_WAITING: usize = 16;

/// How long the scenario that failed the last time is tried.
const AGAIN: Duration = Duration::from_millis(250);

/// A test that is being run.
pub(super) struct Session<'a, T> {
    pub(super) definition: &'a Arc<Definition<T>>,
    pub(super) options: &'a Options,
    pub(super) judge: Judge<'a>,
    pub(super) team: Team<T>,
    pub(super) random: Rng,
    pub(super) covered: Covered,
    pub(super) started: Instant,
    end: Option<Instant>,
    pub(super) batch: usize,
    pub(super) long: usize,
    pub(super) long_time: Duration,
    pub(super) left_waiting: usize,
    /// How many of those by long runs.
    pub(super) left_by_long: usize,
    /// Whether there are hardly any scenarios, or none, in which no thread may wait for ever.
    must_wait: bool,
    /// A batch that was played and is still to be judged.
    pub(super) unjudged: Option<Arc<Batch<T>>>,
    /// Why it stopped before it was done, if it did.
    stopped: Option<&'static str>,
    /// Whether threads may wait for ever in a scenario.
    waiting: FxHashMap<Scenario, bool>,
}

/// What went wrong in a round.
pub(super) struct Found {
    pub(super) kind: Kind,
    pub(super) scenario: Arc<Scenario>,
    pub(super) execution: Execution,
    pub(super) violated: Option<Violated>,
}

/// All is well, or not.
pub(super) type Judged = Result<(), Box<Found>>;

impl<'a, T: Send + Sync + 'static> Session<'a, T> {
    pub(super) fn new(definition: &'a Arc<Definition<T>>, options: &'a Options) -> Self {
        let subject = &definition.subject;
        let seed = options.seed.unwrap_or_else(|| fastrand::u64(0..1_000_000));
        let (threads, ops) = (options.threads, options.ops);
        let mut covered = Covered::new(&subject.name, Mode::Native, threads, ops, seed);
        let team = Team::new();
        if team.cores() < threads {
            let cores = team.cores();
            covered.notes.push(format!(
                "There are {threads} threads and {cores} cores: native mode finds little so."
            ));
        }
        let started = Instant::now();
        let time = options.time.or(options.runs.is_none().then_some(TIME));
        Session {
            definition,
            options,
            judge: Judge::new(subject),
            team,
            random: Rng::with_seed(seed),
            covered,
            started,
            end: time.and_then(|time| started.checked_add(time)),
            batch: BATCH,
            long: LONG.0,
            long_time: Duration::ZERO,
            left_waiting: 0,
            left_by_long: 0,
            must_wait: subject.scenario.is_some(),
            unjudged: None,
            stopped: None,
            waiting: FxHashMap::default(),
        }
    }

    pub(super) fn run(mut self) -> Result<Covered, Box<Failure>> {
        match self.all() {
            Ok(()) => {
                self.covered.elapsed = self.started.elapsed();
                self.covered.histories += self.judge.different();
                self.covered.undecided = self.judge.undecided;
                self.covered.notes.extend(self.stopped.map(str::to_owned));
                let fails = self.options.on_limit == Some(OnLimit::Fail);
                if self.stopped.is_some() && fails {
                    let limit = Kind::Limit(self.covered.to_string());
                    let subject = &self.definition.subject;
                    return Err(Box::new(Failure::new(subject, limit, Mode::Native)));
                }
                Ok(self.covered)
            }
            Err(found) => {
                let found = self.shrunk(*found);
                Err(Box::new(self.failure(found)))
            }
        }
    }

    fn all(&mut self) -> Judged {
        self.last_failure()?;
        while self.goes_on() {
            let scenarios = self.scenarios();
            self.play(scenarios)?;
            if self.long_is_due() {
                self.long_run()?;
            }
        }
        self.settle()
    }

    /// The scenario that failed the last time comes first.
    fn last_failure(&mut self) -> Judged {
        let Some(files::Regression { path, scenario, .. }) =
            files::last_failure(&self.definition.subject)
        else {
            return Ok(());
        };
        let before = self.covered.rounds;
        self.repeat(&Arc::new(scenario), AGAIN)?;
        self.covered.notes.push(format!(
            "The scenario of {} was tried first, {} times, and does not fail any more.",
            path.display(),
            self.covered.rounds - before,
        ));
        Ok(())
    }

    /// Plays one scenario again and again, for about this time.
    pub(super) fn repeat(&mut self, scenario: &Arc<Scenario>, time: Duration) -> Judged {
        let end = Instant::now() + time;
        while Instant::now() < end && self.left_waiting < LEFT_WAITING {
            self.play(vec![Arc::clone(scenario); self.batch])?;
        }
        self.settle()
    }

    /// Rounds by chance, for about this time.
    pub(super) fn short_rounds(&mut self, time: Duration) -> Judged {
        let end = Instant::now() + time;
        while Instant::now() < end {
            let scenarios = (0..self.batch).map(|_| Arc::new(self.draw(false))).collect();
            self.play(scenarios)?;
        }
        self.settle()
    }

    fn goes_on(&mut self) -> bool {
        if self.options.runs.is_some_and(|runs| self.rounds() >= runs) {
            return false;
        }
        let too_large = |most: usize| memory::resident().is_some_and(|bytes| bytes > most);
        self.stopped = if self.left_waiting >= LEFT_WAITING && self.must_wait {
            Some("It stopped early: too many threads were left waiting, as they may.")
        } else if self.options.memory.is_some_and(too_large) {
            Some("It stopped early: the process has more memory than it may.")
        } else if self.end.is_some_and(|end| Instant::now() >= end) {
            // Without a number of runs, time is what says when it is done.
            if self.options.runs.is_none() {
                return false;
            }
            Some("It stopped early: time is up.")
        } else {
            None
        };
        self.stopped.is_none()
    }

    /// How many rounds were played.
    fn rounds(&self) -> u64 {
        self.covered.rounds + self.unjudged.as_ref().map_or(0, |batch| batch.rounds.len() as u64)
    }

    /// The scenarios of the next batch.
    fn scenarios(&mut self) -> Vec<Arc<Scenario>> {
        let left = self.options.runs.map_or(u64::MAX, |runs| runs - self.rounds());
        let count = self.batch.min(usize::try_from(left).unwrap_or(usize::MAX)).max(1);
        if let Some(scenario) = &self.definition.subject.scenario {
            let scenario = Arc::new(scenario.clone());
            return vec![scenario; count];
        }
        let may_wait = self.left_waiting < LEFT_WAITING;
        (0..count).map(|at| Arc::new(self.draw(may_wait && at + 1 == count))).collect()
    }

    /// A scenario by chance. Threads may wait for ever only in the last round of a batch, and not
    /// when too many were left waiting.
    fn draw(&mut self, is_last: bool) -> Scenario {
        /// So often another one is drawn.
        const TRIES: usize = 50;
        let subject = &self.definition.subject;
        let alphabet = Alphabet::new(&subject.operations);
        let (threads, ops, first) = (self.options.threads, self.options.ops, subject.first_fresh());
        let mut scenario = Scenario::default();
        for _ in 0..TRIES {
            let drawn = alphabet.scenario(&mut self.random, threads, ops, first);
            scenario = subject.complete(drawn);
            if is_last || !self.may_wait(&scenario) {
                return scenario;
            }
        }
        self.must_wait = true;
        scenario
    }

    fn may_wait(&mut self, scenario: &Scenario) -> bool {
        /// So many answers are remembered.
        const REMEMBERED: usize = 1 << 16;
        let subject = &self.definition.subject;
        if !subject.waits() {
            return false;
        }
        if let Some(known) = self.waiting.get(scenario) {
            return *known;
        }
        let may = may_wait(subject, scenario);
        if self.waiting.len() < REMEMBERED {
            self.waiting.insert(scenario.clone(), may);
        }
        may
    }

    fn failure(&self, found: Found) -> Failure {
        let subject = &self.definition.subject;
        let mut failure = Failure::new(subject, found.kind, Mode::Native);
        failure = failure.scenario(subject, &found.scenario);
        failure.seed = self.covered.seed;
        failure.rounds = self.covered.rounds;
        failure.notes.push(
            "the machine chose the schedule: a seed draws the same scenarios, no more".to_owned(),
        );
        match found.violated {
            Some(violated) => failure.violated(violated),
            None => {
                let history = found.execution.history(subject, &found.scenario);
                failure.history(history.unwrap_or_default())
            }
        }
    }
}
