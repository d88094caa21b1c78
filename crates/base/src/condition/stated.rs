//! Where a model states base conditions.

use super::claim::Claim;
use super::place::At;
use linchpin_ir::print::Names;
use linchpin_ir::program::{Edge, Expr, Program, Target};

/// A base condition that a model states, with the places in the code where it stands.
///
/// A statement may be many edges of the code: the ways that lead to a `return`, the ways on from
/// an `if`. The condition is of the statement, so these places belong together.
#[derive(Clone, Debug)]
pub struct Stated {
    /// The condition, and where it stands.
    pub claim: Claim,
    /// The source line of the statement.
    pub line: u32,
    /// What is returned, if the statement is a return.
    pub returns: Option<Expr>,
    /// What the step is, for people.
    pub step: String,
}

/// The base conditions that a program states, in the order of the code.
pub fn stated(program: &Program) -> Vec<Stated> {
    let mut all: Vec<Stated> = Vec::new();
    for (operation, code) in program.operations.iter().enumerate() {
        for (node, of) in code.body.nodes.iter().enumerate() {
            for (edge, way) in of.edges.iter().enumerate() {
                for (at, formula) in &way.bases {
                    let (line, returns) = statement(program, operation, way, *at);
                    let place = (node as u32, edge as u32, *at);
                    let is_same = |other: &&mut Stated| {
                        other.claim.operation == operation
                            && other.line == line
                            && other.returns == returns
                            && other.claim.formula == *formula
                    };
                    if let Some(known) = all.iter_mut().find(is_same) {
                        if let At::Edges(places) = &mut known.claim.at {
                            places.push(place);
                        }
                        continue;
                    }
                    let step = step_text(program, operation, way, *at);
                    let (formula, at) = (formula.clone(), At::Edges(vec![place]));
                    let claim = Claim { operation, formula, at };
                    all.push(Stated { claim, line, returns, step });
                }
            }
        }
    }
    all
}

/// The line of the statement before which an annotation stands, and what it returns if it does.
fn statement(program: &Program, operation: usize, edge: &Edge, at: usize) -> (u32, Option<Expr>) {
    let code = &program.operations[operation];
    match (edge.actions.get(at), &edge.target) {
        (Some((_, line)), _) => (*line, None),
        (None, Target::Node(next)) => (code.body.nodes[next.0 as usize].line, None),
        (None, Target::Return(value)) => {
            (edge.returns_at.unwrap_or(code.line), Some(value.clone()))
        }
    }
}

fn step_text(program: &Program, operation: usize, edge: &Edge, at: usize) -> String {
    let code = &program.operations[operation];
    let names = Names { program, body: &code.body };
    let next = match (edge.actions.get(at), &edge.target) {
        (Some((action, _)), _) => Some(action),
        (None, Target::Return(value)) => return names.returned(value, &code.response),
        (None, Target::Node(next)) => {
            let edge = code.body.nodes[next.0 as usize].edges.first();
            let actions = || edge.iter().flat_map(|edge| &edge.actions);
            let action = actions().find(|(action, _)| action.is_write());
            let action = action.or_else(|| actions().find(|(action, _)| action.is_access()));
            action.or_else(|| actions().next()).map(|(action, _)| action)
        }
    };
    next.map_or_else(|| format!("line {}", code.line), |action| names.action(action))
}
