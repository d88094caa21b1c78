//! Parts of states, each kept once: what threads do and what the heap looks like recur in many
//! combinations (COLLAPSE: G. J. Holzmann, State Compression in SPIN, 1997).

use crate::index::{self, Index};
use crate::interned::{push, take};
use crate::store::hash;
use hashbrown::HashTable;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many tables there are, so that workers rarely wait for each other.
const TABLES: usize = 32;

/// The number of a component.
pub(crate) type ComponentId = u32;

/// Strings of bytes, each kept once and numbered.
#[derive(Default)]
pub(crate) struct ByteTable {
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
    numbers: HashTable<u32>,
}

fn string<'a>(bytes: &'a [u8], ends: &[usize], number: u32) -> &'a [u8] {
    let number = number as usize;
    let start = number.checked_sub(1).map_or(0, |before| ends[before]);
    &bytes[start..ends[number]]
}

impl ByteTable {
    /// The number of a string, whose hash is known.
    pub fn number(&mut self, of: &[u8], hash: u64) -> u32 {
        let ByteTable { bytes, ends, numbers } = self;
        if let Some(number) = numbers.find(hash, |&number| string(bytes, ends, number) == of) {
            return *number;
        }
        let number = ends.len() as u32;
        bytes.extend_from_slice(of);
        ends.push(bytes.len());
        numbers.insert_unique(hash, number, |&number| self::hash(string(bytes, ends, number)));
        number
    }

    pub fn get(&self, number: u32) -> &[u8] {
        string(&self.bytes, &self.ends, number)
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// How many bytes are kept.
    pub fn bytes(&self) -> usize {
        self.bytes.capacity()
            + self.ends.capacity() * size_of::<usize>()
            + self.numbers.capacity() * 5
    }
}

/// Strings of bytes, each kept once, behind its length. The number of a string is where it starts,
/// so that there is nothing to look up between the number and the string.
#[derive(Default)]
pub(crate) struct Strings {
    bytes: Vec<u8>,
    index: Index,
}

fn string_at(bytes: &[u8], start: u32) -> &[u8] {
    let mut rest = &bytes[start as usize..];
    let length = take(&mut rest) as usize;
    &rest[..length]
}

impl Strings {
    /// The number of a string, whose hash is known; `None` if there is no room for more.
    pub fn number(&mut self, of: &[u8], hash: u64) -> Option<u32> {
        let Strings { bytes, index } = self;
        if let Some(number) = index.find(hash, |start| string_at(bytes, start) == of) {
            return Some(number);
        }
        let number = u32::try_from(bytes.len()).ok().filter(|start| *start < index::END)?;
        push(bytes, u32::try_from(of.len()).ok()?);
        bytes.extend_from_slice(of);
        index.insert(hash, number, |start| self::hash(string_at(bytes, start)));
        Some(number)
    }

    pub fn get(&self, number: u32) -> &[u8] {
        string_at(&self.bytes, number)
    }

    /// Looks where the string with this hash and length would be, at both ends: see
    /// [`Index::likely`].
    pub fn likely(&self, hash: u64, length: usize) -> Option<u8> {
        let start = self.index.likely(hash)? as usize;
        Some(self.bytes.get(start)? ^ self.bytes.get(start + length)?)
    }

    /// How many bytes are kept.
    pub fn bytes(&self) -> usize {
        self.bytes.capacity() + self.index.bytes()
    }
}

/// Parts of states, each kept once.
pub(crate) struct Components {
    tables: Vec<Mutex<Strings>>,
}

impl Components {
    pub fn new() -> Components {
        Components { tables: (0..TABLES).map(|_| Mutex::default()).collect() }
    }

    fn table(&self, index: usize) -> MutexGuard<'_, Strings> {
        self.tables[index].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of a component; `None` if there is no room for more.
    pub fn number(&self, part: &[u8]) -> Option<ComponentId> {
        let hash = hash(part);
        let index = (hash >> 8) as usize % TABLES;
        let number = self.table(index).number(part, hash)?;
        u32::try_from(number as usize * TABLES + index).ok()
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
