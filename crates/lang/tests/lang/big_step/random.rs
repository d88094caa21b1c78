//! Random decisions from a seed.

use fastrand::Rng;

/// A source of random decisions.
#[derive(Clone, Debug)]
pub struct Random(Rng);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(Rng::with_seed(seed))
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0.u64(..end)
    }

    /// Whether something that happens in so many of 100 cases happens.
    pub fn percent(&mut self, of_100: u64) -> bool {
        self.below(100) < of_100
    }

    /// One of these, if there are any.
    pub fn pick<'a, T>(&mut self, among: &'a [T]) -> Option<&'a T> {
        self.0.choice(among)
    }
}
