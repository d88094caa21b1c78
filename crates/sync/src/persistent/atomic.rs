//! Persistent cells, used like the types of `std::sync::atomic`.
//!
//! A cell is nothing but its memory, so that a pool looks as it would on real hardware. Outside of
//! a test a cell is the atomic of std, wherever it is. In a test it must be in a pool. `load` and
//! `store` take the orderings of std; in a test all of them are `SeqCst`.

use super::pool::P;
use super::{Persistent, cell};
use crate::runtime::{Action, Memory};
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::atomic as real;

pub use std::sync::atomic::Ordering;

/// A value that is kept as a word.
trait Word: Copy {
    fn to_word(self) -> u64;
    fn of_word(word: u64) -> Self;
}

macro_rules! arithmetic {
    ($type:ty, $name:ident, |$old:ident, $value:ident| $new:expr) => {
        /// As in std.
        #[track_caller]
        pub fn $name(&self, $value: $type, order: Ordering) -> $type {
            let change = |word| {
                let $old = <$type>::of_word(word);
                Some(Word::to_word($new))
            };
            let action = Action::Update { change: &change, success: order, failure: order };
            match cell::access(self, action, Location::caller()) {
                Some(word) => <$type>::of_word(word),
                None => self.0.$name($value, order),
            }
        }
    };
}

/// What all cells have: `$outer` is the type of the values, `$inner` what std keeps of it.
macro_rules! accesses {
    ($outer:ty, |$value:ident| $lower:expr, |$kept:ident| $raise:expr) => {
        /// As in std.
        #[track_caller]
        pub fn load(&self, order: Ordering) -> $outer {
            match cell::access(self, Action::Load(order), Location::caller()) {
                Some(word) => Word::of_word(word),
                None => {
                    let $kept = self.0.load(order);
                    $raise
                }
            }
        }

        /// As in std.
        #[track_caller]
        pub fn store(&self, $value: $outer, order: Ordering) {
            let action = Action::Store($value.to_word(), order);
            if cell::access(self, action, Location::caller()).is_none() {
                self.0.store($lower, order);
            }
        }

        /// As in std.
        #[track_caller]
        pub fn swap(&self, $value: $outer, order: Ordering) -> $outer {
            let change = |_| Some($value.to_word());
            let action = Action::Update { change: &change, success: order, failure: order };
            match cell::access(self, action, Location::caller()) {
                Some(word) => Word::of_word(word),
                None => {
                    let $kept = self.0.swap($lower, order);
                    $raise
                }
            }
        }

        /// As in std.
        #[track_caller]
        pub fn compare_exchange(
            &self,
            current: $outer,
            new: $outer,
            success: Ordering,
            failure: Ordering,
        ) -> Result<$outer, $outer> {
            let change = |word| (word == current.to_word()).then(|| new.to_word());
            let action = Action::Update { change: &change, success, failure };
            match cell::access(self, action, Location::caller()) {
                Some(word) if word == current.to_word() => Ok(Word::of_word(word)),
                Some(word) => Err(Word::of_word(word)),
                None => {
                    let lower = |$value: $outer| $lower;
                    let (current, new) = (lower(current), lower(new));
                    let result = self.0.compare_exchange(current, new, success, failure);
                    result.map(|$kept| $raise).map_err(|$kept| $raise)
                }
            }
        }

        /// As in std; in a test it never fails without a reason.
        #[track_caller]
        pub fn compare_exchange_weak(
            &self,
            current: $outer,
            new: $outer,
            success: Ordering,
            failure: Ordering,
        ) -> Result<$outer, $outer> {
            self.compare_exchange(current, new, success, failure)
        }

        /// As in std.
        #[track_caller]
        pub fn fetch_update(
            &self,
            set: Ordering,
            fetch: Ordering,
            mut change: impl FnMut($outer) -> Option<$outer>,
        ) -> Result<$outer, $outer> {
            let mut seen = self.load(fetch);
            while let Some(new) = change(seen) {
                match self.compare_exchange_weak(seen, new, set, fetch) {
                    done @ Ok(_) => return done,
                    Err(other) => seen = other,
                }
            }
            Err(seen)
        }
    };
}

