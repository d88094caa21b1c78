//! Random programs on a few persistent cells.

use fastrand::Rng;

/// How many cells there are; the first ones share a line.
pub const CELLS: usize = 4;

/// The line of each cell.
pub const LINE: [usize; CELLS] = [0, 0, 1, 2];

/// What a thread does in one step.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    Load(usize),
    Store(usize, u64),
    Cas(usize, u64, u64),
    Add(usize, u64),
    Flush(usize),
    Fence,
    Persist(usize),
}

/// Threads, each a row of calls; what recovery does; which cells are read in the end.
#[derive(Clone, Debug)]
pub struct Program {
    pub threads: Vec<Vec<Vec<Op>>>,
    /// Without it there is one crash; with it a second one may come while it runs.
    pub recovery: Option<Vec<Op>>,
    pub read: Vec<usize>,
}

/// What is seen of an execution with its crashes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Outcome {
    pub threads: Vec<Thread>,
    /// What the cells hold that are read in the end.
    pub seen: Vec<u64>,
}

/// What is seen of a thread: how many calls it made, and what those answered that returned.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Thread {
    pub called: usize,
    pub answers: Vec<Vec<u64>>,
}

impl Op {
    fn random(random: &mut Rng) -> Op {
        let cell = random.usize(..CELLS);
        let value = random.u64(1..4);
        match random.u8(..16) {
            0..2 => Op::Load(cell),
            2..7 => Op::Store(cell, value),
            7..9 => Op::Cas(cell, random.u64(..3), value),
            9 => Op::Add(cell, value),
            10..12 => Op::Flush(cell),
            12 => Op::Fence,
            _ => Op::Persist(cell),
        }
    }
}

impl Program {
    pub fn random(random: &mut Rng) -> Program {
        let threads = random.usize(1..4);
        let most = [9, 5, 3][threads - 1];
        let mut thread = || {
            let mut calls = Vec::new();
            let mut left = random.usize(1..=most);
            while left > 0 {
                let count = random.usize(1..=left);
                calls.push((0..count).map(|_| Op::random(random)).collect());
                left -= count;
            }
            calls
        };
        let threads = (0..threads).map(|_| thread()).collect();
        let steps = random.usize(1..4);
        let recovery =
            (random.u8(..3) == 0).then(|| (0..steps).map(|_| Op::random(random)).collect());
        let read = (0..CELLS).filter(|_| random.u8(..4) > 0).collect();
        Program { threads, recovery, read }
    }

    pub fn flushes_all(&self) -> bool {
        let mut ops = self.threads.iter().flatten().flatten();
        !ops.any(|op| matches!(op, Op::Store(..) | Op::Cas(..) | Op::Add(..)))
    }
}
