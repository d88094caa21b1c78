//! Histories whose precedence is a partial order, not an order of intervals.
//!
//! Under weak memory there is no clock that all threads share: an operation precedes another if it
//! *happens before* it, and two threads that never met are not ordered at all.
//!
//! ```text
//! thread a   enqueue 1 ──► enqueue 2
//! thread b   dequeue → 2 ──► dequeue → 1
//! ```
//!
//! Two operations each and no order across is no interval order: of two intervals before two
//! others, one of the first is before one of the second crosswise. [`PartialBuilder`] makes a
//! [`PartialHistory`]; [`Precedence`] is the order alone. `intervals.rs` finds out whether it is an
//! interval order after all.

mod builder;
mod intervals;
#[cfg(test)]
mod tests;

pub use builder::PartialBuilder;
pub use intervals::Intervals;

use crate::{History, HistoryError, OpId};
use thiserror::Error;

/// A partial order that cannot be one, or a history that does not fit it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PartialError {
    /// More operations than bits.
    #[error(
        "a history with a partial order can have at most {most} operations, and this one has {0}",
        most = Precedence::MOST
    )]
    TooMany(usize),
    /// An operation precedes itself.
    #[error("operation {0} precedes itself")]
    Cycle(OpId),
    /// An operation that is not there.
    #[error("there is no operation {0}")]
    NoSuchOperation(OpId),
    /// A call of nothing that the specification has.
    #[error("the specification has no operation with the index {0}")]
    NoSuchCall(u16),
    /// An order of so many operations for a history of another number.
    #[error("the order is one of {ordered} operations, but the history has {operations}")]
    OtherLength {
        /// How many are ordered.
        ordered: usize,
        /// How many the history has.
        operations: usize,
    },
    /// A crash, which is an instant.
    #[error("a crash is an instant, and a history with a partial order has none")]
    Crash,
    /// A call that cannot be one.
    #[error(transparent)]
    Call(#[from] HistoryError),
}

/// Which operations precede which: a strict partial order.
///
/// A completed operation that precedes another takes effect before it. One that is pending does so
/// or never takes effect.
// INVARIANT: transitively closed and without a cycle; bits of operations that are not there are 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Precedence {
    before: [u64; Precedence::MOST],
    after: [u64; Precedence::MOST],
    count: usize,
}

impl Default for Precedence {
    fn default() -> Precedence {
        let none = [0; Precedence::MOST];
        Precedence { before: none, after: none, count: 0 }
    }
}

impl Precedence {
    /// So many operations can be ordered.
    pub const MOST: usize = 64;

    /// The order in which operation `i` comes after those of `before[i]`, a bit for each, and after
    /// what these come after.
    ///
    /// # Errors
    ///
    /// If there are too many, a bit stands for no operation, or one would precede itself.
    ///
    /// ```
    /// use linchpin_history_data::{OpId, Precedence};
    ///
    /// let chain = Precedence::new(&[0b000, 0b001, 0b010])?;
    /// assert!(chain.precedes(OpId::new(0), OpId::new(2)));
    /// assert!(Precedence::new(&[0b10, 0b01]).is_err());
    /// # Ok::<(), linchpin_history_data::PartialError>(())
    /// ```
    pub fn new(before: &[u64]) -> Result<Precedence, PartialError> {
        let mut order = Precedence::default();
        order.close(before)?;
        Ok(order)
    }

    /// Makes this the closure of a relation, in place.
    pub(crate) fn close(&mut self, relation: &[u64]) -> Result<(), PartialError> {
        let count = relation.len();
        if count > Precedence::MOST {
            return Err(PartialError::TooMany(count));
        }
        let strange = relation.iter().fold(0, |all, mask| all | mask) & !ones(count);
        if strange != 0 {
            return Err(PartialError::NoSuchOperation(OpId::numbered(strange.trailing_zeros())));
        }
        // Warshall's algorithm, a row of bits at a time.
        let mut before = [0; Precedence::MOST];
        before[..count].copy_from_slice(relation);
        for via in 0..count {
            let more = before[via];
            for mask in &mut before[..count] {
                if *mask >> via & 1 != 0 {
                    *mask |= more;
                }
            }
        }
        if let Some(at) = (0..count).find(|at| before[*at] >> at & 1 != 0) {
            return Err(PartialError::Cycle(OpId::new(at)));
        }
        let mut after = [0; Precedence::MOST];
        for (at, mask) in before[..count].iter().enumerate() {
            for first in bits(*mask) {
                after[first] |= 1 << at;
            }
        }
        *self = Precedence { before, after, count };
        Ok(())
    }

    /// How many operations are ordered.
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// What precedes each operation, a bit for each.
    pub fn before(&self) -> &[u64] {
        &self.before[..self.count]
    }

    /// What each operation precedes, a bit for each.
    pub fn after(&self) -> &[u64] {
        &self.after[..self.count]
    }

    /// Whether one operation precedes another. Those that are not there precede nothing.
    pub fn precedes(&self, first: OpId, second: OpId) -> bool {
        let mask = self.before().get(second.index()).copied().unwrap_or(0);
        first.index() < Precedence::MOST && mask >> first.index() & 1 != 0
    }

    /// The pairs from which all others follow.
    pub fn steps(&self) -> impl Iterator<Item = (OpId, OpId)> + '_ {
        (0..self.count).flat_map(move |second| {
            let before = self.before[second];
            let between = move |first: &usize| self.after[*first] & before == 0;
            bits(before).filter(between).map(move |first| (OpId::new(first), OpId::new(second)))
        })
    }
}

/// The lowest `count` bits.
pub(crate) const fn ones(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

/// The places of the bits that are set.
pub(crate) fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (at < 64).then_some(at)
    })
}

/// A history whose precedence is a partial order.
#[derive(Clone, Debug, Default)]
pub struct PartialHistory {
    // INVARIANT: as many operations as the order has; no crashes. Ranks say nothing about the
    // order.
    history: History,
    order: Precedence,
}

impl PartialHistory {
    /// The operations of a history in another order than that of their ranks, which are ignored.
    ///
    /// # Errors
    ///
    /// If the order is one of another number of operations, or the history has a crash.
    pub fn new(history: History, order: Precedence) -> Result<PartialHistory, PartialError> {
        let (ordered, operations) = (order.len(), history.operations.len());
        if ordered != operations {
            return Err(PartialError::OtherLength { ordered, operations });
        }
        if !history.crashes.is_empty() {
            return Err(PartialError::Crash);
        }
        Ok(PartialHistory { history, order })
    }

    /// The operations. Their `invoked` and `returned` mean nothing.
    pub fn operations(&self) -> &History {
        &self.history
    }

    /// Which precede which.
    pub fn order(&self) -> &Precedence {
        &self.order
    }

    /// The operations that returned, a bit for each.
    pub fn completed(&self) -> u64 {
        let bit = |(at, completed): (usize, bool)| u64::from(completed) << at;
        let operations = self.history.operations.iter().take(Precedence::MOST);
        operations.map(|operation| operation.completed).enumerate().map(bit).sum()
    }
}
