//! Peeling: takes off one value after the other that may be lowest among those that are left.
//!
//! A value waits for its push, its pop and each of its peeks to contain a free piece, in which
//! nothing that is left is certainly inside (for a peek, nothing but the value). Each piece becomes
//! free once, and each operation is found once by a free piece in it, so the whole takes O(n log
//! n).

use super::super::intervals::{Gap, Part, Places, Span};
use super::super::poll::{StopPoll, StopReason};
use super::looks::Looks;
use super::pieces::Pieces;
use super::trees::{Counts, Ranges};

/// How far a part could be peeled, and where everything goes.
pub(super) struct Peeling {
    pub pieces: Pieces,
    /// The values that were peeled, in order: what is inside another comes after it.
    pub peeled: Vec<Peeled>,
    /// The values that are left.
    pub residue: Vec<u32>,
    /// For each empty the gap in which nothing is inside, if there is one.
    pub empty_at: Vec<Option<Gap>>,
    /// For each look the piece in which only its value is inside; meaningless if it contains the
    /// push or the pop.
    pub look_at: Vec<u32>,
}

/// A value that was peeled.
#[derive(Clone, Copy)]
pub(super) struct Peeled {
    pub life: u32,
    /// The piece at whose end it is pushed.
    pub push: u32,
    /// The piece at whose start it is popped.
    pub pop: u32,
}

/// A value that is certainly inside for a while: the pieces of its operations.
#[derive(Clone, Copy)]
pub(super) struct Item {
    pub life: u32,
    /// The push may take effect in the pieces from this one up to the one before `inside`.
    pub push: u32,
    /// The first and last pieces in which it is certainly inside.
    pub inside: (u32, u32),
    /// The pop may take effect from the piece after `inside` up to this one.
    pub pop: u32,
}

pub(super) fn peel(part: &Part, poll: &StopPoll) -> Result<Peeling, StopReason> {
    let all = 0..part.lives.len() as u32;
    let staying: Vec<u32> =
        all.filter(|&life| !part.lives[life as usize].inside().is_empty()).collect();
    poll.ask(0)?;
    let pieces = Pieces::new(part, &staying, poll)?;
    let mut items = Vec::with_capacity(staying.len());
    for life in staying {
        poll.step()?;
        items.push(Item::new(part, &pieces, life));
    }
    let counts = counts(&pieces, &items, poll)?;
    let mut free = Places::new(pieces.count());
    for (piece, _) in counts.iter().enumerate().filter(|(_, count)| **count == 0) {
        poll.step()?;
        free.insert(piece as u32);
    }
    let first_free = |empty: Span| {
        let piece = free.first_from(pieces.of(empty.lo))?;
        Some(pieces.start(piece).max(empty.lo)).filter(|gap| *gap <= empty.hi)
    };
    let mut empty_at = Vec::with_capacity(part.empties.len());
    for empty in &part.empties {
        poll.step()?;
        empty_at.push(first_free(empty.span));
    }
    let mut peeler = Peeler::new(part, &pieces, &items, counts, free, poll)?;
    peeler.run(poll)?;
    let Peeler { peeled, waits, looks, .. } = peeler;
    let look_at = looks.map_or_else(Vec::new, |looks| looks.pieces());
    let left = items.iter().zip(&waits).filter(|(_, waits)| **waits > 0);
    let residue = left.map(|(item, _)| item.life).collect();
    Ok(Peeling { pieces, peeled, residue, empty_at, look_at })
}

impl Item {
    fn new(part: &Part, pieces: &Pieces, life: u32) -> Item {
        let of = &part.lives[life as usize];
        let inside = (pieces.of(of.inside().lo), pieces.of(of.inside().hi));
        Item { life, push: pieces.of(of.added.lo), inside, pop: pieces.of(of.removed.hi) }
    }
}

