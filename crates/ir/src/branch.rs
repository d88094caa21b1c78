//! The edges of a node as a tree: what edges have in common once, then the branches in which they
//! differ.
//!
//! The interpreter walks this tree, so that nothing has to be undone when a guard does not hold,
//! and the printer prints it, so that people see a shared access once and then what follows from
//! it.

use crate::program::{Edge, Node};
use std::ops::Range;

/// A part of one or more edges that agree on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// One of these edges: an index into [`Node::edges`].
    pub edge: usize,
    /// The actions of that edge which this branch performs.
    pub actions: Range<usize>,
    /// The branches that follow. None: the edge ends here.
    pub then: Vec<Branch>,
}

impl Branch {
    /// The edges that go through this branch.
    pub fn edges(&self) -> Vec<usize> {
        match self.then.as_slice() {
            [] => vec![self.edge],
            then => then.iter().flat_map(Branch::edges).collect(),
        }
    }
}

/// The branches at a node.
///
/// INVARIANT: every edge is exactly one path of the tree, and siblings differ in their first
/// action.
pub fn branches(node: &Node) -> Vec<Branch> {
    let all: Vec<usize> = (0..node.edges.len()).collect();
    split(&node.edges, &all, 0)
}

/// The branches of `members`, edges that agree on their first `depth` actions.
fn split(edges: &[Edge], members: &[usize], depth: usize) -> Vec<Branch> {
    let action = |edge: usize, at: usize| edges[edge].actions.get(at).map(|(action, _)| action);
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for &edge in members {
        let same = |group: &&mut Vec<usize>| {
            action(edge, depth).is_some() && action(group[0], depth) == action(edge, depth)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(edge),
            None => groups.push(vec![edge]),
        }
    }
    let branch = |group: Vec<usize>| {
        let edge = group[0];
        let agree = |at: &usize| group.iter().all(|&other| action(other, *at) == action(edge, *at));
        let length = edges[edge].actions.len();
        if group.len() == 1 {
            return Branch { edge, actions: depth..length, then: Vec::new() };
        }
        let end = (depth..length).find(|at| !agree(at)).unwrap_or(length);
        Branch { edge, actions: depth..end, then: split(edges, &group, end) }
    };
    groups.into_iter().map(branch).collect()
}
