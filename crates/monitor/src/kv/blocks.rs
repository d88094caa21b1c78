//! Blocks: each put with all that shows it, in the only order that they can have.
//!
//! The gets of an epoch show beginnings of what the longest one shows. So the order is the put, the
//! gets that show nothing more, the first append, the gets that show it last, and so on. Nothing
//! else that changes the value lies between the put and the longest get.

use super::epochs::{Place, Places};
use super::log::{At, BEGINNING, Instant, Known, Role};
use super::reading::Node;
use crate::poll::{StopPoll, StopReason};
use rustc_hash::FxHashMap;

/// An append that the gets of an epoch show: the epoch and where in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Slot {
    pub(super) put: At,
    pub(super) node: Node,
}

/// A block, by what matters to other blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// The put, or the append that no get shows.
    pub(super) root: At,
    /// The operation that returned first: by then the block has begun.
    pub(super) first: At,
    /// The operation that was called last: until then it has not ended.
    pub(super) last: At,
    /// The longest get.
    pub(super) longest: Option<At>,
}

impl Block {
    /// A block of one operation.
    pub(super) fn of(root: At) -> Block {
        Block { root, first: root, last: root, longest: None }
    }
}

/// Two things that cannot both be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Conflict {
    /// Two gets of one epoch, neither of which shows what the other does.
    Forked(At, At),
    /// One append is shown in two places.
    Twice(At, Slot, Slot),
    /// Of two operations of one epoch the second returned before the first was called.
    Backwards(At, At, At),
    /// Each of two blocks must be before the other.
    Crossed(Block, Block),
}

/// What is chosen, and the blocks that follow from it.
pub(super) struct Blocks<'k, 'l> {
    pub(super) known: &'k Known<'l>,
    pub(super) places: &'k Places,
    /// For each get which of its places is chosen.
    pub(super) chosen: Vec<u32>,
    /// For each put the gets of its epoch.
    gets: Vec<Vec<At>>,
    /// The block of each put.
    pub(super) blocks: Vec<Block>,
    /// Which append is in a slot, where several could be.
    pub(super) filled: FxHashMap<Slot, At>,
    /// For each append the slot in which it is.
    pub(super) seen: Vec<Option<Slot>>,
}

impl<'k, 'l> Blocks<'k, 'l> {
    /// The first choice of everything. Nothing is evaluated yet.
    pub(super) fn new(known: &'k Known<'l>, places: &'k Places) -> Blocks<'k, 'l> {
        let count = known.count as usize;
        let mut blocks = Blocks {
            known,
            places,
            chosen: vec![0; count],
            gets: vec![Vec::new(); count],
            blocks: (0..known.count).map(Block::of).collect(),
            filled: FxHashMap::default(),
            seen: vec![None; count],
        };
        for get in 0..known.count {
            let places = places.of(get);
            // The put that was called last, of those in time.
            let latest = (0u32..).zip(places).max_by_key(|(_, place)| place.put);
            if let Some((at, place)) = latest {
                blocks.chosen[get as usize] = at;
                blocks.gets[place.put as usize].push(get);
            }
        }
        blocks
    }

    /// Where a get is.
    pub(super) fn place(&self, get: At) -> Place {
        self.places.of(get)[self.chosen[get as usize] as usize]
    }

    /// Chooses another place for a get.
    pub(super) fn choose(&mut self, get: At, place: u32) {
        let from = self.place(get).put as usize;
        self.gets[from].retain(|other| *other != get);
        self.chosen[get as usize] = place;
        let to = self.place(get).put as usize;
        self.gets[to].push(get);
    }

    /// Whether the epoch of a put has gets.
    pub(super) fn is_shown(&self, put: At) -> bool {
        !self.gets[put as usize].is_empty()
    }

    /// The append in a slot.
    pub(super) fn append_in(&self, slot: Slot) -> Option<At> {
        match self.known.appends(self.known.log.tree.token(slot.node)) {
            [one] => Some(*one),
            _ => self.filled.get(&slot).copied(),
        }
    }

    /// Forgets what an epoch showed, before it is evaluated again.
    pub(super) fn forget(&mut self, put: At) {
        let Some(longest) = self.blocks[put as usize].longest else { return };
        let shown = self.places.of(longest).iter().filter(|place| place.put == put);
        for node in shown.flat_map(|place| self.known.log.tree.path(place.node)) {
            let slot = Slot { put, node };
            if let Some(append) = self.append_in(slot)
                && self.seen[append as usize] == Some(slot)
            {
                self.seen[append as usize] = None;
            }
        }
        self.blocks[put as usize] = Block::of(put);
    }

