//! As `std::sync::atomic`.

use crate::runtime::{self, Action, Identity, Memory, Place, PlaceKind};
use std::fmt;
use std::panic::Location;
use std::sync::atomic as real;

pub use std::sync::atomic::Ordering;

/// As [`std::sync::atomic::fence`].
#[track_caller]
pub fn fence(order: Ordering) {
    let site = Location::caller();
    if runtime::with(|runtime| runtime.fence(order, site)).is_none() {
        real::fence(order);
    }
}

/// As [`std::sync::atomic::compiler_fence`]: threads are never interrupted by signals here.
pub fn compiler_fence(order: Ordering) {
    real::compiler_fence(order);
}

/// A value that is kept as a word.
trait Word: Copy {
    fn to_word(self) -> u64;
    fn of_word(word: u64) -> Self;
}

macro_rules! integer {
    ($name:ident, $real:ident, $type:ty) => {
        impl Word for $type {
            fn to_word(self) -> u64 {
                self as u64
            }
            fn of_word(word: u64) -> $type {
                word as $type
            }
        }

        atomic!($name, $real, $type);

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

        impl Default for $name {
            fn default() -> $name {
                $name::new(0)
            }
        }
    };
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
            match self.access(action) {
                Some(word) => <$type>::of_word(word),
                None => self.value.$name($value, order),
            }
        }
    };
}

macro_rules! atomic {
    ($name:ident, $real:ident, $type:ty $(, $parameter:ident)?) => {
        /// As in std.
        pub struct $name$(<$parameter>)? {
            value: real::$real$(<$parameter>)?,
            identity: Identity,
        }

        impl$(<$parameter>)? $name$(<$parameter>)? {
            /// As in std.
            pub const fn new(value: $type) -> Self {
                Self { value: real::$real::new(value), identity: Identity::new() }
            }

            /// Asks the runtime, if there is one.
            #[track_caller]
            fn access(&self, action: Action<'_>) -> Option<u64> {
                let site = Location::caller();
                let place =
                    Place { identity: &self.identity, memory: self, kind: PlaceKind::Atomic };
                runtime::with(|runtime| runtime.access(place, action, site))
            }

            /// As in std.
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $type {
                match self.access(Action::Load(order)) {
                    Some(word) => Word::of_word(word),
                    None => self.value.load(order),
                }
            }

            /// As in std.
            #[track_caller]
            pub fn store(&self, value: $type, order: Ordering) {
                if self.access(Action::Store(value.to_word(), order)).is_none() {
                    self.value.store(value, order);
                }
            }

            /// As in std.
            #[track_caller]
            pub fn swap(&self, value: $type, order: Ordering) -> $type {
                let change = |_| Some(value.to_word());
                let action = Action::Update { change: &change, success: order, failure: order };
                match self.access(action) {
                    Some(word) => Word::of_word(word),
                    None => self.value.swap(value, order),
                }
            }

            /// As in std.
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $type,
                new: $type,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$type, $type> {
                let change = |word| (word == current.to_word()).then(|| new.to_word());
                match self.access(Action::Update { change: &change, success, failure }) {
                    Some(word) if word == current.to_word() => Ok(Word::of_word(word)),
                    Some(word) => Err(Word::of_word(word)),
                    None => self.value.compare_exchange(current, new, success, failure),
                }
            }

            /// As in std; under control it never fails without a reason.
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $type,
                new: $type,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$type, $type> {
                self.compare_exchange(current, new, success, failure)
            }

            /// As in std.
            #[deprecated = "use `compare_exchange` or `compare_exchange_weak` instead"]
            #[track_caller]
            pub fn compare_and_swap(&self, current: $type, new: $type, order: Ordering) -> $type {
                let failure = match order {
                    Ordering::AcqRel => Ordering::Acquire,
                    Ordering::Release => Ordering::Relaxed,
                    order => order,
                };
                self.compare_exchange(current, new, order, failure).unwrap_or_else(|seen| seen)
            }

            /// As in std.
            #[track_caller]
            pub fn fetch_update(
                &self,
                set: Ordering,
                fetch: Ordering,
                mut change: impl FnMut($type) -> Option<$type>,
            ) -> Result<$type, $type> {
                let mut seen = self.load(fetch);
                while let Some(new) = change(seen) {
                    match self.compare_exchange_weak(seen, new, set, fetch) {
                        done @ Ok(_) => return done,
                        Err(other) => seen = other,
                    }
                }
                Err(seen)
            }

            /// As in std.
            #[track_caller]
            pub fn get_mut(&mut self) -> &mut $type {
                self.settle();
                // What is written through the reference is no access: it is as good as new.
                self.identity.forget();
                self.value.get_mut()
            }

            /// As in std.
            #[track_caller]
            pub fn into_inner(self) -> $type {
                self.settle();
                self.value.into_inner()
            }

            /// What it holds, for the one who has it alone.
            #[track_caller]
            pub fn with_mut<R>(&mut self, call: impl FnOnce(&mut $type) -> R) -> R {
                call(self.get_mut())
            }

            /// What it holds, without an access.
            ///
            /// # Safety
            ///
            /// No other thread may write it at the same time.
            #[track_caller]
            pub unsafe fn unsync_load(&self) -> $type {
                self.load(Ordering::Relaxed)
            }

            /// Under weak memory, memory need not hold what this thread sees: it does after this.
            #[track_caller]
            fn settle(&self) {
                if let Some(word) = self.access(Action::Load(Ordering::Relaxed)) {
                    self.set(word);
                }
            }
        }

        impl$(<$parameter>)? Memory for $name$(<$parameter>)? {
            fn get(&self) -> u64 {
                self.value.load(Ordering::Relaxed).to_word()
            }
            fn set(&self, word: u64) {
                self.value.store(Word::of_word(word), Ordering::Relaxed);
            }
        }

        impl$(<$parameter>)? fmt::Debug for $name$(<$parameter>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.value, f)
            }
        }

        impl$(<$parameter>)? From<$type> for $name$(<$parameter>)? {
            fn from(value: $type) -> Self {
                Self::new(value)
            }
        }
    };
}

