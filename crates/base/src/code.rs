//! What the code alone says: which operations can write, which steps access memory, and what the
//! definitions cannot be applied to.

use linchpin_ir::interpreter::Memory;
use linchpin_ir::program::{Action, Body, Expr, Program};
use thiserror::Error;

/// Why base point analysis does not apply to a model.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotApplicable {
    /// An operation makes a choice.
    #[error(
        "`{operation}` makes a choice (line {line}): base points are of operations that a shared state determines"
    )]
    Choice {
        /// The operation.
        operation: String,
        /// The line.
        line: u32,
    },
    /// Something is kept between the calls of a thread.
    #[error(
        "`{variable}` is a variable of each thread: base points are of operations that start from nothing"
    )]
    ThreadLocal {
        /// The variable.
        variable: String,
    },
    /// The specification looks at the thread that calls.
    #[error("the specification of `{operation}` looks at the thread that calls it")]
    Caller {
        /// The operation.
        operation: String,
    },
    /// Freed memory comes back.
    #[error("freed memory may come back: base points are about memory that is garbage collected")]
    Reuse,
    /// There are too many calls to tell apart.
    #[error(
        "there are {count} different calls; at most {most} are told apart: ask for fewer values"
    )]
    TooManyCalls {
        /// How many.
        count: usize,
        /// At most.
        most: usize,
    },
}

/// What the code of a program says.
#[derive(Clone, Debug)]
pub struct Code {
    /// For each operation, whether it has a step that can write.
    pub can_write: Vec<bool>,
    /// For each operation, node and edge, whether it accesses memory other than locks.
    accesses: Vec<Vec<Vec<bool>>>,
    /// Whether operations know which thread executes them.
    pub names_threads: bool,
}

impl Code {
    /// What the code of a program says; an error if the definitions do not apply to it.
    pub fn new(program: &Program, memory: Memory) -> Result<Code, NotApplicable> {
        if memory.gives_back() {
            return Err(NotApplicable::Reuse);
        }
        if let Some(variable) = program.thread_locals.first() {
            return Err(NotApplicable::ThreadLocal { variable: variable.name.clone() });
        }
        for operation in &program.operations {
            let mut names_caller = false;
            let mut look = |expr: &Expr| names_caller |= matches!(expr, Expr::Me);
            operation.requires.iter().for_each(|requires| requires.walk(&mut look));
            if names_caller {
                return Err(NotApplicable::Caller { operation: operation.name.clone() });
            }
            let is_choice = |(action, _): &&(Action, u32)| matches!(action, Action::Choose { .. });
            if let Some((_, line)) = actions(&operation.body).find(is_choice) {
                let operation = operation.name.clone();
                return Err(NotApplicable::Choice { operation, line: *line });
            }
        }
        let bodies = || program.operations.iter().map(|operation| &operation.body);
        let can_write = bodies().map(|body| actions(body).any(|(action, _)| action.is_write()));
        let of_node = |node: &linchpin_ir::program::Node| -> Vec<bool> {
            let touches = |(action, _): &(Action, u32)| is_memory(action);
            node.edges.iter().map(|edge| edge.actions.iter().any(touches)).collect()
        };
        let accesses = bodies().map(|body| body.nodes.iter().map(of_node).collect());
        Ok(Code {
            can_write: can_write.collect(),
            accesses: accesses.collect(),
            names_threads: bodies().any(names_threads),
        })
    }

    /// Whether a step along this edge accesses memory other than locks.
    pub fn accesses(&self, operation: usize, node: u32, edge: u32) -> bool {
        self.accesses[operation][node as usize][edge as usize]
    }

    /// Whether every step from this node does.
    pub fn must_access(&self, operation: usize, node: u32) -> bool {
        self.accesses[operation][node as usize].iter().all(|accesses| *accesses)
    }
}

fn actions(body: &Body) -> impl Iterator<Item = &(Action, u32)> {
    body.nodes.iter().flat_map(|node| &node.edges).flat_map(|edge| &edge.actions)
}

fn is_memory(action: &Action) -> bool {
    let other = matches!(
        action,
        Action::Lock(_)
            | Action::Unlock(_)
            | Action::Free(_)
            | Action::Flush(_)
            | Action::Fence
            | Action::Persist(_)
    );
    action.is_access() && !other
}

/// The source line of the step from a node: of its write if it has one, else of the node.
pub fn line_of_step(program: &Program, operation: usize, node: u32) -> u32 {
    let node = &program.operations[operation].body.nodes[node as usize];
    let mut actions = node.edges.iter().flat_map(|edge| &edge.actions);
    actions.find(|(action, _)| action.is_write()).map_or(node.line, |(_, line)| *line)
}

fn names_threads(body: &Body) -> bool {
    let mut found = false;
    let mut look = |expr: &Expr| found |= matches!(expr, Expr::Me);
    for edge in body.nodes.iter().flat_map(|node| &node.edges) {
        for (action, _) in &edge.actions {
            action.expressions().into_iter().for_each(|expr| expr.walk(&mut look));
        }
        if let linchpin_ir::program::Target::Return(value) = &edge.target {
            value.walk(&mut look);
        }
    }
    found
}
