//! As `std::cell::UnsafeCell`.

use crate::runtime::{self, CellAccess, Identity, Site};
use std::fmt;
use std::panic::Location;

/// As [`std::cell::UnsafeCell`], with closures around the accesses.
pub struct UnsafeCell<T: ?Sized> {
    identity: Identity,
    value: std::cell::UnsafeCell<T>,
}

impl<T> UnsafeCell<T> {
    /// As in std.
    pub const fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell { identity: Identity::new(), value: std::cell::UnsafeCell::new(value) }
    }

    /// As in std.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    #[track_caller]
    fn access(&self, access: CellAccess) {
        let site = Location::caller();
        runtime::with(|runtime| runtime.cell(&self.identity, access, site));
    }

    /// Begins an access that ends when what is answered is dropped.
    #[track_caller]
    pub fn begin(&self, access: CellAccess) -> Access<'_> {
        self.access(access);
        let asked = runtime::asked();
        Access { identity: &self.identity, access, asked, site: Location::caller() }
    }

    /// Reads through a pointer, which must not be kept.
    #[track_caller]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        let _reads = self.begin(CellAccess::Read);
        read(self.value.get())
    }

    /// Writes through a pointer, which must not be kept.
    #[track_caller]
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        let _writes = self.begin(CellAccess::Write);
        write(self.value.get())
    }

    /// A pointer to what it holds, without an access.
    pub fn as_ptr(&self) -> *mut T {
        self.value.get()
    }

    /// As in std: a pointer to what it holds. What is done with it is not seen, so it counts as a
    /// read where it is taken; [`with_mut`](UnsafeCell::with_mut) says that it is a write.
    #[track_caller]
    pub fn get(&self) -> *mut T {
        self.access(CellAccess::Read);
        self.value.get()
    }

    /// As in std.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

/// An access of a cell that takes some time.
///
/// If other threads may have run meanwhile, it is an access again where it ends: they must not have
/// begun theirs.
#[derive(Debug)]
pub struct Access<'a> {
    identity: &'a Identity,
    access: CellAccess,
    asked: u64,
    site: Site,
}

impl Drop for Access<'_> {
    fn drop(&mut self) {
        if runtime::asked() != self.asked {
            runtime::with(|runtime| runtime.cell(self.identity, self.access, self.site));
        }
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    fn default() -> UnsafeCell<T> {
        UnsafeCell::new(T::default())
    }
}

impl<T> From<T> for UnsafeCell<T> {
    fn from(value: T) -> UnsafeCell<T> {
        UnsafeCell::new(value)
    }
}

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UnsafeCell { .. }")
    }
}
