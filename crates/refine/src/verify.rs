//! The whole job: a model in, a verdict with its reasons out.

use crate::counterexample::{Counterexample, follow};
use crate::disk::{claim, explore_on_disk};
use crate::durability::{self, CrashReport};
use crate::lossy::explore_lossy;
use crate::model::{ModelError, ModelProduct};
use crate::options::{Strategy, VerifyOptions};
use crate::preemptions::explore_preemptions;
use crate::preload;
use crate::search::{Exploration, Stats, Wrong, explore, explore_depth_first};
use crate::sets::Policy;
use crate::store::hash;
use crate::stuck::{self, NotMade, StuckCheck};
use crate::switches::fewest_switches;
use crate::together::Task;
use crate::walk::explore_by_walks;
use linchpin_ir::program::Program;
use linchpin_space::{NotAlike, Reductions, Space, SpaceError, Symmetry, Unreached, Values};
use linchpin_verdict::{Calls, CrashProperty, Inconclusive, Outcome};

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

/// The verdict and everything about it.
#[derive(Clone, Debug)]
pub struct Report {
    /// Whether every run within the bounds is linearizable, no step fails and no operation gets
    /// stuck.
    pub outcome: Outcome<(), Box<Counterexample>>,
    /// What became of the claimed points.
    pub points: Points,
    /// What became of the check that no operation gets stuck.
    pub stuck: StuckCheck,
    /// What the search that decided has cost.
    pub stats: Stats,
    /// The lines that were never executed.
    pub unreached: Vec<Unreached>,
    /// The lines of attempts that may have been executed or not: the search that would tell was
    /// stopped.
    pub open_lines: Vec<Unreached>,
    /// The operations that some thread may call and that returned in no run. Nothing is known about
    /// them, so a verdict that would hold is inconclusive.
    pub never_returned: Vec<String>,
    /// The symmetries that were used.
    pub symmetry: Symmetry,
    /// Whether the bound on objects kept a step from being taken.
    pub bounded: bool,
    /// Whether the outcome is about any number of calls, although they were bounded.
    pub any_calls: bool,
    /// The values that an outcome that holds is about: all, although finitely many were passed, if
    /// these stand for them.
    pub values: Values,
    /// Why finitely many values do not stand for all, if that was asked for.
    pub not_any: Option<NotAlike>,
    /// What is known about runs with crashes, if there are any.
    pub crash: Option<CrashReport>,
    /// The states in which recovery ended, without their crash parts, if all are known.
    pub(crate) recovered: Option<Vec<Box<[u8]>>>,
}

/// Verifies a model. `progress` is called now and then.
pub fn verify(
    program: &Program,
    options: &VerifyOptions,
    progress: &(dyn Fn(&Stats) + Sync),
) -> Result<Report, ModelError> {
    let not_any = not_any_values(program, options);
    if let Some(why) = not_any {
        let mut bounded = options.clone();
        bounded.bounds.values = Values::UpTo(options.bounds.values.or_few());
        let report = verify(program, &bounded, progress)?;
        return Ok(Report { not_any: Some(why), ..report });
    }
    if let Some(report) = preload::judged(program, options)? {
        return Ok(report);
    }
    match (&options.disk, &options.cluster) {
        (None, None) => return decided(program, options, progress),
        (Some(disk), _) => claim(disk, identity(program, options))?,
        (None, Some(cluster)) => cluster.agree(task(program, options), &options.search.limits)?,
    }
    // The states in which recovery ends, which are kept beside the pairs, are not written or sent.
    let reductions = Reductions { covered_crashes: false, ..options.reductions };
    decided(program, &VerifyOptions { reductions, ..options.clone() }, progress)
}

/// Why finitely many values do not stand for all, if clients are to pass any.
fn not_any_values(program: &Program, options: &VerifyOptions) -> Option<NotAlike> {
    match (options.bounds.values, Space::new(program, options.bounds, options.reductions)) {
        (Values::Any, Err(SpaceError::NotAnyValues(why))) => Some(why),
        // Other mistakes are told by the search.
        _ => None,
    }
}

