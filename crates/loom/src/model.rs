//! Models: closures whose executions are explored.

use crate::report;
use linchpin_explore::{Execution, Options, Strategy, explore, in_turn};
use linchpin_sync::{lazy, runtime};
use std::env;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::rc::Rc;
use std::str::FromStr;
use std::time::{Duration, Instant};

/// How a model is explored. The defaults come from the environment.
#[derive(Debug)]
#[non_exhaustive]
pub struct Builder {
    /// As in loom. Here it is no limit.
    pub max_threads: usize,
    /// A tenth of the steps that an execution may have: `LOOM_MAX_BRANCHES`.
    pub max_branches: usize,
    /// At most so many executions: `LOOM_MAX_PERMUTATIONS`.
    pub max_permutations: Option<usize>,
    /// At most so long: `LOOM_MAX_DURATION`, in seconds.
    pub max_duration: Option<Duration>,
    /// Only executions in which at most so many threads are interrupted while they could go on:
    /// `LOOM_MAX_PREEMPTIONS`.
    pub preemption_bound: Option<usize>,
    /// Where the decisions of an execution that fails are kept. If there are some, they are tried
    /// first: `LOOM_CHECKPOINT_FILE`.
    pub checkpoint_file: Option<PathBuf>,
    /// As in loom. Here it means nothing: only what fails is kept.
    pub checkpoint_interval: usize,
    /// Whether other executions are explored only from [`explore`](crate::explore) on.
    pub expect_explicit_explore: bool,
    /// As in loom. Here places in the source are always known.
    pub location: bool,
    /// Prints how many executions there were, and the one that failed: `LOOM_LOG`.
    pub log: bool,
}

/// What a variable says, if it is set.
///
/// # Panics
///
/// If it makes no sense.
fn variable<T: FromStr>(name: &str) -> Option<T> {
    let value = env::var(name).ok()?;
    match value.parse() {
        Ok(value) => Some(value),
        Err(_) => panic!("invalid value for `{name}`"),
    }
}

impl Builder {
    /// The defaults.
    pub fn new() -> Builder {
        Builder {
            max_threads: crate::MAX_THREADS,
            max_branches: variable("LOOM_MAX_BRANCHES").unwrap_or(1_000),
            max_permutations: variable("LOOM_MAX_PERMUTATIONS"),
            max_duration: variable("LOOM_MAX_DURATION").map(Duration::from_secs),
            preemption_bound: variable("LOOM_MAX_PREEMPTIONS"),
            checkpoint_file: variable("LOOM_CHECKPOINT_FILE"),
            checkpoint_interval: variable("LOOM_CHECKPOINT_INTERVAL").unwrap_or(20_000),
            expect_explicit_explore: false,
            location: env::var("LOOM_LOCATION").is_ok(),
            log: env::var("LOOM_LOG").is_ok(),
        }
    }

    /// Where the decisions of an execution that fails are kept.
    pub fn checkpoint_file(&mut self, file: &str) -> &mut Builder {
        self.checkpoint_file = Some(file.into());
        self
    }

    /// Explores the executions of a model.
    ///
    /// # Panics
    ///
    /// If something goes wrong in one of them: a panic, a deadlock, a data race, a leak.
    pub fn check<F>(&self, model: F)
    where
        F: Fn() + Sync + Send + 'static,
    {
        let explicit = self.expect_explicit_explore;
        let body: Rc<dyn Fn()> = Rc::new(move || {
            if explicit {
                crate::stop_exploring();
            }
            lazy::begin();
            model();
            runtime::with(|runtime| runtime.with_locals(&mut |locals| locals.destroy()));
            lazy::end();
        });
        let weak = env::var("LOOM_LINCHPIN").is_ok_and(|engine| engine == "weak");
        if let Some(decisions) = self.kept_decisions() {
            let replay = if weak { Strategy::ReplayWeak } else { Strategy::Replay };
            self.explore(replay(decisions), &body);
        }
        let strategy = match self.preemption_bound {
            Some(bound) => Strategy::Preemptions(bound),
            None if weak => Strategy::Weak,
            None => Strategy::Exhaustive,
        };
        self.explore(strategy, &body);
    }

    fn explore(&self, strategy: Strategy, body: &Rc<dyn Fn()>) {
        let mut options = Options::new(strategy);
        options.executions = self.max_permutations.map(|most| most as u64);
        options.limits.deadline = self.max_duration.map(|duration| Instant::now() + duration);
        options.steps = self.max_branches.saturating_mul(10);
        let (explored, failed) = in_turn(|_| {
            let mut failed: Option<Execution> = None;
            let explored = explore(&options, body, &mut |execution| {
                if execution.problem.is_none() {
                    return ControlFlow::Continue(());
                }
                failed = Some(execution.clone());
                ControlFlow::Break(())
            });
            ((explored, failed), false)
        });
        if let Some(execution) = failed {
            self.keep_decisions(&execution);
            panic!("{}", report::message(&execution, self.log || self.location));
        }
        if self.log {
            let how = if explored.complete { "Completed in" } else { "Stopped after" };
            println!("{how} {} iterations", explored.executions);
            println!("({} more showed nothing new, {} steps)", explored.redundant, explored.steps);
        }
    }

    /// The decisions of an execution that failed.
    fn kept_decisions(&self) -> Option<Vec<u32>> {
        let text = std::fs::read_to_string(self.checkpoint_file.as_ref()?).ok()?;
        let numbers = text.trim().trim_start_matches('[').trim_end_matches(']').split(',');
        numbers.map(|number| number.trim().parse().ok()).collect()
    }

    fn keep_decisions(&self, execution: &Execution) {
        let Some(file) = &self.checkpoint_file else { return };
        if let Err(error) = std::fs::write(file, format!("{:?}", execution.decisions)) {
            eprintln!("{}: {error}", file.display());
        }
    }
}

impl Default for Builder {
    fn default() -> Builder {
        Builder::new()
    }
}

/// Explores the executions of a model as the environment says.
///
/// # Panics
///
/// If something goes wrong in one of them: see [`Builder::check`].
pub fn model<F>(model: F)
where
    F: Fn() + Sync + Send + 'static,
{
    Builder::new().check(model);
}
