//! Checks the assertions of a model: on-the-fly refinement (Figure 2), and deadlock freedom.

use crate::evaluate::{Cause, Fault};
use crate::lts::{Lts, State};
use crate::normal::Normal;
use crate::product::{Check, Next};
use crate::program::{Assertion, Model, NodeId, NodeKind};
use crate::reduction::Expander;
use crate::shortest::{Search, Way, retrace, shortest};
use crate::term::Term;
use crate::verdict::{Counterexample, Failure, Place, Report, Wrong, describe};
use linchpin_refine::search::{self, Exploration, SearchOptions, Stats};
use linchpin_verdict::{Inconclusive, Outcome};
use std::sync::atomic::{AtomicBool, Ordering};

/// How to check.
#[derive(Clone, Debug)]
pub struct Options {
    /// Partial order reduction (Figures 3 and 4).
    pub reduce: bool,
    /// Workers, antichains, limits.
    pub search: SearchOptions,
}

impl Default for Options {
    fn default() -> Options {
        Options { reduce: true, search: SearchOptions::default() }
    }
}

/// Checks every assertion of a model, in order. `progress` is called now and then.
///
/// ```
/// let source = "P = a -> b -> P; Q = a -> Q [] b -> Q; assert P refines Q; assert Q refines P;";
/// let model = linchpin_csp::parse(source, &[]).unwrap();
/// let reports = linchpin_csp::verify(&model, &Default::default(), &|_| {});
/// assert!(reports[0].outcome.is_holds());
/// assert!(reports[1].outcome.violation().is_some());
/// ```
pub fn verify(model: &Model, options: &Options, progress: &(dyn Fn(&Stats) + Sync)) -> Vec<Report> {
    let check = |assertion: &Assertion| {
        let implementation = Lts::new(model, assertion.process);
        let specification = assertion.specification.map(|node| Lts::new(model, node));
        let normal =
            specification.as_ref().map(|lts| Normal::new(lts, options.search.limits.clone()));
        let checked = check_one(model, &implementation, normal.as_ref(), options, progress);
        let Checked { outcome, stats, unreached } = checked;
        Report {
            assertion: assertion.text.clone(),
            line: assertion.line,
            outcome,
            stats,
            specification: normal.as_ref().map_or((0, 0), Normal::size),
            unreached,
            constants: model.constants.clone(),
        }
    };
    model.assertions.iter().map(check).collect()
}

struct Checked {
    outcome: Outcome<(), Failure>,
    stats: Stats,
    unreached: Vec<Place>,
}

fn check_one<'a, 'm>(
    model: &'m Model,
    implementation: &'a Lts<'m>,
    specification: Option<&'a Normal<'a, 'm>>,
    options: &Options,
    progress: &(dyn Fn(&Stats) + Sync),
) -> Checked {
    let initial = implementation.initial().and_then(|state| {
        let set = specification.map_or(Ok(0), Normal::initial)?;
        Ok((state, set))
    });
    let initial = match initial {
        Ok(initial) => initial,
        Err(fault) => {
            let outcome = faulty(model, Vec::new(), fault);
            return Checked { outcome, stats: Stats::default(), unreached: Vec::new() };
        }
    };
    let executed = model.nodes.iter().map(|_| AtomicBool::new(false)).collect();
    let check = Check { implementation, specification, reduce: options.reduce, initial, executed };
    let (exploration, stats) = search::explore(&check, &options.search, progress);
    let outcome = match exploration {
        Exploration::Complete => Outcome::Holds(()),
        Exploration::Stopped(reason) => Outcome::Inconclusive(reason),
        Exploration::Found { path, wrong: search::Wrong::Unexplained } => {
            violated(model, &check, options, &path)
        }
        Exploration::Found { path, wrong: search::Wrong::Fault } => fault(model, &check, &path),
    };
    let never = |node: &&NodeId| !check.executed[**node as usize].load(Ordering::Relaxed);
    let unreached = match &outcome {
        Outcome::Holds(()) => {
            let nodes = implementation.reachable.iter().filter(never);
            nodes.map(|node| describe::place(model, *node)).collect()
        }
        _ => Vec::new(),
    };
    Checked { outcome, stats, unreached }
}

