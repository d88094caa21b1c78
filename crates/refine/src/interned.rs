//! Things of the specification side, each kept once and numbered.

use crate::components::ByteTable;
use crate::sets::{Config, Row, SpecSet};
use crate::store::{hash, mixed};
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;
use std::hash::{BuildHasher, Hash};

/// The number of a configuration.
pub(crate) type ConfigId = u32;

/// The number of a row.
pub(crate) type RowId = u32;

/// Numbers of configurations.
pub(crate) type Ids = SmallVec<[ConfigId; 16]>;

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
///
/// They stand behind a lock, and beside that is what all workers read without it: its line of the
/// cache, which changes whenever it is taken, is not theirs.
#[repr(align(128))]
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

    /// The number of a row.
    pub fn number_row(&mut self, row: Row) -> RowId {
        self.rows.number(row)
    }

    /// The row with a number.
    pub fn row(&self, row: RowId) -> &Row {
        &self.rows.items[row as usize]
    }

    /// The number of a configuration.
    pub fn number_config(&mut self, config: Config) -> ConfigId {
        let Config { state, responses, orphans } = config;
        let responses = self.rows.number(responses);
        self.configs.number((state, responses, orphans))
    }

    /// The configuration with a number.
    pub fn config(&self, config: ConfigId) -> Config {
        let (state, responses, orphans) = self.configs.items[config as usize];
        Config { state, responses: self.row(responses).clone(), orphans }
    }

    /// The responses of a configuration.
    pub fn responses(&self, config: ConfigId) -> &Row {
        self.row(self.configs.items[config as usize].1)
    }

    /// Whether a configuration has interrupted operations that may still take effect.
    pub fn has_orphans(&self, config: ConfigId) -> bool {
        self.configs.items[config as usize].2 != 0
    }

    /// The number of a set, by those of its parts. The order of its configurations does not matter,
    /// nor does it if one is there twice.
    pub fn number(&mut self, pending: RowId, mut configs: Ids) -> u32 {
        configs.sort_unstable();
        configs.dedup();
        let mut bytes: SmallVec<[u8; 64]> = SmallVec::new();
        push(&mut bytes, pending);
        let mut before = 0;
        for number in configs {
            push(&mut bytes, number - before);
            before = number;
        }
        self.sets.number(&bytes, hash(&bytes))
    }

    /// The numbers of the parts of a set: its pending calls, and its configurations in increasing
    /// order.
    pub fn ids(&self, set: u32) -> (RowId, Ids) {
        let mut bytes = self.sets.get(set);
        let pending = take(&mut bytes);
        let mut configs = Ids::new();
        let mut number = 0;
        while !bytes.is_empty() {
            number += take(&mut bytes);
            configs.push(number);
        }
        (pending, configs)
    }

    /// The set with a number.
    pub fn get(&self, set: u32) -> SpecSet {
        let (pending, configs) = self.ids(set);
        let configs = configs.into_iter().map(|config| self.config(config)).collect();
        SpecSet { pending: self.row(pending).clone(), configs }
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
fn push(out: &mut SmallVec<[u8; 64]>, mut number: u32) {
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
