//! As `std::sync::Arc`.
//!
//! Both counts are one word, so that each question about them is one step. Adding is relaxed,
//! giving back is a release, and the last one acquires before the value is dropped, as in std.
//! Every clone and drop is a step of the execution: where nothing depends on the counts, std's
//! `Arc` does as well and costs no executions.

use super::weak::Weak;
use crate::runtime::{self, PlaceKind, Resource};
use crate::word::Word;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::borrow::Borrow;
use std::cmp::Ordering as Compared;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::panic::Location;
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicUsize, fence};

/// As [`std::sync::Arc`], but there is no coercion to `Arc<dyn Trait>` or `Arc<[T]>`, which only
/// std may have: see [`Arc::from_std`].
pub struct Arc<T: ?Sized> {
    value: NonNull<T>,
    owns: PhantomData<T>,
}

/// What is in memory before the value.
pub(super) struct Header {
    /// Strong references (low half) and weak ones (high half).
    pub(super) counts: Word,
    /// References of both kinds: the memory goes with the last one. No thread can see that, so it
    /// is no access.
    references: AtomicUsize,
    /// The number of the resource, if it was made under control.
    resource: Option<u64>,
}

pub(super) const WEAK: u64 = 1 << 32;

pub(super) fn strong(counts: u64) -> u64 {
    counts & (WEAK - 1)
}

/// Where the value is behind its header.
fn layout(value: Layout) -> (Layout, usize) {
    let (layout, offset) = Layout::new::<Header>().extend(value).expect("it fits into memory");
    (layout.pad_to_align(), offset)
}

// SAFETY: as std's.
unsafe impl<T: ?Sized + Sync + Send> Send for Arc<T> {}
// SAFETY: as std's.
unsafe impl<T: ?Sized + Sync + Send> Sync for Arc<T> {}
impl<T: ?Sized> Unpin for Arc<T> {}
impl<T: ?Sized + std::panic::RefUnwindSafe> std::panic::UnwindSafe for Arc<T> {}

impl Header {
    /// Memory for a value, with one strong reference.
    #[track_caller]
    fn make(value: Layout) -> NonNull<u8> {
        let site = Location::caller();
        let (layout, offset) = layout(value);
        let header = Header {
            counts: Word::new(PlaceKind::Arc, 1),
            references: AtomicUsize::new(1),
            resource: runtime::with(|runtime| runtime.acquired(Resource::Arc, site)),
        };
        // SAFETY: a header is not empty, so the layout is not either; it begins with the header.
        unsafe {
            let memory = alloc(layout);
            let Some(memory) = NonNull::new(memory) else { handle_alloc_error(layout) };
            memory.cast::<Header>().write(header);
            memory.add(offset)
        }
    }

    /// # Safety
    ///
    /// There must be a header before the value.
    pub(super) unsafe fn of<'a, T: ?Sized>(value: NonNull<T>) -> &'a Header {
        // SAFETY: the value itself may be dropped, but its layout does not depend on it.
        let offset = layout(unsafe { Layout::for_value(value.as_ref()) }).1;
        // SAFETY: the header is so many bytes before the value.
        unsafe { value.cast::<u8>().sub(offset).cast::<Header>().as_ref() }
    }

    /// One reference more.
    pub(super) fn retain(&self) {
        self.references.fetch_add(1, Relaxed);
    }

    /// One reference less; the memory goes with the last one.
    ///
    /// # Safety
    ///
    /// The caller gives its reference to this value up.
    pub(super) unsafe fn release<T: ?Sized>(value: NonNull<T>) {
        // SAFETY: the reference keeps the header alive.
        let header = unsafe { Header::of(value) };
        if header.references.fetch_sub(1, Release) != 1 {
            return;
        }
        fence(Acquire);
        // SAFETY: as in `of`.
        let (layout, offset) = layout(unsafe { Layout::for_value(value.as_ref()) });
        // SAFETY: the memory was allocated with this layout.
        let memory = unsafe { value.cast::<u8>().sub(offset) };
        // SAFETY: the last reference is gone.
        let free = move || unsafe { dealloc(memory.as_ptr(), layout) };
        // It is kept until the execution ends: then a use of it is seen.
        if header.resource.is_none() || runtime::with(|r| r.at_end(Box::new(free))).is_none() {
            free();
        }
    }

    /// It is used: an error if it was given back.
    #[track_caller]
    fn used(&self) {
        let site = Location::caller();
        if let Some(resource) = self.resource {
            runtime::with(|runtime| runtime.used(resource, site));
        }
    }

    /// The last strong reference is gone: what was done with the value before happens before what
    /// follows.
    #[track_caller]
    fn ended(&self) {
        let site = Location::caller();
        super::atomic::fence(Acquire);
        if let Some(resource) = self.resource {
            runtime::with(|runtime| runtime.released(resource, site));
        }
    }
}

