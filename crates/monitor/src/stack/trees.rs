//! Two structures over the pieces of time: how many values are certainly inside, and which
//! operations contain a piece.

use super::super::poll::{StopPoll, StopReason};

/// A number for each place; subtracts from ranges and finds places that reached 0.
///
/// INVARIANT: an entry is the smallest number below its node, less those of all nodes above; of two
/// siblings one is 0.
pub(super) struct Counts {
    size: usize,
    relative: Vec<i32>,
}

impl Counts {
    /// More than any count.
    pub const TAKEN: u32 = i32::MAX as u32 / 2;

    pub fn new(counts: &[u32], poll: &StopPoll) -> Result<Counts, StopReason> {
        let size = counts.len().next_power_of_two().max(2);
        let mut relative = vec![Self::TAKEN as i32; 2 * size];
        for (leaf, &count) in relative[size..].iter_mut().zip(counts) {
            *leaf = count as i32;
        }
        relative[..size].fill(0);
        let mut counts = Counts { size, relative };
        for node in (1..size).rev() {
            poll.step()?;
            counts.settle(node);
        }
        Ok(counts)
    }

    fn settle(&mut self, node: usize) {
        let smallest = self.relative[2 * node].min(self.relative[2 * node + 1]);
        self.relative[2 * node] -= smallest;
        self.relative[2 * node + 1] -= smallest;
        self.relative[node] += smallest;
    }

    fn settle_above(&mut self, leaf: usize) {
        let mut node = leaf >> 1;
        while node > 0 {
            self.settle(node);
            node >>= 1;
        }
    }

    /// Subtracts 1 from the places from `first` to `last`.
    pub fn subtract(&mut self, first: u32, last: u32) {
        let (first, last) = (first as usize + self.size, last as usize + self.size);
        let (mut left, mut right) = (first, last + 1);
        while left < right {
            if left & 1 == 1 {
                self.relative[left] -= 1;
                left += 1;
            }
            if right & 1 == 1 {
                right -= 1;
                self.relative[right] -= 1;
            }
            left >>= 1;
            right >>= 1;
        }
        self.settle_above(first);
        self.settle_above(last);
    }

    /// A place that is 0.
    pub fn zero(&self) -> Option<u32> {
        if self.relative[1] != 0 {
            return None;
        }
        let mut node = 1;
        while node < self.size {
            node = 2 * node + usize::from(self.relative[2 * node] != 0);
        }
        Some((node - self.size) as u32)
    }

    /// Adds to the number of a place that is 0.
    fn add(&mut self, place: u32, what: i32) {
        let leaf = place as usize + self.size;
        self.relative[leaf] += what;
        self.settle_above(leaf);
    }

    /// A place that was found is not found again.
    pub fn take(&mut self, place: u32) {
        self.add(place, Self::TAKEN as i32);
    }

    /// A place that was found is found again when it is 1 less.
    pub fn raise(&mut self, place: u32) {
        self.add(place, 1);
    }
}

/// Ranges of places, each of which is found once, by a place in it.
pub(super) struct Ranges {
    /// What the ranges are of, by their last places.
    ids: Vec<u32>,
    /// For each place, the first range that ends there or later.
    starts: Vec<u32>,
    size: usize,
    /// The smallest first place of the ranges below each node; `u32::MAX` for those that were
    /// found.
    firsts: Vec<u32>,
}

impl Ranges {
    /// Ranges `(id, first, last)` of `places` places.
    pub fn new(
        places: usize,
        ranges: &[(u32, u32, u32)],
        poll: &StopPoll,
    ) -> Result<Ranges, StopReason> {
        let mut starts = vec![0u32; places + 1];
        let count = ranges.len();
        for &(_, _, last) in ranges {
            poll.step()?;
            starts[last as usize + 1] += 1;
        }
        for place in 0..places {
            poll.step()?;
            starts[place + 1] += starts[place];
        }
        let size = count.next_power_of_two().max(1);
        let mut firsts = vec![u32::MAX; 2 * size];
        let mut ids = vec![0; count];
        for &(id, first, last) in ranges {
            poll.step()?;
            let at = starts[last as usize] as usize;
            starts[last as usize] += 1;
            ids[at] = id;
            firsts[size + at] = first;
        }
        // Each start moved to the next one: move them back.
        starts.copy_within(0..places, 1);
        starts[0] = 0;
        for node in (1..size).rev() {
            poll.step()?;
            firsts[node] = firsts[2 * node].min(firsts[2 * node + 1]);
        }
        Ok(Ranges { ids, starts, size, firsts })
    }

    /// Takes out a range that contains the place.
    pub fn take(&mut self, place: u32) -> Option<u32> {
        let mut node = self.starts[place as usize] as usize + self.size;
        if node >= 2 * self.size {
            return None;
        }
        while self.firsts[node] > place {
            // To the next subtree on the right, if there is one.
            node += 1;
            if node.is_power_of_two() {
                return None;
            }
            node >>= node.trailing_zeros();
        }
        while node < self.size {
            node = 2 * node + usize::from(self.firsts[2 * node] > place);
        }
        let id = self.ids[node - self.size];
        self.firsts[node] = u32::MAX;
        while node > 1 {
            node >>= 1;
            let smallest = self.firsts[2 * node].min(self.firsts[2 * node + 1]);
            if self.firsts[node] == smallest {
                break;
            }
            self.firsts[node] = smallest;
        }
        Some(id)
    }
}
