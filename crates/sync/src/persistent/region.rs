//! The memory of a pool: the root at its beginning, objects from its end on downwards.
//!
//! Every region that there is is known by its addresses, because a cell is nothing but its memory:
//! it does not know its pool.

use super::LINE_BYTES;
use super::part::Persistent;
use super::shadow::Shadow;
use crate::runtime::{self, Site};
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::any::TypeId;
use std::cell::Cell;
use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

/// The memory of a pool.
pub(crate) struct Region {
    memory: NonNull<u8>,
    layout: Layout,
    root: OnceLock<(TypeId, usize)>,
    /// Where the objects start.
    objects: AtomicUsize,
    shadow: Mutex<Shadow>,
}

// SAFETY: the memory is accessed by atomics, and by plain reads of what no one writes any more.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

/// The root is here; 0 is null.
const ROOT: usize = LINE_BYTES;

/// All regions: first address, and where the region itself is.
static REGIONS: RwLock<Vec<(usize, usize)>> = RwLock::new(Vec::new());

/// How often that changed.
static CHANGES: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// What was looked up last: when, from where, up to where, and which region.
    static LAST: Cell<(u64, usize, usize, usize)> = const { Cell::new((0, 0, 0, 0)) };
}

impl Region {
    pub(super) fn new(bytes: usize) -> Arc<Region> {
        let lines = bytes.div_ceil(LINE_BYTES).max(2);
        let layout = Layout::from_size_align(lines * LINE_BYTES, LINE_BYTES);
        let layout = layout.expect("a pool is smaller than the address space");
        // SAFETY: the size is not 0.
        let memory = unsafe { alloc_zeroed(layout) };
        let Some(memory) = NonNull::new(memory) else { handle_alloc_error(layout) };
        // References are made from addresses.
        memory.as_ptr().expose_provenance();
        let region = Arc::new(Region {
            memory,
            layout,
            root: OnceLock::new(),
            objects: AtomicUsize::new(layout.size()),
            shadow: Mutex::default(),
        });
        let mut regions = REGIONS.write().unwrap_or_else(PoisonError::into_inner);
        regions.push((region.base(), Arc::as_ptr(&region).expose_provenance()));
        regions.sort_unstable();
        CHANGES.fetch_add(1, Ordering::Release);
        region
    }

