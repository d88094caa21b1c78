//! Things of the specification side, each kept once and numbered.

use crate::components::ByteTable;
use crate::sets::{Config, Row, SpecSet};
use crate::store::{hash, mixed};
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::{BuildHasher, Hash};

/// Things, numbered.
pub(crate) struct Table<T> {
    pub items: Vec<T>,
    numbers: HashTable<u32>,
}

impl<T: Eq + Hash> Table<T> {
    pub fn new() -> Table<T> {
        Table { items: Vec::new(), numbers: HashTable::new() }
    }

    pub fn number(&mut self, item: T) -> u32 {
        let Table { items, numbers } = self;
        let of = |item: &T| mixed(FxBuildHasher.hash_one(item));
        let hash = of(&item);
        if let Some(number) = numbers.find(hash, |&number| items[number as usize] == item) {
            return *number;
        }
        let number = items.len() as u32;
        items.push(item);
        numbers.insert_unique(hash, number, |&number| of(&items[number as usize]));
        number
    }

    /// About how many bytes are kept; what things point to is not counted.
    pub fn bytes(&self) -> usize {
        self.items.capacity() * size_of::<T>() + self.numbers.capacity() * 5
    }
}

/// Sets of specification states, numbered. A set is the numbers of its parts in few bytes: that of
/// its pending calls, then those of its configurations in increasing order, as differences.
pub(crate) struct SpecSets {
    rows: Table<Row>,
    /// Value, responses, interrupted operations.
    configs: Table<(u32, u32, u32)>,
    sets: ByteTable,
    /// For each set that was asked about, one more than the largest renamable value in it.
    largest: Vec<u16>,
}

impl SpecSets {
    pub fn new() -> SpecSets {
        SpecSets {
            rows: Table::new(),
            configs: Table::new(),
            sets: ByteTable::default(),
            largest: Vec::new(),
        }
    }

    /// The number of a set. The order of its configurations does not matter, nor does it if one is
    /// there twice.
    pub fn number(&mut self, pending: Row, configs: Vec<Config>) -> u32 {
        let mut numbers: Vec<u32> = Vec::with_capacity(configs.len());
        for Config { state, responses, orphans } in configs {
            let responses = self.rows.number(responses);
            numbers.push(self.configs.number((state, responses, orphans)));
        }
        numbers.sort_unstable();
        numbers.dedup();
        let mut bytes = Vec::with_capacity(numbers.len() + 8);
        push(&mut bytes, self.rows.number(pending));
        let mut before = 0;
        for number in numbers {
            push(&mut bytes, number - before);
            before = number;
        }
        self.sets.number(&bytes, hash(&bytes))
    }

    /// The set with a number.
    pub fn get(&self, set: u32) -> SpecSet {
        let mut bytes = self.sets.get(set);
        let pending = self.rows.items[take(&mut bytes) as usize].clone();
        let mut configs = Vec::with_capacity(bytes.len());
        let mut number = 0;
        while !bytes.is_empty() {
            number += take(&mut bytes);
            let (state, responses, orphans) = self.configs.items[number as usize];
            let responses = self.rows.items[responses as usize].clone();
            configs.push(Config { state, responses, orphans });
        }
        SpecSet { pending, configs }
    }

    pub fn len(&self) -> usize {
        self.sets.len()
    }

    /// The largest renamable value in a set, if it is known.
    pub fn largest(&self, set: u32) -> Option<usize> {
        let known = self.largest.get(set as usize).copied().unwrap_or(0);
        usize::from(known).checked_sub(1)
    }

    /// Notes the largest renamable value in a set.
    pub fn note_largest(&mut self, set: u32, largest: usize) {
        let set = set as usize;
        if self.largest.len() <= set {
            self.largest.resize(self.sets.len().max(set + 1), 0);
        }
        self.largest[set] = u16::try_from(largest + 1).unwrap_or(0);
    }

    /// About how many bytes are kept.
    pub fn bytes(&self) -> usize {
        self.rows.bytes() + self.configs.bytes() + self.sets.bytes() + self.largest.capacity() * 2
    }
}

/// Appends a number: small ones take one byte.
fn push(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number from the front.
fn take(bytes: &mut &[u8]) -> u32 {
    let (mut number, mut shift) = (0, 0);
    while let Some((first, rest)) = bytes.split_first() {
        *bytes = rest;
        number |= u32::from(first & 0x7f) << shift;
        if *first < 0x80 {
            break;
        }
        shift += 7;
    }
    number
}
