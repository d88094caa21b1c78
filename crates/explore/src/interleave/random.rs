//! Executions at random: a uniform walk, and priorities that change (PCT).

use super::schedule::{Pick, Scheduler};
use super::state::State;
use crate::threads::ThreadId;
use fastrand::Rng;
use linchpin_sync::runtime::Site;

/// Takes a thread at random at each step.
pub(super) struct Walk {
    random: Rng,
    seed: u64,
    run: u64,
    runs: u64,
}

impl Walk {
    pub(super) fn new(runs: u64, seed: u64) -> Walk {
        Walk { random: Rng::with_seed(seed), seed, run: 0, runs }
    }
}

impl Scheduler for Walk {
    fn begin(&mut self) {
        // A run depends on the seed and its number, not on what earlier runs did.
        self.random = random_of_run(self.seed, self.run);
    }

    fn pick(&mut self, state: &State) -> Pick {
        let number = self.random.usize(..state.enabled.len());
        state.enabled.iter().nth(number).map_or(Pick::Redundant, Pick::Thread)
    }

    fn choose(&mut self, _: ThreadId, alternatives: usize, _: Site) -> Option<usize> {
        Some(self.random.usize(..alternatives.max(1)))
    }

    fn next(&mut self) -> bool {
        self.run += 1;
        self.run < self.runs
    }

    fn is_complete(&self) -> bool {
        false
    }
}

/// Burckhardt, Kothari, Musuvathi and Nagarakatte, *A randomized scheduler with probabilistic
/// guarantees of finding bugs*, ASPLOS 2010: the enabled thread with the highest priority goes on;
/// at `depth - 1` steps, drawn before, it gets a priority below all others.
pub(super) struct Pct {
    random: Rng,
    seed: u64,
    run: u64,
    runs: u64,
    depth: usize,
    /// The longest run so far, from which the steps are drawn.
    longest: usize,
    step: usize,
    /// Of each thread; the higher goes first.
    priorities: Vec<u64>,
    /// At which steps a priority changes.
    changes: Vec<usize>,
}

/// Priorities that threads start with are above those that they change to.
const START: u64 = 1 << 32;

impl Pct {
    pub(super) fn new(runs: u64, depth: usize, seed: u64) -> Pct {
        Pct {
            random: Rng::with_seed(seed),
            seed,
            run: 0,
            runs,
            depth,
            longest: 32,
            step: 0,
            priorities: Vec::new(),
            changes: Vec::new(),
        }
    }
}

impl Scheduler for Pct {
    fn begin(&mut self) {
        self.random = random_of_run(self.seed, self.run);
        self.step = 0;
        self.priorities.clear();
        self.changes.clear();
        for _ in 1..self.depth {
            self.changes.push(self.random.usize(..self.longest));
        }
    }

    fn pick(&mut self, state: &State) -> Pick {
        while self.priorities.len() < state.asks.len() {
            self.priorities.push(START + self.random.u64(..START));
        }
        let highest = |priorities: &[u64]| state.enabled.iter().max_by_key(|&t| priorities[t]);
        for (number, _) in self.changes.iter().enumerate().filter(|(_, at)| **at == self.step) {
            if let Some(thread) = highest(&self.priorities) {
                self.priorities[thread] = number as u64;
            }
        }
        self.step += 1;
        highest(&self.priorities).map_or(Pick::Redundant, Pick::Thread)
    }

    fn choose(&mut self, _: ThreadId, alternatives: usize, _: Site) -> Option<usize> {
        Some(self.random.usize(..alternatives.max(1)))
    }

    fn next(&mut self) -> bool {
        // The length of the first run is the measure: a run must not depend on all before it.
        if self.run == 0 {
            self.longest = self.step.max(1);
        }
        self.run += 1;
        self.run < self.runs
    }

    fn is_complete(&self) -> bool {
        false
    }
}

fn random_of_run(seed: u64, run: u64) -> Rng {
    Rng::with_seed(seed.wrapping_add(run.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}
