//! Which locals of a split body can still be read: the others are reset, so that states that differ
//! only in them are one. Written again here: what the engine thinks dead is not taken on trust.

use super::split::Split;
use linchpin_ir::program::{Action, Body, Edge, Expr, LocalTarget, NodeId, Target};
use std::collections::BTreeSet;

/// For each node, the locals that some way on reads before it writes them.
pub fn live(body: &Body, split: &Split) -> Vec<BTreeSet<usize>> {
    let mut live = vec![BTreeSet::new(); body.nodes.len()];
    loop {
        let before = live.clone();
        for (number, node) in (0..).zip(&body.nodes) {
            let mut here = BTreeSet::new();
            for claim in split.claims(NodeId(number)) {
                uses(&claim.when, &mut here);
            }
            for edge in &node.edges {
                here.extend(at_start(edge, &live));
            }
            live[number as usize] = here;
        }
        if live == before {
            return live;
        }
    }
}

fn at_start(edge: &Edge, live: &[BTreeSet<usize>]) -> BTreeSet<usize> {
    let mut now = BTreeSet::new();
    match &edge.target {
        Target::Node(node) => now.extend(&live[node.0 as usize]),
        Target::Return(value) => uses(value, &mut now),
    }
    for (action, _) in edge.actions.iter().rev() {
        // A part of an array or record leaves the other parts to be read.
        let partly = matches!(
            action,
            Action::Assign { local: LocalTarget::Element(..) | LocalTarget::Component(..), .. }
        );
        match action.answer() {
            Some(local) if partly => drop(now.insert(local.0 as usize)),
            Some(local) => drop(now.remove(&(local.0 as usize))),
            None => {}
        }
        for expr in action.expressions() {
            uses(expr, &mut now);
        }
    }
    now
}

fn uses(expr: &Expr, now: &mut BTreeSet<usize>) {
    expr.walk(&mut |inner| {
        if let Expr::Local(local) = inner {
            now.insert(local.0 as usize);
        }
    });
}
