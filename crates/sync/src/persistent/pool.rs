//! A pool: memory that survives a crash, with a root from which everything is found again.

use super::cell;
use super::part::Persistent;
use super::region::Region;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;

/// Memory that survives a crash. Clones are the same pool.
#[derive(Clone, Debug)]
pub struct Pool(pub(super) Arc<Region>);

/// How many bytes a pool has, unless it is said.
const BYTES: usize = 1 << 20;

impl Default for Pool {
    fn default() -> Pool {
        Pool::new()
    }
}

impl Pool {
    /// An empty pool of 1 MiB.
    pub fn new() -> Pool {
        Pool::with_capacity(BYTES)
    }

    /// An empty pool with room for so many bytes, which cost nothing until they are used.
    ///
    /// # Panics
    ///
    /// If the system does not have them.
    pub fn with_capacity(bytes: usize) -> Pool {
        Pool(Region::new(bytes))
    }

    /// The root: where everything starts, before a crash and after it. It is zero at first.
    ///
    /// # Panics
    ///
    /// If the pool has a root of another type already, or no room for it.
    #[track_caller]
    pub fn root<R: Persistent>(&self) -> &R {
        let address = self.0.root::<R>();
        if R::PLAIN {
            cell::read_plain(address, size_of::<R>(), Location::caller());
        }
        // SAFETY: the region has a root of this type at this address, and zero is a value of it.
        unsafe { &*std::ptr::with_exposed_provenance::<R>(address) }
    }

    /// A new object, on lines of its own. What it holds is like stores that were not written back:
    /// [`persist`](super::persist) it before something refers to it. That a crash does not corrupt
    /// the allocator is taken for granted, and nothing is ever given back.
    ///
    /// # Panics
    ///
    /// If there is no room.
    #[track_caller]
    pub fn alloc<T: Persistent>(&self, value: T) -> P<T> {
        assert!(align_of::<T>() <= super::LINE_BYTES, "an object starts where a line does");
        P::of(self.0.allocate(&value, Location::caller()))
    }

    /// The object that this refers to. Tags are ignored.
    ///
    /// # Panics
    ///
    /// If this is null, or refers to nothing in this pool: after a crash that may be what is left
    /// of something that was not written back.
    #[track_caller]
    pub fn get<T: Persistent>(&self, at: P<T>) -> &T {
        assert!(!at.is_null(), "null refers to no persistent object");
        let address = self.0.address(at.offset(), size_of::<T>());
        let address = address.unwrap_or_else(|| panic!("{at:?} refers to nothing in this pool"));
        if T::PLAIN {
            cell::read_plain(address, size_of::<T>(), Location::caller());
        }
        // SAFETY: in bounds and aligned; references come from `alloc` with this type, and whatever
        // a crash left is a value of it.
        unsafe { &*std::ptr::with_exposed_provenance::<T>(address) }
    }
}

/// Refers to an object in a pool, or is null: an offset, which is good after a crash too. The low
/// six bits are free for tags.
pub struct P<T>(u64, PhantomData<fn() -> T>);

const TAGS: u64 = super::LINE_BYTES as u64 - 1;

impl<T> P<T> {
    /// Refers to nothing.
    pub const fn null() -> P<T> {
        P(0, PhantomData)
    }

    pub(super) fn of(offset: usize) -> P<T> {
        P(offset as u64, PhantomData)
    }

    pub(super) const fn of_word(word: u64) -> P<T> {
        P(word, PhantomData)
    }

    /// As a word, with its tag. Equal words refer to the same object.
    pub const fn to_word(self) -> u64 {
        self.0
    }

    fn offset(self) -> usize {
        (self.0 & !TAGS) as usize
    }

    /// Whether it refers to nothing, whatever its tag is.
    pub const fn is_null(self) -> bool {
        self.0 & !TAGS == 0
    }

    /// Its tag: a number below 64.
    pub const fn tag(self) -> u64 {
        self.0 & TAGS
    }

    /// The same with this tag, of which only six bits count.
    #[must_use]
    pub const fn with_tag(self, tag: u64) -> P<T> {
        P(self.0 & !TAGS | tag & TAGS, PhantomData)
    }
}

impl<T> Clone for P<T> {
    fn clone(&self) -> P<T> {
        *self
    }
}

impl<T> Copy for P<T> {}

impl<T> Default for P<T> {
    fn default() -> P<T> {
        P::null()
    }
}

impl<T> PartialEq for P<T> {
    fn eq(&self, other: &P<T>) -> bool {
        self.0 == other.0
    }
}

impl<T> Eq for P<T> {}

impl<T> Hash for P<T> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.hash(hasher);
    }
}

impl<T> fmt::Debug for P<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "P({:#x})", self.0)
    }
}
