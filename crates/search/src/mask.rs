//! Sets of slots: which of the operations in progress have taken effect.
//!
//! One word where at most 64 operations are ever in progress at a time, two up to 128, any number
//! beyond.

use smallvec::{SmallVec, smallvec};
use std::hash::Hash;

/// A set of slots.
///
/// INVARIANT: sets that are compared or combined were made for the same width.
pub(crate) trait Mask: Clone + Eq + Hash {
    /// The empty set of slots below `width`.
    fn empty(width: usize) -> Self;
    fn contains(&self, slot: u32) -> bool;
    fn insert(&mut self, slot: u32);
    fn remove(&mut self, slot: u32);
    fn and(&self, other: &Self) -> Self;
    fn or(&self, other: &Self) -> Self;
    fn and_not(&self, other: &Self) -> Self;
    fn is_empty(&self) -> bool;
    /// How many slots there are in it.
    fn count(&self) -> u32;
    /// The smallest slot.
    fn first(&self) -> Option<u32>;

    fn is_subset(&self, other: &Self) -> bool {
        self.and_not(other).is_empty()
    }

    /// The slots, in order.
    fn slots(&self) -> impl Iterator<Item = u32> {
        let mut rest = self.clone();
        std::iter::from_fn(move || {
            let slot = rest.first()?;
            rest.remove(slot);
            Some(slot)
        })
    }
}

macro_rules! word {
    ($word:ty) => {
        impl Mask for $word {
            fn empty(_: usize) -> $word {
                0
            }
            fn contains(&self, slot: u32) -> bool {
                self >> slot & 1 == 1
            }
            fn insert(&mut self, slot: u32) {
                *self |= 1 << slot;
            }
            fn remove(&mut self, slot: u32) {
                *self &= !(1 << slot);
            }
            fn and(&self, other: &$word) -> $word {
                self & other
            }
            fn or(&self, other: &$word) -> $word {
                self | other
            }
            fn and_not(&self, other: &$word) -> $word {
                self & !other
            }
            fn is_empty(&self) -> bool {
                *self == 0
            }
            fn count(&self) -> u32 {
                self.count_ones()
            }
            fn first(&self) -> Option<u32> {
                (*self != 0).then(|| self.trailing_zeros())
            }
        }
    };
}

word!(u64);
word!(u128);

/// A set of any number of slots.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Wide(SmallVec<[u64; 4]>);

impl Wide {
    fn zip(&self, other: &Wide, combine: impl Fn(u64, u64) -> u64) -> Wide {
        Wide(self.0.iter().zip(&other.0).map(|(one, two)| combine(*one, *two)).collect())
    }
}

impl Mask for Wide {
    fn empty(width: usize) -> Wide {
        Wide(smallvec![0; width.div_ceil(64)])
    }
    fn contains(&self, slot: u32) -> bool {
        self.0[slot as usize / 64].contains(slot % 64)
    }
    fn insert(&mut self, slot: u32) {
        self.0[slot as usize / 64].insert(slot % 64);
    }
    fn remove(&mut self, slot: u32) {
        self.0[slot as usize / 64].remove(slot % 64);
    }
    fn and(&self, other: &Wide) -> Wide {
        self.zip(other, |one, two| one & two)
    }
    fn or(&self, other: &Wide) -> Wide {
        self.zip(other, |one, two| one | two)
    }
    fn and_not(&self, other: &Wide) -> Wide {
        self.zip(other, |one, two| one & !two)
    }
    fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }
    fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
    fn first(&self) -> Option<u32> {
        let at = self.0.iter().position(|word| *word != 0)?;
        Some(at as u32 * 64 + self.0[at].trailing_zeros())
    }
}

/// Runs an expression with the type name `$mask` standing for the smallest mask of `$width` slots.
macro_rules! with_mask {
    ($width:expr, $mask:ident => $run:expr) => {
        match $width {
            0..=64 => {
                type $mask = u64;
                $run
            }
            65..=128 => {
                type $mask = u128;
                $run
            }
            _ => {
                type $mask = $crate::mask::Wide;
                $run
            }
        }
    };
}
pub(crate) use with_mask;

#[cfg(test)]
mod tests {
    use super::*;

    fn behaves<M: Mask>(width: usize) {
        let mut one = M::empty(width);
        assert!(one.is_empty() && one.first().is_none());
        for slot in [0, 5, width as u32 - 1] {
            one.insert(slot);
        }
        let mut two = one.clone();
        two.remove(5);
        assert!(two.is_subset(&one) && !one.is_subset(&two));
        assert_eq!(one.slots().collect::<Vec<_>>(), [0, 5, width as u32 - 1]);
        assert_eq!(one.and_not(&two).slots().collect::<Vec<_>>(), [5]);
        assert!(one.and(&two) == two && one.or(&two) == one && !two.contains(5));
    }

    #[test]
    fn all_widths_behave_alike() {
        behaves::<u64>(64);
        behaves::<u128>(128);
        behaves::<Wide>(300);
    }
}