/// The verdict, whatever states are kept in.
fn decided(
    program: &Program,
    options: &VerifyOptions,
    progress: &(dyn Fn(&Stats) + Sync),
) -> Result<Report, ModelError> {
    let mut report = match options.bounds.has_crashes() {
        true => durability::judge(program, options, progress)?,
        false => linearizability(program, options, progress)?,
    };
    if !report.outcome.is_holds() {
        return Ok(report);
    }
    // A search of some runs says nothing about all states.
    let is_exhaustive = !matches!(options.strategy, Strategy::Preemptions(_));
    report.any_calls = is_exhaustive && is_closed(options, &report);
    if options.stuck && is_exhaustive {
        let (stuck, found) = never_stuck(program, options, &mut report)?;
        report.stuck = match stuck {
            StuckCheck::Passed { any_values: false, .. } if report.values == Values::Any => {
                match options.bounds.values {
                    Values::Any => StuckCheck::NotMade(NotMade::MoreValues),
                    Values::UpTo(_) => {
                        report.values = options.bounds.values;
                        stuck
                    }
                }
            }
            stuck => stuck,
        };
        if let Some(found) = found {
            report.outcome = Outcome::Violated(Box::new(found));
            return Ok(report);
        }
    }
    if !report.never_returned.is_empty() {
        let names = report.never_returned.join(", ");
        report.outcome = Outcome::Inconclusive(Inconclusive::Undecided(format!(
            "nothing wrong was found, but nothing is known about what never returns: {names}"
        )));
    }
    Ok(report)
}

/// Whether a search that found nothing wrong is about any number of calls.
///
/// It is if what it visited is closed: see [`crate::search::Stats::is_closed`]. Then, by induction,
/// every run of any length is at each of its steps beside a visited state with a subset of its
/// specification states, and none of those goes wrong.
fn is_closed(options: &VerifyOptions, report: &Report) -> bool {
    // What is said of crashes comes from more than one search.
    let is_bounded = options.bounds.calls != Calls::Unlimited && !options.bounds.has_crashes();
    is_bounded && report.stats.is_closed
}

/// Whether operations get stuck: with any number of calls if the outcome is about that. If that is
/// not decided, the outcome is about the calls that were asked for.
fn never_stuck(
    program: &Program,
    options: &VerifyOptions,
    report: &mut Report,
) -> Result<(StuckCheck, Option<Counterexample>), ModelError> {
    let recovered = report.recovered.take();
    if report.any_calls {
        let mut any = options.clone();
        any.bounds.calls = Calls::Unlimited;
        let checked = stuck::check(program, &any, None)?;
        if !matches!(checked.0, StuckCheck::NotMade(_)) {
            return Ok(checked);
        }
        report.any_calls = false;
    }
    Ok(stuck::check(program, options, recovered.as_deref())?)
}

/// Whether every run is linearizable and no step fails.
fn linearizability(
    program: &Program,
    options: &VerifyOptions,
    progress: &(dyn Fn(&Stats) + Sync),
) -> Result<Report, ModelError> {
    let mut points = Points::NotUsed;
    let is_exhaustive = matches!(options.strategy, Strategy::BreadthFirst | Strategy::DepthFirst);
    if options.points && is_exhaustive && has_points(program) {
        let Searched { product, exploration, stats } =
            searched(program, options, options.reductions, Policy::Points, progress)?;
        match exploration {
            Exploration::Complete => {
                return Ok(report(&product, Outcome::Holds(()), Points::Suffice, stats));
            }
            Exploration::Stopped(reason) => {
                let outcome = Outcome::Inconclusive(reason);
                return Ok(report(&product, outcome, Points::NotUsed, stats));
            }
            Exploration::Found { wrong: Wrong::Unexplained, .. } => points = Points::Fail,
            Exploration::Found { wrong: Wrong::Fault, .. } => {}
        }
    }
    // A schedule needs threads that keep their names.
    let by_name = matches!(options.strategy, Strategy::Walks(_));
    // Other strategies choose who moves, or count how often that changes.
    let reductions = match is_exhaustive {
        true => options.reductions,
        false => options.reductions.one_thread_at_a_time(),
    };
    let reductions =
        Reductions { thread_symmetry: reductions.thread_symmetry && !by_name, ..reductions };
    let Searched { product, exploration, stats } =
        searched(program, options, reductions, policy(options), progress)?;
    let outcome = match exploration {
        Exploration::Complete => Outcome::Holds(()),
        Exploration::Stopped(reason) => Outcome::Inconclusive(reason),
        Exploration::Found { path, wrong } => {
            found(&product, program, options, None, &path, wrong)?
        }
    };
    Ok(report(&product, outcome, points, stats))
}

