//! What a test that passed has covered, and what that does not show.

use crate::plan::Mode;
use linchpin_verdict::{counted, grouped};
use std::fmt;
use std::time::Duration;

/// What was covered.
#[derive(Clone, Debug, PartialEq)]
pub struct Covered {
    /// The name of the test.
    pub test: String,
    /// The mode.
    pub mode: Mode,
    /// How many threads there were.
    pub threads: usize,
    /// How many operations each of them had in a round.
    pub ops: usize,
    /// How many scenarios were executed, where that was counted.
    pub scenarios: Option<u64>,
    /// Rounds, or executions.
    pub rounds: u64,
    /// Long runs on one object.
    pub long_runs: u64,
    /// Operations in all.
    pub operations: u64,
    /// How many different histories there were.
    pub histories: u64,
    /// How many of them could not be judged in time.
    pub undecided: u64,
    /// How long it took.
    pub elapsed: Duration,
    /// What chance started from.
    pub seed: u64,
    /// Whether everything within the bounds was covered.
    pub complete: bool,
    /// Whether not one access of `linchpin::sync` or `linchpin::cell` was seen, although executions
    /// were controlled.
    pub unseen: bool,
    /// What else there is to know.
    pub notes: Vec<String>,
}

impl Covered {
    /// Nothing yet.
    pub fn new(test: &str, mode: Mode, threads: usize, ops: usize, seed: u64) -> Covered {
        Covered {
            test: test.to_owned(),
            mode,
            threads,
            ops,
            scenarios: None,
            rounds: 0,
            long_runs: 0,
            operations: 0,
            histories: 0,
            undecided: 0,
            elapsed: Duration::ZERO,
            seed,
            complete: false,
            unseen: false,
            notes: Vec::new(),
        }
    }

    fn what_it_shows(&self) -> &'static str {
        match (self.mode, self.complete) {
            _ if self.unseen => {
                "No access was seen: is the object built on `linchpin::sync`? Calls came one after \
                 the other, which shows nothing about threads that run beside each other."
            }
            (Mode::Native, _) => {
                "No violation in these rounds, which shows nothing about other schedules."
            }
            (Mode::Weak, true) => {
                "Everything within these bounds was covered, by RC11 without load buffering."
            }
            (_, true) => {
                "Everything within these bounds was covered, if memory is sequentially consistent."
            }
            (_, false) => "No violation in these executions, which shows nothing about the others.",
        }
    }
}

impl fmt::Display for Covered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs = if self.mode == Mode::Native { "round" } else { "execution" };
        write!(
            f,
            "{}: {}: {} of {} with {} each",
            self.test,
            self.mode,
            counted(self.rounds, runs),
            counted(self.threads, "thread"),
            counted(self.ops, "operation"),
        )?;
        if let Some(scenarios) = self.scenarios {
            write!(f, ", {}", counted(scenarios, "scenario"))?;
        }
        if self.long_runs > 0 {
            write!(f, ", {}", counted(self.long_runs, "long run"))?;
        }
        let histories = match self.histories {
            1 => "1 different history".to_owned(),
            many => format!("{} different histories", grouped(many)),
        };
        write!(
            f,
            "; {}, {histories}, in {:.1} s, seed {}\n  {}",
            counted(self.operations, "operation"),
            self.elapsed.as_secs_f64(),
            self.seed,
            self.what_it_shows(),
        )?;
        if self.undecided > 0 {
            write!(f, "\n  {} of them could not be judged in time.", self.undecided)?;
        }
        self.notes.iter().try_for_each(|note| write!(f, "\n  {note}"))
    }
}
