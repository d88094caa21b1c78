//! Where walks have been: a small table with open addressing.

use super::State;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// A configuration: the slots of operations in progress that took effect; and the state of the
/// object, above the event before which it is, above two bits for what is known of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Spot([u64; 2]);

/// Where the state begins.
const STATE: u32 = u32::BITS;

/// Where the event begins.
const EVENT: u32 = 2;

/// A walk is beyond it.
const ENTERED: u64 = 1;

/// Nothing explains the rest from there.
const DEAD: u64 = 2;

/// What is known of it.
const KNOWN: u64 = ENTERED | DEAD;

impl Spot {
    // INVARIANT: histories are so short that there are bits enough for their events.
    pub(super) fn new(event: usize, state: State, done: u64) -> Spot {
        let event = u64::try_from(event).unwrap_or_default();
        Spot([done, u64::from(state) << STATE | event << EVENT])
    }

    /// The state of the object.
    pub(super) fn state(self) -> State {
        State::try_from(self.0[1] >> STATE).unwrap_or_default()
    }
}

/// A configuration with what is known of it; nothing if the place is free.
type Entry = [u64; 2];

const FREE: Entry = [0; 2];

/// The first size. Tables have a power of two of places.
const FEW: usize = 1 << 8;

/// What is known of configurations.
pub(super) struct Seen {
    entries: Vec<Entry>,
    count: usize,
}

impl Seen {
    pub(super) fn new() -> Seen {
        Seen { entries: Vec::new(), count: 0 }
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        if self.count > 0 {
            self.entries.clear();
            self.count = 0;
        }
        if self.entries.len() != FEW {
            self.entries.resize(FEW, FREE);
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// About how many bytes it keeps.
    pub(super) fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
    }

    /// Whether there is a reason to enter a configuration: not if nothing explains the rest from
    /// there.
    // INVARIANT: a step leads to no configuration from which one came, so that what a walk itself
    // entered before it has left, too, and it is dead. What another walk is beyond may be entered.
    pub(super) fn enter(&mut self, spot: Spot) -> bool {
        if 2 * self.count >= self.entries.len() {
            self.grow();
        }
        let place = self.place(spot);
        let Spot([done, rest]) = spot;
        let entry = &mut self.entries[place];
        if *entry == FREE {
            *entry = [done, rest | ENTERED];
            self.count += 1;
        }
        entry[1] & DEAD == 0
    }

    /// A walk has tried everything from a configuration that it had entered.
    pub(super) fn leave(&mut self, spot: Spot) {
        let place = self.place(spot);
        self.entries[place][1] |= DEAD;
    }

    /// Where a configuration is, or would be.
    fn place(&self, spot: Spot) -> usize {
        let Spot([done, rest]) = spot;
        let last = self.entries.len() - 1;
        let mut place = folded(FxBuildHasher.hash_one(spot)) & last;
        loop {
            let entry = self.entries[place];
            if entry == FREE || entry[0] == done && entry[1] & !KNOWN == rest {
                return place;
            }
            place = (place + 1) & last;
        }
    }

    fn grow(&mut self) {
        let size = (2 * self.entries.len()).max(FEW);
        let old = std::mem::replace(&mut self.entries, vec![FREE; size]);
        for entry in old.into_iter().filter(|entry| *entry != FREE) {
            let place = self.place(Spot([entry[0], entry[1] & !KNOWN]));
            self.entries[place] = entry;
        }
    }
}

/// The bits of a hash as an index, in which the last ones matter.
pub(super) fn folded(hash: u64) -> usize {
    usize::try_from(hash >> 32 ^ hash & 0xffff_ffff).unwrap_or_default()
}
