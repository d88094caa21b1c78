//! Blocks in order.
//!
//! A block must be before another if one of its operations returned before one of the other was
//! called. Let `f` be the first return in a block and `s` the last call. If `f < s` the block is
//! certainly there from `f` to `s`, its *zone*; if not, all of it can happen at any instant from
//! `s` to `f`. There is an order iff no two zones overlap and no block that can happen at an
//! instant has all its instants in the zone of another (Gibbons and Korach 1997 for reads and
//! writes); longer circles collapse to these. A cell that can be empty also needs, for each
//! operation that found nothing, an instant outside all zones. Sorting, then one pass. Start with
//! [`arrange`].

use super::chain::{Block, Cell, Fault, Role};
use super::poll::{Halt, StopReason};
use super::sorting;
use linchpin_history_data::{OpId, Rank};

/// Marks an operation that found nothing, among the blocks of an arrangement.
const VACANT: u32 = 1 << 31;

/// The most blocks or operations that an arrangement can have.
pub(crate) const MOST: usize = VACANT as usize;

/// A block, by its index, or an operation that found nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unit(u32);

impl Unit {
    /// The index of the block, if this is one, or else the operation.
    pub(crate) fn block(self) -> Result<usize, OpId> {
        match self.0 & VACANT {
            0 => Ok(self.0 as usize),
            _ => Err(OpId::numbered(self.0 & !VACANT)),
        }
    }
}

/// The blocks of `cell` and the operations that found nothing, in order. Blocks that no operation
/// closed last for ever if `open_last`.
pub(crate) fn arrange<R: Fn(OpId) -> Role>(
    cell: &Cell<R>,
    vacant: &[OpId],
    open_last: bool,
) -> Result<Vec<Unit>, Halt<Fault>> {
    let poll = cell.poll;
    let mut units = Vec::with_capacity(cell.blocks.len() + vacant.len());
    let zones = Zones { cell, open_last };
    let (mut fixed, mut free) = (Vec::new(), Vec::new());
    for (index, block) in cell.blocks.iter().enumerate().filter(|(_, block)| !block.joined) {
        poll.step()?;
        let (first, last) = (zones.first(block), zones.last(block));
        match first < last {
            true => fixed.push(u64::from(first) << 32 | index as u64),
            false => free.push(u64::from(last) << 32 | index as u64),
        }
    }
    let fixed = sorting::by_upper_bits(fixed, 32, poll)?;
    let free = sorting::by_upper_bits(free, 32, poll)?;
    zones.do_not_overlap(&fixed)?;

    let mut fixed = fixed.into_iter().map(|key| key as u32).peekable();
    let mut free = free.into_iter().map(|key| key as u32).peekable();
    let mut vacant = vacant.iter().copied().peekable();
    // INVARIANT: `zone` is the last zone that begins before `instant`, and instants never decrease.
    let mut zone: Option<&Block> = None;
    loop {
        poll.step()?;
        let next_free = free.peek().map(|index| zones.last(&cell.blocks[*index as usize]));
        let next_vacant = vacant.peek().map(|id| after(cell.invoked(*id)));
        let is_free = match (next_free, next_vacant) {
            (None, None) => break,
            (Some(call), other) => other.is_none_or(|other| call < other),
            (None, Some(_)) => false,
        };
        let (instant, latest, item) = if is_free {
            let Some(index) = free.next() else { break };
            let block = &cell.blocks[index as usize];
            (zones.last(block), zones.first(block), index)
        } else {
            let Some(id) = vacant.next() else { break };
            (after(cell.invoked(id)), after(cell.returned(id)), VACANT | id.number())
        };
        let begins = |index: &u32| zones.first(&cell.blocks[*index as usize]) < instant;
        while let Some(index) = fixed.next_if(begins) {
            poll.step()?;
            zone = Some(&cell.blocks[index as usize]);
            units.push(Unit(index));
        }
        if let Some(zone) = zone.filter(|zone| zones.last(zone) > latest) {
            return Err(Halt::Fault(match Unit(item).block() {
                Ok(index) => Fault::Blocks(*zone, cell.blocks[index]),
                Err(id) => Fault::Covered(id, *zone),
            }));
        }
        units.push(Unit(item));
    }
    units.extend(fixed.map(Unit));
    Ok(units)
}

/// The operations of an arrangement, in order.
pub(crate) fn push<R: Fn(OpId) -> Role>(
    cell: &Cell<R>,
    units: &[Unit],
    order: &mut Vec<OpId>,
) -> Result<(), StopReason> {
    for unit in units {
        match unit.block() {
            Ok(index) => cell.push_block(&cell.blocks[index], order)?,
            Err(id) => order.push(id),
        }
    }
    Ok(())
}

/// An instant of an arrangement: 0 is before all events, an event is one more than its rank.
type Instant = u32;

/// The instant of an event.
fn after(rank: Rank) -> Instant {
    rank.number().saturating_add(1)
}

struct Zones<'a, 'b, R: Fn(OpId) -> Role> {
    cell: &'a Cell<'b, R>,
    open_last: bool,
}

impl<R: Fn(OpId) -> Role> Zones<'_, '_, R> {
    /// The first return in a block: by then it has begun.
    fn first(&self, block: &Block) -> Instant {
        match block.first {
            _ if block.root == self.cell.initial => 0,
            None => Instant::MAX,
            Some(first) => after(self.cell.returned(first)),
        }
    }

    /// The last call in a block: until then it has not ended.
    fn last(&self, block: &Block) -> Instant {
        match block.last {
            _ if self.open_last && block.open => Instant::MAX,
            None => 0,
            Some(last) => after(self.cell.invoked(last)),
        }
    }

    fn do_not_overlap(&self, fixed: &[u64]) -> Result<(), Halt<Fault>> {
        for pair in fixed.windows(2) {
            self.cell.poll.step()?;
            let [one, other] = [pair[0], pair[1]].map(|key| self.cell.blocks[key as u32 as usize]);
            if self.first(&other) < self.last(&one) {
                return Err(Halt::Fault(Fault::Blocks(one, other)));
            }
        }
        Ok(())
    }
}
