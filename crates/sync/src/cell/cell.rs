//! As `std::cell::Cell`.

use super::UnsafeCell;
use std::fmt;

/// As [`std::cell::Cell`].
#[derive(Default)]
pub struct Cell<T: ?Sized>(UnsafeCell<T>);

impl<T> Cell<T> {
    /// As in std.
    pub const fn new(value: T) -> Cell<T> {
        Cell(UnsafeCell::new(value))
    }

    /// As in std.
    #[track_caller]
    pub fn set(&self, value: T) {
        drop(self.replace(value));
    }

    /// As in std.
    #[track_caller]
    pub fn swap(&self, other: &Cell<T>) {
        if !std::ptr::eq(self, other) {
            // SAFETY: a cell is in one thread, which is here.
            self.0.with_mut(|one| other.0.with_mut(|two| unsafe { std::ptr::swap(one, two) }));
        }
    }

    /// As in std.
    #[track_caller]
    pub fn replace(&self, value: T) -> T {
        // SAFETY: as above.
        self.0.with_mut(|pointer| unsafe { std::mem::replace(&mut *pointer, value) })
    }

    /// As in std.
    #[track_caller]
    pub fn get(&self) -> T
    where
        T: Copy,
    {
        // SAFETY: as above.
        self.0.with(|pointer| unsafe { *pointer })
    }

    /// As in std.
    #[track_caller]
    pub fn take(&self) -> T
    where
        T: Default,
    {
        self.replace(T::default())
    }

    /// As in std.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> Cell<T> {
    /// As in std.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }
}

impl<T: Copy> Clone for Cell<T> {
    #[track_caller]
    fn clone(&self) -> Cell<T> {
        Cell::new(self.get())
    }
}

impl<T> From<T> for Cell<T> {
    fn from(value: T) -> Cell<T> {
        Cell::new(value)
    }
}

impl<T: PartialEq + Copy> PartialEq for Cell<T> {
    #[track_caller]
    fn eq(&self, other: &Cell<T>) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq + Copy> Eq for Cell<T> {}

impl<T: PartialOrd + Copy> PartialOrd for Cell<T> {
    #[track_caller]
    fn partial_cmp(&self, other: &Cell<T>) -> Option<std::cmp::Ordering> {
        self.get().partial_cmp(&other.get())
    }
}

impl<T: Ord + Copy> Ord for Cell<T> {
    #[track_caller]
    fn cmp(&self, other: &Cell<T>) -> std::cmp::Ordering {
        self.get().cmp(&other.get())
    }
}

impl<T: ?Sized> fmt::Debug for Cell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cell { .. }")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_holds_what_was_set() {
        let (mut one, two) = (Cell::new(1), Cell::default());
        one.swap(&two);
        one.swap(&one);
        *one.get_mut() += 5;
        two.set(two.get() + 1);
        assert_eq!((two.take(), one.clone().into_inner(), one < two), (2, 5, false));
    }
}
