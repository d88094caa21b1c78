//! As `std::sync::OnceLock`.

use super::once::Once;
use std::cell::UnsafeCell;
use std::fmt;
use std::mem::MaybeUninit;

/// As [`std::sync::OnceLock`]. A static one is empty again in each execution, unless it was filled
/// before the first; what the execution before put into it is lost, not dropped.
pub struct OnceLock<T> {
    once: Once,
    /// INVARIANT: initialised if `once` is done.
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: as std's: threads have references to the value, and one of them moved it in.
unsafe impl<T: Sync + Send> Sync for OnceLock<T> {}
// SAFETY: as std's.
unsafe impl<T: Send> Send for OnceLock<T> {}

impl<T> OnceLock<T> {
    /// As in std.
    pub const fn new() -> OnceLock<T> {
        OnceLock { once: Once::new(), value: UnsafeCell::new(MaybeUninit::uninit()) }
    }

    /// As in std.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        // SAFETY: initialised, and not changed any more.
        self.once.is_completed().then(|| unsafe { self.value() })
    }

    /// As in std.
    #[track_caller]
    pub fn get_mut(&mut self) -> Option<&mut T> {
        // SAFETY: initialised.
        self.once.is_done().then(|| unsafe { self.value.get_mut().assume_init_mut() })
    }

    /// As in std.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.get_or_init(|| value.take().expect("called at most once"));
        value.map_or(Ok(()), Err)
    }

    /// As in std.
    #[track_caller]
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        self.once.call_once_force(|_| {
            let value = make();
            // SAFETY: only the thread that runs the call accesses it until it is done.
            unsafe { (*self.value.get()).write(value) };
        });
        // SAFETY: initialised by this call or an earlier one.
        unsafe { self.value() }
    }

    /// As in std.
    #[track_caller]
    pub fn wait(&self) -> &T {
        self.once.wait();
        self.get().expect("it is waited until it is there")
    }

    /// As in std.
    #[track_caller]
    pub fn into_inner(mut self) -> Option<T> {
        self.take()
    }

    /// As in std.
    #[track_caller]
    pub fn take(&mut self) -> Option<T> {
        self.once.is_done().then(|| {
            self.once = Once::new();
            // SAFETY: initialised, and as good as uninitialised from now on.
            unsafe { self.value.get_mut().assume_init_read() }
        })
    }

    /// # Safety
    ///
    /// It must be initialised.
    unsafe fn value(&self) -> &T {
        // SAFETY: as above.
        unsafe { (*self.value.get()).assume_init_ref() }
    }
}

impl<T> Drop for OnceLock<T> {
    #[track_caller]
    fn drop(&mut self) {
        if std::mem::needs_drop::<T>() {
            drop(self.take());
        }
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> OnceLock<T> {
        OnceLock::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    fn from(value: T) -> OnceLock<T> {
        let lock = OnceLock::new();
        lock.get_or_init(|| value);
        lock
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    fn clone(&self) -> OnceLock<T> {
        self.get().map_or_else(OnceLock::new, |value| OnceLock::from(value.clone()))
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    fn eq(&self, other: &OnceLock<T>) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}

impl<T> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnceLock { .. }")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_stays() {
        static LOCK: OnceLock<String> = OnceLock::new();
        assert_eq!(LOCK.get(), None);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| assert_eq!(LOCK.get_or_init(|| "x".to_string()), "x"));
            }
        });
        assert_eq!(LOCK.set("y".to_string()), Err("y".to_string()));
        assert_eq!(LOCK.wait(), "x");
    }

    #[test]
    fn it_can_be_taken_and_filled_again() {
        let mut lock = OnceLock::from(Box::new(1));
        **lock.get_mut().unwrap() = 2;
        assert_eq!(lock.take(), Some(Box::new(2)));
        assert_eq!(lock.set(Box::new(3)), Ok(()));
        assert_eq!(lock.clone(), lock);
        assert_eq!(lock.into_inner(), Some(Box::new(3)));
    }
}
