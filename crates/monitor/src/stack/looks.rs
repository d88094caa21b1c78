//! Peeks while a stack is peeled: each needs a piece in which nothing but its value is certainly
//! inside.

use super::super::intervals::{Part, Places};
use super::super::poll::{StopPoll, StopReason};
use super::super::sorting;
use super::peel::Item;
use super::pieces::Pieces;
use super::trees::Ranges;

/// The looks at items. Of two looks at one item, one within the other, only the inner one is
/// followed.
pub(super) struct Looks {
    /// The followed looks, by item, then by time: both their first and their last pieces ascend.
    followed: Vec<Followed>,
    /// For each item, and after the last, where its followed looks start.
    starts: Vec<u32>,
    /// For each look of the part the followed one within it; meaningless if its value is no item.
    inner: Vec<u32>,
    /// The first look from each one on that has no piece yet, or a look on the way there.
    next: Vec<u32>,
    /// The looks without a piece, for pieces that become free.
    ranges: Ranges,
    covering: Covering,
    /// The pieces in which one item was alone.
    alone: Places,
}

struct Followed {
    item: u32,
    first: u32,
    last: u32,
    /// The piece in which only its item is inside; meaningless if one was found in which nothing
    /// is.
    piece: u32,
}

impl Looks {
    /// The looks of a part whose items are inside as `counts` says. Adds to `waits` for each look
    /// that has no piece.
    pub fn new(
        part: &Part,
        pieces: &Pieces,
        items: &[Item],
        counts: &[u32],
        free: &Places,
        waits: &mut [u32],
        poll: &StopPoll,
    ) -> Result<Looks, StopReason> {
        let (followed, inner) = follow(part, pieces, items, poll)?;
        let mut starts = vec![0; items.len() + 1];
        for look in &followed {
            poll.step()?;
            starts[look.item as usize + 1] += 1;
        }
        for item in 0..items.len() {
            starts[item + 1] += starts[item];
        }
        let mut ranges = Vec::new();
        let mut next: Vec<u32> = (0..=followed.len() as u32).collect();
        for (at, look) in followed.iter().enumerate() {
            poll.step()?;
            if free.meets(look.first, look.last) {
                next[at] = at as u32 + 1;
            } else {
                ranges.push((at as u32, look.first, look.last));
                waits[look.item as usize] += 1;
            }
        }
        let mut looks = Looks {
            followed,
            starts,
            inner,
            next,
            ranges: Ranges::new(pieces.count(), &ranges, poll)?,
            covering: Covering::new(pieces.count(), items, poll)?,
            alone: Places::new(pieces.count()),
        };
        for (piece, _) in counts.iter().enumerate().filter(|(_, count)| **count == 1) {
            poll.step()?;
            looks.is_alone(piece as u32, &mut |item| waits[item as usize] -= 1);
        }
        Ok(looks)
    }

    /// Whether [`Looks::is_alone`] was said of the piece.
    pub fn was_alone(&self, piece: u32) -> bool {
        self.alone.meets(piece, piece)
    }

    /// Only one item is certainly inside in this piece. Tells of it once for each look that finds
    /// its piece so.
    pub fn is_alone(&mut self, piece: u32, finds: &mut impl FnMut(u32)) {
        self.alone.insert(piece);
        let item = self.covering.only(piece);
        let (start, end) = (self.starts[item as usize], self.starts[item as usize + 1]);
        let of_item = &self.followed[start as usize..end as usize];
        let mut at = start + of_item.partition_point(|look| look.last < piece) as u32;
        loop {
            at = self.without_piece(at);
            if at >= end || self.followed[at as usize].first > piece {
                return;
            }
            self.followed[at as usize].piece = piece;
            self.next[at as usize] = at + 1;
            finds(item);
        }
    }

    /// No item is certainly inside in this piece. Tells of the item of each look that finds its
    /// piece so.
    pub fn is_free(&mut self, piece: u32, finds: &mut impl FnMut(u32)) {
        while let Some(at) = self.ranges.take(piece) {
            if self.next[at as usize] == at {
                self.next[at as usize] = at + 1;
                finds(self.followed[at as usize].item);
            }
        }
    }

    /// The item is peeled.
    pub fn forget(&mut self, item: u32, inside: (u32, u32)) {
        self.covering.change(inside, item.wrapping_neg());
    }

    /// For each look of the part its piece.
    pub fn pieces(&self) -> Vec<u32> {
        let piece = |at: &u32| self.followed.get(*at as usize).map_or(0, |look| look.piece);
        self.inner.iter().map(piece).collect()
    }

    fn without_piece(&mut self, mut at: u32) -> u32 {
        while self.next[at as usize] != at {
            let next = self.next[at as usize];
            self.next[at as usize] = self.next[next as usize];
            at = next;
        }
        at
    }
}

/// The innermost looks at items, and for each look one within it.
fn follow(
    part: &Part,
    pieces: &Pieces,
    items: &[Item],
    poll: &StopPoll,
) -> Result<(Vec<Followed>, Vec<u32>), StopReason> {
    const NO_ITEM: u32 = u32::MAX;
    let mut item_of = vec![NO_ITEM; part.lives.len()];
    for (at, item) in items.iter().enumerate() {
        poll.step()?;
        item_of[item.life as usize] = at as u32;
    }
    let mut looks: Vec<(u32, u32, u32, u32)> = Vec::with_capacity(part.looks.len());
    for (at, look) in part.looks.iter().enumerate() {
        poll.step()?;
        let item = item_of[look.life as usize];
        if item != NO_ITEM {
            let (first, last) = (pieces.of(look.span.lo), pieces.of(look.span.hi));
            looks.push((item, last, u32::MAX - first, at as u32));
        }
    }
    // By the last pieces, and of those that end together the shortest first: a look then contains
    // another one iff it starts no later than the latest start so far.
    sorting::in_rows(&mut looks, poll)?;
    let mut followed: Vec<Followed> = Vec::new();
    let mut inner = vec![u32::MAX; part.looks.len()];
    for (item, last, first, at) in looks {
        poll.step()?;
        let first = u32::MAX - first;
        if followed.last().is_none_or(|inner| inner.item != item || inner.first < first) {
            followed.push(Followed { item, first, last, piece: 0 });
        }
        inner[at as usize] = followed.len() as u32 - 1;
    }
    Ok((followed, inner))
}

/// Which item is inside in a piece, where it is only one: sums over the items that are, in a
/// Fenwick tree.
struct Covering {
    sums: Vec<u32>,
}

impl Covering {
    fn new(pieces: usize, items: &[Item], poll: &StopPoll) -> Result<Covering, StopReason> {
        let mut covering = Covering { sums: vec![0; pieces + 2] };
        for (at, item) in items.iter().enumerate() {
            poll.step()?;
            covering.change(item.inside, at as u32);
        }
        Ok(covering)
    }

    fn change(&mut self, (first, last): (u32, u32), by: u32) {
        self.add(first as usize + 1, by);
        self.add(last as usize + 2, by.wrapping_neg());
    }

    fn add(&mut self, mut at: usize, by: u32) {
        while at < self.sums.len() {
            self.sums[at] = self.sums[at].wrapping_add(by);
            at += at & at.wrapping_neg();
        }
    }

    /// The only item in the piece.
    fn only(&self, piece: u32) -> u32 {
        let mut at = piece as usize + 1;
        let mut sum = 0u32;
        while at > 0 {
            sum = sum.wrapping_add(self.sums[at]);
            at &= at - 1;
        }
        sum
    }
}
