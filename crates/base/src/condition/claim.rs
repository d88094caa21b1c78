//! Whether a stated condition is a base condition (Definition 1 of paper 004).
//!
//! A condition of a step is about a shared state, the arguments of the call and the local
//! variables at the step. It is a base condition if, from every shared state in which it holds for
//! some values of these locals, the call alone reaches the step with just these values. It is
//! *exact* if it also holds wherever the call alone reaches the step.

use super::formula::{Condition, NotEvaluated, Setting, width};
use super::place::At;
use super::runs::{Run, run};
use super::values::{domain, each_choice, integers, integers_in};
use crate::alone::Call;
use crate::outcome::{Ending, Words};
use linchpin_ir::program::{Action, Body, Expr, Formula, LocalId, Program, Type};
use linchpin_space::{Flat, Space, Workspace};
use linchpin_spec::Value;
use linchpin_verdict::{Limits, StopReason};
use std::collections::BTreeSet;
use thiserror::Error;

/// More values of the locals than this are not tried in one state.
const MOST_CHOICES: usize = 200_000;

/// Shared states, and the calls that are made from them.
#[derive(Clone, Copy)]
pub struct Sample<'a> {
    /// The state space.
    pub space: &'a Space,
    /// The calls.
    pub calls: &'a [Call],
    /// The states: the first that refutes a condition is reported, so small ones come first.
    pub states: &'a [Flat],
}

/// A condition, and the step that it is of.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The operation.
    pub operation: usize,
    /// The condition.
    pub formula: Formula,
    /// The step.
    pub at: At,
}

/// Why a condition was not checked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotChecked {
    /// It cannot be evaluated.
    #[error(transparent)]
    NotEvaluated(#[from] NotEvaluated),
    /// A local variable has two values within one step.
    #[error("`{local}` is assigned on both sides of the condition within one step")]
    TwoValues {
        /// Its name.
        local: String,
    },
    /// There are too many values of its locals.
    #[error("there are too many values of its local variables to try them all")]
    TooMany,
    /// A limit was reached.
    #[error("{0}")]
    Stopped(StopReason),
}

/// A case that shows that a condition is no base condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refutation {
    /// The shared state, in which the condition holds.
    pub state: Flat,
    /// The call.
    pub call: Call,
    /// The values of the locals for which it holds.
    pub locals: Vec<(LocalId, Words)>,
    /// The values with which the call alone reaches the step instead, if it does: those of the last
    /// time, in the order of `locals`.
    pub instead: Option<Vec<Words>>,
    /// How the call alone ends.
    pub ending: Ending,
}

/// What is known of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is a base condition in these states.
    Holds {
        /// In how many cases (state, call, values of locals) it holds.
        cases: usize,
    },
    /// It is not.
    Refuted(Box<Refutation>),
    /// It holds in no state.
    NeverMet,
    /// It was not checked.
    NotChecked(NotChecked),
}

/// What came of checking a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Whether it is a base condition.
    pub verdict: Verdict,
    /// Whether it holds wherever the step is reached; none if the step is never reached.
    pub exact: Option<bool>,
}

/// A condition on its way through the states.
struct Judge<'a> {
    of: &'a Claim,
    condition: Condition,
    /// The integers that the code of the operation and its arrays suggest.
    integers: BTreeSet<i64>,
    cases: usize,
    reached: usize,
    missed: bool,
    refutation: Option<Box<Refutation>>,
    failure: Option<NotChecked>,
}

/// Checks conditions in all states of a sample.
pub fn judge(sample: Sample, conditions: &[Claim], limits: &Limits) -> Vec<Judgement> {
    let program = sample.space.program();
    let mut judges: Vec<Result<Judge, NotChecked>> =
        conditions.iter().map(|of| Judge::new(program, of)).collect();
    let mut workspace = Workspace::default();
    let mut stopped = None;
    'states: for (number, flat) in sample.states.iter().enumerate() {
        if number % 64 == 0 {
            stopped = limits.exceeded(0);
        }
        if stopped.is_some() {
            break 'states;
        }
        for call in sample.calls {
            let is_asked = |judge: &Judge| judge.of.operation == call.operation;
            if !judges.iter().flatten().any(is_asked) {
                continue;
            }
            let run = run(sample.space, flat, call, &mut workspace);
            for judge in judges.iter_mut().flatten().filter(|judge| is_asked(judge)) {
                judge.case(sample.space, flat, call, &run);
            }
        }
    }
    judges.into_iter().map(|judge| conclude(judge, stopped)).collect()
}

