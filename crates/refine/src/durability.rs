//! Runs with crashes: which condition holds of all of them.
//!
//! Asked for one condition, this is one search. Otherwise conditions are tried from the strongest
//! on, until one holds: a search that finds a violation ends early, so that only the last one goes
//! through everything. A run that violates a condition is tried on the next one before that is
//! searched for. If even durability does not hold, that is the violation which is reported,
//! with whether the weaker one holds; the violation of a condition that was only tried is not.

use crate::along::goes_wrong_along;
use crate::counterexample::Counterexample;
use crate::model::{ModelError, ModelProduct};
use crate::options::VerifyOptions;
use crate::repair::{Change, Repairs, repairs, superfluous};
use crate::search::{Exploration, Stats, Wrong};
use crate::verify::{self, Points, Report};
use linchpin_ir::program::Program;
use linchpin_space::Reductions;
use linchpin_verdict::{CrashProperty, Inconclusive, Outcome};

/// What is known about runs with crashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrashReport {
    /// The condition that the verdict is about: the one asked for; the strongest that holds; or
    /// durability, which does not.
    pub property: CrashProperty,
    /// Conditions that were tried and do not hold.
    pub fails: Vec<CrashProperty>,
    /// The strongest condition known to hold of those that can be compared.
    pub strongest: Option<CrashProperty>,
    /// Whether `recover(t)` tells what became of interrupted operations; `None` if the model has no
    /// such, or it was not found out.
    pub detectable: Option<bool>,
    /// Whether some crash lost a store: if not, crashes made no difference to memory.
    pub lost_a_store: bool,
    /// What would keep what was lost: each was tried, alone. `None` if this was not looked for, or
    /// not far enough.
    pub repairs: Option<Repairs>,
    /// The flushes and fences without which, one at a time, the condition still holds. `None` if
    /// this was not asked for, or not found out.
    pub superfluous: Option<Vec<Change>>,
}

/// The reductions that are sound for a condition.
pub(crate) fn reductions(options: &VerifyOptions, property: CrashProperty) -> Reductions {
    // A call that has taken no step may be asked about, and so may one that has its answer but has
    // not returned.
    let merged_events = property != CrashProperty::Detectable && options.reductions.merged_events;
    Reductions { merged_events, ..options.reductions }
}

/// The product in which a condition is looked for.
pub(crate) fn product(
    program: &Program,
    options: &VerifyOptions,
    property: CrashProperty,
) -> Result<ModelProduct, ModelError> {
    let reductions = reductions(options, property);
    let product = ModelProduct::new(program, options.bounds, reductions, verify::policy(options))?;
    Ok(product.asking(property))
}

/// Whether every run with crashes is as it should be.
pub(crate) fn judge(
    program: &Program,
    options: &VerifyOptions,
    progress: &(dyn Fn(&Stats) + Sync),
) -> Result<Report, ModelError> {
    let resolves = program.persistence.as_ref().is_some_and(|of| of.resolve.is_some());
    let mut report = match options.property {
        Some(property) => one(program, options, property, progress)?,
        None => strongest(program, options, progress)?,
    };
    let Some(crash) = &mut report.crash else { return Ok(report) };
    match (options.property, &report.outcome) {
        (Some(CrashProperty::Detectable), Outcome::Holds(())) if !resolves => {
            report.outcome = Outcome::Inconclusive(Inconclusive::Undecided(
                "the model has no `recover(t)` that could tell what became of a call".to_owned(),
            ));
        }
        (None, Outcome::Holds(())) if resolves => {
            let found = one(program, options, CrashProperty::Detectable, progress)?;
            crash.detectable = match found.outcome {
                Outcome::Holds(()) => Some(true),
                Outcome::Violated(_) => Some(false),
                Outcome::Inconclusive(_) => None,
            };
        }
        _ => {}
    }
    match &report.outcome {
        Outcome::Violated(found) if options.repairs => {
            crash.repairs = repairs(program, options, crash.property, found);
        }
        Outcome::Holds(()) if options.superfluous => {
            // What only `recover(t)` needs is needed, where it tells the truth.
            let detectable = (crash.detectable == Some(true)).then_some(CrashProperty::Detectable);
            let asked: Vec<CrashProperty> =
                [crash.property].into_iter().chain(detectable).collect();
            crash.superfluous = superfluous(program, options, &asked);
        }
        _ => {}
    }
    Ok(report)
}

