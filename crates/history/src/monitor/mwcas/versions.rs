//! Versions: each pair of a location and a value that occurs gets a small number, by one hash.
//!
//! Where every value is written to a location once, a version is an interval of time: from the operation that wrote it
//! to the operation that replaced it. The monitor's arrays are indexed by version.

use crate::ValueId;

/// A location and a value: index into [`Versions`].
pub(super) type VersionId = u32;

/// The versions: an open-addressing table that stores each pair once.
#[derive(Default)]
pub(super) struct Versions {
    keys: Vec<(ValueId, ValueId)>,
    /// Version plus one, or 0. INVARIANT: the length is 0 or a power of two, at most half of it is used.
    slots: Vec<u32>,
}

impl Versions {
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

    /// Forgets how to find versions, which nobody does once all operations are read.
    pub(super) fn seal(&mut self) {
        self.slots = Vec::new();
        self.keys.shrink_to_fit();
    }

    /// Where a pair is, or would be.
    fn slot(&self, location: ValueId, value: ValueId) -> usize {
        let mask = self.slots.len() - 1;
        // Neighbouring values share a cache line: values are numbered as they occur, so they are asked for together.
        let mixed = (u64::from(location.0) << 32 | u64::from(value.0 >> 3))
            .wrapping_add(0x9e37_79b9)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut at = ((mixed >> 32) as usize) << 3 | (value.0 & 7) as usize;
        loop {
            at &= mask;
            match self.slots[at] {
                0 => return at,
                version if self.keys[version as usize - 1] == (location, value) => return at,
                _ => at += 1,
            }
        }
    }

    fn grow(&mut self) {
        self.slots = vec![0; (self.slots.len() * 2).max(64)];
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
        let mut versions = Versions::default();
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
