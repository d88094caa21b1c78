//! As `std::sync::RwLock`.

use super::mutex::{guarded, poisoned_if, try_guarded};
use crate::runtime::{self, PlaceKind, Site};
use crate::word::{Change, Word};
use std::cell::UnsafeCell;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{LockResult, TryLockError, TryLockResult};

/// What the word is while a thread writes; otherwise it is the number of threads that read.
const WRITER: u64 = u64::MAX;

/// As [`std::sync::RwLock`]. Under control a panic ends the execution, so nothing is poisoned
/// there.
pub struct RwLock<T: ?Sized> {
    word: Word,
    /// The lock outside of control.
    real: std::sync::RwLock<()>,
    value: UnsafeCell<T>,
}

// SAFETY: as std's.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: as std's: several threads have references at once, or one changes it.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

impl<T> RwLock<T> {
    /// As in std.
    pub const fn new(value: T) -> RwLock<T> {
        RwLock {
            word: Word::new(PlaceKind::RwLock, 0),
            real: std::sync::RwLock::new(()),
            value: UnsafeCell::new(value),
        }
    }

    /// As in std.
    pub fn into_inner(self) -> LockResult<T> {
        let poisoned = self.is_poisoned();
        poisoned_if(poisoned, self.value.into_inner())
    }
}

fn read(word: u64) -> Option<u64> {
    (word != WRITER).then_some(word.wrapping_add(1))
}

fn write(word: u64) -> Option<u64> {
    (word == 0).then_some(WRITER)
}

impl<T: ?Sized> RwLock<T> {
    /// As in std.
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let site = Location::caller();
        let guard = |real| RwLockReadGuard { lock: self, real, site };
        if self.acquire(&read) {
            return Ok(guard(None));
        }
        guarded(self.real.read(), guard)
    }

    /// As in std.
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let site = Location::caller();
        let guard = |real| RwLockWriteGuard { lock: self, real, site };
        if self.acquire(&write) {
            return Ok(guard(None));
        }
        guarded(self.real.write(), guard)
    }

    /// As in std.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let site = Location::caller();
        let guard = |real| RwLockReadGuard { lock: self, real, site };
        if let Some(free) = self.try_acquire(&read) {
            return free.then(|| guard(None)).ok_or(TryLockError::WouldBlock);
        }
        try_guarded(self.real.try_read(), guard)
    }

    /// As in std.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let site = Location::caller();
        let guard = |real| RwLockWriteGuard { lock: self, real, site };
        if let Some(free) = self.try_acquire(&write) {
            return free.then(|| guard(None)).ok_or(TryLockError::WouldBlock);
        }
        try_guarded(self.real.try_write(), guard)
    }

    /// As in std.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        let poisoned = self.is_poisoned();
        poisoned_if(poisoned, self.value.get_mut())
    }

    /// As in std.
    pub fn is_poisoned(&self) -> bool {
        self.real.is_poisoned()
    }

    /// As in std.
    pub fn clear_poison(&self) {
        self.real.clear_poison();
    }

    #[track_caller]
    fn acquire(&self, change: Change<'_>) -> bool {
        self.word.wait(change, Acquire).is_some() || runtime::is_unwinding()
    }

    #[track_caller]
    fn try_acquire(&self, change: Change<'_>) -> Option<bool> {
        let ours = runtime::is_controlled() || runtime::is_unwinding();
        ours.then(|| change(self.word.update(change, Acquire, Relaxed)).is_some())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RwLock").field("poisoned", &self.is_poisoned()).finish_non_exhaustive()
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> RwLock<T> {
        RwLock::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> RwLock<T> {
        RwLock::new(value)
    }
}

/// As [`std::sync::RwLockReadGuard`].
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    real: Option<std::sync::RwLockReadGuard<'a, ()>>,
    /// Where it was locked.
    site: Site,
}

/// As [`std::sync::RwLockWriteGuard`].
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    real: Option<std::sync::RwLockWriteGuard<'a, ()>>,
    /// Where it was locked.
    site: Site,
}

// SAFETY: as std's: a reference to a guard is a reference to the value.
unsafe impl<T: ?Sized + Sync> Sync for RwLockReadGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Sync> Sync for RwLockWriteGuard<'_, T> {}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        if self.real.is_none() {
            let leave = |word: u64| Some(word.saturating_sub(1));
            self.lock.word.update_at(&leave, Release, Relaxed, self.site);
        }
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    fn drop(&mut self) {
        if self.real.is_none() {
            self.lock.word.store_at(0, Release, self.site);
        }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: it is locked for this guard alone.
        unsafe { &mut *self.lock.value.get() }
    }
}

macro_rules! guard {
    ($name:ident) => {
        impl<T: ?Sized> Deref for $name<'_, T> {
            type Target = T;

            fn deref(&self) -> &T {
                // SAFETY: it is locked.
                unsafe { &*self.lock.value.get() }
            }
        }

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&**self, f)
            }
        }

        impl<T: ?Sized + fmt::Display> fmt::Display for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&**self, f)
            }
        }
    };
}

guard!(RwLockReadGuard);
guard!(RwLockWriteGuard);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_share_and_writers_do_not() {
        let lock = RwLock::new(1);
        let (first, second) = (lock.read().unwrap(), lock.try_read().unwrap());
        assert_eq!(*first + *second, 2);
        assert!(lock.try_write().is_err());
        drop((first, second));
        *lock.write().unwrap() += 1;
        assert_eq!(lock.into_inner().unwrap(), 2);
    }

    #[test]
    fn threads_write_one_after_the_other() {
        static COUNT: RwLock<u64> = RwLock::new(0);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| (0..500).for_each(|_| *COUNT.write().unwrap() += 1));
                scope.spawn(|| (0..500).for_each(|_| assert!(*COUNT.read().unwrap() <= 1500)));
            }
        });
        assert_eq!(*COUNT.read().unwrap(), 1500);
    }
}