    /// Puts the epoch of a put in order.
    pub(super) fn evaluate(
        &mut self,
        put: At,
        conflicts: &mut Vec<Conflict>,
        poll: &StopPoll,
    ) -> Result<(), StopReason> {
        let tree = &self.known.log.tree;
        let mut gets = std::mem::take(&mut self.gets[put as usize]);
        gets.sort_unstable_by_key(|get| (tree.depth(self.place(*get).node), *get));
        let Some(longest) = gets.last().copied() else {
            return Ok(());
        };
        let path = tree.path(self.place(longest).node);
        let mut windows = None;
        let mut walk = Walk::new(self.known, put);
        let mut next = gets.iter().copied().peekable();
        for (depth, node) in path.iter().copied().enumerate() {
            poll.step()?;
            if depth > 0 {
                let slot = Slot { put, node };
                let append = match self.append_in(slot) {
                    Some(append) => append,
                    None => {
                        let windows =
                            windows.get_or_insert_with(|| self.windows(put, &gets, path.len()));
                        let append = self.guess(slot, windows[depth]);
                        self.filled.insert(slot, append);
                        append
                    }
                };
                match self.seen[append as usize] {
                    // INVARIANT: an append is a member of one block only, in one slot.
                    Some(other) if other != slot => {
                        conflicts.push(Conflict::Twice(append, other, slot));
                    }
                    _ => {
                        self.seen[append as usize] = Some(slot);
                        walk.check(append, conflicts);
                        walk.take(append);
                    }
                }
            }
            let before = walk.latest;
            while let Some(get) = next.next_if(|get| tree.depth(self.place(*get).node) == depth) {
                poll.step()?;
                if self.place(get).node != node {
                    conflicts.push(Conflict::Forked(get, longest));
                }
                // Gets that show the same may be in any order.
                let latest = std::mem::replace(&mut walk.latest, before);
                walk.check(get, conflicts);
                walk.latest = latest;
                walk.take(get);
            }
        }
        self.gets[put as usize] = gets;
        let (first, last) = (walk.first, walk.latest);
        self.blocks[put as usize] = Block { root: put, first, last, longest: Some(longest) };
        Ok(())
    }

    /// For each depth: the latest call of what comes before the append, among the put and the gets,
    /// and the first return of the gets after it.
    fn windows(&self, put: At, gets: &[At], depths: usize) -> Vec<(Instant, Instant)> {
        let mut windows = vec![(self.known.call(put), Instant::MAX); depths + 1];
        for get in gets {
            let depth = self.known.log.tree.depth(self.place(*get).node);
            let (after, until) = (self.known.call(*get), self.known.returned(*get));
            windows[depth + 1].0 = windows[depth + 1].0.max(after);
            windows[depth].1 = windows[depth].1.min(until);
        }
        for depth in 1..=depths {
            windows[depth].0 = windows[depth].0.max(windows[depth - 1].0);
        }
        for depth in (1..=depths).rev() {
            windows[depth - 1].1 = windows[depth - 1].1.min(windows[depth].1);
        }
        windows
    }

    /// A first choice for a slot: not in use if possible, in time if possible, and of those the one
    /// that returned first.
    fn guess(&self, slot: Slot, (after, until): (Instant, Instant)) -> At {
        /// So many are looked at.
        const MOST: usize = 256;
        let known = self.known;
        let appends = known.appends(known.log.tree.token(slot.node));
        // Those called too late are at the end, and those that returned long ago at the front.
        let end = appends.partition_point(|at| known.call(*at) < until);
        let best = appends[..end].iter().rev().take(MOST).copied().min_by_key(|append| {
            let in_time = known.returned(*append) > after;
            (self.seen[*append as usize].is_some(), !in_time, known.returned(*append), *append)
        });
        best.or(appends.first().copied()).unwrap_or(BEGINNING)
    }

    /// The operations of a block, in their order.
    pub(super) fn members(&self, block: &Block) -> Vec<At> {
        let mut members = vec![block.root];
        let (Some(longest), Role::Put(_)) = (block.longest, self.known.log[block.root].role) else {
            return members;
        };
        let tree = &self.known.log.tree;
        let mut gets = self.gets[block.root as usize].iter().copied().peekable();
        for (depth, node) in tree.path(self.place(longest).node).into_iter().enumerate() {
            if depth > 0 {
                members.extend(self.append_in(Slot { put: block.root, node }));
            }
            let here = |get: &At| tree.depth(self.place(*get).node) == depth;
            // Gets that show the same are in the order of their calls.
            while let Some(get) = gets.next_if(here) {
                members.push(get);
            }
        }
        members
    }
}

/// The operations of an epoch so far.
struct Walk<'k, 'l> {
    known: &'k Known<'l>,
    put: At,
    /// The one that returned first.
    first: At,
    /// The one that was called last.
    latest: At,
}

impl<'k, 'l> Walk<'k, 'l> {
    fn new(known: &'k Known<'l>, put: At) -> Walk<'k, 'l> {
        Walk { known, put, first: put, latest: put }
    }

    fn check(&self, next: At, conflicts: &mut Vec<Conflict>) {
        if self.known.returned(next) < self.known.call(self.latest) {
            conflicts.push(Conflict::Backwards(self.put, self.latest, next));
        }
    }

    fn take(&mut self, next: At) {
        if self.known.returned(next) < self.known.returned(self.first) {
            self.first = next;
        }
        if self.known.call(next) > self.known.call(self.latest) {
            self.latest = next;
        }
    }
}
