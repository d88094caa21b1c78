//! Where arguments come from: fresh values, ranges, lists.

use crate::argument::Argument;
use linchpin_record::ToValue;
use linchpin_spec::Value;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

/// Where the values of one argument come from.
#[derive(Clone, Debug)]
pub enum Generator {
    /// A value that no other call of the scenario gets, from its number, which counts from 1.
    Fresh(fn(u64) -> Value),
    /// One of these.
    OneOf(Arc<[Value]>),
    /// An integer of a range.
    Range {
        /// The first.
        first: i128,
        /// How many there are.
        count: u128,
    },
}

impl Generator {
    /// How many values there are to choose from; all fresh values are as good as one.
    pub fn count(&self) -> u128 {
        match self {
            Generator::Fresh(_) => 1,
            Generator::OneOf(values) => values.len() as u128,
            Generator::Range { count, .. } => *count,
        }
    }

    /// The value with this number; `next` is the number of the next fresh one.
    pub fn value(&self, number: u128, next: &mut u64) -> Value {
        match self {
            Generator::Fresh(make) => {
                *next += 1;
                make(*next - 1)
            }
            Generator::OneOf(values) => {
                let at = usize::try_from(number).ok().and_then(|at| values.get(at));
                at.cloned().unwrap_or_default()
            }
            Generator::Range { first, .. } => first.saturating_add_unsigned(number).to_value(),
        }
    }
}

/// What makes values of an argument of type `A`.
pub trait Generate<A> {
    /// Where they come from.
    fn generator(self) -> Generator;
}

/// Values that differ from each other: see [`fresh`].
#[derive(Clone, Copy, Debug)]
pub struct Fresh;

/// A different value for each call: `op push(v: fresh) = …`. The first is 1, or `"v1"`.
#[allow(non_upper_case_globals)]
pub const fresh: Fresh = Fresh;

/// Types that have as many values as there are calls, or nearly so.
pub trait FreshValue: Argument {
    /// The value with this number. Types with few values begin again after the last.
    fn numbered(number: u64) -> Self;
}

impl<A: FreshValue> Generate<A> for Fresh {
    fn generator(self) -> Generator {
        Generator::Fresh(|number| A::numbered(number).to_value())
    }
}

impl FreshValue for String {
    fn numbered(number: u64) -> String {
        format!("v{number}")
    }
}

impl FreshValue for Value {
    fn numbered(number: u64) -> Value {
        number.to_value()
    }
}

macro_rules! integers {
    ($($int:ty)*) => {
        $(
            impl FreshValue for $int {
                fn numbered(number: u64) -> $int {
                    number as $int
                }
            }

            impl Generate<$int> for Range<$int> {
                fn generator(self) -> Generator {
                    let count = if self.is_empty() { 0 } else { self.end.abs_diff(self.start) };
                    Generator::Range { first: self.start as i128, count: count as u128 }
                }
            }

            impl Generate<$int> for RangeInclusive<$int> {
                fn generator(self) -> Generator {
                    let (first, last) = (*self.start(), *self.end());
                    let count = if self.is_empty() { 0 } else { last.abs_diff(first) as u128 + 1 };
                    Generator::Range { first: first as i128, count }
                }
            }
        )*
    };
}

integers!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

impl<A: Argument, const N: usize> Generate<A> for [A; N] {
    fn generator(self) -> Generator {
        Generator::OneOf(self.iter().map(A::to_value).collect())
    }
}

impl<A: Argument> Generate<A> for Vec<A> {
    fn generator(self) -> Generator {
        Generator::OneOf(self.iter().map(A::to_value).collect())
    }
}

/// Generators of several arguments, as a tuple.
pub trait Generators<A> {
    /// Where they come from.
    fn generators(self) -> Vec<Generator>;
}

macro_rules! tuples {
    ($(($($item:ident $of:ident)*))*) => {
        $(impl<$($item, $of: Generate<$item>),*> Generators<($($item,)*)> for ($($of,)*) {
            fn generators(self) -> Vec<Generator> {
                #[allow(non_snake_case)]
                let ($($of,)*) = self;
                vec![$($of.generator()),*]
            }
        })*
    };
}

tuples!(() (A GA) (A GA B GB) (A GA B GB C GC) (A GA B GB C GC D GD));

#[cfg(test)]
mod tests {
    use super::*;

    fn all(generator: &Generator) -> Vec<String> {
        let mut next = 1;
        (0..generator.count()).map(|at| generator.value(at, &mut next).to_string()).collect()
    }

    #[test]
    fn ranges_and_lists_have_their_values() {
        assert_eq!(all(&(-1..2_i8).generator()), ["-1", "0", "1"]);
        assert_eq!(all(&(u64::MAX..=u64::MAX).generator()), [u64::MAX.to_string()]);
        assert_eq!(all(&Generate::<u8>::generator([5, 7])), ["5", "7"]);
        assert!(all(&Generate::<u8>::generator(Vec::new())).is_empty());
    }

    #[test]
    fn fresh_values_differ() {
        let generator = Generate::<String>::generator(fresh);
        let mut next = 1;
        let first = generator.value(0, &mut next);
        assert_ne!(first, generator.value(0, &mut next));
    }
}