macro_rules! simple {
    ($name:ident, $type:ty, $initial:expr) => {
        /// As in std, in persistent memory.
        #[repr(transparent)]
        pub struct $name(real::$name);

        impl $name {
            /// As in std.
            pub const fn new(value: $type) -> $name {
                $name(real::$name::new(value))
            }

            accesses!($type, |value| value, |kept| kept);
        }

        impl Memory for $name {
            fn get(&self) -> u64 {
                self.0.load(Ordering::Relaxed).to_word()
            }
            fn set(&self, word: u64) {
                self.0.store(Word::of_word(word), Ordering::Relaxed);
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl Default for $name {
            fn default() -> $name {
                $name::new($initial)
            }
        }

        impl From<$type> for $name {
            fn from(value: $type) -> $name {
                $name::new(value)
            }
        }
    };
}

macro_rules! integer {
    ($name:ident, $type:ty) => {
        impl Word for $type {
            fn to_word(self) -> u64 {
                self as u64
            }
            fn of_word(word: u64) -> $type {
                word as $type
            }
        }

        simple!($name, $type, 0);

        impl $name {
            arithmetic!($type, fetch_add, |old, value| old.wrapping_add(value));
            arithmetic!($type, fetch_sub, |old, value| old.wrapping_sub(value));
            arithmetic!($type, fetch_and, |old, value| old & value);
            arithmetic!($type, fetch_nand, |old, value| !(old & value));
            arithmetic!($type, fetch_or, |old, value| old | value);
            arithmetic!($type, fetch_xor, |old, value| old ^ value);
            arithmetic!($type, fetch_max, |old, value| old.max(value));
            arithmetic!($type, fetch_min, |old, value| old.min(value));
        }
    };
}

integer!(AtomicU8, u8);
integer!(AtomicU16, u16);
integer!(AtomicU32, u32);
integer!(AtomicU64, u64);
integer!(AtomicUsize, usize);
integer!(AtomicI8, i8);
integer!(AtomicI16, i16);
integer!(AtomicI32, i32);
integer!(AtomicI64, i64);
integer!(AtomicIsize, isize);

impl Word for bool {
    fn to_word(self) -> u64 {
        u64::from(self)
    }
    fn of_word(word: u64) -> bool {
        word != 0
    }
}

simple!(AtomicBool, bool, false);

impl AtomicBool {
    arithmetic!(bool, fetch_and, |old, value| old & value);
    arithmetic!(bool, fetch_nand, |old, value| !(old & value));
    arithmetic!(bool, fetch_or, |old, value| old | value);
    arithmetic!(bool, fetch_xor, |old, value| old ^ value);
}

impl<T> Word for P<T> {
    fn to_word(self) -> u64 {
        P::to_word(self)
    }
    fn of_word(word: u64) -> P<T> {
        P::of_word(word)
    }
}

/// A cell that refers to an object in the same pool: as `AtomicPtr` of std, with [`P`] for
/// pointers.
#[repr(transparent)]
pub struct AtomicPtr<T>(real::AtomicU64, PhantomData<fn() -> T>);

impl<T: Persistent> AtomicPtr<T> {
    /// Refers to this.
    pub const fn new(value: P<T>) -> AtomicPtr<T> {
        AtomicPtr(real::AtomicU64::new(value.to_word()), PhantomData)
    }

    /// Refers to nothing.
    pub const fn null() -> AtomicPtr<T> {
        AtomicPtr::new(P::null())
    }

    accesses!(P<T>, |value| value.to_word(), |kept| P::of_word(kept));
}

impl<T> Memory for AtomicPtr<T> {
    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
    fn set(&self, word: u64) {
        self.0.store(word, Ordering::Relaxed);
    }
}

impl<T> fmt::Debug for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&P::<T>::of_word(self.0.load(Ordering::Relaxed)), f)
    }
}

impl<T: Persistent> Default for AtomicPtr<T> {
    fn default() -> AtomicPtr<T> {
        AtomicPtr::null()
    }
}
