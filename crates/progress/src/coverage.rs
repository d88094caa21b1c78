//! What was never executed: a pass that exercised nothing must not look like a pass.

use linchpin_space::Space;
use std::collections::BTreeSet;

/// A line of an operation that no run executed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unreached {
    /// The operation.
    pub operation: String,
    /// The source line.
    pub line: u32,
}

impl std::fmt::Display for Unreached {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.operation, self.line)
    }
}

/// The lines all of whose edges were never taken.
pub(crate) fn unreached(space: &Space) -> Vec<Unreached> {
    let mut all = BTreeSet::new();
    let mut taken = BTreeSet::new();
    for (index, operation) in space.program().operations.iter().enumerate() {
        for (node, of) in operation.body.nodes.iter().enumerate() {
            for (number, edge) in of.edges.iter().enumerate() {
                let lines = edge.actions.iter().map(|(_, line)| (index, *line));
                match space.is_covered(index, node, number) {
                    true => taken.extend(lines),
                    false => all.extend(lines),
                }
            }
        }
    }
    let name = |index: usize| space.program().operations[index].name.clone();
    let missing = all.difference(&taken);
    missing.map(|&(index, line)| Unreached { operation: name(index), line }).collect()
}
