//! Things as small numbers.

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::{BuildHasher, Hash};

/// Gives every different thing a number, from 0.
#[derive(Clone, Debug)]
pub(crate) struct Interner<T> {
    list: Vec<T>,
    index: HashTable<Entry>,
}

/// A thing in the index. Its hash is kept: to find it again for millions of things whenever the
/// index grows would take seconds.
#[derive(Clone, Copy, Debug)]
struct Entry {
    hash: u32,
    number: u32,
}

impl Entry {
    /// The hash as the index wants it: it looks at the first bits and at the last ones.
    fn spread(hash: u32) -> u64 {
        u64::from(hash) << 32 | u64::from(hash)
    }
}

impl<T: Eq + Hash> Interner<T> {
    pub(crate) fn new() -> Interner<T> {
        Interner { list: Vec::new(), index: HashTable::new() }
    }

    /// The number of a thing, and whether it is new.
    pub(crate) fn intern(&mut self, thing: T) -> (u32, bool) {
        let hash = FxBuildHasher.hash_one(&thing);
        let hash = (hash >> 32) as u32 ^ hash as u32;
        let (spread, list) = (Entry::spread(hash), &mut self.list);
        let is_same = |entry: &Entry| entry.hash == hash && list[entry.number as usize] == thing;
        if let Some(entry) = self.index.find(spread, is_same) {
            return (entry.number, false);
        }
        let number = list.len() as u32;
        list.push(thing);
        let entry = Entry { hash, number };
        self.index.insert_unique(spread, entry, |entry| Entry::spread(entry.hash));
        (number, true)
    }

    pub(crate) fn get(&self, number: u32) -> &T {
        &self.list[number as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Frees the things. If it is over meanwhile, the rest is left to the end of the process.
    pub(crate) fn free(mut self, is_over: impl Fn() -> bool) {
        /// So many are freed before it is asked again: in a few milliseconds.
        const AT_ONCE: usize = 1 << 15;
        while !self.list.is_empty() {
            if is_over() {
                return std::mem::forget(self);
            }
            self.list.truncate(self.list.len().saturating_sub(AT_ONCE));
        }
    }

    /// How many bytes this keeps, without what the things keep beside themselves.
    pub(crate) fn bytes(&self) -> usize {
        let entry = size_of::<Entry>() + 1;
        self.list.capacity() * size_of::<T>() + self.index.capacity() * entry * 8 / 7
    }
}