/// Nothing stopped the search; this did not let it decide.
fn undecided(why: &str) -> Outcome<(), Failure> {
    Outcome::Inconclusive(Inconclusive::Undecided(why.to_owned()))
}

fn violated(
    model: &Model,
    check: &Check<'_, '_>,
    options: &Options,
    path: &[(Vec<u8>, u32)],
) -> Outcome<(), Failure> {
    let (way, is_shortest) = match shortest(check, &options.search.limits) {
        Search::Found(way) => (way, true),
        Search::GivenUp => match retrace(check, path) {
            Some(way) => (way, false),
            None => {
                return undecided("a violation was found but could not be retraced");
            }
        },
        Search::Nothing => {
            let reason =
                "a violation was found but not again without reductions: please report this";
            return undecided(reason);
        }
    };
    let Way { steps, last, refused } = way;
    let steps = steps.iter().map(|taken| describe::step(model, taken)).collect();
    let wrong = match refused {
        Some(refused) => {
            let allowed =
                check.specification.map_or(Ok(Vec::new()), |normal| normal.allowed(last.1));
            let allowed = allowed.unwrap_or_default();
            let allowed = allowed.iter().map(|label| describe::label(model, label)).collect();
            Wrong::Refused { event: describe::step(model, &refused), allowed }
        }
        None => Wrong::Deadlock { waiting: waiting(model, &last.0) },
    };
    Outcome::Violated(Failure::Run(Counterexample { steps, wrong, shortest: is_shortest }))
}

/// The fault at the end of a path, with the way there.
fn fault(model: &Model, check: &Check<'_, '_>, path: &[(Vec<u8>, u32)]) -> Outcome<(), Failure> {
    let found = path.last().and_then(|(state, set)| {
        let state = check.implementation.unpack(state);
        let expansion = Expander::new(check.implementation).all(&state);
        expansion.fault.or_else(|| {
            expansion.moves.iter().find_map(|step| match check.next(*set, &step.label) {
                Next::Fault(fault) => Some(fault),
                _ => None,
            })
        })
    });
    let Some(fault) = found else {
        return undecided("a step went wrong that does not go wrong again");
    };
    let way = retrace(check, path);
    let steps = way.map_or(Vec::new(), |way| way.steps);
    let steps = steps.iter().map(|taken| describe::step(model, taken)).collect();
    faulty(model, steps, fault)
}

fn faulty(
    model: &Model,
    steps: Vec<crate::verdict::TraceStep>,
    fault: Fault,
) -> Outcome<(), Failure> {
    let Fault { message, span, cause } = fault;
    // The line of the node around the place; expressions do not know theirs.
    let around = model
        .nodes
        .iter()
        .filter(|node| node.span.start <= span.start && span.end <= node.span.end);
    let line =
        around.min_by_key(|node| node.span.end - node.span.start).map_or(0, |node| node.line);
    match cause {
        Cause::Model => {
            let place = Place { line, text: String::new() };
            Outcome::Violated(Failure::Fault { steps, message, place })
        }
        Cause::TooLarge if line == 0 => undecided(&message),
        Cause::TooLarge => undecided(&format!("{message} (line {line})")),
        Cause::Stopped(by) => Outcome::Inconclusive(by.into()),
    }
}

/// What the parts of a stuck state wait for.
fn waiting(model: &Model, state: &State) -> Vec<Place> {
    fn visit(model: &Model, term: &Term, out: &mut Vec<Place>) {
        match term {
            Term::Leaf(node, _) => {
                let is_guard =
                    matches!(&model.nodes[*node as usize].kind, NodeKind::If { atomic: true, .. });
                if is_guard {
                    out.push(describe::place(model, *node));
                }
            }
            Term::Sequence(inner, ..) | Term::Hide(inner, _) => visit(model, inner, out),
            Term::Choice(terms) | Term::Interleave(terms) => {
                terms.iter().for_each(|term| visit(model, term, out));
            }
            Term::Stop | Term::Skip | Term::Done => {}
        }
    }
    let mut places = Vec::new();
    visit(model, &state.term, &mut places);
    places
}
