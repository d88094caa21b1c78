//! Successors in memory, until they are sorted and written.

use super::record::Written;

/// Where a successor is in [`Candidates::bytes`].
#[derive(Clone, Copy, Debug)]
struct Entry {
    start: usize,
    rest: u32,
    allowance: u32,
    set: u32,
    parent: u64,
}

/// Successors of a level that were not looked at yet.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

impl Candidates {
    /// `None` if a part is too long to be kept.
    pub fn push(&mut self, record: &Written<'_>) -> Option<()> {
        let entry = Entry {
            start: self.bytes.len(),
            rest: u32::try_from(record.rest.len()).ok()?,
            allowance: u32::try_from(record.allowance.len()).ok()?,
            set: u32::try_from(record.set.len()).ok()?,
            parent: record.parent,
        };
        for part in [record.rest, record.allowance, record.set] {
            self.bytes.extend_from_slice(part);
        }
        self.entries.push(entry);
        Some(())
    }

    /// About how many bytes of memory they take.
    pub fn size(&self) -> usize {
        self.bytes.capacity() + self.entries.capacity() * size_of::<Entry>()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// One of them, in their order.
    pub fn get(&self, at: usize) -> Option<Written<'_>> {
        self.entries.get(at).map(|entry| written(&self.bytes, entry))
    }

    /// Adds others.
    pub fn append(&mut self, other: &Candidates) {
        let from = self.bytes.len();
        self.bytes.extend_from_slice(&other.bytes);
        let moved = |entry: &Entry| Entry { start: entry.start + from, ..*entry };
        self.entries.extend(other.entries.iter().map(moved));
    }

    pub fn sort(&mut self) {
        let Candidates { bytes, entries } = self;
        entries
            .sort_unstable_by(|left, right| written(bytes, left).compare(&written(bytes, right)));
    }
}

fn written<'a>(bytes: &'a [u8], entry: &Entry) -> Written<'a> {
    let (_, of) = bytes.split_at(entry.start);
    let (rest, of) = of.split_at(entry.rest as usize);
    let (allowance, of) = of.split_at(entry.allowance as usize);
    let set = &of[..entry.set as usize];
    Written { rest, allowance, set, parent: entry.parent }
}