/// One condition.
fn one(
    program: &Program,
    options: &VerifyOptions,
    property: CrashProperty,
    progress: &(dyn Fn(&Stats) + Sync),
) -> Result<Report, ModelError> {
    let product = product(program, options, property)?;
    let (exploration, stats) = verify::search(&product, options, progress);
    let outcome = outcome(&product, program, options, property, exploration)?;
    Ok(report(&product, property, outcome, stats))
}

fn outcome(
    product: &ModelProduct,
    program: &Program,
    options: &VerifyOptions,
    property: CrashProperty,
    exploration: Exploration,
) -> Result<Outcome<(), Box<Counterexample>>, ModelError> {
    Ok(match exploration {
        Exploration::Complete if product.space.recovers_for_ever() => {
            Outcome::Inconclusive(Inconclusive::Undecided(
                "`recover` may go on for ever after a crash, so what comes after is not known"
                    .to_owned(),
            ))
        }
        Exploration::Complete => Outcome::Holds(()),
        Exploration::Stopped(reason) => Outcome::Inconclusive(reason),
        Exploration::Found { path, wrong } => {
            verify::found(product, program, options, Some(property), &path, wrong)?
        }
    })
}

fn report(
    product: &ModelProduct,
    property: CrashProperty,
    outcome: Outcome<(), Box<Counterexample>>,
    stats: Stats,
) -> Report {
    let holds = outcome.is_holds() && property != CrashProperty::Detectable;
    let crash = CrashReport {
        property,
        fails: Vec::new(),
        strongest: holds.then_some(property),
        detectable: (property == CrashProperty::Detectable && outcome.is_holds()).then_some(true),
        lost_a_store: product.space.lost_a_store(),
        repairs: None,
        superfluous: None,
    };
    let report = verify::report(product, outcome, Points::NotUsed, stats);
    Report { crash: Some(crash), ..report }
}

/// The strongest condition that holds; the report is about durability if that does not.
fn strongest(
    program: &Program,
    options: &VerifyOptions,
    progress: &(dyn Fn(&Stats) + Sync),
) -> Result<Report, ModelError> {
    let mut fails = Vec::new();
    let mut violated: Option<Report> = None;
    let mut known: Option<Vec<(Vec<u8>, u32)>> = None;
    let mut spent: Option<Stats> = None;
    for property in CrashProperty::BY_STRENGTH {
        let product = product(program, options, property)?;
        let again = known.as_ref().and_then(|path| goes_wrong_along(&product, path));
        let (exploration, stats) = match (again, spent) {
            (Some((path, wrong)), Some(stats)) => (Exploration::Found { path, wrong }, stats),
            _ => verify::search(&product, options, progress),
        };
        if let Exploration::Found { path, wrong: Wrong::Unexplained } = &exploration {
            known = Some(product.whole(path));
        }
        spent = Some(stats);
        let is_answer = match &exploration {
            // A step that fails is wrong whatever is asked.
            Exploration::Found { wrong: Wrong::Fault, .. } => violated.is_none(),
            Exploration::Found { wrong: Wrong::Unexplained, .. } => {
                fails.push(property);
                property == CrashProperty::Durable
            }
            Exploration::Complete | Exploration::Stopped(_) => violated.is_none(),
        };
        if let (Some(report), Exploration::Complete) = (&mut violated, &exploration)
            && let Some(crash) = &mut report.crash
        {
            crash.strongest = Some(property);
        }
        if !is_answer {
            continue;
        }
        let outcome = outcome(&product, program, options, property, exploration)?;
        let mut answer = report(&product, property, outcome, stats);
        if let Some(crash) = &mut answer.crash {
            crash.fails.clone_from(&fails);
        }
        if property != CrashProperty::Durable || !fails.contains(&property) {
            return Ok(answer);
        }
        violated = Some(answer);
    }
    match violated {
        Some(mut report) => {
            if let Some(crash) = &mut report.crash {
                crash.fails = fails;
            }
            Ok(report)
        }
        // Durability was answered, whatever the answer was.
        None => one(program, options, CrashProperty::Durable, progress),
    }
}