impl<T> Arc<T> {
    /// As in std.
    #[track_caller]
    pub fn new(value: T) -> Arc<T> {
        let memory = Header::make(Layout::new::<T>()).cast::<T>();
        // SAFETY: there is room for a value.
        unsafe { memory.write(value) };
        Arc { value: memory, owns: PhantomData }
    }

    /// As in std.
    #[track_caller]
    pub fn new_cyclic(make: impl FnOnce(&Weak<T>) -> T) -> Arc<T> {
        let memory = Header::make(Layout::new::<T>()).cast::<T>();
        // SAFETY: the header was just made.
        let header = unsafe { Header::of(memory) };
        header.retain();
        header.counts.store(WEAK, Relaxed);
        let weak = Weak { value: Some(memory) };
        // SAFETY: there is room for a value. There is no strong reference yet, so that no thread
        // sees it before it is written.
        unsafe { memory.write(make(&weak)) };
        header.counts.update(&|counts| Some(counts + 1), Release, Relaxed);
        Arc { value: memory, owns: PhantomData }
    }

    /// As in std.
    #[track_caller]
    pub fn pin(value: T) -> Pin<Arc<T>> {
        // SAFETY: the value never moves.
        unsafe { Pin::new_unchecked(Arc::new(value)) }
    }

    /// As in std.
    #[track_caller]
    pub fn try_unwrap(this: Arc<T>) -> Result<T, Arc<T>> {
        let change = |counts| (strong(counts) == 1).then(|| counts - 1);
        if strong(this.header().counts.update(&change, Release, Relaxed)) != 1 {
            return Err(this);
        }
        Ok(Arc::move_out(this))
    }

    /// As in std.
    #[track_caller]
    pub fn into_inner(this: Arc<T>) -> Option<T> {
        if this.give_back() {
            return Some(Arc::move_out(this));
        }
        let this = ManuallyDrop::new(this);
        // SAFETY: this was a reference.
        unsafe { Header::release(this.value) };
        None
    }

    /// As in std.
    #[track_caller]
    pub fn unwrap_or_clone(this: Arc<T>) -> T
    where
        T: Clone,
    {
        Arc::try_unwrap(this).unwrap_or_else(|shared| (*shared).clone())
    }

    /// Moves the value out after the last strong reference was given back.
    #[track_caller]
    fn move_out(this: Arc<T>) -> T {
        let this = ManuallyDrop::new(this);
        this.header().ended();
        // SAFETY: there is no strong reference, so this is the only one who reads the value.
        unsafe {
            let value = this.value.read();
            Header::release(this.value);
            value
        }
    }
}

impl<T: ?Sized> Arc<T> {
    pub(super) fn header(&self) -> &Header {
        // SAFETY: it was made by `new` or `from_std`, and this is a reference to it.
        unsafe { Header::of(self.value) }
    }

    /// A reference that was counted already.
    pub(super) fn of_counted(value: NonNull<T>) -> Arc<T> {
        Arc { value, owns: PhantomData }
    }

    /// One strong reference less; whether it was the last.
    #[track_caller]
    fn give_back(&self) -> bool {
        let change = |counts| (strong(counts) > 0).then(|| counts - 1);
        match strong(self.header().counts.update(&change, Release, Relaxed)) {
            0 => {
                self.header().used();
                false
            }
            before => before == 1,
        }
    }

    /// Takes the value out of one of std's: so an `Arc` of an unsized value is made.
    ///
    /// # Panics
    ///
    /// If there are other references to it.
    #[track_caller]
    pub fn from_std(mut shared: std::sync::Arc<T>) -> Arc<T> {
        let value: *const T = match std::sync::Arc::get_mut(&mut shared) {
            Some(value) => value,
            None => panic!("Arc provided to `from_std` is not unique"),
        };
        // SAFETY: the value is alive.
        let layout = Layout::for_value(unsafe { &*value });
        let memory = Header::make(layout);
        let mut moved = value.cast_mut();
        // SAFETY: the bytes are moved to where there is room for them, and std's `Arc` frees its
        // memory without dropping the value. A pointer to an unsized value begins with the address.
        unsafe {
            std::ptr::copy_nonoverlapping(value.cast::<u8>(), memory.as_ptr(), layout.size());
            (&raw mut moved).cast::<*mut u8>().write(memory.as_ptr());
            let emptied = std::sync::Arc::into_raw(shared) as *const ManuallyDrop<T>;
            drop(std::sync::Arc::from_raw(emptied));
            Arc::of_counted(NonNull::new_unchecked(moved))
        }
    }

    /// As in std.
    #[track_caller]
    pub fn downgrade(this: &Arc<T>) -> Weak<T> {
        this.header().used();
        this.header().retain();
        this.header().counts.update(&|counts| Some(counts + WEAK), Relaxed, Relaxed);
        Weak { value: Some(this.value) }
    }

    /// As in std.
    #[track_caller]
    pub fn strong_count(this: &Arc<T>) -> usize {
        strong(this.header().counts.load(Relaxed)) as usize
    }

    /// As in std.
    #[track_caller]
    pub fn weak_count(this: &Arc<T>) -> usize {
        (this.header().counts.load(Relaxed) / WEAK) as usize
    }

