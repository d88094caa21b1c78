//! The brute-force oracle: every execution of the interpreter, one after the other, and the
//! conditions of the paper read off its history.
//!
//! It shares nothing with the engine or with the state space that the engine explores. Start with
//! [`judge`]; `conditions.rs` is what it checks, in the words of the paper.

mod alone;
mod conditions;
mod explore;
mod history;
mod label;
mod shared;
mod swap;

use linchpin_engine::Rule;
use linchpin_ir::program::Program;
use std::collections::{BTreeMap, BTreeSet};

/// What is explored, and how the conditions are read.
#[derive(Clone, Debug)]
pub struct Asked {
    /// How many calls each thread makes.
    pub calls: usize,
    /// How many different values clients pass.
    pub values: i64,
    /// More executions than this are not explored.
    pub most: usize,
    /// The operations whose calls without update steps are treated as read-only calls.
    pub read_only: BTreeSet<usize>,
    /// Whether a call happens with its first step and a response with the last. Nothing else is
    /// lost: in the other executions, a call only has more time for its base points.
    pub merged: bool,
    /// Whether two states that differ only in locals that nothing reads any more are the same.
    pub dead_locals: bool,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Judged {
    /// The rules that some execution breaks, each with the moves of one.
    pub broken: BTreeMap<Rule, Vec<String>>,
    /// The operations that take an update step in some execution.
    pub updates: BTreeSet<usize>,
    /// Whether a step of some execution goes wrong.
    pub faults: bool,
    /// Whether an execution comes to a state that it has been in.
    pub loops: bool,
    /// How many executions there are.
    pub executions: usize,
}

impl Judged {
    /// The rules alone.
    pub fn rules(&self) -> BTreeSet<Rule> {
        self.broken.keys().copied().collect()
    }
}

/// Judges a program; `None` if it has too many executions or cannot start.
pub fn judge(program: &Program, asked: &Asked) -> Option<Judged> {
    explore::Judge::new(program, asked)?.run()
}
