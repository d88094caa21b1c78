//! Parts of states, each kept once: what threads do and what the heap looks like recur in many
//! combinations (COLLAPSE: G. J. Holzmann, State Compression in SPIN, 1997).

use crate::chunked::{Chunked, ChunkedBytes};
use crate::index::{self, Index};
use crate::store::hash;
use hashbrown::HashTable;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// How many tables there are, so that workers rarely wait for each other.
const TABLES: usize = 32;

/// The number of a component.
pub(crate) type ComponentId = u32;

/// Strings of bytes, each kept once and numbered.
#[derive(Default)]
pub(crate) struct ByteTable {
    strings: ChunkedBytes,
    /// Where each starts: the lowest five bytes of the number.
    starts: Chunked<[u8; 5]>,
    numbers: HashTable<u32>,
}

/// The string with a number.
fn numbered<'a>(strings: &'a ChunkedBytes, starts: &Chunked<[u8; 5]>, number: u32) -> &'a [u8] {
    let [a, b, c, d, e] = starts.get(number as usize);
    strings.get(u64::from_le_bytes([a, b, c, d, e, 0, 0, 0]) as usize)
}

impl ByteTable {
    /// The number of a string, whose hash is known.
    pub fn number(&mut self, of: &[u8], hash: u64) -> u32 {
        let ByteTable { strings, starts, numbers } = self;
        let same = |&number: &u32| numbered(strings, starts, number) == of;
        if let Some(number) = numbers.find(hash, same) {
            return *number;
        }
        let number = starts.len() as u32;
        // Five bytes are enough for a terabyte.
        let [a, b, c, d, e, ..] = (strings.push(of) as u64).to_le_bytes();
        starts.push([a, b, c, d, e]);
        let hash_of = |&number: &u32| self::hash(numbered(strings, starts, number));
        numbers.insert_unique(hash, number, hash_of);
        number
    }

    pub fn get(&self, number: u32) -> &[u8] {
        numbered(&self.strings, &self.starts, number)
    }

    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// How many bytes are kept.
    pub fn bytes(&self) -> usize {
        self.strings.bytes() + self.starts.bytes() + self.numbers.capacity() * 5
    }
}

/// Strings of bytes, each kept once. The number of a string is where it starts, so that there is
/// nothing to look up between the number and the string.
#[derive(Default)]
pub(crate) struct Strings {
    strings: ChunkedBytes,
    index: Index,
}

impl Strings {
    /// The number of a string, whose hash is known; `None` if it is not there.
    #[inline]
    pub fn find(&self, of: &[u8], hash: u64) -> Option<u32> {
        self.index.find(hash, |start| self.strings.get(start as usize) == of)
    }

    /// The number of a string, whose hash is known; `None` if there is no room for more.
    #[inline]
    pub fn number(&mut self, of: &[u8], hash: u64) -> Option<u32> {
        self.find(of, hash).or_else(|| self.add(of, hash))
    }

    fn add(&mut self, of: &[u8], hash: u64) -> Option<u32> {
        let Strings { strings, index } = self;
        let start = u32::try_from(strings.next(of.len())).ok();
        let number = start.filter(|start| *start < index::END)?;
        strings.push(of);
        index.insert(hash, number, |start| self::hash(strings.get(start as usize)));
        Some(number)
    }

    pub fn get(&self, number: u32) -> &[u8] {
        self.strings.get(number as usize)
    }

    /// The number that the string with this hash most likely has: see [`Index::likely`].
    #[inline]
    pub fn likely(&self, hash: u64) -> Option<u32> {
        self.index.likely(hash)
    }

    /// Looks at a string: see [`ChunkedBytes::look_at`].
    #[inline]
    pub fn look_at(&self, number: u32, length: usize) -> u8 {
        self.strings.look_at(number as usize, length)
    }

    /// How many bytes are kept.
    pub fn bytes(&self) -> usize {
        self.strings.bytes() + self.index.bytes()
    }
}

/// Parts of states, each kept once.
pub(crate) struct Components {
    tables: Vec<RwLock<Strings>>,
}

/// Parts of states, which none is added to for a while.
pub(crate) struct Known<'a> {
    tables: Vec<RwLockReadGuard<'a, Strings>>,
}

/// The table of parts with this hash.
fn table_of(hash: u64) -> usize {
    (hash >> 8) as usize % TABLES
}

impl Components {
    pub fn new() -> Components {
        Components { tables: (0..TABLES).map(|_| RwLock::default()).collect() }
    }

    fn table(&self, index: usize) -> RwLockReadGuard<'_, Strings> {
        self.tables[index].read().unwrap_or_else(PoisonError::into_inner)
    }

    fn table_mut(&self, index: usize) -> RwLockWriteGuard<'_, Strings> {
        self.tables[index].write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything, to read: no lock is taken for a component.
    pub fn known(&self) -> Known<'_> {
        Known { tables: (0..TABLES).map(|index| self.table(index)).collect() }
    }

    /// The number of a component; `None` if there is no room for more.
    pub fn number(&self, part: &[u8]) -> Option<ComponentId> {
        let hash = hash(part);
        let table = table_of(hash);
        let number = self.table_mut(table).number(part, hash)?;
        u32::try_from(number as usize * TABLES + table).ok()
    }

    /// Appends the bytes of a component.
    pub fn append(&self, id: ComponentId, out: &mut Vec<u8>) {
        out.extend_from_slice(self.table(id as usize % TABLES).get(id / TABLES as u32));
    }

    /// How many bytes they take.
    pub fn bytes(&self) -> usize {
        (0..TABLES).map(|index| self.table(index).bytes()).sum()
    }
}

impl Known<'_> {
    /// The number of a component; `None` if it is not there.
    pub fn find(&self, part: &[u8]) -> Option<ComponentId> {
        let hash = hash(part);
        let table = table_of(hash);
        let number = self.tables[table].find(part, hash)?;
        u32::try_from(number as usize * TABLES + table).ok()
    }

    /// Looks at a component that is asked for soon: see [`ChunkedBytes::look_at`].
    pub fn look_at(&self, id: ComponentId) -> u8 {
        self.tables[id as usize % TABLES].look_at(id / TABLES as u32, 0)
    }

    /// The bytes of a component.
    pub fn get(&self, id: ComponentId) -> &[u8] {
        self.tables[id as usize % TABLES].get(id / TABLES as u32)
    }
}
