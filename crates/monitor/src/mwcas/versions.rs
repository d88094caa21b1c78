//! Versions: each pair of a location and a value that occurs gets a small number, by one hash.
//!
//! Where every value is written to a location once, a version is an interval of time: from the
//! operation that wrote it to the operation that replaced it. The monitor's arrays are indexed by
//! version.

use linchpin_history_data::ValueId;

/// A location and a value: index into [`Versions`].
pub(super) type VersionId = u32;

/// The versions: an open-addressing table that stores each pair once.
pub(super) struct Versions {
    keys: Vec<(ValueId, ValueId)>,
    /// Version plus one, or 0. INVARIANT: the length is a power of two (0 once sealed), at most
    /// half of it is used.
    slots: Vec<u32>,
}

impl Versions {
    /// An empty table with room for about so many versions.
    pub(super) fn with_capacity(versions: usize) -> Versions {
        let slots = (versions * 2).next_power_of_two().max(64);
        Versions { keys: Vec::with_capacity(versions), slots: vec![0; slots] }
    }

    /// The version of this location and value; the first mention makes it.
    pub(super) fn intern(&mut self, location: ValueId, value: ValueId) -> VersionId {
        if self.keys.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let slot = self.slot(location, value);
        if self.slots[slot] == 0 {
            self.keys.push((location, value));
            self.slots[slot] = self.keys.len() as u32;
        }
        self.slots[slot] - 1
    }

    /// The location of a version.
    pub(super) fn location(&self, version: VersionId) -> ValueId {
        self.keys[version as usize].0
    }

    /// The value of a version.
    pub(super) fn value(&self, version: VersionId) -> ValueId {
        self.keys[version as usize].1
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Forgets how to find versions, which is not done once all operations are read.
    pub(super) fn seal(&mut self) {
        self.slots = Vec::new();
        self.keys.shrink_to_fit();
    }

    /// Where a pair is, or would be.
    ///
    /// Values are numbered as they occur, and mostly a value occurs at one location. The place that
    /// the value alone gives comes first: neighbouring values, which are asked for together, share
    /// a cache line there. Only if another location took it the pair is hashed. INVARIANT: a place
    /// that is taken stays so until the table grows.
    fn slot(&self, location: ValueId, value: ValueId) -> usize {
        let mask = self.slots.len() - 1;
        let found = |at: usize| match self.slots[at] {
            0 => true,
            version => self.keys[version as usize - 1] == (location, value),
        };
        let first = value.index() & mask;
        if found(first) {
            return first;
        }
        let pair = u64::from(location.0) << 32 | u64::from(value.0);
        let mixed = pair.wrapping_add(0x9e37_79b9).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut at = (mixed >> 32) as usize & mask;
        while !found(at) {
            at = (at + 1) & mask;
        }
        at
    }

    fn grow(&mut self) {
        self.slots = vec![0; self.slots.len() * 2];
        for index in 0..self.keys.len() {
            let (location, value) = self.keys[index];
            let slot = self.slot(location, value);
            self.slots[slot] = index as u32 + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_has_its_own_number() {
        let mut versions = Versions::with_capacity(0);
        let pairs = || (0..40).flat_map(|a| (0..40).map(move |b| (ValueId(a), ValueId(b))));
        for (expected, (location, value)) in pairs().enumerate() {
            assert_eq!(versions.intern(location, value) as usize, expected);
        }
        for (expected, (location, value)) in pairs().enumerate() {
            let version = versions.intern(location, value);
            assert_eq!(version as usize, expected);
            assert_eq!((versions.location(version), versions.value(version)), (location, value));
        }
        assert_eq!(versions.len(), 1600);
    }
}
