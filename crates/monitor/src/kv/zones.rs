//! Blocks in order.
//!
//! Let `f` be the first return in a block and `s` the last call. A block must be before another if
//! its `f` is before the `s` of the other. If `f < s` the block is there from `f` to `s`, its
//! *zone*; if not, it can happen at any instant from `s` to `f`. There is an order iff no two zones
//! overlap and no block without a zone has all its instants in one; longer circles collapse to
//! these. See also `zone.rs`, for blocks that are chains of values.

use super::blocks::{Block, Blocks, Conflict};
use super::log::{At, BEGINNING, Instant, Role};
use crate::poll::{StopPoll, StopReason};
use crate::sorting;

/// So many conflicts of one round are enough.
const MOST_CONFLICTS: usize = 1 << 10;

/// The blocks in an order, or what stands against one.
pub(super) fn arrange(
    blocks: &Blocks<'_, '_>,
    conflicts: &mut Vec<Conflict>,
    poll: &StopPoll,
) -> Result<Vec<At>, StopReason> {
    let zones = Zones { blocks };
    let (mut fixed, mut free) = (Vec::new(), Vec::new());
    for root in 0..blocks.known.count {
        poll.step()?;
        if !zones.is_there(root) {
            continue;
        }
        let (first, last) = zones.of(root);
        match first < last {
            true => fixed.push(u64::from(first) << 32 | u64::from(root)),
            false => free.push(u64::from(last) << 32 | u64::from(root)),
        }
    }
    let fixed = sorting::by_upper_bits(fixed, 32, poll)?;
    let free = sorting::by_upper_bits(free, 32, poll)?;
    let root = |packed: u64| (packed & u64::from(u32::MAX)) as At;

    let mut order = Vec::with_capacity(fixed.len() + free.len());
    let mut fixed = fixed.into_iter().map(root).peekable();
    // INVARIANT: of the zones so far, the one that ends last.
    let mut longest: Option<At> = None;
    let add = |zone: At, longest: &mut Option<At>, conflicts: &mut Vec<Conflict>| {
        let end = longest.map_or(0, |other| zones.of(other).1);
        if zones.of(zone).0 < end {
            conflicts.extend(longest.map(|other| zones.crossed(other, zone)));
        }
        if zones.of(zone).1 > end {
            *longest = Some(zone);
        }
    };
    for free in free.into_iter().map(root) {
        poll.step()?;
        let (until, instant) = zones.of(free);
        while let Some(zone) = fixed.next_if(|zone| zones.of(*zone).0 < instant) {
            poll.step()?;
            add(zone, &mut longest, conflicts);
            order.push(zone);
        }
        if let Some(zone) = longest.filter(|zone| zones.of(*zone).1 > until) {
            conflicts.push(zones.crossed(zone, free));
        }
        if conflicts.len() > MOST_CONFLICTS {
            return Ok(order);
        }
        order.push(free);
    }
    for zone in fixed {
        poll.step()?;
        add(zone, &mut longest, conflicts);
        order.push(zone);
    }
    Ok(order)
}

struct Zones<'b, 'k, 'l> {
    blocks: &'b Blocks<'k, 'l>,
}

impl Zones<'_, '_, '_> {
    /// Whether an operation is the root of a block. The beginning always is; what did not return is
    /// only if a get shows it.
    fn is_there(&self, root: At) -> bool {
        let known = self.blocks.known;
        match known.log[root].role {
            Role::Get(..) => false,
            Role::Put(_) => {
                root == BEGINNING || known.is_completed(root) || self.blocks.is_shown(root)
            }
            Role::Append(_) => {
                known.is_completed(root) && self.blocks.seen[root as usize].is_none()
            }
        }
    }

    fn block(&self, root: At) -> Block {
        self.blocks.blocks[root as usize]
    }

    /// The first return and the last call.
    fn of(&self, root: At) -> (Instant, Instant) {
        let block = self.block(root);
        (self.blocks.known.returned(block.first), self.blocks.known.call(block.last))
    }

    fn crossed(&self, one: At, other: At) -> Conflict {
        Conflict::Crossed(self.block(one), self.block(other))
    }
}