fn conclude(judge: Result<Judge, NotChecked>, stopped: Option<StopReason>) -> Judgement {
    let judge = match judge {
        Ok(judge) => judge,
        Err(why) => return Judgement { verdict: Verdict::NotChecked(why), exact: None },
    };
    let failure = judge.failure.or(stopped.map(NotChecked::Stopped));
    let exact = (judge.reached > 0 && failure.is_none()).then_some(!judge.missed);
    let verdict = match (judge.refutation, failure, judge.cases) {
        (Some(refutation), _, _) => Verdict::Refuted(refutation),
        (None, Some(failure), _) => Verdict::NotChecked(failure),
        (None, None, 0) => Verdict::NeverMet,
        (None, None, cases) => Verdict::Holds { cases },
    };
    Judgement { verdict, exact }
}

impl<'a> Judge<'a> {
    fn new(program: &Program, of: &'a Claim) -> Result<Judge<'a>, NotChecked> {
        let body = &program.operations[of.operation].body;
        Ok(Judge {
            of,
            condition: Condition::new(program, body, &of.formula)?,
            integers: integers_of_code(program, body),
            cases: 0,
            reached: 0,
            missed: false,
            refutation: None,
            failure: None,
        })
    }

    fn case(&mut self, space: &Space, flat: &Flat, call: &Call, run: &Run) {
        let visits = match self.of.at.visits(space, self.of.operation, &self.condition.locals, run)
        {
            Ok(visits) => visits,
            Err(why) => {
                self.failure.get_or_insert(why);
                return;
            }
        };
        let setting = Setting { space, flat, thread: call.thread };
        self.reached += visits.len();
        self.missed |= visits.iter().any(|values| !self.condition.holds(setting, values));
        let rows = rows(space, flat, call, &self.condition.locals, &self.integers, &visits);
        let Some(rows) = rows else {
            self.failure.get_or_insert(NotChecked::TooMany);
            return;
        };
        let Judge { condition, cases, refutation, .. } = self;
        each_choice(&rows, &mut |values| {
            if !condition.holds(setting, values) {
                return;
            }
            *cases += 1;
            if refutation.is_none() && !visits.iter().any(|visit| visit == values) {
                let locals = condition.locals.iter().copied().zip(values.iter().cloned());
                *refutation = Some(Box::new(Refutation {
                    state: flat.clone(),
                    call: call.clone(),
                    locals: locals.collect(),
                    instead: visits.last().cloned(),
                    ending: run.ending.clone(),
                }));
            }
        });
    }
}

/// The values to try for each of these locals: an argument that is never assigned has its own, any
/// other local every value that it might have. None if there are too many.
pub fn rows(
    space: &Space,
    flat: &Flat,
    call: &Call,
    locals: &[LocalId],
    further: &BTreeSet<i64>,
    visits: &[Vec<Words>],
) -> Option<Vec<Vec<Words>>> {
    let operation = &space.program().operations[call.operation];
    let mut known = integers(space, flat);
    known.extend(further);
    let mut arguments = &call.arguments[..];
    for parameter in &operation.parameters {
        integers_in(&parameter.ty, &mut arguments, &mut known);
    }
    let mut rows = Vec::new();
    let mut count = 1usize;
    for (slot, local) in locals.iter().enumerate() {
        let ty = &operation.body.locals[local.0 as usize].ty;
        let row = match argument(&operation.body, operation.parameters.len(), *local) {
            Some(at) => vec![Words::from_slice(&call.arguments[at..at + width(ty)])],
            None => {
                let mut known = known.clone();
                for visit in visits {
                    integers_in(ty, &mut &visit[slot][..], &mut known);
                }
                domain(space, flat, ty, &known, MOST_CHOICES)?
            }
        };
        count = count.checked_mul(row.len()).filter(|count| *count <= MOST_CHOICES)?;
        rows.push(row);
    }
    Some(rows)
}

/// Where a local stands among the words of the arguments, if it is a parameter that the body never
/// assigns.
pub fn argument(body: &Body, parameters: usize, local: LocalId) -> Option<usize> {
    let at = local.0 as usize;
    let edges = || body.nodes.iter().flat_map(|node| &node.edges);
    let assigns = |(action, _): &(Action, u32)| action.answer() == Some(local);
    let is_fixed = at < parameters && !edges().any(|edge| edge.actions.iter().any(assigns));
    let widths = body.locals[..at].iter().map(|local| width(&local.ty));
    is_fixed.then(|| widths.sum())
}

/// The integers that stand in the code of an operation, and the indexes of shared arrays.
pub fn integers_of_code(program: &Program, body: &Body) -> BTreeSet<i64> {
    let mut out = BTreeSet::new();
    let mut look = |expr: &Expr| {
        if let Expr::Const(Value::Int(value)) = expr {
            out.insert(*value);
        }
    };
    for edge in body.nodes.iter().flat_map(|node| &node.edges) {
        for (action, _) in &edge.actions {
            action.expressions().into_iter().for_each(|expr| expr.walk(&mut look));
        }
    }
    for variable in &program.shared {
        if let Type::Array(_, length) = &variable.ty {
            out.extend(0..i64::try_from(*length).unwrap_or(0).min(32));
        }
    }
    out
}