    /// As in std.
    #[track_caller]
    pub fn get_mut(this: &mut Arc<T>) -> Option<&mut T> {
        if this.header().counts.load(Acquire) != 1 {
            return None;
        }
        // SAFETY: there is no other reference of any kind.
        Some(unsafe { this.value.as_mut() })
    }

    /// As in std.
    #[track_caller]
    pub fn make_mut(this: &mut Arc<T>) -> &mut T
    where
        T: Clone,
    {
        if this.header().counts.load(Acquire) != 1 {
            *this = Arc::new((**this).clone());
        }
        // SAFETY: there is no other reference of any kind.
        unsafe { this.value.as_mut() }
    }

    /// As in std.
    pub fn ptr_eq(this: &Arc<T>, other: &Arc<T>) -> bool {
        std::ptr::addr_eq(this.value.as_ptr(), other.value.as_ptr())
    }

    /// As in std.
    pub fn as_ptr(this: &Arc<T>) -> *const T {
        this.value.as_ptr()
    }

    /// As in std.
    pub fn into_raw(this: Arc<T>) -> *const T {
        ManuallyDrop::new(this).value.as_ptr()
    }

    /// As in std.
    ///
    /// # Safety
    ///
    /// As in std: it was made by [`Arc::into_raw`], and is used so once.
    #[track_caller]
    pub unsafe fn from_raw(pointer: *const T) -> Arc<T> {
        // SAFETY: as the caller says.
        let arc = Arc::of_counted(unsafe { NonNull::new_unchecked(pointer.cast_mut()) });
        arc.header().used();
        arc
    }

    /// As in std.
    ///
    /// # Safety
    ///
    /// As in std: it was made by [`Arc::into_raw`], and there is a reference to it.
    #[track_caller]
    pub unsafe fn increment_strong_count(pointer: *const T) {
        // SAFETY: as the caller says; the reference that it stands for is not dropped here.
        let arc = ManuallyDrop::new(unsafe { Arc::from_raw(pointer) });
        let _counted = ManuallyDrop::new(Arc::clone(&arc));
    }

    /// As in std.
    ///
    /// # Safety
    ///
    /// As in std: it was made by [`Arc::into_raw`], and there is a reference to it.
    #[track_caller]
    pub unsafe fn decrement_strong_count(pointer: *const T) {
        // SAFETY: as the caller says.
        drop(unsafe { Arc::from_raw(pointer) });
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[track_caller]
    fn clone(&self) -> Arc<T> {
        let change = |counts| (strong(counts) > 0).then_some(counts + 1);
        if strong(self.header().counts.update(&change, Relaxed, Relaxed)) == 0 {
            self.header().used();
        }
        self.header().retain();
        Arc::of_counted(self.value)
    }
}

impl<T: ?Sized> Drop for Arc<T> {
    #[track_caller]
    fn drop(&mut self) {
        if self.give_back() {
            self.header().ended();
            // SAFETY: there is no strong reference any more.
            unsafe { self.value.drop_in_place() };
        }
        // SAFETY: this was a reference.
        unsafe { Header::release(self.value) };
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: a strong reference keeps it alive.
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized> AsRef<T> for Arc<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized> Borrow<T> for Arc<T> {
    fn borrow(&self) -> &T {
        self
    }
}

impl<T: Default> Default for Arc<T> {
    #[track_caller]
    fn default() -> Arc<T> {
        Arc::new(T::default())
    }
}

impl<T> From<T> for Arc<T> {
    #[track_caller]
    fn from(value: T) -> Arc<T> {
        Arc::new(value)
    }
}

impl From<&str> for Arc<str> {
    #[track_caller]
    fn from(text: &str) -> Arc<str> {
        Arc::from_std(text.into())
    }
}

impl<T> From<Vec<T>> for Arc<[T]> {
    #[track_caller]
    fn from(values: Vec<T>) -> Arc<[T]> {
        Arc::from_std(values.into())
    }
}

impl<T: ?Sized> From<Box<T>> for Arc<T> {
    #[track_caller]
    fn from(value: Box<T>) -> Arc<T> {
        Arc::from_std(value.into())
    }
}

impl<T: ?Sized + PartialEq> PartialEq for Arc<T> {
    fn eq(&self, other: &Arc<T>) -> bool {
        **self == **other
    }
}

impl<T: ?Sized + Eq> Eq for Arc<T> {}

impl<T: ?Sized + PartialOrd> PartialOrd for Arc<T> {
    fn partial_cmp(&self, other: &Arc<T>) -> Option<Compared> {
        (**self).partial_cmp(&**other)
    }
}

impl<T: ?Sized + Ord> Ord for Arc<T> {
    fn cmp(&self, other: &Arc<T>) -> Compared {
        (**self).cmp(&**other)
    }
}

impl<T: ?Sized + Hash> Hash for Arc<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}

impl<T: ?Sized> fmt::Pointer for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&self.value, f)
    }
}
