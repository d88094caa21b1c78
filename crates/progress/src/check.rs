//! The whole job: a model and a property in, a verdict with its reasons out.

use crate::cycles::{Via, View, components, cycle};
use crate::graph::{Explored, GraphError, Label, explore};
use crate::lasso::{Lasso, Observation, Replayed, replay_lasso};
use crate::ltl::{Automaton, FormulaError, Parsed, Product, TooLarge, holds_on, letters, parse};
use crate::property::{Property, Violations};
use crate::slice::without_untested;
use linchpin_ir::program::Program;
use linchpin_space::{Bounds, Calls, Unreached};
use linchpin_verdict::{Inconclusive, Limits, Outcome, StopReason, counted};
use std::fmt;
use std::time::{Duration, Instant};
use thiserror::Error;

/// Why a property cannot be checked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProgressError {
    /// The model has no state graph.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The formula is not one for this model.
    #[error(transparent)]
    Formula(#[from] FormulaError),
    /// The formula is too large.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
}

/// What is known about one operation, for the properties that are about each by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfOperation {
    /// The operation.
    pub operation: String,
    /// Whether it has the property; `None` if that is not known, or no run called it.
    pub holds: Option<bool>,
    /// Why it has not.
    pub lasso: Option<Box<Lasso>>,
}

/// What it has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    /// States of the model.
    pub states: usize,
    /// Moves between them.
    pub moves: usize,
    /// Nodes of the automaton, for a formula.
    pub automaton: usize,
    /// Nodes of its product with the state graph, for a formula.
    pub product: usize,
    /// Bytes kept, about.
    pub bytes: usize,
    /// Seconds.
    pub seconds: f64,
}

/// The verdict and everything about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The property or formula.
    pub subject: String,
    /// Whether every run within the bounds has the property; if not, a run that has not.
    pub outcome: Outcome<(), Box<Lasso>>,
    /// For properties that are about each operation by itself: which have it.
    pub operations: Vec<OfOperation>,
    /// What the verdict means, within which bounds.
    pub notes: Vec<String>,
    /// Shared variables and fields whose values were left out, because nothing tests them.
    pub left_out: Vec<String>,
    /// The lines that no run executed.
    pub unreached: Vec<Unreached>,
    /// What it has cost.
    pub stats: Stats,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.outcome {
            Outcome::Holds(()) => writeln!(f, "{}: holds within bounds", self.subject)?,
            Outcome::Inconclusive(reason) => {
                writeln!(f, "{}: inconclusive: {reason}", self.subject)?
            }
            Outcome::Violated(lasso) => write!(f, "{}: violated: {lasso}", self.subject)?,
        }
        for (holds, words) in
            [(Some(true), ""), (Some(false), "not "), (None, "not known whether ")]
        {
            let of = self.operations.iter().filter(|of| of.holds == holds);
            let names: Vec<&str> = of.map(|of| of.operation.as_str()).collect();
            if !names.is_empty() {
                writeln!(f, "{words}{}: {}", self.subject, names.join(", "))?;
            }
        }
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
        }
        if !self.unreached.is_empty() {
            let lines: Vec<String> = self.unreached.iter().map(Unreached::to_string).collect();
            writeln!(f, "never executed: {}", lines.join(", "))?;
        }
        let Stats { states, moves, .. } = self.stats;
        writeln!(f, "{}, {}", counted(states, "state"), counted(moves, "move"))
    }
}

/// A violation: a component with a cycle, the first state in it, and the thread that does not
/// respond.
struct Found {
    least: u32,
    members: Vec<u32>,
    victim: usize,
}

