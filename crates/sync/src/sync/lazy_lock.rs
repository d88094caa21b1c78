//! As `std::sync::LazyLock`.

use super::once_lock::OnceLock;
use std::cell::Cell;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::Deref;

/// As [`std::sync::LazyLock`]. A static one is made anew in each execution.
pub struct LazyLock<T, F = fn() -> T> {
    value: OnceLock<T>,
    make: ManuallyDrop<F>,
    /// Whether `make` was called.
    called: Cell<bool>,
}

// SAFETY: as std's. `called` and `make` are accessed by the thread only that makes the value.
unsafe impl<T: Sync + Send, F: Send> Sync for LazyLock<T, F> {}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// As in std.
    pub const fn new(make: F) -> LazyLock<T, F> {
        let make = ManuallyDrop::new(make);
        LazyLock { value: OnceLock::new(), make, called: Cell::new(false) }
    }

    /// As in std.
    ///
    /// # Panics
    ///
    /// If it outlives an execution, and its function cannot be called again in the next because it
    /// owns something.
    #[track_caller]
    pub fn force(this: &LazyLock<T, F>) -> &T {
        this.value.get_or_init(|| {
            let again = this.called.replace(true);
            assert!(
                !again || !std::mem::needs_drop::<F>(),
                "a LazyLock that outlives executions, and whose function owns something"
            );
            // SAFETY: the function is called once; or again in another execution, and then it owns
            // nothing, so that a copy of its bits is as good. It is not dropped if it was called.
            let make = unsafe { std::ptr::read(&*this.make) };
            make()
        })
    }
}

impl<T, F> Drop for LazyLock<T, F> {
    fn drop(&mut self) {
        if !self.called.get() {
            // SAFETY: it was not moved out.
            unsafe { ManuallyDrop::drop(&mut self.make) };
        }
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        LazyLock::force(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    fn default() -> LazyLock<T> {
        LazyLock::new(T::default)
    }
}

impl<T, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LazyLock { .. }")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_made_when_it_is_needed() {
        static LAZY: LazyLock<Vec<u8>> = LazyLock::new(|| vec![1, 2]);
        assert_eq!(LAZY.len(), 2);
        let owned = vec![3];
        let lazy = LazyLock::new(move || owned);
        assert_eq!((lazy[0], LazyLock::force(&lazy).len()), (3, 1));
        drop(LazyLock::new({
            let unused = Box::new(1);
            move || unused
        }));
    }
}
