//! Checks the assertions of a model: on-the-fly refinement (Figure 2), and deadlock freedom.

use crate::evaluate::Fault;
use crate::lts::{Lts, State};
use crate::normal::Normal;
use crate::product::{Check, Next};
use crate::program::{Assertion, Model, NodeId, NodeKind};
use crate::reduction::Walker;
use crate::shortest::{Search, Way, retrace, shortest};
use crate::term::Term;
use crate::verdict::{Counterexample, Place, Report, Verdict, Wrong, describe};
use linchpin_refine::search::{self, Outcome, SearchOptions, Stats};
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

/// Checks every assertion of a model, in order. `progress` is told now and then.
///
/// ```
/// let source = "P = a -> b -> P; Q = a -> Q [] b -> Q; assert P refines Q; assert Q refines P;";
/// let model = linchpin_csp::parse(source, &[]).unwrap();
/// let reports = linchpin_csp::verify(&model, &Default::default(), &|_| {});
/// assert!(matches!(reports[0].verdict, linchpin_csp::Verdict::Holds));
/// assert!(matches!(reports[1].verdict, linchpin_csp::Verdict::Violated(_)));
/// ```
pub fn verify(model: &Model, options: &Options, progress: &(dyn Fn(&Stats) + Sync)) -> Vec<Report> {
    let check = |assertion: &Assertion| {
        let implementation = Lts::new(model, assertion.process);
        let specification = assertion.specification.map(|node| Lts::new(model, node));
        let normal =
            specification.as_ref().map(|lts| Normal::new(lts, options.search.limits.clone()));
        let checked = check_one(model, &implementation, normal.as_ref(), options, progress);
        let Checked { verdict, stats, unreached } = checked;
        Report {
            assertion: assertion.text.clone(),
            line: assertion.line,
            verdict,
            stats,
            specification: normal.as_ref().map_or((0, 0), Normal::size),
            unreached,
            constants: model.constants.clone(),
        }
    };
    model.assertions.iter().map(check).collect()
}

struct Checked {
    verdict: Verdict,
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
            let verdict = faulty(model, Vec::new(), fault);
            return Checked { verdict, stats: Stats::default(), unreached: Vec::new() };
        }
    };
    let executed = model.nodes.iter().map(|_| AtomicBool::new(false)).collect();
    let check = Check { implementation, specification, reduce: options.reduce, initial, executed };
    let (outcome, stats) = search::explore(&check, &options.search, progress);
    let verdict = match outcome {
        Outcome::Complete => Verdict::Holds,
        Outcome::Stopped(reason) => Verdict::Stopped(reason),
        Outcome::Found { path, wrong: search::Wrong::Unexplained } => {
            violated(model, &check, options, &path)
        }
        Outcome::Found { path, wrong: search::Wrong::Fault } => fault(model, &check, &path),
    };
    let never = |node: &&NodeId| !check.executed[**node as usize].load(Ordering::Relaxed);
    let unreached = match &verdict {
        Verdict::Holds => {
            let nodes = implementation.reachable.iter().filter(never);
            nodes.map(|node| describe::place(model, *node)).collect()
        }
        _ => Vec::new(),
    };
    Checked { verdict, stats, unreached }
}

fn violated(
    model: &Model,
    check: &Check<'_, '_>,
    options: &Options,
    path: &[(Vec<u8>, u32)],
) -> Verdict {
    let (way, is_shortest) = match shortest(check, &options.search.limits) {
        Search::Found(way) => (way, true),
        Search::GivenUp => match retrace(check, path) {
            Some(way) => (way, false),
            None => {
                return Verdict::Stopped("a violation was found but could not be retraced".into());
            }
        },
        Search::Nothing => {
            let reason =
                "a violation was found but not again without reductions: please report this";
            return Verdict::Stopped(reason.into());
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
    Verdict::Violated(Counterexample { steps, wrong, shortest: is_shortest })
}

/// The fault at the end of a path, with the way there.
fn fault(model: &Model, check: &Check<'_, '_>, path: &[(Vec<u8>, u32)]) -> Verdict {
    let found = path.last().and_then(|(state, set)| {
        let state = check.implementation.unpack(state);
        let expansion = Walker::new(check.implementation).all(&state);
        expansion.fault.or_else(|| {
            expansion.moves.iter().find_map(|step| match check.next(*set, &step.label) {
                Next::Fault(fault) => Some(fault),
                _ => None,
            })
        })
    });
    let Some(fault) = found else {
        return Verdict::Stopped("a step went wrong that does not go wrong again".into());
    };
    let way = retrace(check, path);
    let steps = way.map_or(Vec::new(), |way| way.steps);
    let steps = steps.iter().map(|taken| describe::step(model, taken)).collect();
    faulty(model, steps, fault)
}

fn faulty(model: &Model, steps: Vec<crate::verdict::TraceStep>, fault: Fault) -> Verdict {
    let Fault { message, span, limit } = fault;
    // The line of the node around the place; expressions do not know theirs.
    let around = model
        .nodes
        .iter()
        .filter(|node| node.span.start <= span.start && span.end <= node.span.end);
    let line =
        around.min_by_key(|node| node.span.end - node.span.start).map_or(0, |node| node.line);
    if limit {
        let place = if line == 0 { String::new() } else { format!(" (line {line})") };
        return Verdict::Stopped(format!("{message}{place}"));
    }
    Verdict::Faulty { steps, message, place: Place { line, text: String::new() } }
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
