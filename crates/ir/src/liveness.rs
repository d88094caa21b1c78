//! Which locals some way on still reads.

use crate::program::{Action, Body, Edge, Expr, LocalTarget, Point, Target};

/// For each node, for each local, whether some way on reads it before it is written.
pub fn live_locals(body: &Body) -> Vec<Vec<bool>> {
    let mut live = vec![vec![false; body.locals.len()]; body.nodes.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (index, node) in body.nodes.iter().enumerate().rev() {
            for edge in &node.edges {
                let before = before(edge, &live);
                for (local, used) in before.into_iter().enumerate() {
                    if used && !live[index][local] {
                        live[index][local] = true;
                        changed = true;
                    }
                }
            }
        }
    }
    live
}

/// What is live where an edge starts.
fn before(edge: &Edge, live: &[Vec<bool>]) -> Vec<bool> {
    let mut after = match &edge.target {
        Target::Node(node) => live[node.0 as usize].clone(),
        Target::Return(_) => vec![false; live.first().map_or(0, Vec::len)],
    };
    if let Target::Return(value) = &edge.target {
        uses(value, &mut after);
    }
    let points = |number: usize, after: &mut Vec<bool>| {
        for (_, point) in edge.points.iter().filter(|(at, _)| *at == number) {
            let (Point::When(expr) | Point::Returns { value: expr, .. }) = point;
            uses(expr, after);
        }
    };
    points(edge.actions.len(), &mut after);
    for (number, (action, _)) in edge.actions.iter().enumerate().rev() {
        let whole = match action {
            Action::Assign { local: LocalTarget::Local(local), .. } => Some(*local),
            Action::Assign { .. } => None,
            other => other.answer(),
        };
        if let Some(local) = whole {
            after[local.0 as usize] = false;
        }
        // Part of an array or record: what is not written must have been there before.
        if let Action::Assign {
            local: LocalTarget::Element(local, _) | LocalTarget::Component(local, _),
            ..
        } = action
        {
            after[local.0 as usize] = true;
        }
        for expr in action.expressions() {
            uses(expr, &mut after);
        }
        points(number, &mut after);
    }
    after
}

fn uses(expr: &Expr, live: &mut [bool]) {
    expr.walk(&mut |inner| {
        if let Expr::Local(local) = inner {
            live[local.0 as usize] = true;
        }
    });
}
