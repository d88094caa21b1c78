//! What symbolic execution of an operation knows and finds: the bottom of `fault`, `action` and
//! `explore`.

use crate::execution::Execution;
use crate::layout::Layout;
use crate::path::{End, Path, Step};
use linchpin_ir::program::{Body, Program};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// An operation with more paths than this is refused.
pub const MOST_PATHS: usize = 64;

/// A step that fails if it is reached in this way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The source line.
    pub line: u32,
    /// What would be wrong.
    pub what: String,
    pub(crate) path: Path,
}

/// A round of a loop: the path up to where it closes, and where in it the round starts.
#[derive(Clone, Debug)]
pub struct Round {
    pub steps: Vec<Step>,
    pub from: usize,
    /// The line to which it goes back.
    pub line: u32,
}

/// Everything that an operation can do.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    pub returning: Vec<Path>,
    /// Up to each attempt that succeeds.
    pub helping: Vec<Path>,
    pub rounds: Vec<Round>,
    /// Up to each step that others can notice, wherever the way goes from there.
    pub noticed: Vec<Vec<Step>>,
    /// Wherever a step may fail.
    pub faults: Vec<Fault>,
}

/// The symbolic execution of one operation.
pub struct Explorer<'a> {
    pub program: &'a Program,
    pub layout: &'a Layout,
    pub operation: usize,
    pub body: &'a Body,
    pub live: &'a [Vec<bool>],
    pub havoc: &'a BTreeMap<u32, BTreeSet<u32>>,
    pub found: Paths,
    /// Noted while a way is followed, which may end there.
    pub faults: RefCell<Vec<Fault>>,
    pub edges: usize,
    pub changed: Option<(u32, u32)>,
}

impl Explorer<'_> {
    /// The path that an execution has taken.
    pub fn path(&self, execution: &Execution, steps: Vec<Step>, end: End) -> Path {
        let mut path = Path {
            operation: self.operation,
            symbols: execution.symbols.clone(),
            arguments: self.program.operations[self.operation].parameters.len(),
            new: execution.new.clone(),
            guesses: false,
            steps,
            end,
        };
        let mut mentioned = path.steps.iter().flat_map(Step::symbols).chain(path.result_symbols());
        path.guesses = mentioned.any(|id| execution.guessed.contains(&id));
        path
    }
}
