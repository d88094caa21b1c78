//! What queues, stacks and priority queues of distinct values have in common: the life of each
//! value.
//!
//! Time is a row of gaps: gap `g` lies just before event `g`, so an operation takes effect in one
//! of the gaps after its invocation up to its response, and several may take effect in one gap, in
//! any order.
//!
//! ```text
//! enqueue 7     ├──────┤
//! dequeue → 7              ├──────┤
//! event         0      1   2      3
//! gap         0    1     2    3      4      added in gap 1, removed in gap 3: certainly inside during gap 2
//! ```
//!
//! From its last possible addition to its first possible removal a value is *certainly inside*; all
//! three checkers are about these intervals. Start with [`Part`], then [`decide`].

mod cover;
mod decide;
mod gather;
mod pairing;
mod places;
mod say;
mod shrink;

pub(super) use cover::{FreeGaps, cover};
pub(super) use decide::{Collection, Decision, check, decide_by_trial, without};
use linchpin_history_data::{OpId, ValueId};
pub(super) use pairing::{Pairing, Unpaired};
pub(super) use places::Places;
pub(super) use say::Speech;

use super::poll::{StopPoll, StopReason};

/// An instant, up to the order within it.
pub(super) type Gap = u32;

/// The gap of what never happens.
pub(super) const FOREVER: Gap = Gap::MAX;

/// The words and operations of a data type.
#[derive(Debug)]
pub(super) struct Object {
    /// What it is called in sentences.
    pub name: &'static str,
    /// The index and the name of the operation that adds.
    pub add: (usize, &'static str),
    /// The index and the name of the operation that removes.
    pub remove: (usize, &'static str),
    /// The index and the name of the operation that looks.
    pub peek: Option<(usize, &'static str)>,
    /// "enqueued", "dequeued".
    pub participles: (&'static str, &'static str),
}

/// The life of a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Life {
    /// The value.
    pub value: ValueId,
    /// What added it, if it was not there from the start.
    pub add: Option<OpId>,
    /// What removed it, if anything did; once assigned, a pending operation.
    pub remove: Option<OpId>,
    /// The gaps in which it may have been added.
    pub added: Span,
    /// The gaps in which it may have been removed; [`FOREVER`] if it never was.
    pub removed: Span,
    /// The last gap in which it must have been the next to leave: by then something saw it so, or
    /// removed it.
    pub seen_by: Gap,
}

/// The gaps from the first to the last, both included; none if the last is smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub lo: Gap,
    pub hi: Gap,
}

/// A completed operation that changed nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// The life of the value it saw: index into [`Part::lives`]; nothing for operations that found
    /// nothing.
    pub life: u32,
    /// What it was.
    pub op: OpId,
    /// When it took effect.
    pub span: Span,
}

/// A history of a collection, or a part of one: some values with all that removed them, and some
/// looks.
#[derive(Clone, Debug, Default)]
pub(super) struct Part {
    /// The values that were added for certain.
    pub lives: Vec<Life>,
    /// The looks that saw a value.
    pub looks: Vec<Look>,
    /// The operations that found the collection empty.
    pub empties: Vec<Look>,
    /// The pending removals, in the order of their invocations: each may have removed any value, or
    /// none.
    pub removers: Vec<Look>,
    /// The gap after the last: where values that are never removed are imagined to leave.
    pub end: Gap,
}

/// Why no order explains a part.
#[derive(Clone, Debug, Default)]
pub(super) struct Conflict {
    /// Values that cannot be explained, with all their operations and `empty` if there is one.
    pub lives: Vec<u32>,
    /// The one of [`Part::empties`] that cannot be explained.
    pub empty: Option<u32>,
    /// INVARIANT: if pending removals can help at all, it helps that they remove some of these.
    pub blockers: Vec<u32>,
}

impl Span {
    /// Whether there is a gap in it.
    pub fn is_empty(self) -> bool {
        self.hi < self.lo
    }
}

impl Life {
    /// When the value was certainly inside.
    pub fn inside(&self) -> Span {
        Span { lo: self.added.hi + 1, hi: self.removed.lo - 1 }
    }

    /// Whether no completed operation removed the value.
    pub fn stays(&self) -> bool {
        self.removed.hi == FOREVER
    }
}

