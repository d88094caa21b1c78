//! Sequences of numbers, each different one with a number of its own.

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;
use std::ops::Range;

/// Sequences that share one list.
pub(super) struct Slices {
    /// Where sequences are; some overlap.
    list: Vec<usize>,
    spans: Vec<(usize, usize)>,
    index: HashTable<(u64, usize)>,
}

impl Slices {
    pub(super) fn new() -> Slices {
        Slices { list: Vec::new(), spans: Vec::new(), index: HashTable::new() }
    }

    /// The sequence with this number.
    pub(super) fn get(&self, number: usize) -> &[usize] {
        &self.list[self.range(number)]
    }

    /// Where it is.
    pub(super) fn range(&self, number: usize) -> Range<usize> {
        let (start, end) = self.spans[number];
        start..end
    }

    /// The number of a sequence.
    pub(super) fn intern(&mut self, items: impl IntoIterator<Item = usize>) -> usize {
        let start = self.list.len();
        self.list.extend(items);
        self.intern_last(start)
    }

    /// The number of a changed copy of a sequence.
    pub(super) fn changed(
        &mut self,
        number: usize,
        change: impl FnOnce(&mut Vec<usize>, usize),
    ) -> usize {
        let start = self.list.len();
        self.list.extend_from_within(self.range(number));
        change(&mut self.list, start);
        self.intern_last(start)
    }

    /// The number of a part of a sequence, which is copied nowhere.
    pub(super) fn part(&mut self, part: Range<usize>) -> usize {
        self.number(part).0
    }

    /// The number of what stands at the end of the list.
    fn intern_last(&mut self, start: usize) -> usize {
        let (number, is_new) = self.number(start..self.list.len());
        if !is_new {
            self.list.truncate(start);
        }
        number
    }

    fn number(&mut self, range: Range<usize>) -> (usize, bool) {
        let (list, spans) = (&self.list, &self.spans);
        let items = &list[range.clone()];
        let hash = FxBuildHasher.hash_one(items);
        let is_same = |(other, number): &(u64, usize)| {
            let (start, end) = spans[*number];
            *other == hash && list[start..end] == *items
        };
        if let Some((_, number)) = self.index.find(hash, is_same) {
            return (*number, false);
        }
        let number = self.spans.len();
        self.spans.push((range.start, range.end));
        self.index.insert_unique(hash, (hash, number), |(hash, _)| *hash);
        (number, true)
    }
}
