//! As the crate `lazy_static`.

use crate::runtime;
use crate::sync::OnceLock;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A static value that is made when it is needed first, in each execution anew. Made by
/// [`lazy_static!`](crate::lazy_static).
#[derive(Debug)]
pub struct Lazy<T: 'static> {
    /// The value outside of control.
    real: OnceLock<T>,
    make: fn() -> T,
}

thread_local! {
    /// The values of the execution that this thread of the system runs, by address of the static:
    /// other threads of the system may run other executions meanwhile.
    static VALUES: RefCell<Vec<(usize, Rc<dyn Any>)>> = RefCell::default();
    /// Whether they were dropped.
    static ENDED: Cell<bool> = const { Cell::new(false) };
}

impl<T> Lazy<T> {
    /// What [`lazy_static!`](crate::lazy_static) makes.
    #[doc(hidden)]
    pub const fn new(make: fn() -> T) -> Lazy<T> {
        Lazy { real: OnceLock::new(), make }
    }

    /// The value.
    ///
    /// # Panics
    ///
    /// If the first thread of the execution has ended.
    #[track_caller]
    pub fn get(&'static self) -> &'static T {
        if !runtime::is_controlled() {
            return self.real.get_or_init(self.make);
        }
        assert!(!ENDED.get(), "attempted to access lazy_static during shutdown");
        let value: *const T = self.value().get_or_init(self.make);
        // SAFETY: it is kept until the execution ends, and not used after that.
        unsafe { &*value }
    }

    /// Where the value of this execution is, or will be.
    fn value(&'static self) -> Rc<OnceLock<T>> {
        let address = std::ptr::from_ref(self).addr();
        VALUES.with_borrow_mut(|values| {
            let known = values.iter().find(|(known, _)| *known == address);
            if let Some(Ok(value)) = known.map(|(_, value)| Rc::clone(value).downcast()) {
                return value;
            }
            let value = Rc::new(OnceLock::new());
            values.push((address, value.clone()));
            value
        })
    }
}

/// An execution begins: what the one before made and did not drop is lost.
pub fn begin() {
    ENDED.set(false);
    std::mem::forget(VALUES.take());
}

/// The first thread of an execution ends: drops the values that the execution made. In a program
/// they would live for ever, but then all that they own would look like leaks.
pub fn end() {
    ENDED.set(true);
    while let Some(value) = VALUES.with_borrow_mut(Vec::pop) {
        drop(value);
    }
}

/// As `lazy_static!` of the crate of that name.
#[macro_export]
macro_rules! lazy_static {
    () => {};
    ($(#[$attribute:meta])* $visible:vis static ref $name:ident: $type:ty = $make:expr;
     $($rest:tt)*) => {
        #[allow(missing_copy_implementations, non_camel_case_types, dead_code)]
        #[allow(clippy::upper_case_acronyms)]
        $(#[$attribute])*
        $visible struct $name {
            private: (),
        }
        #[doc(hidden)]
        #[allow(non_upper_case_globals)]
        $visible static $name: $name = $name { private: () };
        impl ::core::ops::Deref for $name {
            type Target = $type;

            fn deref(&self) -> &$type {
                fn make() -> $type {
                    $make
                }
                static LAZY: $crate::lazy::Lazy<$type> = $crate::lazy::Lazy::new(make);
                LAZY.get()
            }
        }
        $crate::lazy_static!($($rest)*);
    };
}

#[cfg(test)]
mod tests {
    crate::lazy_static! {
        /// Documented.
        static ref NUMBERS: Vec<u8> = vec![1, 2];
        pub(super) static ref TEXT: String = "x".repeat(NUMBERS.len());
    }

    #[test]
    fn values_are_made_when_they_are_needed() {
        assert_eq!((NUMBERS.len(), TEXT.as_str()), (2, "xx"));
    }
}
