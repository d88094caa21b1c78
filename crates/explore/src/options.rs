//! What is asked of an exploration, and what it answers.

use crate::watch::Watch;
use linchpin_verdict::{Limits, StopReason};
use std::sync::Arc;

/// How executions are chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Every execution under sequential consistency, up to the order of accesses that do not touch
    /// each other: source-DPOR. All orderings are taken for `SeqCst`.
    ///
    /// A thread that pauses (`spin_loop`, `yield_now`) after two turns of a loop that were alike
    /// goes on when something that the turn read has changed, or when no other thread can. So a
    /// loop that counts its turns is not seen to give up while others could still write.
    Exhaustive,
    /// Every execution in which at most so many threads are interrupted while they could go on.
    Preemptions(usize),
    /// At each step a thread at random.
    Random {
        /// How many executions.
        runs: u64,
        /// Where random numbers start.
        seed: u64,
    },
    /// Threads with random priorities that change at random steps: a bug that needs `depth` ordered
    /// steps is found with a known probability (Burckhardt et al., ASPLOS 2010).
    Pct {
        /// How many executions.
        runs: u64,
        /// How many ordered steps.
        depth: usize,
        /// Where random numbers start.
        seed: u64,
    },
    /// Every execution under RC11 without cycles of program order and reads-from: orderings mean
    /// what they say.
    Weak,
    /// One execution again: the decisions of an [`Execution`](crate::Execution) of a sequentially
    /// consistent strategy.
    Replay(Vec<u32>),
    /// One execution of [`Strategy::Weak`] again.
    ReplayWeak(Vec<u32>),
}

/// What is asked of an exploration.
#[derive(Clone, Debug)]
pub struct Options {
    /// How executions are chosen.
    pub strategy: Strategy,
    /// When to give up.
    pub limits: Limits,
    /// At most so many executions, if said.
    pub executions: Option<u64>,
    /// At most so many steps in one execution: more are a [`Problem`](crate::Problem).
    pub steps: usize,
    /// Whether what was not given back is a [`Problem`](crate::Problem).
    pub leaks: bool,
    /// How many bytes the stack of each thread has. Code that needs more ends the process: it runs
    /// into a page that may not be touched.
    pub stack: usize,
    /// Where to say what the exploration is at.
    pub watch: Option<Arc<Watch>>,
}

/// The stack of a thread, unless said otherwise: as in std, so that code which runs there runs
/// here. Pages that are not touched cost nothing.
const STACK_BYTES: usize = 2 * 1024 * 1024;

impl Options {
    /// The defaults for a strategy.
    pub fn new(strategy: Strategy) -> Options {
        Options {
            strategy,
            limits: Limits::default(),
            executions: None,
            steps: 10_000,
            leaks: true,
            stack: STACK_BYTES,
            watch: None,
        }
    }
}

/// What was explored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exploration {
    /// Executions that were shown to the observer.
    pub executions: u64,
    /// Executions that were left because others show the same.
    pub redundant: u64,
    /// Whether every execution of the strategy was shown.
    pub complete: bool,
    /// Why not, if a limit is the reason.
    pub stopped: Option<StopReason>,
    /// Steps of all executions.
    pub steps: u64,
}
