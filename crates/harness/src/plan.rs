//! How a test is run: the mode and its options, and what the environment changes of them.

use crate::error::DefinitionError;
use std::env;
use std::fmt;
use std::time::Duration;

/// How executions are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Real threads on real cores, as fast as they go.
    Native,
    /// Every execution of every scenario.
    Exhaustive,
    /// Executions by chance: each step any thread that can move.
    Random,
    /// Executions by chance with so few changes of priority (probabilistic concurrency testing).
    Pct(usize),
    /// Every execution with at most so many preemptions.
    Preemptions(usize),
    /// Every execution of weak memory.
    Weak,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mode::Native => f.write_str("native"),
            Mode::Exhaustive => f.write_str("exhaustive"),
            Mode::Random => f.write_str("random"),
            Mode::Pct(changes) => write!(f, "pct({changes})"),
            Mode::Preemptions(most) => write!(f, "preemptions({most})"),
            Mode::Weak => f.write_str("weak"),
        }
    }
}

/// What a test does that reaches a limit before it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnLimit {
    /// It passes, and says how far it came.
    Pass,
    /// It fails, and says how far it came.
    Fail,
}

/// [`OnLimit::Pass`], for tests: `mode: exhaustive(on_limit = pass);`.
#[allow(non_upper_case_globals)]
pub const pass: OnLimit = OnLimit::Pass;

/// [`OnLimit::Fail`], for tests: `mode: exhaustive(on_limit = fail);`.
#[allow(non_upper_case_globals)]
pub const fail: OnLimit = OnLimit::Fail;

/// The bounds of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How many threads.
    pub threads: usize,
    /// How many operations of each, in a scenario.
    pub ops: usize,
    /// At most so many rounds or executions.
    pub runs: Option<u64>,
    /// At most so long.
    pub time: Option<Duration>,
    /// What chance starts from; another one each time if there is none.
    pub seed: Option<u64>,
    /// At most about so many bytes.
    pub memory: Option<usize>,
    /// So long a thread may go on without an access under control: a thread that takes longer
    /// hangs.
    pub patience: Option<Duration>,
    /// How many bytes the stack of a thread has under control.
    pub stack: Option<usize>,
    /// Whether a future that is not ready may be dropped instead, under control.
    pub cancel: bool,
    /// What to do when a limit is reached. If nothing is said, a test that covers everything within
    /// its bounds fails, and one that samples passes.
    pub on_limit: Option<OnLimit>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            threads: 2,
            ops: 4,
            runs: None,
            time: None,
            seed: None,
            memory: None,
            patience: None,
            stack: None,
            cancel: false,
            on_limit: None,
        }
    }
}

/// A mode with its options, as a builder.
///
/// ```
/// use linchpin_harness::{Mode, Plan};
/// let plan = Plan::preemptions().bound(3).threads(3).ops(2).time(2.5);
/// assert_eq!(plan.mode, Mode::Preemptions(3));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The mode.
    pub mode: Mode,
    /// Its options.
    pub options: Options,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan::native()
    }
}

/// Changes of priority of PCT, unless said otherwise.
const CHANGES: usize = 3;

/// Preemptions, unless said otherwise.
const PREEMPTIONS: usize = 2;

impl Plan {
    fn of(mode: Mode, ops: usize) -> Plan {
        Plan { mode, options: Options { ops, ..Options::default() } }
    }

    /// Real threads.
    pub fn native() -> Plan {
        Plan::of(Mode::Native, 4)
    }

    /// Every execution.
    pub fn exhaustive() -> Plan {
        Plan::of(Mode::Exhaustive, 2)
    }

    /// Executions by chance.
    pub fn random() -> Plan {
        Plan::of(Mode::Random, 3)
    }

    /// Executions by chance with few changes of priority, as many as [`Plan::bound`] says.
    pub fn pct() -> Plan {
        Plan::of(Mode::Pct(CHANGES), 3)
    }

    /// Every execution with few preemptions, as many as [`Plan::bound`] says.
    pub fn preemptions() -> Plan {
        Plan::of(Mode::Preemptions(PREEMPTIONS), 3)
    }

    /// Every execution of weak memory.
    pub fn weak() -> Plan {
        Plan::of(Mode::Weak, 2)
    }

