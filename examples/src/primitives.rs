//! What is shared between threads goes through these: std's, but linchpin's in tests.

#[cfg(test)]
pub(crate) use linchpin::{
    cell::UnsafeCell,
    hint::spin_loop,
    sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence},
};

#[cfg(not(test))]
pub(crate) use std::{
    hint::spin_loop,
    sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence},
};

/// As linchpin's: closures around the accesses say which of them read and which write.
#[cfg(not(test))]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(test))]
impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell(std::cell::UnsafeCell::new(value))
    }

    pub(crate) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    pub(crate) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}