    /// The region that an address is in.
    pub(super) fn of(address: usize) -> Option<&'static Region> {
        let changes = CHANGES.load(Ordering::Acquire);
        let (known, base, end, region) = LAST.get();
        let region = if known == changes && (base..end).contains(&address) {
            region
        } else {
            let found = Region::look_up(address)?;
            let region = std::ptr::from_ref(found).expose_provenance();
            LAST.set((changes, found.base(), found.base() + found.layout.size(), region));
            region
        };
        // SAFETY: no region was made or dropped since this one was looked up.
        Some(unsafe { &*std::ptr::with_exposed_provenance::<Region>(region) })
    }

    fn look_up(address: usize) -> Option<&'static Region> {
        let regions = REGIONS.read().unwrap_or_else(PoisonError::into_inner);
        let after = regions.partition_point(|(base, _)| *base <= address);
        let (base, region) = regions[after.checked_sub(1)?];
        // SAFETY: a region is taken out of the list before it is gone. Who asks has a reference
        // into its memory, so it is there as long as the answer is used.
        let region = unsafe { &*std::ptr::with_exposed_provenance::<Region>(region) };
        (address - base < region.layout.size()).then_some(region)
    }

    /// The address of its first byte.
    pub(super) fn base(&self) -> usize {
        self.memory.as_ptr().addr()
    }

    pub(super) fn shadow(&self) -> MutexGuard<'_, Shadow> {
        self.shadow.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The address of the root.
    #[track_caller]
    pub(super) fn root<R: Persistent>(&self) -> usize {
        assert!(align_of::<R>() <= LINE_BYTES, "a root starts where a line does");
        let (known, _) = *self.root.get_or_init(|| {
            let end = ROOT + size_of::<R>();
            assert!(end <= self.objects.load(Ordering::Relaxed), "the pool is too small");
            (TypeId::of::<R>(), size_of::<R>())
        });
        assert!(known == TypeId::of::<R>(), "the root of this pool has another type");
        self.base() + ROOT
    }

    /// The offset of the root, and how many bytes it has.
    pub(super) fn root_part(&self) -> (usize, usize) {
        (ROOT, self.root.get().map_or(0, |(_, bytes)| *bytes))
    }

    /// The address of something of this size at an offset, if it can be there.
    pub(super) fn address(&self, offset: usize, bytes: usize) -> Option<usize> {
        let end = offset.checked_add(bytes)?;
        let inside = offset >= ROOT && end <= self.layout.size();
        (inside && offset.is_multiple_of(LINE_BYTES)).then(|| self.base() + offset)
    }

    /// Takes so many lines from the end.
    #[track_caller]
    pub(super) fn take(&self, bytes: usize) -> usize {
        let bytes = bytes.div_ceil(LINE_BYTES).max(1) * LINE_BYTES;
        let (root, root_bytes) = self.root_part();
        let taken = self.objects.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |objects| {
            objects.checked_sub(bytes).filter(|start| *start >= root + root_bytes)
        });
        taken.unwrap_or_else(|_| panic!("the pool is full")) - bytes
    }

    /// Where a new object is.
    #[track_caller]
    pub(super) fn allocate<T: Persistent>(&self, value: &T, site: Site) -> usize {
        let bytes = size_of::<T>();
        let thread = runtime::with(|runtime| runtime.current());
        let offset = match thread {
            Some(thread) => self.shadow().place(self, thread, bytes),
            None => self.take(bytes),
        };
        let mut stores = Vec::new();
        T::parts(0, &mut |at, size| {
            let from = std::ptr::from_ref(value).cast::<u8>();
            // SAFETY: a part is not padding, so these bytes are initialised.
            let bytes = (0..size).map(|byte| unsafe { from.add(at + byte).read() });
            let word = bytes.rev().fold(0, |word, byte| word << 8 | u64::from(byte));
            self.write(offset + at, size, word);
            stores.push((offset + at, size, word));
        });
        if thread.is_some() {
            let mark = self.shadow().allocated(offset, stores, site);
            // The lock is free again: others may run now.
            if let Some(mark) = mark {
                runtime::with(|runtime| runtime.mark(mark));
            }
        }
        offset
    }

    /// Writes the low bytes of a word.
    pub(super) fn write(&self, offset: usize, size: usize, word: u64) {
        if size == 8 && offset.is_multiple_of(8) {
            self.word(offset).store(word, Ordering::Relaxed);
            return;
        }
        for (byte, value) in word.to_le_bytes().into_iter().take(size).enumerate() {
            assert!(offset + byte < self.layout.size(), "a write is in the region");
            // SAFETY: in bounds; an atomic has no alignment here, and no thread that runs sees it.
            let at = unsafe { AtomicU8::from_ptr(self.memory.as_ptr().add(offset + byte)) };
            at.store(value, Ordering::Relaxed);
        }
    }

    /// Reads a whole aligned word.
    pub(super) fn read_word(&self, offset: usize) -> u64 {
        self.word(offset & !7).load(Ordering::Relaxed)
    }

    fn word(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8) && offset + 8 <= self.layout.size(), "in the region");
        // SAFETY: in bounds and aligned; all bytes were initialised when the memory was made.
        unsafe { AtomicU64::from_ptr(self.memory.as_ptr().add(offset).cast()) }
    }

    /// Sets these bytes to zero.
    pub(super) fn clear(&self, offset: usize, bytes: usize) {
        assert!(offset + bytes <= self.layout.size(), "what is cleared is in the region");
        // SAFETY: in bounds; no thread runs.
        unsafe { self.memory.as_ptr().add(offset).write_bytes(0, bytes) };
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        let base = self.base();
        let mut regions = REGIONS.write().unwrap_or_else(PoisonError::into_inner);
        regions.retain(|(other, _)| *other != base);
        CHANGES.fetch_add(1, Ordering::Release);
        drop(regions);
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.memory.as_ptr(), self.layout) };
    }
}

impl fmt::Debug for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.layout.size())
    }
}
