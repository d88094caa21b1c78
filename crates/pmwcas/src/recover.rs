//! After a crash: operations that were decided get their values, others never happened.

use super::word::{DIRTY, State, Status, Word};
use super::{Kind, Pmwcas};
use linchpin_sync::persistent::{Ordering::SeqCst, Pool};

impl<const WORDS: usize, const DESCRIPTORS: usize> Pmwcas<WORDS, DESCRIPTORS> {
    /// Finds the words again that were created in a pool. No thread may use them meanwhile.
    ///
    /// # Panics
    ///
    /// If a word refers to an operation that is not there any more.
    pub fn recover(pool: &Pool, kind: Kind) -> Self {
        let found = Self::of(pool, kind);
        let root = found.root();
        for (address, word) in root.words.iter().enumerate() {
            let seen = word.load(SeqCst);
            let value = found.recovered(address as u64, seen & !DIRTY);
            if value != seen {
                word.store(value, SeqCst);
                found.persist(&**word);
            }
        }
        // Only now are the descriptors free, after a crash too.
        for descriptor in &root.descriptors {
            let Status { sequence, .. } = Status::of(descriptor.status.load(SeqCst));
            descriptor.status.store(Status::finished(sequence + 1), SeqCst);
            found.persist(&descriptor.status);
        }
        found
    }

    /// What a word holds in which this was found.
    fn recovered(&self, address: u64, seen: u64) -> u64 {
        let (number, sequence) = match Word::of(seen) {
            Word::Value(value) => return value,
            // It was never installed.
            Word::Condition { number, entry } => {
                return self.root().descriptors[number].entries[entry].old.load(SeqCst);
            }
            Word::Operation { number, sequence } => (number, sequence),
        };
        let descriptor = &self.root().descriptors[number];
        let status = Status::of(descriptor.status.load(SeqCst));
        // A reference may come late, when the operation has failed and its descriptor is free.
        let late = Status { sequence: sequence + 1, state: State::Finished };
        assert!(status.sequence == sequence || status == late, "a reference to {status:?}");
        let is_it = |entry: &super::Entry| entry.address.load(SeqCst) == address;
        let index = descriptor.entries.iter().position(is_it).unwrap_or(0);
        let entry = &descriptor.entries[index];
        let succeeded = status.state == State::Succeeded;
        if succeeded { &entry.new } else { &entry.old }.load(SeqCst)
    }
}
