//! What may live in persistent memory.

use super::atomic;
use std::ops::Deref;

/// What may live in a [`Pool`](super::Pool): cells and plain data, but nothing that refers to
/// volatile memory. The macro [`persistent!`](crate::persistent) implements it for structs.
///
/// Plain data is written when an object is allocated and never changed afterwards; what changes is
/// an [`atomic`] cell.
///
/// # Safety
///
/// - Zero bytes are a value: that is what a crash leaves of an object that was not written back. So
///   is every mixture of the bytes of values in units of a part.
/// - [`Persistent::parts`] tells of every byte that is not padding, in parts of at most 8 bytes.
/// - It does not own or refer to volatile memory, and needs no `Drop`.
pub unsafe trait Persistent: 'static {
    /// Whether some of it is read without an access of a cell.
    const PLAIN: bool;

    /// Calls this with the offset and size of each part that is written at once, in the order in
    /// which they are in memory; offsets are from `at`.
    fn parts(at: usize, part: &mut dyn FnMut(usize, usize));
}

macro_rules! plain {
    ($($type:ty),*) => {$(
        // SAFETY: a number.
        unsafe impl Persistent for $type {
            const PLAIN: bool = true;

            fn parts(at: usize, part: &mut dyn FnMut(usize, usize)) {
                part(at, size_of::<$type>());
            }
        }
    )*};
}

plain!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize);

macro_rules! cells {
    ($($type:ident),*) => {$(
        // SAFETY: a number, or `false`.
        unsafe impl Persistent for atomic::$type {
            const PLAIN: bool = false;

            fn parts(at: usize, part: &mut dyn FnMut(usize, usize)) {
                part(at, size_of::<atomic::$type>());
            }
        }
    )*};
}

cells!(
    AtomicU8,
    AtomicU16,
    AtomicU32,
    AtomicU64,
    AtomicUsize,
    AtomicI8,
    AtomicI16,
    AtomicI32,
    AtomicI64,
    AtomicIsize,
    AtomicBool
);

// SAFETY: a word; zero is null.
unsafe impl<T: Persistent> Persistent for atomic::AtomicPtr<T> {
    const PLAIN: bool = false;

    fn parts(at: usize, part: &mut dyn FnMut(usize, usize)) {
        part(at, size_of::<u64>());
    }
}

// SAFETY: a word; zero is null.
unsafe impl<T: Persistent> Persistent for super::P<T> {
    const PLAIN: bool = true;

    fn parts(at: usize, part: &mut dyn FnMut(usize, usize)) {
        part(at, size_of::<u64>());
    }
}

// SAFETY: all elements are.
unsafe impl<T: Persistent, const N: usize> Persistent for [T; N] {
    const PLAIN: bool = T::PLAIN;

    fn parts(at: usize, part: &mut dyn FnMut(usize, usize)) {
        for number in 0..N {
            T::parts(at + number * size_of::<T>(), part);
        }
    }
}

/// Something on lines of its own: what surrounds it is written back without it.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Line<T>(T);

impl<T> Line<T> {
    /// This, on lines of its own.
    pub const fn new(value: T) -> Line<T> {
        Line(value)
    }
}

impl<T> Deref for Line<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

// SAFETY: the rest is padding.
unsafe impl<T: Persistent> Persistent for Line<T> {
    const PLAIN: bool = T::PLAIN;

    fn parts(at: usize, part: &mut dyn FnMut(usize, usize)) {
        T::parts(at, part);
    }
}

/// A struct that may live in a pool
/// ([`persistent::Persistent`](trait@crate::persistent::Persistent)): all its fields may. Fields
/// are in memory as they are written, so those that fit into 64 bytes share a line;
/// [`persistent::Line`](crate::persistent::Line) gives one of its own.
///
/// ```
/// use linchpin_sync::persistent::{AtomicPtr, Pool, atomic::{AtomicI64, Ordering}};
///
/// linchpin_sync::persistent! {
///     /// A node of a queue: one line.
///     pub struct Node {
///         value: u64,
///         taken_by: AtomicI64,
///         next: AtomicPtr<Node>,
///     }
/// }
///
/// let pool = Pool::new();
/// let node = pool.alloc(Node { value: 7, taken_by: AtomicI64::new(-1), next: AtomicPtr::null() });
/// assert_eq!(pool.get(node).taken_by.load(Ordering::SeqCst), -1);
/// ```
#[macro_export]
macro_rules! persistent {
    ($($(#[$attribute:meta])* $visible:vis struct $name:ident {
        $($(#[$field_attribute:meta])* $field_visible:vis $field:ident: $type:ty),* $(,)?
    })*) => {$(
        $(#[$attribute])*
        #[repr(C)]
        $visible struct $name {
            $($(#[$field_attribute])* $field_visible $field: $type,)*
        }

        const _: () = assert!(
            !::core::mem::needs_drop::<$name>(),
            "what is in persistent memory is never dropped"
        );

        // SAFETY: every field is persistent, and all of them are told of.
        unsafe impl $crate::persistent::Persistent for $name {
            const PLAIN: bool = false $(|| <$type as $crate::persistent::Persistent>::PLAIN)*;

            fn parts(at: usize, part: &mut dyn FnMut(usize, usize)) {
                $(<$type as $crate::persistent::Persistent>::parts(
                    at + ::core::mem::offset_of!($name, $field),
                    part,
                );)*
            }
        }
    )*};
}
