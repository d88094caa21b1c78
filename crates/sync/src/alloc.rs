//! As `std::alloc`: memory that is not given back, or twice, is an error.

use crate::runtime::{self, Resource};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::panic::Location;

pub use std::alloc::{Layout, LayoutError, handle_alloc_error};

thread_local! {
    /// The resources of the execution that this thread of the system runs, by address. Only
    /// `dealloc` looks, and no thread waits for what is found.
    static ALLOCATED: RefCell<HashMap<usize, u64>> = RefCell::default();
}

#[track_caller]
fn acquired(memory: *mut u8) {
    let site = Location::caller();
    let resource = runtime::with(|runtime| runtime.acquired(Resource::Allocation, site));
    if let Some(resource) = resource.filter(|_| !memory.is_null()) {
        ALLOCATED.with_borrow_mut(|allocated| allocated.insert(memory.addr(), resource));
    }
}

/// As [`std::alloc::alloc`].
///
/// # Safety
///
/// As in std.
#[track_caller]
pub unsafe fn alloc(layout: Layout) -> *mut u8 {
    // SAFETY: as the caller says.
    let memory = unsafe { std::alloc::alloc(layout) };
    acquired(memory);
    memory
}

/// As [`std::alloc::alloc_zeroed`].
///
/// # Safety
///
/// As in std.
#[track_caller]
pub unsafe fn alloc_zeroed(layout: Layout) -> *mut u8 {
    // SAFETY: as the caller says.
    let memory = unsafe { std::alloc::alloc_zeroed(layout) };
    acquired(memory);
    memory
}

/// As [`std::alloc::dealloc`]. Under control the memory is kept until the execution ends.
///
/// # Safety
///
/// As in std.
#[track_caller]
pub unsafe fn dealloc(memory: *mut u8, layout: Layout) {
    let site = Location::caller();
    let address = memory.addr();
    let resource = ALLOCATED.with_borrow(|allocated| allocated.get(&address).copied());
    let free = move || {
        ALLOCATED.with_borrow_mut(|allocated| allocated.remove(&address));
        // SAFETY: as the caller says.
        unsafe { std::alloc::dealloc(memory, layout) };
    };
    let kept = resource.and_then(|resource| {
        runtime::with(|runtime| {
            runtime.released(resource, site);
            runtime.at_end(Box::new(free));
        })
    });
    if kept.is_none() {
        free();
    }
}

/// A value that must be dropped before an execution ends.
#[derive(Debug)]
pub struct Track<T> {
    value: T,
    tracked: Tracked,
}

#[derive(Debug)]
struct Tracked(Option<u64>);

impl Drop for Tracked {
    #[track_caller]
    fn drop(&mut self) {
        let site = Location::caller();
        if let Some(resource) = self.0 {
            runtime::with(|runtime| runtime.released(resource, site));
        }
    }
}

impl<T> Track<T> {
    /// Tracks a value from now on.
    #[track_caller]
    pub fn new(value: T) -> Track<T> {
        let site = Location::caller();
        let resource = runtime::with(|runtime| runtime.acquired(Resource::Tracked, site));
        Track { value, tracked: Tracked(resource) }
    }

    /// The value.
    #[track_caller]
    pub fn get_ref(&self) -> &T {
        self.used();
        &self.value
    }

    /// The value, to be changed.
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        self.used();
        &mut self.value
    }

    /// The value, which is not tracked any more.
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.used();
        self.value
    }

    #[track_caller]
    fn used(&self) {
        let site = Location::caller();
        if let Some(resource) = self.tracked.0 {
            runtime::with(|runtime| runtime.used(resource, site));
        }
    }
}

impl<T> Deref for Track<T> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        self.get_ref()
    }
}

impl<T> DerefMut for Track<T> {
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        self.get_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_memory() {
        let layout = Layout::new::<u64>();
        // SAFETY: it is used as what it was allocated for, and given back once.
        unsafe {
            let memory = alloc_zeroed(layout).cast::<u64>();
            assert_eq!(memory.read(), 0);
            dealloc(memory.cast(), layout);
            let memory = alloc(layout).cast::<u64>();
            memory.write(1);
            dealloc(memory.cast(), layout);
        }
        let mut tracked = Track::new(1);
        *tracked.get_mut() += *tracked.get_ref();
        assert_eq!((*tracked, tracked.into_inner()), (2, 2));
    }
}