/// A search that has ended.
struct Searched {
    product: ModelProduct,
    exploration: Exploration,
    stats: Stats,
}

/// A search. Lines of attempts are executed in runs that it does not explore: which of them, only
/// further searches can tell, without what looks at attempts. They decide nothing else, so they may
/// as well be stopped.
fn searched(
    program: &Program,
    options: &VerifyOptions,
    reductions: Reductions,
    policy: Policy,
    progress: &(dyn Fn(&Stats) + Sync),
) -> Result<Searched, ModelError> {
    let product = ModelProduct::new(program, options.bounds, reductions, policy)?;
    let (exploration, stats) = search(&product, options, progress);
    let reads_apart = Reductions { validated_reads: false, ..reductions };
    let fewer = [reads_apart, Reductions { doomed_attempts: false, ..reads_apart }];
    for fewer in fewer.into_iter().filter(|fewer| *fewer != reductions) {
        if exploration != Exploration::Complete || product.space.open_lines().is_empty() {
            break;
        }
        let further = ModelProduct::new(program, options.bounds, fewer, policy)?;
        let (exploration, stats) = search(&further, options, progress);
        product.space.see(&further.space.seen());
        match exploration {
            Exploration::Complete => product.space.close_lines(&further.space),
            Exploration::Stopped(_) => break,
            Exploration::Found { .. } => {
                return Ok(Searched { product: further, exploration, stats });
            }
        }
    }
    Ok(Searched { product, exploration, stats })
}

/// When pending operations take effect, where no points are claimed.
pub(crate) const fn policy(options: &VerifyOptions) -> Policy {
    if options.just_in_time { Policy::JustInTime } else { Policy::Eager }
}

/// Tells searches apart that must not go on with each other's states.
fn identity(program: &Program, options: &VerifyOptions) -> u64 {
    hash(format!("{program:?} {}", asked(options)).as_bytes())
}

/// The same, with the model apart.
fn task(program: &Program, options: &VerifyOptions) -> Task {
    let hash = |text: String| hash(text.as_bytes());
    Task { model: hash(format!("{program:?}")), asked: hash(asked(options)) }
}

/// What decides which states there are, beside the model.
fn asked(options: &VerifyOptions) -> String {
    let VerifyOptions { bounds, reductions, just_in_time, points, property, search, .. } = options;
    let asked =
        (bounds, reductions, just_in_time, points, property, search.antichain, search.calls);
    format!("{asked:?}")
}

pub(crate) fn search(
    product: &ModelProduct,
    options: &VerifyOptions,
    progress: &(dyn Fn(&Stats) + Sync),
) -> (Exploration, Stats) {
    match options.lossy {
        None => match (options.strategy, &options.disk) {
            (Strategy::BreadthFirst, Some(disk)) => {
                // Another search in the same folder, where the first leaves lines open.
                let Reductions { validated_reads, doomed_attempts, .. } =
                    *product.space.reductions();
                let reads = if validated_reads { "" } else { "-reads" };
                let all = if doomed_attempts { "" } else { "-attempts" };
                let name = format!("{}{reads}{all}", product.sets.name());
                explore_on_disk(product, &name, disk, &options.search, progress)
            }
            (Strategy::BreadthFirst, None) => match &options.cluster {
                None => explore(product, &options.search, progress),
                Some(cluster) => {
                    // Which of its searches this is, is a part of what is asked.
                    let (reductions, name) = (product.space.reductions(), product.sets.name());
                    let task = task(product.space.program(), options);
                    let which = format!("{} {reductions:?} {name}", task.asked);
                    let task = Task { asked: hash(which.as_bytes()), ..task };
                    cluster.explore(product, task, &options.search, progress)
                }
            },
            (Strategy::DepthFirst, _) => explore_depth_first(product, &options.search, progress),
            (Strategy::Walks(of), _) => explore_by_walks(product, of, &options.search, progress),
            (Strategy::Preemptions(most), _) => {
                explore_preemptions(product, most, &options.search, progress)
            }
        },
        Some(bits) => explore_lossy(product, bits, 1_000_000, &options.search.limits, progress),
    }
}