integer!(AtomicU8, AtomicU8, u8);
integer!(AtomicU16, AtomicU16, u16);
integer!(AtomicU32, AtomicU32, u32);
integer!(AtomicU64, AtomicU64, u64);
integer!(AtomicUsize, AtomicUsize, usize);
integer!(AtomicI8, AtomicI8, i8);
integer!(AtomicI16, AtomicI16, i16);
integer!(AtomicI32, AtomicI32, i32);
integer!(AtomicI64, AtomicI64, i64);
integer!(AtomicIsize, AtomicIsize, isize);

impl Word for bool {
    fn to_word(self) -> u64 {
        u64::from(self)
    }
    fn of_word(word: u64) -> bool {
        word != 0
    }
}

atomic!(AtomicBool, AtomicBool, bool);

impl AtomicBool {
    arithmetic!(bool, fetch_and, |old, value| old & value);
    arithmetic!(bool, fetch_nand, |old, value| !(old & value));
    arithmetic!(bool, fetch_or, |old, value| old | value);
    arithmetic!(bool, fetch_xor, |old, value| old ^ value);

    /// As in std.
    #[track_caller]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.fetch_xor(true, order)
    }
}

impl Default for AtomicBool {
    fn default() -> AtomicBool {
        AtomicBool::new(false)
    }
}

// Pointers travel through the engine as words, so their provenance is exposed.
impl<T> Word for *mut T {
    fn to_word(self) -> u64 {
        self.expose_provenance() as u64
    }
    fn of_word(word: u64) -> *mut T {
        std::ptr::with_exposed_provenance_mut(word as usize)
    }
}

atomic!(AtomicPtr, AtomicPtr, *mut T, T);

impl<T> Default for AtomicPtr<T> {
    fn default() -> AtomicPtr<T> {
        AtomicPtr::new(std::ptr::null_mut())
    }
}
