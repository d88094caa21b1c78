//! As `std::thread::LocalKey`.

use crate::runtime;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

/// As [`std::thread::LocalKey`]; made by [`thread_local!`](crate::thread_local).
pub struct LocalKey<T: 'static> {
    make: fn() -> T,
    /// The variable outside of control.
    real: &'static std::thread::LocalKey<T>,
}

/// As [`std::thread::AccessError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AccessError;

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("already destroyed")
    }
}

impl std::error::Error for AccessError {}

impl<T: 'static> LocalKey<T> {
    /// What [`thread_local!`](crate::thread_local) makes.
    #[doc(hidden)]
    pub const fn new(make: fn() -> T, real: &'static std::thread::LocalKey<T>) -> LocalKey<T> {
        LocalKey { make, real }
    }

    /// As in std.
    pub fn with<R>(&'static self, call: impl FnOnce(&T) -> R) -> R {
        let result = self.try_with(call);
        result.expect("cannot access a thread-local value during or after its destruction")
    }

    /// As in std.
    pub fn try_with<R>(&'static self, call: impl FnOnce(&T) -> R) -> Result<R, AccessError> {
        if !runtime::is_controlled() {
            return self.real.try_with(call).map_err(|_| AccessError);
        }
        let mut found = None;
        let key = std::ptr::from_ref(self).addr();
        let make = || Rc::new((self.make)()) as Rc<dyn Any>;
        runtime::with(|runtime| {
            runtime.with_locals(&mut |locals| found = locals.get(key, &make));
        });
        let value = found.and_then(|value| value.downcast::<T>().ok()).ok_or(AccessError)?;
        Ok(call(&value))
    }
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// As in std.
    pub fn set(&'static self, value: T) {
        self.with(|cell| cell.set(value));
    }

    /// As in std.
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// As in std.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }

    /// As in std.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// As in std.
    pub fn with_borrow<R>(&'static self, call: impl FnOnce(&T) -> R) -> R {
        self.with(|cell| call(&cell.borrow()))
    }

    /// As in std.
    pub fn with_borrow_mut<R>(&'static self, call: impl FnOnce(&mut T) -> R) -> R {
        self.with(|cell| call(&mut cell.borrow_mut()))
    }

    /// As in std.
    pub fn set(&'static self, value: T) {
        self.with(|cell| drop(cell.replace(value)));
    }

    /// As in std.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

    /// As in std.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LocalKey { .. }")
    }
}

/// As [`std::thread_local!`]: under control each thread of the execution has its own.
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$attribute:meta])* $visible:vis static $name:ident: $type:ty = const $make:block
     $(; $($rest:tt)*)?) => {
        $crate::thread_local!(@one $(#[$attribute])* $visible $name, $type, $make);
        $($crate::thread_local!($($rest)*);)?
    };
    ($(#[$attribute:meta])* $visible:vis static $name:ident: $type:ty = const { $make:expr }
     $(; $($rest:tt)*)?) => {
        $crate::thread_local!(@one $(#[$attribute])* $visible $name, $type, $make);
        $($crate::thread_local!($($rest)*);)?
    };
    (@one $(#[$attribute:meta])* $visible:vis $name:ident, $type:ty, $make:expr) => {
        $(#[$attribute])*
        $visible static $name: $crate::thread::LocalKey<$type> = {
            fn make() -> $type {
                $make
            }
            ::std::thread_local!(static REAL: $type = make());
            $crate::thread::LocalKey::new(make, &REAL)
        };
    };
    ($(#[$attribute:meta])* $visible:vis static $name:ident: $type:ty = $make:expr
     $(; $($rest:tt)*)?) => {
        $crate::thread_local!(@one $(#[$attribute])* $visible $name, $type, $make);
        $($crate::thread_local!($($rest)*);)?
    };
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    crate::thread_local! {
        /// Documented.
        static NUMBER: Cell<u32> = Cell::new(1);
        pub(super) static TEXT: RefCell<String> = const { RefCell::new(String::new()) }
    }

    #[test]
    fn each_thread_has_its_own() {
        NUMBER.set(2);
        TEXT.with_borrow_mut(|text| text.push('x'));
        std::thread::spawn(|| assert_eq!((NUMBER.get(), TEXT.take()), (1, String::new())))
            .join()
            .unwrap();
        assert_eq!((NUMBER.replace(3), NUMBER.take()), (2, 3));
        assert_eq!(TEXT.replace("y".to_string()), "x");
    }
}