pub(crate) fn report(
    product: &ModelProduct,
    outcome: Outcome<(), Box<Counterexample>>,
    points: Points,
    stats: Stats,
) -> Report {
    let space = &product.space;
    let values = match space.covers_any_values() {
        true => Values::Any,
        false => Values::UpTo(space.last_value()),
    };
    let outcome = match outcome {
        // Runs in which values are passed again were not explored, and do not follow.
        Outcome::Holds(()) if space.passes_only_new_values() && values != Values::Any => {
            let most = space.last_value();
            Outcome::Inconclusive(Inconclusive::Undecided(format!(
                "nothing wrong was found, but there are more than {most} different values at a time"
            )))
        }
        outcome => outcome,
    };
    let operations = &product.space.program().operations;
    let never_returned = product.space.never_returned();
    Report {
        outcome,
        points,
        stats,
        stuck: StuckCheck::Off,
        never_returned: never_returned.iter().map(|at| operations[*at].name.clone()).collect(),
        unreached: product.space.unreached(),
        open_lines: product.space.open_lines(),
        symmetry: product.space.symmetry().clone(),
        bounded: product.space.was_bounded(),
        any_calls: false,
        values,
        not_any: None,
        crash: None,
        recovered: product.recovered(),
    }
}

/// Whether the model claims linearization points.
pub fn has_points(program: &Program) -> bool {
    let bodies = program.operations.iter().map(|operation| &operation.body);
    let mut edges = bodies.flat_map(|body| &body.nodes).flat_map(|node| &node.edges);
    edges.any(|edge| !edge.points.is_empty())
}

/// The counterexample that is shown: with the fewest switches if there is time to look for it.
pub(crate) fn found(
    product: &ModelProduct,
    program: &Program,
    options: &VerifyOptions,
    property: Option<CrashProperty>,
    path: &[(Vec<u8>, u32)],
    wrong: Wrong,
) -> Result<Outcome<(), Box<Counterexample>>, ModelError> {
    let asked = |reductions: Reductions| -> Result<ModelProduct, ModelError> {
        let product = ModelProduct::new(program, options.bounds, reductions, policy(options))?;
        Ok(match property {
            Some(property) => product.asking(property),
            None => product,
        })
    };
    // Where the moving thread changes is told only by steps of one thread at a time.
    let apart = asked(product.space.reductions().one_thread_at_a_time())?;
    let limits = &options.search.limits;
    let easiest = fewest_switches(&apart, options.shortest_budget, limits);
    let easiest = easiest.and_then(|(path, wrong)| follow(&apart, &apart.whole(&path), wrong));
    let first = || follow(product, &product.whole(path), wrong);
    if let Some(counterexample) = easiest.or_else(first) {
        return Ok(Outcome::Violated(Box::new(counterexample)));
    }
    let undecided = |why: &str| Outcome::Inconclusive(Inconclusive::Undecided(why.to_owned()));
    if options.cluster.as_ref().is_some_and(|cluster| !cluster.tells()) {
        return Ok(undecided("a violation was found, which the first process looks at"));
    }
    // Symmetry can hide which thread is which so well that the path cannot be followed again:
    // search without it.
    let reductions = property.map_or(options.reductions, |of| durability::reductions(options, of));
    let reductions = Reductions { thread_symmetry: false, value_symmetry: false, ..reductions };
    let product = asked(reductions)?;
    let (exploration, _) = explore(&product, &options.search, &|_| {});
    Ok(match exploration {
        Exploration::Found { path, wrong } => {
            match follow(&product, &product.whole(&path), wrong) {
                Some(counterexample) => Outcome::Violated(Box::new(counterexample)),
                None => undecided("a violation was found, but the interpreter could not replay it"),
            }
        }
        Exploration::Stopped(Inconclusive::Stopped { by, .. }) => {
            let so_far = Some("a violation was found, but not replayed before that".to_owned());
            Outcome::Inconclusive(Inconclusive::Stopped { by, so_far })
        }
        Exploration::Stopped(why) => Outcome::Inconclusive(why),
        Exploration::Complete => undecided(
            "a violation was found with symmetry reduction but not without: please report this",
        ),
    })
}
