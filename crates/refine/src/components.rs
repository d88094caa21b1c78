//! Parts of states, each kept once: what threads do and what the heap looks like recur in many
//! combinations (COLLAPSE: G. J. Holzmann, State Compression in SPIN, 1997).

use crate::chunked::{Chunked, ChunkedBytes};
use crate::index::{self, Index};
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
    /// The number of a string, whose hash is known; `None` if there is no room for more.
    pub fn number(&mut self, of: &[u8], hash: u64) -> Option<u32> {
        let Strings { strings, index } = self;
        if let Some(number) = index.find(hash, |start| strings.get(start as usize) == of) {
            return Some(number);
        }
        let start = u32::try_from(strings.next(of.len())).ok();
        let number = start.filter(|start| *start < index::END)?;
        strings.push(of);
        index.insert(hash, number, |start| self::hash(strings.get(start as usize)));
        Some(number)
    }

    pub fn get(&self, number: u32) -> &[u8] {
        self.strings.get(number as usize)
    }

    /// Looks where the string with this hash would be, at both ends: see [`Index::likely`].
    pub fn likely(&self, hash: u64) -> Option<u8> {
        let string = self.get(self.index.likely(hash)?);
        Some(string.first()? ^ string.last()?)
    }

    /// How many bytes are kept.
    pub fn bytes(&self) -> usize {
        self.strings.bytes() + self.index.bytes()
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
