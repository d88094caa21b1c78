//! As `std::sync::Mutex`.

use crate::runtime::{self, PlaceKind, Site};
use crate::word::Word;
use std::cell::UnsafeCell;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

/// As [`std::sync::Mutex`]. Under control a panic ends the execution, so nothing is poisoned there;
/// and what a static one guards is what the execution before left in it.
pub struct Mutex<T: ?Sized> {
    /// 1 while it is locked: under control.
    word: Word,
    /// The lock outside of control.
    real: std::sync::Mutex<()>,
    value: UnsafeCell<T>,
}

// SAFETY: as std's: one thread at a time has the value.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T> Mutex<T> {
    /// As in std.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex {
            word: Word::new(PlaceKind::Mutex, 0),
            real: std::sync::Mutex::new(()),
            value: UnsafeCell::new(value),
        }
    }

    /// As in std.
    pub fn into_inner(self) -> LockResult<T> {
        let poisoned = self.is_poisoned();
        poisoned_if(poisoned, self.value.into_inner())
    }
}

impl<T: ?Sized> Mutex<T> {
    /// As in std.
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let site = Location::caller();
        let guard = |real| MutexGuard { lock: self, real, site };
        if self.acquire() {
            return Ok(guard(None));
        }
        guarded(self.real.lock(), guard)
    }

    /// As in std.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let site = Location::caller();
        let guard = |real| MutexGuard { lock: self, real, site };
        if runtime::is_controlled() || runtime::is_unwinding() {
            let free = self.word.update(&lock, Acquire, Relaxed) == 0;
            // A guard that is made in vain would unlock.
            return free.then(|| guard(None)).ok_or(TryLockError::WouldBlock);
        }
        try_guarded(self.real.try_lock(), guard)
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

    /// Locks it if the thread is controlled, or was until it began to unwind: then the other
    /// threads do not run any more, so that it is free for this one.
    #[track_caller]
    pub(super) fn acquire(&self) -> bool {
        self.word.wait(&lock, Acquire).is_some() || runtime::is_unwinding()
    }

    #[track_caller]
    pub(super) fn release(&self) {
        self.word.store(0, Release);
    }
}

fn lock(word: u64) -> Option<u64> {
    (word == 0).then_some(1)
}

/// A guard of ours around that of std.
pub(super) fn guarded<R, G>(
    result: LockResult<R>,
    guard: impl FnOnce(Option<R>) -> G,
) -> LockResult<G> {
    let poisoned = result.is_err();
    poisoned_if(poisoned, guard(Some(result.unwrap_or_else(PoisonError::into_inner))))
}

/// The same for one that may not be had.
pub(super) fn try_guarded<R, G>(
    result: TryLockResult<R>,
    guard: impl FnOnce(Option<R>) -> G,
) -> TryLockResult<G> {
    let result = match result {
        Err(TryLockError::WouldBlock) => return Err(TryLockError::WouldBlock),
        Err(TryLockError::Poisoned(poisoned)) => Err(poisoned),
        Ok(real) => Ok(real),
    };
    Ok(guarded(result, guard)?)
}

pub(super) fn poisoned_if<T>(poisoned: bool, value: T) -> LockResult<T> {
    if poisoned { Err(PoisonError::new(value)) } else { Ok(value) }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Looking at the value would be an access that the program does not have.
        f.debug_struct("Mutex").field("poisoned", &self.is_poisoned()).finish_non_exhaustive()
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Mutex<T> {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Mutex<T> {
        Mutex::new(value)
    }
}

/// As [`std::sync::MutexGuard`].
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized> {
    pub(super) lock: &'a Mutex<T>,
    /// The lock outside of control; nothing if it was locked under control.
    pub(super) real: Option<std::sync::MutexGuard<'a, ()>>,
    /// Where it was locked: that is where it is said to be unlocked, since a drop is nowhere.
    site: Site,
}

// SAFETY: as std's: a reference to it is a reference to the value.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: it is locked.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: it is locked.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        if self.real.is_none() {
            self.lock.word.store_at(0, Release, self.site);
        }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_exclude_each_other() {
        static COUNT: Mutex<u64> = Mutex::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|_| *COUNT.lock().unwrap() += 1));
            }
        });
        assert_eq!(*COUNT.lock().unwrap(), 4000);
    }

    #[test]
    fn what_is_locked_would_block() {
        let mutex = Mutex::new(1);
        let guard = mutex.lock().unwrap();
        assert!(matches!(mutex.try_lock(), Err(TryLockError::WouldBlock)));
        drop(guard);
        assert_eq!(*mutex.try_lock().unwrap(), 1);
    }

    #[test]
    fn a_panic_poisons() {
        let mut mutex = Mutex::new(1);
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _guard = mutex.lock().unwrap();
            std::panic::resume_unwind(Box::new(()));
        }));
        assert!(result.is_err() && mutex.is_poisoned());
        assert!(mutex.lock().is_err() && mutex.get_mut().is_err());
        assert!(matches!(mutex.try_lock(), Err(TryLockError::Poisoned(_))));
        mutex.clear_poison();
        assert_eq!(mutex.into_inner().unwrap(), 1);
    }
}
