//! What was never executed: a pass that exercised nothing must not look like a pass.

use crate::Space;
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

impl Space {
    /// The lines with actions on edges that were never taken, and on none that was. Operations that no thread may call
    /// are counted too.
    pub fn unreached(&self) -> Vec<Unreached> {
        let mut result = Vec::new();
        for (index, operation) in self.program().operations.iter().enumerate() {
            let (mut taken, mut not_taken) = (BTreeSet::new(), BTreeSet::new());
            for (node, of) in operation.body.nodes.iter().enumerate() {
                for (number, edge) in of.edges.iter().enumerate() {
                    let lines = edge.actions.iter().map(|(_, line)| *line);
                    match self.is_covered(index, node, number) {
                        true => taken.extend(lines),
                        false => not_taken.extend(lines),
                    }
                }
            }
            let lines = not_taken.difference(&taken);
            let of = |line: &u32| Unreached { operation: operation.name.clone(), line: *line };
            result.extend(lines.map(of));
        }
        result
    }
}
