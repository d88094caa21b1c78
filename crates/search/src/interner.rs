//! Things as small numbers.

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::{BuildHasher, Hash};

/// Gives every different thing a number, from 0.
#[derive(Clone, Debug)]
pub(crate) struct Interner<T> {
    list: Vec<T>,
    index: HashTable<u32>,
}

impl<T: Eq + Hash> Interner<T> {
    pub(crate) fn new() -> Interner<T> {
        Interner { list: Vec::new(), index: HashTable::new() }
    }

    /// The number of a thing, and whether it is new.
    pub(crate) fn intern(&mut self, thing: T) -> (u32, bool) {
        let hash = FxBuildHasher.hash_one(&thing);
        let list = &mut self.list;
        if let Some(number) = self.index.find(hash, |at| list[*at as usize] == thing) {
            return (*number, false);
        }
        let number = list.len() as u32;
        list.push(thing);
        self.index.insert_unique(hash, number, |at| FxBuildHasher.hash_one(&list[*at as usize]));
        (number, true)
    }

    pub(crate) fn get(&self, number: u32) -> &T {
        &self.list[number as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }
}
