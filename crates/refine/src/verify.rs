//! The whole job: a model in, a verdict with its reasons out.

use crate::counterexample::{Counterexample, follow};
use crate::lossy::explore_lossy;
use crate::model::{ModelError, ModelProduct};
use crate::search::{Outcome, SearchOptions, Stats, Wrong, explore};
use crate::sets::Policy;
use crate::switches::fewest_switches;
use linchpin_ir::program::Program;
use linchpin_space::{Bounds, Reductions, Symmetry, Unreached};

/// How to verify.
#[derive(Clone, Debug)]
pub struct VerifyOptions {
    /// What is explored.
    pub bounds: Bounds,
    /// Which reductions of the state space are used.
    pub reductions: Reductions,
    /// Whether pending operations are linearized only when a response needs it.
    pub just_in_time: bool,
    /// Whether claimed linearization points are tried first.
    pub points: bool,
    /// How to search.
    pub search: SearchOptions,
    /// A lossy search with a table of so many bits.
    pub lossy: Option<usize>,
    /// At most so many states are visited to find the counterexample that is easiest to follow.
    pub shortest_budget: usize,
}

impl VerifyOptions {
    /// Everything on.
    pub fn new(bounds: Bounds) -> VerifyOptions {
        VerifyOptions {
            bounds,
            reductions: Reductions::ALL,
            just_in_time: true,
            points: true,
            search: SearchOptions::default(),
            lossy: None,
            shortest_budget: 300_000,
        }
    }
}

/// What became of the linearization points that the model claims (Theorem 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Points {
    /// It claims none, or they were not to be used.
    NotUsed,
    /// They explain every run.
    Suffice,
    /// They do not explain every run; the check without points was made after all.
    Fail,
}

/// The verdict.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Every run within the bounds is linearizable.
    Holds,
    /// One is not, or goes wrong.
    Violated(Box<Counterexample>),
    /// Nobody knows; why.
    Inconclusive(String),
}

/// The verdict and everything about it.
#[derive(Clone, Debug)]
pub struct Report {
    /// The verdict.
    pub verdict: Verdict,
    /// What became of the claimed points.
    pub points: Points,
    /// What the search that decided has cost.
    pub stats: Stats,
    /// The steps that were never executed.
    pub unreached: Vec<Unreached>,
    /// The symmetries that were used.
    pub symmetry: Symmetry,
    /// Whether the bound on objects kept a step from being taken.
    pub bounded: bool,
    /// Whether some thread made all the calls that it may make.
    pub exhausted: bool,
    /// Whether a run got stuck: operations are pending and nobody can move.
    pub stuck: bool,
}

/// Verifies a model. `progress` is told now and then.
pub fn verify(
    program: &Program,
    options: &VerifyOptions,
    progress: &(dyn Fn(&Stats) + Sync),
) -> Result<Report, ModelError> {
    let mut points = Points::NotUsed;
    if options.points && has_points(program) {
        let product =
            ModelProduct::new(program, options.bounds, options.reductions, Policy::Points)?;
        let (outcome, stats) = search(&product, options, progress);
        match outcome {
            Outcome::Complete => {
                return Ok(report(&product, Verdict::Holds, Points::Suffice, stats));
            }
            Outcome::Stopped(reason) => {
                let verdict = Verdict::Inconclusive(reason);
                return Ok(report(&product, verdict, Points::NotUsed, stats));
            }
            Outcome::Found { wrong: Wrong::Unexplained, .. } => points = Points::Fail,
            Outcome::Found { wrong: Wrong::Fault, .. } => {}
        }
    }
    let policy = if options.just_in_time { Policy::JustInTime } else { Policy::Eager };
    let product = ModelProduct::new(program, options.bounds, options.reductions, policy)?;
    let (outcome, stats) = search(&product, options, progress);
    let verdict = match outcome {
        Outcome::Complete => Verdict::Holds,
        Outcome::Stopped(reason) => Verdict::Inconclusive(reason),
        Outcome::Found { path, wrong } => found(&product, program, options, &path, wrong)?,
    };
    Ok(report(&product, verdict, points, stats))
}

fn search(
    product: &ModelProduct,
    options: &VerifyOptions,
    progress: &(dyn Fn(&Stats) + Sync),
) -> (Outcome, Stats) {
    match options.lossy {
        None => explore(product, &options.search, progress),
        Some(bits) => explore_lossy(product, bits, 1_000_000, &options.search.limits, progress),
    }
}

fn report(product: &ModelProduct, verdict: Verdict, points: Points, stats: Stats) -> Report {
    Report {
        verdict,
        points,
        stats,
        unreached: product.space.unreached(),
        symmetry: product.space.symmetry().clone(),
        bounded: product.space.was_bounded(),
        exhausted: product.space.was_exhausted(),
        stuck: product.was_stuck(),
    }
}

/// Whether the model claims linearization points.
pub fn has_points(program: &Program) -> bool {
    let bodies = program.operations.iter().map(|operation| &operation.body);
    let mut edges = bodies.flat_map(|body| &body.nodes).flat_map(|node| &node.edges);
    edges.any(|edge| !edge.points.is_empty())
}

/// The counterexample that is shown: with the fewest switches if there is time to look for it.
fn found(
    product: &ModelProduct,
    program: &Program,
    options: &VerifyOptions,
    path: &[(Vec<u8>, u32)],
    wrong: Wrong,
) -> Result<Verdict, ModelError> {
    let limits = &options.search.limits;
    let easiest = fewest_switches(product, options.shortest_budget, limits);
    let easiest = easiest.and_then(|(path, wrong)| follow(product, &path, wrong));
    if let Some(counterexample) = easiest.or_else(|| follow(product, path, wrong)) {
        return Ok(Verdict::Violated(Box::new(counterexample)));
    }
    // Symmetry can hide which thread is which so well that the path cannot be walked again: search without it.
    let reductions =
        Reductions { thread_symmetry: false, value_symmetry: false, ..options.reductions };
    let policy = if options.just_in_time { Policy::JustInTime } else { Policy::Eager };
    let product = ModelProduct::new(program, options.bounds, reductions, policy)?;
    let (outcome, _) = explore(&product, &options.search, &|_| {});
    Ok(match outcome {
        Outcome::Found { path, wrong } => match follow(&product, &path, wrong) {
            Some(counterexample) => Verdict::Violated(Box::new(counterexample)),
            None => Verdict::Inconclusive(
                "a violation was found, but the interpreter could not replay it".to_owned(),
            ),
        },
        Outcome::Stopped(reason) => Verdict::Inconclusive(format!(
            "a violation was found, but not replayed before {reason}"
        )),
        Outcome::Complete => Verdict::Inconclusive(
            "a violation was found with symmetry reduction but not without: please report this"
                .to_owned(),
        ),
    })
}