/// How many values are certainly inside, for each piece.
fn counts(pieces: &Pieces, items: &[Item], poll: &StopPoll) -> Result<Vec<u32>, StopReason> {
    let mut counts = vec![0u32; pieces.count() + 1];
    for item in items {
        poll.step()?;
        let (first, after) = (item.inside.0 as usize, item.inside.1 as usize + 1);
        counts[first] = counts[first].wrapping_add(1);
        counts[after] = counts[after].wrapping_sub(1);
    }
    let mut count = 0u32;
    for entry in &mut counts {
        poll.step()?;
        count = count.wrapping_add(*entry);
        *entry = count;
    }
    counts.pop();
    Ok(counts)
}

struct Peeler<'a> {
    items: &'a [Item],
    /// How many values that are left are certainly inside; if there are looks, one less until it
    /// was 1.
    counts: Counts,
    free: Places,
    pushes: Ranges,
    pops: Ranges,
    looks: Option<Looks>,
    /// For each item how many of its operations have no piece yet.
    waits: Vec<u32>,
    /// Items that wait for nothing.
    ready: Vec<u32>,
    peeled: Vec<Peeled>,
}

impl<'a> Peeler<'a> {
    fn new(
        part: &Part,
        pieces: &Pieces,
        items: &'a [Item],
        mut counts: Vec<u32>,
        free: Places,
        poll: &StopPoll,
    ) -> Result<Peeler<'a>, StopReason> {
        let mut waits = vec![0; items.len()];
        let mut pushes = Vec::new();
        let mut pops = Vec::new();
        for (at, item) in items.iter().enumerate() {
            poll.step()?;
            let (before, after) = (item.inside.0 - 1, item.inside.1 + 1);
            if !free.meets(item.push, before) {
                pushes.push((at as u32, item.push, before));
                waits[at] += 1;
            }
            if !free.meets(after, item.pop) {
                pops.push((at as u32, after, item.pop));
                waits[at] += 1;
            }
        }
        let looks = (!part.looks.is_empty())
            .then(|| Looks::new(part, pieces, items, &counts, &free, &mut waits, poll));
        let looks = looks.transpose()?;
        for count in &mut counts {
            poll.step()?;
            *count = match *count {
                0 => Counts::TAKEN,
                1 => 1,
                more => more - u32::from(looks.is_some()),
            };
        }
        let counts = Counts::new(&counts, poll)?;
        let pushes = Ranges::new(pieces.count(), &pushes, poll)?;
        Ok(Peeler {
            items,
            counts,
            pushes,
            pops: Ranges::new(pieces.count(), &pops, poll)?,
            free,
            looks,
            ready: (0..items.len() as u32).filter(|&at| waits[at as usize] == 0).collect(),
            waits,
            peeled: Vec::with_capacity(items.len()),
        })
    }

    fn run(&mut self, poll: &StopPoll) -> Result<(), StopReason> {
        while let Some(at) = self.ready.pop() {
            poll.step()?;
            let item = self.items[at as usize];
            let (first, last) = item.inside;
            // INVARIANT: both exist, because the item waits for neither.
            let push = self.free.last_up_to(first - 1).unwrap_or(0);
            let pop = self.free.first_from(last + 1).unwrap_or(last + 1);
            self.peeled.push(Peeled { life: item.life, push, pop });
            if let Some(looks) = &mut self.looks {
                looks.forget(at, item.inside);
            }
            self.counts.subtract(first, last);
            while let Some(piece) = self.counts.zero() {
                poll.step()?;
                self.less_is_inside(piece);
            }
        }
        Ok(())
    }

    /// In this piece only one of the values that are left is certainly inside, or none.
    fn less_is_inside(&mut self, piece: u32) {
        let (waits, ready) = (&mut self.waits, &mut self.ready);
        let mut finds = |at: u32| {
            waits[at as usize] -= 1;
            if waits[at as usize] == 0 {
                ready.push(at);
            }
        };
        if let Some(looks) = self.looks.as_mut().filter(|looks| !looks.was_alone(piece)) {
            looks.is_alone(piece, &mut finds);
            self.counts.raise(piece);
            return;
        }
        self.counts.take(piece);
        self.free.insert(piece);
        while let Some(at) = self.pushes.take(piece) {
            finds(at);
        }
        while let Some(at) = self.pops.take(piece) {
            finds(at);
        }
        if let Some(looks) = &mut self.looks {
            looks.is_free(piece, &mut finds);
        }
    }
}
