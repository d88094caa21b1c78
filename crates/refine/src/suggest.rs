//! Where linearization points could be: what the explored space says about each operation.
//!
//! One operation at a time is tied down, the others may take effect anywhere. If the space still
//! refines the specification when the operation may take effect only in its own steps, its point is
//! its own; if edges can be named such that it takes effect at the first of them that it passes,
//! the point is fixed; if not, which of its steps it was depends on what happens later. If its own
//! steps do not suffice, it sometimes takes effect in a step of another operation.

use crate::model::{ModelError, ModelProduct};
use crate::search::{Exploration, SearchOptions, explore};
use crate::sets::{Place, Policy};
use linchpin_ir::print::Names;
use linchpin_ir::program::{Action, Expr, Program, UnaryOp};
use linchpin_space::{Bounds, Reductions};
use linchpin_verdict::{Inconclusive, Limits};
use std::time::{Duration, Instant};

/// Points are looked for among at most this many edges together.
const MAX_EDGES: usize = 3;

/// Where the point of an operation is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Where {
    /// At fixed edges of its own: the first one that it passes.
    Fixed(Vec<(u32, u32)>),
    /// In its own steps, but in which one depends on what happens later (or more than a few edges
    /// are needed).
    DependsOnTheFuture,
    /// Sometimes in a step of another operation.
    InAnotherOperation,
    /// There is none: the model is not linearizable within these bounds.
    Nowhere,
    /// The search was given up; why.
    Unknown(Inconclusive),
}

/// What can be said about an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// The operation.
    pub operation: String,
    /// Where its point is.
    pub place: Where,
    /// The source lines of the point and what happens there, if it is fixed.
    pub lines: Vec<(u32, String)>,
}

/// Whether the fixed points that were found explain every run together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Together {
    /// They do.
    Yes,
    /// Each does by itself, but not all of them.
    No,
    /// That was not found out in time.
    Unknown,
}

/// Says of each operation where its linearization points could be, within bounds; and whether the
/// fixed ones that were found work together. It takes at most `budget`, of which every operation
/// has its share: what is known then is the answer.
pub fn suggest_points(
    program: &Program,
    bounds: Bounds,
    limits: &Limits,
    budget: Duration,
) -> Result<(Vec<Advice>, Together), ModelError> {
    let limits = sooner(limits, Instant::now() + budget);
    let free = vec![Place::Anywhere; program.operations.len()];
    let whole = ModelProduct::new(program, bounds, Reductions::ALL, Policy::JustInTime)?;
    let all = Trial { program, bounds, limits: limits.clone() };
    let linearizable = all.run(&whole);
    drop(whole);
    let mut places = free.clone();
    let mut advice = Vec::new();
    for (index, operation) in program.operations.iter().enumerate() {
        // The operations that follow, and the check of all points together, have a share each.
        let shares = u32::try_from(program.operations.len() - index + 1).unwrap_or(u32::MAX);
        let now = Instant::now();
        let left = limits.deadline.map_or(budget, |at| at.saturating_duration_since(now));
        let trial = Trial { program, bounds, limits: sooner(&limits, now + left / shares) };
        let place = match &linearizable {
            Ok(true) => trial.place(index, &free)?,
            Ok(false) => Where::Nowhere,
            Err(reason) => Where::Unknown(reason.clone()),
        };
        let edges = match &place {
            Where::Fixed(edges) => edges.clone(),
            _ => Vec::new(),
        };
        if !edges.is_empty() {
            places[index] = Place::AtEdges(edges.clone());
        }
        let lines = edges.iter().map(|edge| describe(program, index, *edge)).collect();
        advice.push(Advice { operation: operation.name.clone(), place, lines });
    }
    let together = match all.places(places)? {
        Ok(true) => Together::Yes,
        Ok(false) => Together::No,
        Err(_) => Together::Unknown,
    };
    Ok((advice, together))
}

/// The limits with a deadline that is not later than this.
fn sooner(limits: &Limits, until: Instant) -> Limits {
    let deadline = limits.deadline.map_or(until, |given| given.min(until));
    Limits { deadline: Some(deadline), ..limits.clone() }
}

struct Trial<'a> {
    program: &'a Program,
    bounds: Bounds,
    limits: Limits,
}

