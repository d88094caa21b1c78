//! Where the search has been: a small table with open addressing.

use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// A configuration.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Spot {
    /// The slots of operations in progress that took effect.
    pub(super) done: u64,
    /// The event before which it is: not the first, which is a call.
    pub(super) event: usize,
    /// The state of the object.
    pub(super) state: usize,
}

/// No configuration.
const FREE: Spot = Spot { done: 0, event: 0, state: 0 };

/// The first size. Tables have a power of two of places.
const FEW: usize = 1 << 5;

/// A set of configurations.
pub(super) struct Seen {
    spots: Vec<Spot>,
    count: usize,
}

impl Seen {
    pub(super) fn new() -> Seen {
        Seen { spots: Vec::new(), count: 0 }
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        if self.count > 0 {
            self.spots.clear();
            self.count = 0;
        }
        if self.spots.len() != FEW {
            self.spots.resize(FEW, FREE);
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Adds a configuration; whether it is new.
    pub(super) fn insert(&mut self, spot: Spot) -> bool {
        if 2 * self.count >= self.spots.len() {
            self.grow();
        }
        let place = self.place(spot);
        let is_new = self.spots[place] == FREE;
        if is_new {
            self.spots[place] = spot;
            self.count += 1;
        }
        is_new
    }

    /// Where a configuration is, or would be.
    fn place(&self, spot: Spot) -> usize {
        let last = self.spots.len() - 1;
        let mut place = hash(spot) & last;
        while self.spots[place] != FREE && self.spots[place] != spot {
            place = (place + 1) & last;
        }
        place
    }

    fn grow(&mut self) {
        let size = (2 * self.spots.len()).max(FEW);
        let old = std::mem::replace(&mut self.spots, vec![FREE; size]);
        for spot in old.into_iter().filter(|spot| *spot != FREE) {
            let place = self.place(spot);
            self.spots[place] = spot;
        }
    }
}

fn hash(spot: Spot) -> usize {
    folded(FxBuildHasher.hash_one(spot))
}

/// The bits of a hash as an index, in which the last ones matter.
pub(super) fn folded(hash: u64) -> usize {
    usize::try_from(hash >> 32 ^ hash & 0xffff_ffff).unwrap_or_default()
}
