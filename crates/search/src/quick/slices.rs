//! Sequences of numbers, each different one with a number of its own.

use super::State;
use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;
use std::ops::Range;

/// What sequences consist of.
pub(super) type Number = u16;

/// A state as an index.
pub(super) fn index(state: State) -> usize {
    usize::try_from(state).unwrap_or(usize::MAX)
}

/// There is room for so many at first.
const FEW: usize = 112;

/// Sequences that share one list.
pub(super) struct Slices {
    /// Where sequences are; some overlap.
    list: Vec<Number>,
    spans: Vec<Range<usize>>,
    index: HashTable<(u64, State)>,
    /// The number of what a change made of a sequence, by the number of the sequence and what
    /// stands for the change.
    changes: FxHashMap<(State, u32), State>,
}

impl Slices {
    pub(super) fn new() -> Slices {
        Slices {
            list: Vec::with_capacity(8 * FEW),
            spans: Vec::with_capacity(FEW),
            index: HashTable::with_capacity(FEW),
            changes: FxHashMap::with_capacity_and_hasher(FEW, FxBuildHasher),
        }
    }

    /// About how many bytes they take.
    pub(super) fn bytes(&self) -> usize {
        self.list.capacity() * size_of::<Number>()
            + self.spans.capacity() * size_of::<Range<usize>>()
            + self.index.capacity() * (size_of::<(u64, State)>() + 1) * 8 / 7
            + self.changes.capacity() * (size_of::<((State, u32), State)>() + 1) * 8 / 7
    }

    /// The sequence with this number.
    pub(super) fn get(&self, number: State) -> &[Number] {
        &self.list[self.range(number)]
    }

    /// Where it is.
    pub(super) fn range(&self, number: State) -> Range<usize> {
        self.spans[index(number)].clone()
    }

    /// The number of a sequence.
    pub(super) fn intern(&mut self, items: impl IntoIterator<Item = Number>) -> State {
        let start = self.list.len();
        self.list.extend(items);
        self.intern_last(start)
    }

    /// The number of a changed copy of a sequence. `by` stands for the change.
    pub(super) fn changed(
        &mut self,
        number: State,
        by: u32,
        change: impl FnOnce(&mut Vec<Number>, usize),
    ) -> State {
        if let Some(after) = self.changes.get(&(number, by)) {
            return *after;
        }
        let start = self.list.len();
        self.list.extend_from_within(self.range(number));
        change(&mut self.list, start);
        let after = self.intern_last(start);
        self.changes.insert((number, by), after);
        after
    }

    /// The number of a part of a sequence, which is copied nowhere. `by` stands for the change.
    pub(super) fn part(
        &mut self,
        number: State,
        by: u32,
        part: impl FnOnce(Range<usize>) -> Range<usize>,
    ) -> State {
        if let Some(after) = self.changes.get(&(number, by)) {
            return *after;
        }
        let (after, _) = self.number(part(self.range(number)));
        self.changes.insert((number, by), after);
        after
    }

    /// The number of what stands at the end of the list.
    fn intern_last(&mut self, start: usize) -> State {
        let (number, is_new) = self.number(start..self.list.len());
        if !is_new {
            self.list.truncate(start);
        }
        number
    }

    fn number(&mut self, range: Range<usize>) -> (State, bool) {
        let (list, spans) = (&self.list, &self.spans);
        let items = &list[range.clone()];
        let hash = FxBuildHasher.hash_one(items);
        let is_same = |(other, number): &(u64, State)| {
            *other == hash && list[spans[index(*number)].clone()] == *items
        };
        if let Some((_, number)) = self.index.find(hash, is_same) {
            return (*number, false);
        }
        // INVARIANT: memory ends before numbers do.
        let number = State::try_from(self.spans.len()).unwrap_or(State::MAX);
        self.spans.push(range);
        self.index.insert_unique(hash, (hash, number), |(hash, _)| *hash);
        (number, true)
    }
}
