//! As `std::cell::OnceCell`.

use super::UnsafeCell;
use std::fmt;

/// As [`std::cell::OnceCell`].
pub struct OnceCell<T>(UnsafeCell<Option<T>>);

impl<T> OnceCell<T> {
    /// As in std.
    pub const fn new() -> OnceCell<T> {
        OnceCell(UnsafeCell::new(None))
    }

    /// As in std.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        // SAFETY: a cell is in one thread; once it is there, the value is not changed or moved.
        self.0.with(|pointer| unsafe { (*pointer).as_ref() })
    }

    /// As in std.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.0.get_mut().as_mut()
    }

    /// As in std.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        if self.get().is_some() {
            return Err(value);
        }
        // SAFETY: there are references only to what is there, and nothing is.
        self.0.with_mut(|pointer| unsafe { *pointer = Some(value) });
        Ok(())
    }

    /// As in std.
    ///
    /// # Panics
    ///
    /// If the function fills the cell itself.
    #[track_caller]
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        if let Some(value) = self.get() {
            return value;
        }
        assert!(self.set(make()).is_ok(), "reentrant init");
        self.get().expect("it was just set")
    }

    /// As in std.
    pub fn into_inner(self) -> Option<T> {
        self.0.into_inner()
    }

    /// As in std.
    pub fn take(&mut self) -> Option<T> {
        self.0.get_mut().take()
    }
}

impl<T> Default for OnceCell<T> {
    fn default() -> OnceCell<T> {
        OnceCell::new()
    }
}

impl<T> From<T> for OnceCell<T> {
    fn from(value: T) -> OnceCell<T> {
        OnceCell(UnsafeCell::new(Some(value)))
    }
}

impl<T> fmt::Debug for OnceCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnceCell { .. }")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_stays() {
        let mut cell = OnceCell::new();
        assert_eq!((cell.get(), cell.get_or_init(|| 1), cell.set(2)), (None, &1, Err(2)));
        *cell.get_mut().unwrap() = 3;
        assert_eq!((cell.take(), OnceCell::from(4).into_inner()), (Some(3), Some(4)));
    }
}