impl Trial<'_> {
    fn run(&self, product: &ModelProduct) -> Result<bool, Inconclusive> {
        let options = SearchOptions { limits: self.limits.clone(), ..SearchOptions::default() };
        match explore(product, &options, &|_| {}).0 {
            Exploration::Complete => Ok(true),
            Exploration::Found { .. } => Ok(false),
            Exploration::Stopped(reason) => Err(reason),
        }
    }

    fn places(&self, places: Vec<Place>) -> Result<Result<bool, Inconclusive>, ModelError> {
        let product = ModelProduct::trial(self.program, self.bounds, Reductions::ALL, places)?;
        Ok(self.run(&product))
    }

    fn place(&self, operation: usize, free: &[Place]) -> Result<Where, ModelError> {
        let with = |place: Place| {
            let mut places = free.to_vec();
            places[operation] = place;
            places
        };
        match self.places(with(Place::InOwnSteps))? {
            Ok(true) => {}
            Ok(false) => return Ok(Where::InAnotherOperation),
            Err(reason) => return Ok(Where::Unknown(reason)),
        }
        let edges = self.edges(operation);
        for size in 1..=MAX_EDGES.min(edges.len()) {
            let mut choice: Vec<usize> = (0..size).collect();
            loop {
                let chosen: Vec<(u32, u32)> = choice.iter().map(|&at| edges[at]).collect();
                match self.places(with(Place::AtEdges(chosen.clone())))? {
                    Ok(true) => return Ok(Where::Fixed(chosen)),
                    Ok(false) => {}
                    Err(_) => {
                        return Ok(Where::Unknown(Inconclusive::Undecided(format!(
                            "it is in the operation's own steps, but not every set of {size} edges \
                             was tried in time"
                        ))));
                    }
                }
                if !next_choice(&mut choice, edges.len()) {
                    break;
                }
            }
        }
        Ok(Where::DependsOnTheFuture)
    }

    /// The edges of an operation with an access to shared memory: what else could be noticed?
    fn edges(&self, operation: usize) -> Vec<(u32, u32)> {
        let mut edges = Vec::new();
        for (node, of) in self.program.operations[operation].body.nodes.iter().enumerate() {
            for (number, edge) in of.edges.iter().enumerate() {
                if edge.actions.iter().any(|(action, _)| action.is_access()) {
                    edges.push((node as u32, number as u32));
                }
            }
        }
        edges
    }
}

/// The next set of numbers below `count`, in order.
fn next_choice(choice: &mut [usize], count: usize) -> bool {
    let size = choice.len();
    let Some(at) = (0..size).rev().find(|&at| choice[at] + (size - at) < count) else {
        return false;
    };
    choice[at] += 1;
    for later in at + 1..size {
        choice[later] = choice[later - 1] + 1;
    }
    true
}

/// The line of an edge's access, and the condition under which the edge is taken.
fn describe(program: &Program, operation: usize, (node, edge): (u32, u32)) -> (u32, String) {
    let body = &program.operations[operation].body;
    let names = Names { program, body };
    let edge = &body.nodes[node as usize].edges[edge as usize];
    let access = edge.actions.iter().position(|(action, _)| action.is_access());
    let line = access.map_or(body.nodes[node as usize].line, |at| edge.actions[at].1);
    let result = access.and_then(|at| match &edge.actions[at].0 {
        Action::Cas { into, .. } | Action::StoreConditional { into, .. } => {
            Some(Expr::Local(*into))
        }
        _ => None,
    });
    let condition = |action: &Action| match action {
        Action::Guard(condition) if Some(condition) == result.as_ref() => {
            Some("it succeeds".to_owned())
        }
        Action::Guard(Expr::Unary(UnaryOp::Not, inner)) if Some(&**inner) == result.as_ref() => {
            Some("it fails".to_owned())
        }
        Action::Guard(condition) => Some(names.expr(condition)),
        _ => None,
    };
    let conditions: Vec<String> =
        edge.actions.iter().filter_map(|(action, _)| condition(action)).collect();
    let what = access.map_or(String::new(), |at| names.action(&edge.actions[at].0));
    match conditions.is_empty() {
        true => (line, what),
        false => (line, format!("{what}, when {}", conditions.join(" and "))),
    }
}
