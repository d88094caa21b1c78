//! What a `reference { }` owes its model: the invariants of [`Program::reference`].

use super::Defect;
use crate::program::{Action, Body, Edge, Expr, Operation, Program, Target, Type};

/// What is wrong with the reference of a program, beyond its single bodies.
pub(super) fn defects(program: &Program, reference: &Program, found: &mut Vec<Defect>) {
    let mut whole = |wrong: bool, problem: &str| {
        if wrong {
            let (operation, problem) = ("reference".to_owned(), problem.to_owned());
            found.push(Defect { operation, node: 0, problem });
        }
    };
    whole(reference.structs != program.structs, "its structs differ from those of the model");
    whole(!reference.threads.is_empty(), "it has threads");
    whole(!reference.thread_locals.is_empty(), "it has thread-locals");
    whole(reference.reference.is_some(), "it has a reference");
    let same = reference.operations.len() == program.operations.len()
        && reference
            .operations
            .iter()
            .zip(&program.operations)
            .all(|(a, b)| outside(a) == outside(b));
    whole(!same, "its operations differ from those of the model");
    let restricts = |operation: &Operation| {
        operation.requires.is_some() || operation.parameters.iter().any(|p| p.range.is_some())
    };
    whole(reference.operations.iter().any(restricts), "it restricts what clients call");
    let operations = reference.operations.iter().map(|op| (op.name.as_str(), &op.body));
    for (name, body) in operations.chain(reference.init.iter().map(|body| ("init", body))) {
        alone(name, body, found);
    }
}

/// What clients see of an operation.
fn outside(operation: &Operation) -> (&str, Vec<&Type>, &Type) {
    let parameters = operation.parameters.iter().map(|parameter| &parameter.ty).collect();
    (&operation.name, parameters, &operation.response)
}

/// Checks that a body claims nothing, frees nothing and names no thread.
fn alone(operation: &str, body: &Body, found: &mut Vec<Defect>) {
    for (node, edge) in
        body.nodes.iter().enumerate().flat_map(|(at, node)| node.edges.iter().map(move |e| (at, e)))
    {
        let mut wrong = |wrong: bool, problem: &str| {
            if wrong {
                let (operation, problem) = (operation.to_owned(), problem.to_owned());
                found.push(Defect { operation, node, problem });
            }
        };
        let claims = !edge.points.is_empty() || !edge.bases.is_empty();
        wrong(claims, "claims something about a model");
        let frees = edge.actions.iter().any(|(action, _)| matches!(action, Action::Free(_)));
        wrong(frees, "frees an object");
        wrong(names_thread(edge), "names the executing thread");
    }
}

fn names_thread(edge: &Edge) -> bool {
    let mut names = false;
    let mut look = |expr: &Expr| expr.walk(&mut |inner| names |= matches!(inner, Expr::Me));
    edge.actions.iter().flat_map(|(action, _)| action.expressions()).for_each(&mut look);
    if let Target::Return(value) = &edge.target {
        look(value);
    }
    names
}