/// Checks a progress property of a model.
pub fn check_progress(
    program: &Program,
    bounds: Bounds,
    property: Property,
    limits: &Limits,
) -> Result<Report, ProgressError> {
    let start = Instant::now();
    let (sliced, left_out) = without_untested(program);
    let mut explored = explore(&sliced, bounds, &share(limits, start, 2))?;
    explored.original = program.clone();
    let mut stopped = explored.stopped;
    let mut operations = Vec::new();
    let replayed = if property == Property::NoDeadlock {
        deadlock(&explored)
    } else {
        let (found, gave_up) = search(&explored, property, limits);
        stopped = stopped.or(gave_up);
        let first = found.iter().flatten().min_by_key(|found| found.least);
        let replayed = first.map(|found| lasso(&explored, property, found));
        if property.is_per_operation() {
            let known = stopped.is_none() && explored.faults == 0;
            operations = per_operation(&explored, property, &found, known);
        }
        replayed
    };
    let outcome = concluded(&explored, stopped, replayed);
    let mut notes = vec![format!("{property} means: {}", property.meaning())];
    notes.extend(bound_notes(&explored));
    if !left_out.is_empty() {
        notes.push(format!("values that nothing tests are left out: {}", left_out.join(", ")));
    }
    if property == Property::NoDeadlock
        && let Calls::Each(_) = bounds.calls
    {
        notes
            .push("a thread that has made all its calls helps no other thread any more".to_owned());
    }
    if matches!(property, Property::WaitFree | Property::StarvationFree)
        && let Calls::Each(_) = bounds.calls
    {
        notes.push(
            "with a bound on calls the others interfere finitely often only: an operation that \
             they could delay for ever, by calling again and again, still has the property \
             here; explore unlimited calls to find that"
                .to_owned(),
        );
    }
    let stats = stats(&explored, start);
    let unreached = explored.unreached();
    let subject = property.to_string();
    Ok(Report { subject, outcome, operations, notes, left_out, unreached, stats })
}

/// Checks a formula about the events of a model: whether it holds on every run, or on every fair
/// run.
pub fn check_ltl(
    program: &Program,
    bounds: Bounds,
    formula: &str,
    fair: bool,
    limits: &Limits,
) -> Result<Report, ProgressError> {
    let start = Instant::now();
    let parsed = parse(formula, program)?;
    let automaton = Automaton::of(&parsed.formula.clone().negated())?;
    let explored = explore(program, bounds, &share(limits, start, 4))?;
    let mut stopped = explored.stopped;
    let mut stats = Stats { automaton: automaton.nodes.len(), ..stats(&explored, start) };
    let letters = letters(&explored.graph, &parsed.atoms);
    let product =
        Product::explore(&explored.graph, &automaton, &letters, fair, limits, explored.bytes());
    let mut replayed = None;
    match product {
        Err(reason) => stopped = stopped.or(Some(reason)),
        Ok(product) => {
            stats.product = product.nodes();
            stats.bytes += product.bytes();
            let mut best: Option<Vec<u32>> = None;
            let least = |members: &[u32]| members.iter().min().copied();
            let gave_up = components(&product, limits, stats.bytes, &mut |members| {
                if best.as_ref().is_none_or(|best| least(members) < least(best)) {
                    best = Some(members.to_vec());
                }
            });
            stopped = stopped.or(gave_up.err());
            replayed =
                best.map(|members| broken_promise(&explored, &product, &parsed, &members, fair));
        }
    }
    stats.seconds = start.elapsed().as_secs_f64();
    let outcome = concluded(&explored, stopped, replayed);
    let fairness = match fair {
        true => "fair runs only: a thread that can go on with its operation for ever does move",
        false => "any scheduling, unfair runs included",
    };
    let mut notes = vec![
        fairness.to_owned(),
        "a run in which no thread can move any more goes on without events".to_owned(),
    ];
    notes.extend(bound_notes(&explored));
    Ok(Report {
        subject: formula.to_owned(),
        outcome,
        operations: Vec::new(),
        notes,
        left_out: Vec::new(),
        unreached: explored.unreached(),
        stats,
    })
}

/// The limits for the state graph, which may use one of so many parts of the memory: what it leaves
/// of time and memory is for what comes after.
fn share(limits: &Limits, start: Instant, parts: usize) -> Limits {
    let part = |deadline: Instant| {
        let left = deadline.saturating_duration_since(start);
        start + Duration::from_secs_f64(left.as_secs_f64() * 0.7)
    };
    Limits {
        deadline: limits.deadline.map(part),
        memory: limits.memory.map(|bytes| bytes / parts),
        ..limits.clone()
    }
}

fn stats(explored: &Explored, start: Instant) -> Stats {
    Stats {
        states: explored.graph.states(),
        moves: explored.graph.edges.len(),
        automaton: 0,
        product: 0,
        bytes: explored.bytes(),
        seconds: start.elapsed().as_secs_f64(),
    }
}

fn bound_notes(explored: &Explored) -> Vec<String> {
    let bounds = explored.space.bounds();
    let mut notes = Vec::new();
    if let Calls::Each(calls) = bounds.calls {
        notes.push(format!("each thread makes at most {calls} calls"));
    }
    if let (Some(objects), true) = (bounds.objects, explored.bounded) {
        notes.push(format!("runs were not followed beyond {objects} objects at a time"));
    }
    notes
}