impl Part {
    /// Narrows each life to what its own operations allow: a value is added before it is seen and
    /// removed, and removed after it is added and seen.
    ///
    /// INVARIANT: afterwards `added.lo <= added.hi <= seen_by <= removed.hi` and
    /// `added.lo <= removed.lo <= removed.hi`.
    pub fn tune(&mut self, poll: &StopPoll) -> Result<(), StopReason> {
        for life in &mut self.lives {
            poll.step()?;
            life.seen_by = life.removed.hi;
            life.removed.lo = life.removed.lo.max(life.added.lo);
            life.added.hi = life.added.hi.min(life.seen_by);
        }
        for look in &self.looks {
            poll.step()?;
            let life = &mut self.lives[look.life as usize];
            life.seen_by = life.seen_by.min(look.span.hi);
            life.removed.lo = life.removed.lo.max(look.span.lo);
            life.added.hi = life.added.hi.min(life.seen_by);
        }
        Ok(())
    }

    /// Makes values that are never removed leave in the gap after the last.
    pub fn drain(&mut self, poll: &StopPoll) -> Result<(), StopReason> {
        let end = self.end;
        for life in &mut self.lives {
            poll.step()?;
            life.removed.lo = life.removed.lo.min(end);
            life.removed.hi = life.removed.hi.min(end);
        }
        Ok(())
    }

    /// The part, tuned, for sentences about it.
    pub fn tuned(&self) -> Part {
        let mut tuned = self.clone();
        // Without limits nothing stops.
        let _ = tuned.tune(&StopPoll::unlimited());
        tuned
    }

    /// The part, tuned and drained, for sentences about it.
    pub fn tuned_and_drained(&self) -> Part {
        let mut drained = self.tuned();
        let _ = drained.drain(&StopPoll::unlimited());
        drained
    }

    /// The lives that no completed operation ends, those that were certainly added first in front.
    pub fn staying(&self) -> Vec<u32> {
        let mut staying: Vec<u32> = (0..self.lives.len() as u32)
            .filter(|&life| self.lives[life as usize].remove.is_none())
            .collect();
        staying.sort_by_key(|&life| self.lives[life as usize].added.hi);
        staying
    }

    /// Lets the pending removal `remover` remove the value of `life`.
    pub fn assign(&mut self, life: u32, remover: usize) {
        let remover = self.removers[remover];
        let life = &mut self.lives[life as usize];
        life.remove = Some(remover.op);
        life.removed.lo = remover.span.lo;
    }

    /// The last gap in which a completed removal or look may take effect: pending removals invoked
    /// later do not help.
    fn last_look(&self) -> Gap {
        let removals = self.lives.iter().filter(|life| !life.stays()).map(|life| life.removed.hi);
        let looks = self.looks.iter().chain(&self.empties).map(|look| look.span.hi);
        removals.chain(looks).max().unwrap_or(0)
    }

    /// Drops the pending removals that cannot help.
    pub fn drop_late_removers(&mut self) {
        if !self.removers.is_empty() {
            let last = self.last_look();
            self.removers.retain(|remover| remover.span.lo <= last);
        }
    }

    /// The operation at a life whose response comes first, and the one whose invocation comes last;
    /// none where the value was there from the start, or stays. The part must not be tuned.
    pub fn ends(&self, life: u32) -> (Option<OpId>, Option<OpId>) {
        let of = &self.lives[life as usize];
        let looks = self.looks.iter().filter(|look| look.life == life);
        let looks = looks.map(|look| (look.span, Some(look.op)));
        let all = || looks.clone().chain([(of.added, of.add), (of.removed, of.remove)]);
        let first = all().min_by_key(|(span, _)| span.hi).and_then(|(_, op)| op);
        let last = all().max_by_key(|(span, _)| span.lo).and_then(|(_, op)| op);
        (first, last)
    }

    /// The operation that saw or removed the value of a life and returned first.
    pub fn first_seen(&self, life: u32) -> Option<OpId> {
        let of = &self.lives[life as usize];
        let looks = self.looks.iter().filter(|look| look.life == life);
        let looks = looks.map(|look| (look.span, Some(look.op)));
        let first = looks.chain([(of.removed, of.remove)]).min_by_key(|(span, _)| span.hi);
        first.and_then(|(_, op)| op)
    }

    /// All operations of the part.
    pub fn operations(&self) -> Vec<OpId> {
        let lives = self.lives.iter().flat_map(|life| [life.add, life.remove]).flatten();
        let looks = self.looks.iter().chain(&self.empties).chain(&self.removers);
        let mut all: Vec<OpId> = lives.chain(looks.map(|look| look.op)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// The lives of the values of a history that has no values at the start, if nothing is obviously
/// wrong with it.
#[cfg(test)]
pub(super) fn gathered<C: Collection>(
    history: &linchpin_history_data::History,
    poll: &StopPoll,
) -> Option<Part> {
    match gather::gather(history, &[], &C::OBJECT, linchpin_history_data::NEVER, poll) {
        Ok(gather::Gathered::Part(part)) => Some(part),
        _ => None,
    }
}
