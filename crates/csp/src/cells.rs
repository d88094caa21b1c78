//! Sets of small numbers: cells of shared variables, event names.

use smallvec::SmallVec;

/// A set of small numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bits(SmallVec<[u64; 2]>);

impl Bits {
    pub fn insert(&mut self, number: usize) {
        let word = number / 64;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (number % 64);
    }

    pub fn contains(&self, number: usize) -> bool {
        self.0.get(number / 64).is_some_and(|word| word & (1 << (number % 64)) != 0)
    }

    pub fn intersects(&self, other: &Bits) -> bool {
        self.0.iter().zip(&other.0).any(|(one, other)| one & other != 0)
    }

    pub fn add(&mut self, other: &Bits) {
        if other.0.len() > self.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word |= other;
        }
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// Which cells are read and written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Access {
    pub reads: Bits,
    pub writes: Bits,
}

impl Access {
    pub fn add(&mut self, other: &Access) {
        self.reads.add(&other.reads);
        self.writes.add(&other.writes);
    }

    /// The dependency of Section 4.2: one of the two writes what the other accesses.
    pub fn conflicts(&self, other: &Access) -> bool {
        self.writes.intersects(&other.writes)
            || self.writes.intersects(&other.reads)
            || self.reads.intersects(&other.writes)
    }

    pub fn clear(&mut self) {
        self.reads.clear();
        self.writes.clear();
    }
}
