//! Who moves next.

use fastrand::Rng;

/// The largest depth of [`Scheduler::Pct`]; a larger one is taken for this.
pub const MAX_DEPTH: usize = 1000;

/// A way to decide who moves next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// Any thread that can move, each with the same probability.
    Random,
    /// Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte: "A
    /// randomized scheduler with probabilistic guarantees of finding bugs", ASPLOS 2010).
    ///
    /// Threads get random distinct priorities, and the one with the highest priority among those
    /// that can move always moves. At `depth - 1` moves, chosen at random beforehand, the thread
    /// that has just moved drops below all others. A bug that needs `depth` ordering constraints is
    /// found with probability at least `1 / (n k^(depth-1))` for `n` threads and `k` moves; `k` is
    /// estimated from the size of the operations. A thread that spins keeps its turn until a change
    /// point or the limit on steps.
    Pct {
        /// How many ordering constraints the bugs to find may need: from 1 to [`MAX_DEPTH`].
        depth: usize,
    },
}

/// A scheduler at work in one run.
pub(super) enum Schedule {
    Random,
    Pct {
        /// The priority of each thread: more is higher.
        priorities: Vec<usize>,
        /// After which moves the priority changes, and to what.
        changes: Vec<(u64, usize)>,
    },
}

impl Schedule {
    /// Makes the random decisions of a run of `threads` threads and probably `length` moves.
    pub fn new(scheduler: Scheduler, threads: usize, length: u64, random: &mut Rng) -> Schedule {
        match scheduler {
            Scheduler::Random => Schedule::Random,
            Scheduler::Pct { depth } => {
                let depth = depth.clamp(1, MAX_DEPTH);
                let mut priorities: Vec<usize> = (depth..depth + threads).collect();
                random.shuffle(&mut priorities);
                let change = |priority| (random.u64(..length.max(1)), priority);
                Schedule::Pct { priorities, changes: (1..depth).map(change).collect() }
            }
        }
    }

    /// The position of the thread to try first, among those that may be able to move (at least
    /// one).
    pub fn pick(&self, candidates: &[usize], random: &mut Rng) -> usize {
        match self {
            Schedule::Random => random.usize(..candidates.len()),
            Schedule::Pct { priorities, .. } => {
                let priority = |&position: &usize| priorities[candidates[position]];
                (0..candidates.len()).max_by_key(priority).unwrap_or(0)
            }
        }
    }

    /// Takes note of the move that a thread has made.
    pub fn moved(&mut self, time: u64, thread: usize) {
        if let Schedule::Pct { priorities, changes } = self {
            for (_, priority) in changes.iter().filter(|(at, _)| *at == time) {
                priorities[thread] = *priority;
            }
        }
    }
}
