//! The order of all operations of a stack, from that of the operations that were not folded.
//!
//! Before each block: the folded values that end there are popped, the first folded one before the
//! others; then come the operations that were not folded; then the folded values that start there
//! are pushed, the last folded one before the others. What was folded later went around what was
//! folded before.

use super::super::intervals::{Gap, Part};
use super::super::poll::{StopPoll, StopReason};
use super::super::sorting;
use super::emit::{Lists, LooksByLife};
use super::fold::{Blocks, Folded, Folding};
use linchpin_history_data::OpId;

/// Puts what was folded into an order of the rest.
pub(super) fn unfold(
    part: &Part,
    mut folding: Folding,
    order_of_rest: Vec<OpId>,
    poll: &StopPoll,
) -> Result<Vec<OpId>, StopReason> {
    let before = blocks_of(&mut folding.blocks, &folding.rest, &order_of_rest, poll)?;
    let mut rest = order_of_rest.into_iter().zip(before).peekable();
    let (folded, points) = (&folding.folded, &folding.blocks.points);
    let pops = folded.iter().map(|value| value.pop).enumerate().rev();
    let pops = Lists::new(points.len(), pops, poll)?;
    let pushes = folded.iter().map(|value| value.push).enumerate();
    let pushes = Lists::new(points.len(), pushes, poll)?;
    let mut neutral = neutral(part, poll)?.into_iter().peekable();
    let total = 2 * part.lives.len() + part.looks.len() + part.empties.len();
    let looks = LooksByLife::new(part, poll)?;
    let mut unfolder = Unfolder { part, points, looks, order: Vec::with_capacity(total) };
    // What takes effect after the end is only imagined: values that are never popped, pending pops
    // that are not needed.
    for (block, &point) in points.iter().enumerate().take_while(|(_, point)| **point < part.end) {
        poll.step()?;
        while let Some(packed) = neutral.next_if(|packed| packed >> 32 <= u64::from(point)) {
            unfolder.come_and_go(packed as u32);
        }
        for at in pops.iter(block as u32) {
            unfolder.pop(&folded[at as usize]);
        }
        while let Some((op, _)) = rest.next_if(|(_, before)| *before == block as u32) {
            unfolder.order.push(op);
        }
        for at in pushes.iter(block as u32) {
            unfolder.push(&folded[at as usize]);
        }
    }
    neutral.for_each(|packed| unfolder.come_and_go(packed as u32));
    Ok(unfolder.order)
}

/// For each operation of the rest, in order, the block before which it takes effect: the first
/// after the last call so far.
fn blocks_of(
    blocks: &mut Blocks,
    rest: &Part,
    order: &[OpId],
    poll: &StopPoll,
) -> Result<Vec<u32>, StopReason> {
    let mut called = vec![0; order.iter().max().map_or(0, |&last| last.index() + 1)];
    let lives = rest.lives.iter();
    let lives = lives.flat_map(|life| [(life.add, life.added), (life.remove, life.removed)]);
    let looks = rest.looks.iter().chain(&rest.empties).map(|look| (Some(look.op), look.span));
    for (op, span) in lives.chain(looks) {
        poll.step()?;
        // What is not in the order stays, or was there from the start.
        if let Some(called) = op.and_then(|op| called.get_mut(op.index())) {
            *called = span.lo;
        }
    }
    let mut last: Gap = 0;
    let mut before = Vec::with_capacity(order.len());
    for op in order {
        poll.step()?;
        last = last.max(called[op.index()]);
        before.push(blocks.after_call(last));
    }
    Ok(before)
}

/// The values that need not be inside at any instant, by a gap in which they come and go, packed
/// with it.
fn neutral(part: &Part, poll: &StopPoll) -> Result<Vec<u64>, StopReason> {
    let mut neutral = Vec::new();
    for (at, life) in part.lives.iter().enumerate() {
        poll.step()?;
        if life.inside().is_empty() {
            neutral.push(u64::from(life.removed.lo) << 32 | at as u64);
        }
    }
    sorting::by_upper_bits(neutral, 32, poll)
}

struct Unfolder<'a> {
    part: &'a Part,
    points: &'a [Gap],
    looks: LooksByLife,
    order: Vec<OpId>,
}

impl Unfolder<'_> {
    /// The looks that had been called when the value was pushed come then.
    fn push(&mut self, value: &Folded) {
        self.order.extend(self.part.lives[value.life as usize].add);
        self.looks_at(value, true);
    }

    fn pop(&mut self, value: &Folded) {
        self.looks_at(value, false);
        self.order.extend(self.part.lives[value.life as usize].remove);
    }

    fn looks_at(&mut self, value: &Folded, at_push: bool) {
        let point = self.points[value.push as usize];
        let looks = self.looks.iter(value.life).map(|look| &self.part.looks[look as usize]);
        let looks = looks.filter(|look| (look.span.lo <= point) == at_push);
        self.order.extend(looks.map(|look| look.op));
    }

    fn come_and_go(&mut self, life: u32) {
        let of = &self.part.lives[life as usize];
        self.order.extend(of.add);
        let looks = self.looks.iter(life).map(|look| self.part.looks[look as usize].op);
        self.order.extend(looks);
        self.order.extend(of.remove);
    }
}
