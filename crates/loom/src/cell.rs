//! As `std::cell`, in loom's shape: pointers are given to closures, or are guards of an access.

use linchpin_sync::cell::{self, Access};
use linchpin_sync::runtime::CellAccess;

pub use linchpin_sync::cell::Cell;

/// As [`std::cell::UnsafeCell`], with accesses that a model sees.
#[derive(Debug, Default)]
pub struct UnsafeCell<T: ?Sized>(cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// As in std.
    pub const fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell(cell::UnsafeCell::new(value))
    }

    /// As in std.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Reads through a pointer, which must not be kept.
    #[track_caller]
    pub fn with<F, R>(&self, read: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        self.0.with(read)
    }

    /// Writes through a pointer, which must not be kept.
    #[track_caller]
    pub fn with_mut<F, R>(&self, write: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        self.0.with_mut(write)
    }

    /// A pointer to read through: the access takes as long as it exists.
    #[track_caller]
    pub fn get(&self) -> ConstPtr<T> {
        ConstPtr { _reads: begin(&self.0, CellAccess::Read), pointer: self.0.as_ptr() }
    }

    /// A pointer to write through: the access takes as long as it exists.
    #[track_caller]
    pub fn get_mut(&self) -> MutPtr<T> {
        MutPtr { _writes: begin(&self.0, CellAccess::Write), pointer: self.0.as_ptr() }
    }
}

/// Begins an access that outlives the borrow of the cell, as a pointer does.
#[track_caller]
fn begin<T: ?Sized>(cell: &cell::UnsafeCell<T>, access: CellAccess) -> Access<'static> {
    let access = cell.begin(access);
    // SAFETY: as loom's, the pointer is raw: the caller keeps the cell while it is there.
    unsafe { std::mem::transmute::<Access<'_>, Access<'static>>(access) }
}

impl<T> From<T> for UnsafeCell<T> {
    fn from(value: T) -> UnsafeCell<T> {
        UnsafeCell::new(value)
    }
}

/// A pointer that a cell is read through while it exists.
#[derive(Debug)]
pub struct ConstPtr<T: ?Sized> {
    _reads: Access<'static>,
    pointer: *const T,
}

/// A pointer that a cell is written through while it exists.
#[derive(Debug)]
pub struct MutPtr<T: ?Sized> {
    _writes: Access<'static>,
    pointer: *mut T,
}

impl<T: ?Sized> ConstPtr<T> {
    /// What it points to.
    ///
    /// # Safety
    ///
    /// As for a raw pointer.
    pub unsafe fn deref(&self) -> &T {
        // SAFETY: as the caller says.
        unsafe { &*self.pointer }
    }

    /// The pointer itself, which must not be kept.
    pub fn with<F, R>(&self, read: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        read(self.pointer)
    }
}

impl<T: ?Sized> MutPtr<T> {
    /// What it points to.
    ///
    /// # Safety
    ///
    /// As for a raw pointer.
    #[expect(clippy::mut_from_ref, reason = "as in loom: it stands for a raw pointer")]
    pub unsafe fn deref(&self) -> &mut T {
        // SAFETY: as the caller says.
        unsafe { &mut *self.pointer }
    }

    /// The pointer itself, which must not be kept.
    pub fn with<F, R>(&self, write: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        write(self.pointer)
    }
}
