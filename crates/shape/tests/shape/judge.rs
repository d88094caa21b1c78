//! The two that are compared: the shape engine, and refinement within bounds.
//!
//! Everything here that asks the shape engine goes through [`shape`], so that the tests, the
//! mutants, the random programs and the campaign ask it in the same way.

use linchpin_ir::interpreter::Memory;
use linchpin_ir::program::Program;
use linchpin_lang::{Compiled, Config, Threads as Count, compile};
use linchpin_refine::{Failure, Points, VerifyOptions, verify};
use linchpin_shape::engine::sequentially;
use linchpin_shape::{Found, Options, PureAnswers, Threads, analyse};
use linchpin_space::{Bounds, Calls};
use linchpin_verdict::{Limits, Outcome, Values};
use std::time::{Duration, Instant};

/// What the shape engine says of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Accepts {
    /// Proved.
    Yes,
    /// Not proved; why, for people.
    No(String),
}

/// How the shape engine is asked.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// About how many threads.
    pub threads: Threads,
    /// How answers that change nothing are explained.
    pub pure: PureAnswers,
}

/// Any number of threads.
pub const ANY: Asked = Asked { threads: Threads::Any, pure: PureAnswers::Seen };

/// Asks the shape engine.
pub fn shape(program: &Program, asked: Asked, time: Duration) -> Accepts {
    let limits = Limits {
        deadline: Some(Instant::now() + time),
        memory: Some(1 << 30),
        ..Limits::default()
    };
    let Asked { threads, pure } = asked;
    let options = Options { threads, pure, limits, workers: 1, ..Options::default() };
    match analyse(program, &options, &|_| {}) {
        Err(why) => Accepts::No(why.to_string()),
        Ok(analysis) => match analysis.found {
            Found::Proved => match reference_shown(program) {
                Ok(()) => Accepts::Yes,
                Err(why) => Accepts::No(why),
            },
            Found::Failed(trace) => Accepts::No(format!("{:?}", trace.failure)),
            Found::Stopped(why) => Accepts::No(why.to_string()),
        },
    }
}

/// A `reference` block counts for no more than is shown of it alone.
fn reference_shown(program: &Program) -> Result<(), String> {
    let Some(block) = &program.reference else { return Ok(()) };
    let operations = (0..block.operations.len()).collect();
    let threads = vec![linchpin_ir::program::Thread { role: None, operations, calls: None }];
    sequentially(&Program { threads, ..(**block).clone() }, &Limits::default())
}

/// The bounds of a refinement check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Within {
    /// How many threads.
    pub threads: usize,
    /// How many calls each thread makes.
    pub calls: u32,
    /// How many different values clients pass.
    pub values: i64,
}

/// What refinement says within bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refined {
    /// Every run is linearizable, at the claimed points.
    AtPoints,
    /// Every run is linearizable, but not at the claimed points.
    NotAtPoints,
    /// Every run is linearizable; no points are claimed.
    Holds,
    /// A run has a response that nothing explains.
    Unexplained,
    /// A step fails.
    Fault,
    /// An operation can never return, or none was seen to.
    Stuck,
    /// It was given up, or it does not apply.
    Unknown,
}

impl Refined {
    /// Whether this contradicts a proof. What gets stuck does not: a proof of linearizability is
    /// about the calls that return.
    pub fn refutes(self) -> bool {
        matches!(self, Refined::Unexplained | Refined::Fault)
    }
}

/// Compiles a model for so many threads; `None` if it has mistakes.
pub fn compiled(source: &str, threads: usize) -> Option<Compiled> {
    let config = Config { threads: Count::Count(threads), ..Config::default() };
    compile(source, &config).ok()
}

/// Asks the refinement engine, for at most so long. `stuck` is whether operations that can never
/// return are looked for, too.
pub fn refine(source: &str, within: Within, time: Duration, stuck: bool) -> Refined {
    let Some(compiled) = compiled(source, within.threads) else { return Refined::Unknown };
    let bounds = Bounds {
        calls: Calls::Each(within.calls),
        values: Values::UpTo(within.values),
        objects: None,
        memory: Memory::Collected,
        crashes: 0,
        thread_crashes: 0,
    };
    let mut options = VerifyOptions::new(bounds);
    options.stuck = stuck;
    options.search.limits = Limits {
        deadline: Some(Instant::now() + time),
        memory: Some(1 << 30),
        ..Limits::default()
    };
    // Any counterexample will do.
    options.shortest_budget = 0;
    let Ok(report) = verify(&compiled.program, &options, &|_| {}) else { return Refined::Unknown };
    match report.outcome {
        Outcome::Holds(()) => match report.points {
            Points::Suffice => Refined::AtPoints,
            Points::Fail => Refined::NotAtPoints,
            Points::NotUsed => Refined::Holds,
        },
        Outcome::Violated(found) => match found.failure {
            Failure::Unexplained { .. } => Refined::Unexplained,
            Failure::Fault => Refined::Fault,
            Failure::Stuck(_) => Refined::Stuck,
        },
        Outcome::Inconclusive(_) if !report.never_returned.is_empty() => Refined::Stuck,
        Outcome::Inconclusive(_) => Refined::Unknown,
    }
}
