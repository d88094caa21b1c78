//! Where a condition stands: the steps of a run that reach it, and the values of locals there.

use super::claim::NotChecked;
use super::runs::{Passed, Run};
use crate::outcome::{Ending, Words};
use linchpin_ir::program::{Action, Body, LocalId, Type};
use linchpin_space::Space;

/// What an answer is, as far as steps are told apart by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Answer {
    /// True or false.
    Truth(bool),
    /// None or null.
    Nothing,
    /// Some value of an optional, or a reference.
    Something,
    /// Whatever it is.
    Any,
}

/// A step of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum At {
    /// The statement before which an annotation stands: a node, one of its edges, and the number of
    /// actions of that edge that come before.
    Edges(Vec<(u32, u32, usize)>),
    /// An update step: the source line of its first write.
    Update(u32),
    /// A return: its source line, and what is answered.
    Return(u32, Answer),
}

impl At {
    /// The values of these locals each time a run comes by.
    pub fn visits(
        &self,
        space: &Space,
        operation: usize,
        locals: &[LocalId],
        run: &Run,
    ) -> Result<Vec<Vec<Words>>, NotChecked> {
        let code = &space.program().operations[operation];
        let pick = |all: &[Words]| -> Vec<Words> {
            locals.iter().map(|local| all[local.0 as usize].clone()).collect()
        };
        match self {
            At::Edges(places) => at_edges(&code.body, places, locals, run),
            At::Update(line) => {
                let is_it = |step: &&Passed| update_line(&code.body, step) == Some(*line);
                let steps = run.steps.iter().filter(is_it);
                Ok(steps.map(|step| pick(&step.before)).collect())
            }
            At::Return(line, answer) => Ok(match (run.steps.last(), &run.ending) {
                (Some(step), Ending::Returns(words))
                    if return_line(space, operation, step) == *line
                        && Answer::of(&code.response, words) == *answer =>
                {
                    vec![pick(&step.after)]
                }
                _ => Vec::new(),
            }),
        }
    }
}

impl Answer {
    /// What these words answer.
    pub fn of(ty: &Type, words: &[i64]) -> Answer {
        match (ty, words.first()) {
            (Type::Bool, Some(word)) => Answer::Truth(*word != 0),
            (Type::Option(_) | Type::Struct(_), Some(0)) => Answer::Nothing,
            (Type::Option(_) | Type::Struct(_), Some(_)) => Answer::Something,
            _ => Answer::Any,
        }
    }
}

/// The actions of a step, in order.
pub fn actions<'a>(body: &'a Body, step: &Passed) -> Vec<&'a (Action, u32)> {
    let edge = |(node, edge): &(u32, u32)| &body.nodes[*node as usize].edges[*edge as usize];
    step.path.iter().flat_map(|at| &edge(at).actions).collect()
}

/// The line of the first write of an update step.
pub fn update_line(body: &Body, step: &Passed) -> Option<u32> {
    let mut actions = actions(body, step).into_iter().filter(|_| step.is_update);
    actions.find(|(action, _)| action.is_write()).map(|(_, line)| *line)
}

/// The line of the return that a step ends with.
pub fn return_line(space: &Space, operation: usize, step: &Passed) -> u32 {
    let code = &space.program().operations[operation];
    let last = step.path.last();
    let edge = last.map(|(node, edge)| &code.body.nodes[*node as usize].edges[*edge as usize]);
    edge.and_then(|edge| edge.returns_at).unwrap_or(code.line)
}

fn at_edges(
    body: &Body,
    places: &[(u32, u32, usize)],
    locals: &[LocalId],
    run: &Run,
) -> Result<Vec<Vec<Words>>, NotChecked> {
    let mut visits = Vec::new();
    for step in &run.steps {
        for (position, (node, edge)) in step.path.iter().enumerate() {
            let is_here = |place: &&(u32, u32, usize)| place.0 == *node && place.1 == *edge;
            let Some((_, _, at)) = places.iter().find(is_here) else { continue };
            let value = |local: &LocalId| {
                step.value_at(body, position, *at, *local).cloned().ok_or_else(|| {
                    let local = body.locals[local.0 as usize].name.clone();
                    NotChecked::TwoValues { local }
                })
            };
            visits.push(locals.iter().map(value).collect::<Result<_, _>>()?);
        }
    }
    Ok(visits)
}
