//! What pending operations did to a key of a map.
//!
//! A chain that no completed operation ended was ended by a pending `remove`, or went on with a
//! pending `put` whose value was found, or lasts for ever, which one chain can do. (A pending `put`
//! whose value no operation found changes nothing that matters: leaving it out only makes room.)
//! First the obvious choices are tried; then, if they are few enough, all.

use super::chain::{Block, Cell, Role};
use super::poll::{Halt, StopReason};
use super::zone::{self, Unit};
use linchpin_history_data::OpId;

/// How many choices are tried before giving up.
const MOST_CHOICES: usize = 512;

/// What there is to choose from, for the blocks of `cell`.
pub(crate) struct Choices<'c, 'a, R: Fn(OpId) -> Role> {
    cell: &'c mut Cell<'a, R>,
    blocks: Vec<Block>,
    vacant: &'c [OpId],
    /// Pending operations that empty the key.
    removers: &'c [OpId],
}

/// What was found.
pub(crate) enum Chosen {
    /// A choice that explains all, with which the blocks are left.
    Explained(Vec<Unit>),
    /// There is none.
    Impossible,
    /// There are too many to try.
    TooMany,
    /// It is not known yet.
    Stopped(StopReason),
}

/// How a block goes on that no completed operation ended.
#[derive(Clone, Copy)]
enum Next {
    Stays,
    EndedBy(OpId),
    Joins(usize),
}

impl<'c, 'a, R: Fn(OpId) -> Role> Choices<'c, 'a, R> {
    /// All choices are open.
    pub(crate) fn new(
        cell: &'c mut Cell<'a, R>,
        vacant: &'c [OpId],
        removers: &'c [OpId],
    ) -> Choices<'c, 'a, R> {
        let blocks = cell.blocks.clone();
        Choices { cell, blocks, vacant, removers }
    }

    /// Looks for a choice; `units` is an order of the blocks in which nothing has been chosen.
    pub(crate) fn find(mut self, units: &[Unit]) -> Chosen {
        self.try_all(units).unwrap_or_else(Chosen::Stopped)
    }

    fn try_all(&mut self, units: &[Unit]) -> Result<Chosen, StopReason> {
        for (joins, stays) in [(true, true), (false, true), (false, false)] {
            if let Some(next) = self.obvious(units, joins, stays)
                && let Some(units) = self.explains(&next)?
            {
                return Ok(Chosen::Explained(units));
            }
        }
        let open: Vec<usize> = (0..self.blocks.len()).filter(|b| self.blocks[*b].open).collect();
        let mut options = vec![Next::Stays];
        options.extend(self.removers.iter().map(|id| Next::EndedBy(*id)));
        let begins_pending = |index: &usize| has_pending_root(self.cell, *index);
        options.extend((0..self.blocks.len()).filter(begins_pending).map(Next::Joins));
        let count = u32::try_from(open.len()).ok().and_then(|open| options.len().checked_pow(open));
        let Some(count) = count.filter(|count| *count <= MOST_CHOICES) else {
            return Ok(Chosen::TooMany);
        };
        for number in 0..count {
            let mut rest = number;
            let next: Vec<(usize, Next)> = open
                .iter()
                .map(|index| {
                    let option = options[rest % options.len()];
                    rest /= options.len();
                    (*index, option)
                })
                .collect();
            if let Some(units) = self.explains(&next)? {
                return Ok(Chosen::Explained(units));
            }
        }
        Ok(Chosen::Impossible)
    }

    /// Where a block that no operation ended is followed by one that begins with a pending `put`,
    /// it goes on there (if `joins`); the others are ended by the pending removers, the first by
    /// the first; the last one `stays`.
    fn obvious(&self, units: &[Unit], joins: bool, stays: bool) -> Option<Vec<(usize, Next)>> {
        let mut removers = self.removers.iter().map(|id| Next::EndedBy(*id));
        let mut next = Vec::new();
        let mut open: Option<usize> = None;
        for unit in units {
            let block = unit.block().ok();
            if let Some(index) = open {
                let follower = block.filter(|block| joins && has_pending_root(self.cell, *block));
                next.push((index, follower.map(Next::Joins).or_else(|| removers.next())?));
            }
            open = block.filter(|index| self.blocks[*index].open);
        }
        if let Some(index) = open {
            next.push((index, if stays { Next::Stays } else { removers.next()? }));
        }
        Some(next)
    }

    /// The order of the blocks if what they do next is this.
    fn explains(&mut self, next: &[(usize, Next)]) -> Result<Option<Vec<Unit>>, StopReason> {
        self.cell.poll.ask(0)?;
        self.cell.blocks.clone_from(&self.blocks);
        let mut used: Vec<u32> = next
            .iter()
            .filter_map(|(_, next)| match next {
                Next::Stays => None,
                Next::EndedBy(id) => Some(id.number()),
                // why: block indices and operations are told apart by the top bit.
                Next::Joins(block) => Some(*block as u32 | 1 << 31),
            })
            .collect();
        used.sort_unstable();
        if used.windows(2).any(|pair| pair[0] == pair[1]) {
            return Ok(None);
        }
        let joined = |index: usize| used.binary_search(&(index as u32 | 1 << 31)).is_ok();
        for (head, _) in next.iter().filter(|(index, _)| !joined(*index)) {
            if self.follow(next, *head).is_none() {
                return Ok(None);
            }
        }
        // Blocks that go on in a circle have no head.
        let all_joined = used
            .iter()
            .all(|key| key >> 31 == 0 || self.cell.blocks[(key & !(1 << 31)) as usize].joined);
        if !all_joined {
            return Ok(None);
        }
        match zone::arrange(self.cell, self.vacant, true) {
            Ok(units) => Ok(Some(units)),
            Err(Halt::Fault(_)) => Ok(None),
            Err(Halt::Stopped(stopped)) => Err(stopped),
        }
    }

    /// Puts together the block that begins with `head`.
    fn follow(&mut self, next: &[(usize, Next)], head: usize) -> Option<()> {
        let mut part = head;
        while let Some((_, next)) = next.iter().find(|(index, _)| *index == part) {
            match next {
                Next::Stays => break,
                Next::EndedBy(id) => {
                    self.extend(head, *id, *id)?;
                    let block = &mut self.cell.blocks[head];
                    (block.open, block.closer) = (false, Some(*id));
                    break;
                }
                Next::Joins(other) => {
                    let Block { first, last, tail, open, .. } = self.blocks[*other];
                    if let (Some(first), Some(last)) = (first, last) {
                        self.extend(head, first, last)?;
                    }
                    self.cell.blocks[part].then = *other as u32;
                    self.cell.blocks[*other].joined = true;
                    (self.cell.blocks[head].tail, self.cell.blocks[head].open) = (tail, open);
                    part = *other;
                }
            }
        }
        Some(())
    }

    /// Appends operations to a block. Not if they returned before the last of it was called.
    fn extend(&mut self, head: usize, first: OpId, last: OpId) -> Option<()> {
        let mut block = self.cell.blocks[head];
        self.cell.extend(&mut block, first, last).ok()?;
        self.cell.blocks[head] = block;
        Some(())
    }
}

/// Whether a block begins with a pending `put`, which may have replaced a value or not.
pub(crate) fn has_pending_root<R: Fn(OpId) -> Role>(cell: &Cell<R>, index: usize) -> bool {
    let writer = cell.entries[cell.blocks[index].root as usize].writer;
    writer.is_some_and(|writer| !cell.history[writer].completed)
}