    /// With so many threads.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Plan {
        self.options.threads = threads;
        self
    }

    /// With so many operations of each thread.
    #[must_use]
    pub fn ops(mut self, ops: usize) -> Plan {
        self.options.ops = ops;
        self
    }

    /// With so many rounds or executions at most.
    #[must_use]
    pub fn runs(mut self, runs: u64) -> Plan {
        self.options.runs = Some(runs);
        self
    }

    /// For so long at most: a [`Duration`] or seconds.
    #[must_use]
    pub fn time(mut self, time: impl Time) -> Plan {
        self.options.time = Some(time.duration());
        self
    }

    /// With this seed.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Plan {
        self.options.seed = Some(seed);
        self
    }

    /// With about so many bytes at most.
    #[must_use]
    pub fn memory(mut self, bytes: usize) -> Plan {
        self.options.memory = Some(bytes);
        self
    }

    /// Under control, a thread that goes on for so long without an access hangs: a [`Duration`] or
    /// seconds. Ten seconds if nothing is said.
    #[must_use]
    pub fn patience(mut self, patience: impl Time) -> Plan {
        self.options.patience = Some(patience.duration());
        self
    }

    /// Under control, the stack of each thread has so many bytes: 2 MiB if nothing is said. A stack
    /// that is too small ends the process with a segmentation fault.
    #[must_use]
    pub fn stack(mut self, bytes: usize) -> Plan {
        self.options.stack = Some(bytes);
        self
    }

    /// Under control, an `async` operation that is not ready may be dropped instead of waited for,
    /// each time: it may or may not have taken effect then, and its thread calls nothing more.
    #[must_use]
    pub fn cancel(mut self, cancel: bool) -> Plan {
        self.options.cancel = cancel;
        self
    }

    /// What to do when a limit is reached.
    #[must_use]
    pub fn on_limit(mut self, then: OnLimit) -> Plan {
        self.options.on_limit = Some(then);
        self
    }

    /// The number of preemptions, or of changes of priority; other modes have no such bound.
    #[must_use]
    pub fn bound(mut self, bound: usize) -> Plan {
        match &mut self.mode {
            Mode::Pct(most) | Mode::Preemptions(most) => *most = bound,
            _ => {}
        }
        self
    }

    /// As the environment says: `LINCHPIN_MODE`, `LINCHPIN_BOUND`, `LINCHPIN_TIME` (seconds),
    /// `LINCHPIN_RUNS`, `LINCHPIN_SEED` and `LINCHPIN_STACK` (bytes) come before what the test
    /// says.
    ///
    /// # Errors
    ///
    /// If one of them makes no sense.
    pub fn in_environment(self) -> Result<Plan, DefinitionError> {
        self.changed(|name| env::var(name).ok())
    }

    fn changed(mut self, get: impl Fn(&str) -> Option<String>) -> Result<Plan, DefinitionError> {
        if let Some(name) = get("LINCHPIN_MODE") {
            self.mode = match name.as_str() {
                "native" => Mode::Native,
                "exhaustive" => Mode::Exhaustive,
                "random" => Mode::Random,
                "pct" => Mode::Pct(CHANGES),
                "preemptions" => Mode::Preemptions(PREEMPTIONS),
                "weak" => Mode::Weak,
                _ => return Err(mistake("LINCHPIN_MODE", &name, MODES)),
            };
        }
        if let Some(bound) = number(&get, "LINCHPIN_BOUND", "a number")? {
            self = self.bound(bound);
        }
        if let Some(seconds) = number::<f64>(&get, "LINCHPIN_TIME", "seconds")? {
            self.options.time = Some(seconds.duration());
        }
        if let Some(runs) = number(&get, "LINCHPIN_RUNS", "a number")? {
            self.options.runs = Some(runs);
        }
        if let Some(seed) = number(&get, "LINCHPIN_SEED", "a number")? {
            self.options.seed = Some(seed);
        }
        if let Some(bytes) = number(&get, "LINCHPIN_STACK", "a number of bytes")? {
            self.options.stack = Some(bytes);
        }
        Ok(self)
    }
}

const MODES: &str = "native, exhaustive, random, pct, preemptions or weak";

fn number<N: std::str::FromStr>(
    get: &impl Fn(&str) -> Option<String>,
    name: &'static str,
    expected: &'static str,
) -> Result<Option<N>, DefinitionError> {
    let Some(text) = get(name) else { return Ok(None) };
    text.trim().parse().map(Some).map_err(|_| mistake(name, &text, expected))
}

fn mistake(variable: &'static str, value: &str, expected: &'static str) -> DefinitionError {
    DefinitionError::Environment { variable, value: value.to_owned(), expected }
}

/// How long something may take: a [`Duration`], or seconds.
pub trait Time {
    /// That long.
    fn duration(self) -> Duration;
}

impl Time for Duration {
    fn duration(self) -> Duration {
        self
    }
}

impl Time for f64 {
    fn duration(self) -> Duration {
        Duration::try_from_secs_f64(self.max(0.0)).unwrap_or(Duration::MAX)
    }
}

impl Time for u64 {
    fn duration(self) -> Duration {
        Duration::from_secs(self)
    }
}

impl Time for i32 {
    fn duration(self) -> Duration {
        Duration::from_secs(u64::try_from(self).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_comes_first() {
        let get = |name: &str| match name {
            "LINCHPIN_MODE" => Some("pct".to_owned()),
            "LINCHPIN_BOUND" => Some("5".to_owned()),
            "LINCHPIN_TIME" => Some("0.5".to_owned()),
            _ => None,
        };
        let plan = Plan::native().seed(3).changed(get).expect("a plan");
        assert_eq!(plan.mode, Mode::Pct(5));
        assert_eq!(plan.options.time, Some(Duration::from_millis(500)));
        assert_eq!(plan.options.seed, Some(3));
    }

    #[test]
    fn a_mistake_in_the_environment_is_said() {
        let get = |name: &str| (name == "LINCHPIN_RUNS").then(|| "many".to_owned());
        let mistake = Plan::native().changed(get).err().map(|error| error.to_string());
        assert_eq!(mistake.as_deref(), Some("LINCHPIN_RUNS is `many`, which is not a number"));
    }
}
