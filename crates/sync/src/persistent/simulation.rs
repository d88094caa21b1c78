//! What an explorer of crashes asks of a pool: where memory starts, and what became of it.
//!
//! An execution between two crashes is an *era*. Memory at its start is a [`Start`]: for each line
//! what it may hold. Where that is not clear, the first access of the line chooses
//! ([`Runtime::choose`](crate::runtime::Runtime::choose)), so lines that are never read again are
//! never told apart.

use super::Pool;
use crate::runtime::Site;
use std::collections::BTreeMap;

/// The words of a line.
pub type Content = [u64; 8];

/// A mark in the trace with this bit says that the allocation with the number in the other bits was
/// made.
pub const ALLOCATED: u64 = 1 << 63;

/// Memory at the start of an era.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Start {
    /// How many crashes came before.
    pub era: usize,
    /// What each line may hold, by its offset in the pool; lines that are not named hold zeros, or
    /// nothing refers to them.
    pub lines: BTreeMap<usize, Vec<Content>>,
}

/// A store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Store {
    /// Where: from the beginning of the pool.
    pub offset: usize,
    /// How many bytes.
    pub size: usize,
    /// The bytes, the lowest first.
    pub word: u64,
}

impl Store {
    /// Changes the content of the line that it is in.
    pub fn apply(&self, content: &mut Content) {
        let at = self.offset % super::LINE_BYTES;
        let shift = 8 * (at % 8);
        let mask = if self.size >= 8 { u64::MAX } else { (1 << (8 * self.size)) - 1 };
        let word = &mut content[at / 8];
        *word = *word & !(mask << shift) | (self.word & mask) << shift;
    }
}

/// An allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Where the object is.
    pub offset: usize,
    /// What it was filled with.
    pub stores: Vec<Store>,
    /// Where in the source.
    pub site: Site,
}

/// What turned out to be left in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The line.
    pub line: usize,
    /// Which of the contents in the [`Start`].
    pub taken: usize,
}

/// A pool of which crashes are explored.
#[derive(Debug)]
pub struct Simulation {
    pool: Pool,
}

impl Simulation {
    /// An empty pool. Without crashes, `flush` and `fence` are no events.
    pub fn new(crashes: bool) -> Simulation {
        let pool = Pool::new();
        pool.0.shadow().crashes = crashes;
        Simulation { pool }
    }

    /// The pool.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// An execution begins: memory is as it is said.
    pub fn begin(&self, start: &Start) {
        super::cell::begin();
        self.pool.0.shadow().begin(&self.pool.0, start);
    }

    /// The address of the first byte.
    pub fn base(&self) -> usize {
        self.pool.0.base()
    }

    /// The lines of the root.
    pub fn root_lines(&self) -> impl Iterator<Item = usize> {
        let (offset, bytes) = self.pool.0.root_part();
        (offset..offset + bytes).step_by(super::LINE_BYTES)
    }

    /// What was allocated in the last execution.
    pub fn allocations(&self) -> Vec<Allocation> {
        self.pool.0.shadow().allocations.clone()
    }

    /// What turned out to be left in lines, in the last execution.
    pub fn resolved(&self) -> Vec<Resolved> {
        self.pool.0.shadow().resolved.clone()
    }

    /// What a line holds now.
    pub fn content(&self, line: usize) -> Content {
        std::array::from_fn(|number| self.pool.0.read_word(line + 8 * number))
    }
}
