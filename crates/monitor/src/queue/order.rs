//! The order of the values of a queue: what two chains of events force, by topological sorting
//! without edges.
//!
//! A value may come next when no other remaining one must come before it, which is a question about
//! the smallest response among the remaining values, on each chain.

use super::super::intervals::{Gap, Life};
use super::super::poll::{Halt, StopPoll, StopReason};
use super::super::sorting;

/// `first` comes before `second`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub first: u32,
    pub second: u32,
    pub kind: Kind,
}

/// Why one value comes before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It was added before the other was.
    Added,
    /// It was at the front before the other was, or left before it.
    Left,
}

/// The order in which values are added and removed, or a cycle. An empty queue in each of the gaps
/// `empty_at` splits the lives, whose additions are narrowed accordingly.
pub(super) fn total_order(
    lives: &mut [Life],
    empty_at: &[Gap],
    poll: &StopPoll,
) -> Result<Vec<u32>, Halt<Vec<Edge>>> {
    let by_added_hi = sorted(lives, |life| life.added.hi, poll)?;
    split(lives, &by_added_hi, empty_at, poll)?;
    let by_added_lo = sorted(lives, |life| life.added.lo, poll)?;
    let by_removed_lo = sorted(lives, |life| life.removed.lo, poll)?;
    let mut sorting = Sorting {
        by_added_lo,
        by_added_hi,
        by_removed_lo,
        by_seen_by: sorted(lives, |life| life.seen_by, poll)?,
        lives,
        states: vec![0; lives.len()],
        ready: Vec::new(),
    };
    sorting.run(poll)
}

/// The lives by a key, packed with it.
fn sorted(
    lives: &[Life],
    key: impl Fn(&Life) -> Gap,
    poll: &StopPoll,
) -> Result<Vec<u64>, StopReason> {
    let mut packed = Vec::with_capacity(lives.len());
    for (at, life) in lives.iter().enumerate() {
        poll.step()?;
        packed.push(u64::from(key(life)) << 32 | at as u64);
    }
    sorting::by_upper_bits(packed, 32, poll)
}

/// Values that were not certainly added before the queue was empty are added after that.
fn split(
    lives: &mut [Life],
    by_added_hi: &[u64],
    empty_at: &[Gap],
    poll: &StopPoll,
) -> Result<(), StopReason> {
    let mut empty_at = empty_at.to_vec();
    sorting::in_rows(&mut empty_at, poll)?;
    let mut passed = 0;
    for &packed in by_added_hi {
        poll.step()?;
        let life = &mut lives[packed as u32 as usize];
        while passed < empty_at.len() && empty_at[passed] <= life.added.hi {
            passed += 1;
        }
        if passed > 0 {
            life.added.lo = life.added.lo.max(empty_at[passed - 1]);
            life.removed.lo = life.removed.lo.max(life.added.lo);
        }
    }
    Ok(())
}

/// Nothing that remains must be added before this one.
const MAY_BE_ADDED: u8 = 1;
/// Nothing that remains must leave before this one.
const MAY_LEAVE: u8 = 2;
const DONE: u8 = 4;

struct Sorting<'a> {
    lives: &'a [Life],
    by_added_lo: Vec<u64>,
    by_added_hi: Vec<u64>,
    by_removed_lo: Vec<u64>,
    by_seen_by: Vec<u64>,
    states: Vec<u8>,
    ready: Vec<u32>,
}

impl Sorting<'_> {
    fn run(&mut self, poll: &StopPoll) -> Result<Vec<u32>, Halt<Vec<Edge>>> {
        let count = self.lives.len();
        let mut order = Vec::with_capacity(count);
        // The next to allow on each chain, and the remaining ones with the smallest responses.
        let (mut added, mut left) = (0, 0);
        let (mut first_added, mut first_seen, mut second_seen) = (0, 0, 1);
        while order.len() < count {
            poll.step()?;
            first_added = self.remaining(&self.by_added_hi, first_added);
            first_seen = self.remaining(&self.by_seen_by, first_seen);
            second_seen = self.remaining(&self.by_seen_by, second_seen.max(first_seen + 1));
            let bound = self.by_added_hi[first_added] >> 32;
            while added < count && self.by_added_lo[added] >> 32 <= bound {
                self.allow(self.by_added_lo[added] as u32, MAY_BE_ADDED);
                added += 1;
            }
            let bound = self.by_seen_by[first_seen] >> 32;
            while left < count && self.by_removed_lo[left] >> 32 <= bound {
                self.allow(self.by_removed_lo[left] as u32, MAY_LEAVE);
                left += 1;
            }
            // A value does not wait for itself.
            let front = self.by_seen_by[first_seen] as u32;
            let others = self.by_seen_by.get(second_seen).map_or(u64::MAX, |packed| packed >> 32);
            if u64::from(self.lives[front as usize].removed.lo) <= others {
                self.allow(front, MAY_LEAVE);
            }
            let Some(next) = self.ready.pop() else {
                let second = self.by_seen_by.get(second_seen).map(|&packed| packed as u32);
                let added = self.by_added_hi[first_added] as u32;
                return Err(Halt::Fault(self.cycle(added, front, second)));
            };
            self.states[next as usize] |= DONE;
            order.push(next);
        }
        Ok(order)
    }

    /// The first remaining one from a place on.
    fn remaining(&self, list: &[u64], from: usize) -> usize {
        let done = |packed: &u64| self.states[*packed as u32 as usize] & DONE != 0;
        let from = from.min(list.len());
        from + list[from..].iter().take_while(|packed| done(packed)).count()
    }

    fn allow(&mut self, life: u32, what: u8) {
        let state = &mut self.states[life as usize];
        let before = *state;
        *state |= what;
        if *state == MAY_BE_ADDED | MAY_LEAVE && before != *state {
            self.ready.push(life);
        }
    }

    /// Nothing may come next. Everything waits for the remaining value that was certainly added
    /// first, or for the one that was seen at the front first, which itself waits for the former or
    /// the second seen: so these three do.
    fn cycle(&self, added: u32, seen: u32, second_seen: Option<u32>) -> Vec<Edge> {
        let life = |at: u32| &self.lives[at as usize];
        let waits_for = |at: u32| {
            if life(added).added.hi < life(at).added.lo {
                return Edge { first: added, second: at, kind: Kind::Added };
            }
            let first = if at == seen { second_seen.unwrap_or(seen) } else { seen };
            Edge { first, second: at, kind: Kind::Left }
        };
        let mut edges = vec![waits_for(added)];
        loop {
            let next = waits_for(edges[edges.len() - 1].first);
            if let Some(start) = edges.iter().position(|edge| edge.second == next.second) {
                // Each edge ends where the one before it starts: backwards, they go round.
                edges.drain(..start);
                edges.reverse();
                return edges;
            }
            edges.push(next);
        }
    }
}
