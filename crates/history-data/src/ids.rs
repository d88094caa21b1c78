//! Ids: what would be bare numbers, each with a type of its own.

use std::fmt;
use std::num::NonZeroU32;
use std::ops::{Add, AddAssign, Sub};

/// An operation of a history: its index in [`History::operations`](crate::History::operations).
///
/// `Option<OpId>` is as small as this.
// INVARIANT: one more than the index, so that 0 is free for `None`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpId(NonZeroU32);

impl OpId {
    /// The operation at an index. Histories are not so long that there is none: see
    /// [`HistoryError::TooLong`](crate::HistoryError::TooLong).
    #[inline]
    pub const fn new(index: usize) -> OpId {
        debug_assert!(index < u32::MAX as usize);
        OpId(NonZeroU32::MIN.saturating_add(index as u32))
    }

    /// Its index.
    #[inline]
    pub const fn index(self) -> usize {
        self.0.get() as usize - 1
    }

    /// Its index, as a number that is stored.
    #[inline]
    pub const fn number(self) -> u32 {
        self.0.get() - 1
    }

    /// The operation with this number.
    #[inline]
    pub const fn numbered(number: u32) -> OpId {
        OpId(NonZeroU32::MIN.saturating_add(number))
    }
}

impl fmt::Debug for OpId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for OpId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.number(), f)
    }
}

/// The position of an event in its history, from 0. Every event has its own.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(u32);

/// The rank after all events: the end of an operation that may take effect at any later time.
pub const NEVER: Rank = Rank(u32::MAX);

impl Rank {
    /// The first event.
    pub const FIRST: Rank = Rank(0);

    /// The event at a position.
    #[inline]
    pub const fn new(position: u32) -> Rank {
        Rank(position)
    }

    /// The event at an index, [`NEVER`] if there can be none.
    #[inline]
    pub const fn at(index: usize) -> Rank {
        Rank(if index < u32::MAX as usize { index as u32 } else { u32::MAX })
    }

    /// Its position.
    #[inline]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Its position as an index, for tables with an entry an event.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// So many events later.
impl Add<u32> for Rank {
    type Output = Rank;

    #[inline]
    fn add(self, events: u32) -> Rank {
        Rank(self.0 + events)
    }
}

impl AddAssign<u32> for Rank {
    #[inline]
    fn add_assign(&mut self, events: u32) {
        self.0 += events;
    }
}

/// So many events earlier.
impl Sub<u32> for Rank {
    type Output = Rank;

    #[inline]
    fn sub(self, events: u32) -> Rank {
        Rank(self.0 - events)
    }
}

/// How many events lie between.
impl Sub for Rank {
    type Output = u32;

    #[inline]
    fn sub(self, other: Rank) -> u32 {
        self.0 - other.0
    }
}

macro_rules! numbers {
    ($($id:ty => $number:ty),*) => {
        $(impl From<$id> for $number {
            #[inline]
            fn from(id: $id) -> $number {
                <$number>::from(id.number())
            }
        })*
    };
}

numbers!(OpId => u32, OpId => u64, Rank => u32, Rank => u64, Rank => i64);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Operation;

    #[test]
    fn an_optional_id_costs_nothing() {
        assert_eq!(size_of::<Option<OpId>>(), 4);
        assert!(size_of::<Operation>() <= 44);
    }

    #[test]
    fn ids_are_what_they_were_made_of() {
        for index in [0, 1, 1 << 20, u32::MAX as usize - 1] {
            assert_eq!(OpId::new(index).index(), index);
            assert_eq!(OpId::numbered(OpId::new(index).number()), OpId::new(index));
        }
        assert!(Rank::at(usize::MAX) == NEVER && Rank::at(7) < NEVER);
        assert_eq!(Rank::new(9) - Rank::new(4), 5);
    }
}