/// What is concluded. The inner option is what became of a violation when the interpreter made it
/// again.
fn concluded(
    explored: &Explored,
    stopped: Option<StopReason>,
    replayed: Option<Option<Replayed>>,
) -> Outcome<(), Box<Lasso>> {
    match (replayed, stopped) {
        (Some(Some(replayed)), _) => Outcome::Violated(Box::new(replayed.lasso)),
        (Some(None), _) => Outcome::Inconclusive(Inconclusive::Undecided(
            "a violation was found, but the interpreter could not replay it: please report this"
                .to_owned(),
        )),
        (None, Some(by @ StopReason::Budget)) => {
            let so_far = format!(
                "no violation among the first {}; with a bound on calls there may be fewer",
                counted(explored.graph.states(), "state")
            );
            Outcome::Inconclusive(Inconclusive::Stopped { by, so_far: Some(so_far) })
        }
        (None, Some(reason)) => Outcome::Inconclusive(reason.into()),
        (None, None) if explored.faults > 0 => {
            Outcome::Inconclusive(Inconclusive::Undecided(format!(
                "no violation was found, but {} moves go wrong, and such a run has no continuation to \
             judge; the refinement engine shows one",
                explored.faults
            )))
        }
        (None, None) => Outcome::Holds(()),
    }
}

/// The first state where operations are pending and no thread can move, if there is one.
fn deadlock(explored: &Explored) -> Option<Option<Replayed>> {
    let graph = &explored.graph;
    let pending = |state: u32| (0..graph.threads).any(|t| graph.operation(state, t).is_some());
    let stuck = |&state: &u32| graph.is_final(state) && pending(state);
    let state = (0..graph.states() as u32).find(stuck)?;
    let prefix: Vec<Via> = graph.way_to(state).into_iter().map(Via::Move).collect();
    let waiting = (0..graph.threads).filter(|&thread| graph.waits(state, thread));
    let cycle: Vec<Via> = waiting.map(|thread| Via::Wait(thread as u8)).collect();
    let claim = "operations are pending and no thread can move".to_owned();
    let replayed = replay_lasso(explored, &prefix, &cycle, claim);
    Some(replayed.filter(|replayed| {
        let stuck = |seen: &Observation| seen.label.is_none() && seen.pending == seen.waiting;
        replayed.ended && !replayed.cycle.is_empty() && replayed.cycle.iter().all(stuck)
    }))
}

/// Looks for components with cycles that violate a property: for each operation that does not
/// respond in one (or for all of them together), the one that begins first.
fn search(
    explored: &Explored,
    property: Property,
    limits: &Limits,
) -> (Vec<Option<Found>>, Option<StopReason>) {
    let graph = &explored.graph;
    let each = property.is_per_operation();
    let mut found: Vec<Option<Found>> = Vec::new();
    found.resize_with(explored.space.program().operations.len().max(1), || None);
    for victim in 0..if each { graph.threads } else { 1 } {
        let view = Violations { graph, property, victim };
        let gave_up = components(&view, limits, explored.bytes(), &mut |members| {
            let Some(&least) = members.iter().min() else { return };
            // The victim does not respond in the component, so it is in the same operation
            // everywhere in it.
            let operation = if each { graph.operation(least, victim) } else { Some(0) };
            let Some(best) = operation.map(|operation| &mut found[operation]) else { return };
            if best.as_ref().is_none_or(|best| least < best.least) {
                *best = Some(Found { least, members: members.to_vec(), victim });
            }
        });
        if let Err(reason) = gave_up {
            return (found, Some(reason));
        }
    }
    (found, None)
}

/// The lasso of a violation, made by the interpreter and held against the definition.
fn lasso(explored: &Explored, property: Property, found: &Found) -> Option<Replayed> {
    let graph = &explored.graph;
    let view = Violations { graph, property, victim: found.victim };
    let (start, arcs) = cycle(&view, &found.members)?;
    let prefix: Vec<Via> = graph.way_to(start).into_iter().map(Via::Move).collect();
    let cycle: Vec<Via> = arcs.iter().map(|arc| arc.via).collect();
    let victim = found.victim;
    let claim = match property {
        Property::NoDeadlock => return None,
        Property::ObstructionFree => {
            format!("thread {victim} runs alone for ever and does not respond")
        }
        Property::LockFree => "threads go on for ever and no operation responds".to_owned(),
        Property::WaitFree => format!("thread {victim} goes on for ever and does not respond"),
        Property::LivelockFree => {
            "the scheduling is fair, but no operation responds any more".to_owned()
        }
        Property::StarvationFree => {
            format!("the scheduling is fair, but thread {victim} never responds")
        }
    };
    let replayed = replay_lasso(explored, &prefix, &cycle, claim)?;
    violates(property, victim, &replayed.cycle).then_some(replayed)
}

