//! Asking the engines.

use linchpin_base::{Analysis, BaseError, Options, analyse};
use linchpin_ir::interpreter::Memory;
use linchpin_ir::program::Program;
use linchpin_refine::{Failure, VerifyOptions, verify};
use linchpin_space::{Bounds, Calls, Reductions};
use linchpin_verdict::{Limits, Outcome, Values};
use std::time::{Duration, Instant};

/// How many threads make how many calls with how many values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Within {
    pub threads: usize,
    pub calls: u32,
    pub values: i64,
}

impl Within {
    pub fn bounds(self) -> Bounds {
        Bounds {
            calls: Calls::Each(self.calls),
            values: Values::UpTo(self.values),
            objects: None,
            memory: Memory::Collected,
            crashes: 0,
            thread_crashes: 0,
        }
    }
}

/// No longer than this.
pub fn limits(time: Duration) -> Limits {
    Limits { deadline: Some(Instant::now() + time), memory: Some(1 << 30), ..Limits::default() }
}

/// Asks the base point engine.
pub fn base(
    program: &Program,
    within: Within,
    reductions: Reductions,
    as_printed: bool,
    time: Duration,
) -> Result<Analysis, BaseError> {
    let mut options = Options::new(within.bounds());
    options.reductions = reductions;
    options.as_printed = as_printed;
    options.limits = limits(time);
    analyse(program, &options, &|_| {})
}

/// What refinement says within bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refined {
    /// Every run is linearizable.
    Holds,
    /// A run has a response that nothing explains, or a step of it fails.
    Violated,
    /// It was given up.
    Unknown,
}

/// Asks the refinement engine. Operations that get stuck are not looked for: linearizability is
/// about the calls that return.
pub fn refine(program: &Program, within: Within, time: Duration) -> Refined {
    let mut options = VerifyOptions::new(within.bounds());
    options.stuck = false;
    options.shortest_budget = 0;
    options.search.workers = 1;
    options.search.limits = limits(time);
    let Ok(report) = verify(program, &options, &|_| {}) else { return Refined::Unknown };
    match report.outcome {
        Outcome::Holds(()) => Refined::Holds,
        Outcome::Violated(found) => match found.failure {
            Failure::Unexplained { .. } | Failure::Fault => Refined::Violated,
            Failure::Stuck(_) => Refined::Holds,
        },
        Outcome::Inconclusive(_) => Refined::Unknown,
    }
}
