//! The steps that a base condition is wanted for, and the locals that it may mention.

use super::place::{Answer, At, actions, return_line, update_line};
use super::runs::{Passed, Run};
use crate::outcome::Ending;
use linchpin_ir::program::{Action, Body, Expr, LocalId, Program, Target as End, Type};
use linchpin_space::{Flat, Space};

/// A step that runs alone take: an update step or a return.
#[derive(Clone, Debug)]
pub struct Target {
    /// Which.
    pub at: At,
    /// Its source line.
    pub line: u32,
    /// What is returned, if it is a return.
    pub returns: Option<Expr>,
    /// The locals that the step itself mentions.
    pub mentioned: Vec<LocalId>,
    /// Those that decide which value is returned, where steps are not told apart by it.
    pub answered: Vec<LocalId>,
}

/// The targets of an operation in these runs, in the order of the lines.
pub fn targets(space: &Space, operation: usize, runs: &[&Run]) -> Vec<Target> {
    let code = &space.program().operations[operation];
    let mut all: Vec<Target> = Vec::new();
    let mut add = |target: Target| {
        if !all.iter().any(|other| other.at == target.at) {
            all.push(target);
        }
    };
    for run in runs {
        for step in &run.steps {
            if let Some(line) = update_line(&code.body, step) {
                let mentioned = mentioned_by_writes(&code.body, step, line);
                let (returns, answered) = (None, Vec::new());
                add(Target { at: At::Update(line), line, returns, mentioned, answered });
            }
        }
        if let (Some(step), Ending::Returns(words)) = (run.steps.last(), &run.ending) {
            let line = return_line(space, operation, step);
            let answer = Answer::of(&code.response, words);
            let returns = returned(&code.body, step);
            let mut mentioned = Vec::new();
            returns.iter().for_each(|value| mention(value, &mut mentioned));
            let answered = match answer {
                Answer::Any | Answer::Something => mentioned.clone(),
                Answer::Truth(_) | Answer::Nothing => Vec::new(),
            };
            for (action, _) in actions(&code.body, step) {
                action.expressions().into_iter().for_each(|expr| mention(expr, &mut mentioned));
            }
            let at = At::Return(line, answer);
            add(Target { at, line, returns, mentioned, answered });
        }
    }
    // Updates of a line come before its returns.
    all.sort_by_key(|target| match target.at {
        At::Return(line, answer) => (line, 1, Some(answer)),
        _ => (target.line, 0, None),
    });
    all
}

fn returned(body: &Body, step: &Passed) -> Option<Expr> {
    let (node, edge) = *step.path.last()?;
    match &body.nodes[node as usize].edges[edge as usize].target {
        End::Return(value) => Some(value.clone()),
        End::Node(_) => None,
    }
}

fn mentioned_by_writes(body: &Body, step: &Passed, line: u32) -> Vec<LocalId> {
    let mut out = Vec::new();
    for (action, _) in
        actions(body, step).into_iter().filter(|(action, at)| *at == line && action.is_write())
    {
        action.expressions().into_iter().for_each(|expr| mention(expr, &mut out));
    }
    out
}

fn mention(expr: &Expr, out: &mut Vec<LocalId>) {
    expr.walk(&mut |part| {
        if let Expr::Local(local) = part
            && !out.contains(local)
        {
            out.push(*local);
        }
    });
}

/// Whether people can name a local at a step of the operation: it is a variable of the operation
/// itself and no other of its variables has the name.
pub fn is_nameable(program: &Program, operation: usize, local: LocalId) -> bool {
    let code = &program.operations[operation];
    let at = local.0 as usize;
    let name = &code.body.locals[at].name;
    let is_first = !code.body.locals[..at].iter().any(|other| other.name == *name);
    // Variables of functions are used on the lines of the function.
    let later = program.operations.iter().map(|other| other.line).filter(|line| *line > code.line);
    let end = later.min().unwrap_or(u32::MAX);
    let uses = |(action, _): &&(Action, u32)| {
        let mut found = Vec::new();
        action.expressions().into_iter().for_each(|expr| mention(expr, &mut found));
        action.answer() == Some(local) || found.contains(&local)
    };
    let edges = code.body.nodes.iter().flat_map(|node| &node.edges);
    let mut lines = edges.flat_map(|edge| &edge.actions).filter(uses).map(|(_, line)| *line);
    !code.body.locals[at].is_temporary()
        && is_first
        && lines.all(|line| (code.line..end).contains(&line))
}

/// Whether a value of a local can be named in the shared state: an object that the run has made is
/// not there.
pub fn is_in_state(space: &Space, flat: &Flat, ty: &Type, words: &[i64]) -> bool {
    match (ty, words.first()) {
        (Type::Struct(_), Some(word)) => {
            usize::try_from(*word).is_ok_and(|word| word <= space.objects(flat))
        }
        (Type::Int | Type::Bool, _) => true,
        _ => false,
    }
}