/// Whether a cycle that the interpreter saw violates a property: the definitions again, without a
/// graph.
fn violates(property: Property, victim: usize, cycle: &[Observation]) -> bool {
    let tries = |seen: &Observation| {
        let waits = seen.label.is_none() && seen.thread.is_some_and(|thread| seen.waiting[thread]);
        waits || seen.label.is_some()
    };
    let is_return = |seen: &Observation| matches!(seen.label, Some(Label::Return { .. }));
    let mine = |seen: &&Observation| seen.thread == Some(victim);
    let some_try = !cycle.is_empty() && cycle.iter().all(tries);
    let none_respond = !cycle.iter().any(is_return);
    let victim_pends =
        cycle.iter().all(|seen| seen.pending[victim]) && !cycle.iter().filter(mine).any(is_return);
    some_try
        && match property {
            Property::NoDeadlock => false,
            Property::ObstructionFree => {
                victim_pends && cycle.iter().all(|seen| seen.thread == Some(victim))
            }
            Property::LockFree => none_respond,
            Property::WaitFree => victim_pends && cycle.iter().any(|seen| mine(&seen)),
            Property::LivelockFree => none_respond && is_fair(cycle),
            Property::StarvationFree => victim_pends && is_fair(cycle),
        }
}

/// Whether every thread that is always able to go on with its operation moves.
fn is_fair(cycle: &[Observation]) -> bool {
    let threads = cycle.first().map_or(0, |seen| seen.pending.len());
    (0..threads).all(|thread| {
        cycle.iter().any(|seen| {
            let moves = seen.thread == Some(thread) && seen.label.is_some();
            moves || !seen.pending[thread] || seen.waiting[thread]
        })
    })
}

/// The lasso of a run on which a formula does not hold, made by the interpreter and held against
/// the semantics.
fn broken_promise(
    explored: &Explored,
    product: &Product<'_>,
    parsed: &Parsed,
    members: &[u32],
    fair: bool,
) -> Option<Replayed> {
    let (start, arcs) = cycle(product, members)?;
    let prefix = product.way_to(start);
    let cycle: Vec<Via> = arcs.iter().map(|arc| arc.via).collect();
    let claim = match fair {
        true => "the formula does not hold on this fair run".to_owned(),
        false => "the formula does not hold on this run".to_owned(),
    };
    let replayed = replay_lasso(explored, &prefix, &cycle, claim)?;
    let letter = |seen: &Observation| match (&seen.label, seen.thread) {
        (Some(label), Some(thread)) => {
            let shown =
                parsed.atoms.iter().enumerate().filter(|(_, atom)| atom.fits(thread, label));
            shown.fold(0, |letter, (number, _)| letter | 1 << number)
        }
        _ => 0,
    };
    let word = |part: &[Observation]| part.iter().map(letter).collect::<Vec<u64>>();
    let broken = !holds_on(&parsed.formula, &word(&replayed.prefix), &word(&replayed.cycle));
    (broken && (!fair || is_fair(&replayed.cycle))).then_some(replayed)
}

/// Which operations have a property. `known`: every violation was found.
fn per_operation(
    explored: &Explored,
    property: Property,
    found: &[Option<Found>],
    known: bool,
) -> Vec<OfOperation> {
    let called = |number: usize| {
        let calls =
            |label: &Label| matches!(label, Label::Call { operation, .. } if *operation == number);
        explored.graph.labels.iter().any(calls)
    };
    let of = |number: usize| {
        let replayed = found[number].as_ref().map(|found| lasso(explored, property, found));
        let holds = match &replayed {
            Some(Some(_)) => Some(false),
            Some(None) => None,
            None => (known && called(number)).then_some(true),
        };
        let lasso = replayed.flatten().map(|replayed| Box::new(replayed.lasso));
        let operation = explored.space.program().operations[number].name.clone();
        OfOperation { operation, holds, lasso }
    };
    (0..explored.space.program().operations.len()).map(of).collect()
}
