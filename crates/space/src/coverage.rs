//! What was never executed: a pass that exercised nothing must not look like a pass.

use crate::layout::routines_of;
use linchpin_ir::program::{Edge, Program};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

/// Which edges were taken and which operations returned, in any run; workers write it together.
pub(crate) struct Coverage {
    /// For each operation and node, where its edges start in `taken`.
    starts: Vec<Vec<usize>>,
    taken: Vec<AtomicBool>,
    /// Edges that some run may take which has the same events as one that was explored.
    perhaps: Vec<AtomicBool>,
    /// For each operation, whether it returned.
    returned: Vec<AtomicBool>,
    /// Whether anything crashed.
    crashes: AtomicBool,
}

/// Sets a flag that is usually set already. Relaxed: it guards no other data.
pub(crate) fn set(flag: &AtomicBool) {
    if !flag.load(Ordering::Relaxed) {
        flag.store(true, Ordering::Relaxed);
    }
}

impl Coverage {
    pub fn new(program: &Program) -> Coverage {
        let mut count = 0;
        let starts = routines_of(program).into_iter().map(|(body, _)| {
            let starts = body.nodes.iter().map(|node| {
                count += node.edges.len();
                count - node.edges.len()
            });
            starts.collect()
        });
        let starts: Vec<Vec<usize>> = starts.collect();
        let routines = starts.len();
        let flags = |count: usize| (0..count).map(|_| AtomicBool::new(false)).collect();
        Coverage {
            starts,
            taken: flags(count),
            perhaps: flags(count),
            crashes: AtomicBool::new(false),
            returned: flags(routines),
        }
    }

    pub fn went_along(&self, operation: usize, path: &[(u32, u32)]) {
        for (node, edge) in path {
            set(&self.taken[self.starts[operation][*node as usize] + *edge as usize]);
        }
    }

    /// Notes edges that other runs with the same events may take.
    pub fn may_go_along(&self, operation: usize, path: &[(u32, u32)]) {
        for (node, edge) in path {
            set(&self.perhaps[self.starts[operation][*node as usize] + *edge as usize]);
        }
    }

    /// Leaves open only the edges that are open here too.
    pub fn close(&self, other: &Coverage) {
        for (flag, open) in self.perhaps.iter().zip(&other.perhaps) {
            flag.store(open.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    pub fn crashed(&self) {
        set(&self.crashes);
    }

    pub fn returned_from(&self, operation: usize) {
        set(&self.returned[operation]);
    }

    /// Everything that was seen, in an order that depends on the program only.
    pub fn flags(&self) -> impl Iterator<Item = &AtomicBool> {
        self.taken.iter().chain(&self.returned).chain([&self.crashes]).chain(&self.perhaps)
    }

    /// The lines with actions or a `return` on edges that were never taken, and on none that was or
    /// that may be in other runs. Operations that no thread may call are counted too.
    pub fn unreached(&self, program: &Program) -> Vec<Unreached> {
        self.not_taken(program, false)
    }

    /// The lines on edges that may be taken in other runs, and on none that was taken.
    pub fn open(&self, program: &Program) -> Vec<Unreached> {
        self.not_taken(program, true)
    }

    /// The lines on no edge that was taken: those that are open, or the others.
    fn not_taken(&self, program: &Program, open: bool) -> Vec<Unreached> {
        let mut result = Vec::new();
        let crashes = self.crashes.load(Ordering::Relaxed);
        for (index, (body, _)) in routines_of(program).into_iter().enumerate() {
            let name = program.operations.get(index).map_or("recover", |of| &of.name);
            // Without crashes there is nothing to recover from.
            if index >= program.operations.len() && !crashes {
                continue;
            }
            let (mut all, mut taken, mut perhaps) = Default::default();
            for (node, of) in body.nodes.iter().enumerate() {
                for (number, edge) in of.edges.iter().enumerate() {
                    let at = self.starts[index][node] + number;
                    let is = |flags: &[AtomicBool]| flags[at].load(Ordering::Relaxed);
                    extend(&mut all, true, edge);
                    extend(&mut taken, is(&self.taken), edge);
                    extend(&mut perhaps, is(&self.perhaps), edge);
                }
            }
            let lines = all.difference(&taken).filter(|line| perhaps.contains(line) == open);
            let of = |line: &u32| Unreached { operation: name.to_owned(), line: *line };
            result.extend(lines.map(of));
        }
        result
    }

    /// The operations that some thread may call and that returned in no run: nothing is known about
    /// them.
    pub fn never_returned(&self, program: &Program) -> Vec<usize> {
        let callable = |operation: &usize| {
            program.threads.iter().any(|thread| thread.operations.contains(operation))
        };
        let returned = |operation: &usize| self.returned[*operation].load(Ordering::Relaxed);
        let operations = (0..program.operations.len()).filter(callable);
        operations.filter(|operation| !returned(operation)).collect()
    }
}

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

/// Adds the source lines that an edge executes.
fn extend(lines: &mut BTreeSet<u32>, holds: bool, edge: &Edge) {
    if holds {
        lines.extend(edge.actions.iter().map(|(_, line)| *line).chain(edge.returns_at));
    }
}
