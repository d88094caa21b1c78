//! The seam: what the primitives ask, and who answers.
//!
//! There are few questions. An *access* of a [`Place`] reads, writes, updates, or waits until an
//! update is possible; locks, condition variables, park and join are made of waiting updates
//! ([`Action::Await`]). Besides these: fences, accesses of cells that no other may run beside,
//! pauses of spin loops, choices, and new threads.
//!
//! All threads of a controlled execution are coroutines on one thread of the system, so one
//! thread-local variable says whether an execution is controlled, and by whom.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A place in the source.
pub type Site = &'static Location<'static>;

/// What controls an execution.
pub trait Runtime {
    /// Accesses a place. Answers what was there before.
    fn access(&self, place: Place<'_>, action: Action<'_>, site: Site) -> u64;
    /// Accesses a place that is part of a line of persistent memory. To write it is also to write
    /// the line: the order of all stores to a line matters.
    fn access_in_line(
        &self,
        place: Place<'_>,
        line: Place<'_>,
        action: Action<'_>,
        site: Site,
    ) -> u64 {
        let _ = line;
        self.access(place, action, site)
    }
    /// A fence.
    fn fence(&self, order: Ordering, site: Site);
    /// An access of a cell, which must not race with another.
    fn cell(&self, identity: &Identity, access: CellAccess, site: Site);
    /// The thread has nothing to do until another one writes.
    fn pause(&self, site: Site);
    /// One of so many alternatives (at least one): all of them are possible.
    fn choose(&self, alternatives: usize, site: Site) -> usize;
    /// Starts a thread; answers its index.
    fn spawn(&self, name: Option<String>, body: Box<dyn FnOnce()>, site: Site) -> usize;
    /// The index of the thread that runs; the first one has 0.
    fn current(&self) -> usize;
    /// Calls this with the thread-local variables of the thread that runs.
    fn with_locals(&self, call: &mut dyn FnMut(&Locals));
    /// Something that must be given back before the execution ends: answers a number for it.
    fn acquired(&self, what: Resource, site: Site) -> u64;
    /// It was given back.
    fn released(&self, resource: u64, site: Site);
    /// It is used: an error if it was given back.
    fn used(&self, resource: u64, site: Site);
    /// A note in the trace of the thread that runs, of which only the observer knows the meaning.
    fn mark(&self, mark: u64);
    /// Does this when the execution has ended, and is controlled no more: memory that was given
    /// back is kept until then, so that a use after it is seen and does no harm.
    fn at_end(&self, call: Box<dyn FnOnce()>) {
        call();
    }
    /// From here on, other executions are or are not explored. It is about what is worth the time:
    /// an explorer may explore more.
    fn exploring(&self, _exploring: Exploring) {}
}

/// Whether other executions are explored from some point of one on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Exploring {
    /// They are.
    #[default]
    On,
    /// They are not, until this is changed.
    Off,
    /// They are not, to the end of the execution.
    Never,
}

/// What must be given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// Memory.
    Allocation,
    /// An `Arc`.
    Arc,
    /// A value that the user tracks.
    Tracked,
}

/// How a cell is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CellAccess {
    /// It is read.
    Read,
    /// It is written.
    Write,
}

/// What is done with a place.
#[derive(Clone, Copy)]
pub enum Action<'a> {
    /// Reads.
    Load(Ordering),
    /// Writes.
    Store(u64, Ordering),
    /// Reads, and writes what the function makes of it, if it makes something of it, in one step.
    ///
    /// INVARIANT: the function depends on its argument alone; it may be called any number of times.
    Update {
        /// What to write; nothing if absent.
        change: &'a dyn Fn(u64) -> Option<u64>,
        /// The order if something is written.
        success: Ordering,
        /// The order if nothing is.
        failure: Ordering,
    },
    /// As [`Action::Update`], but waits until the function makes something of what is there. Where
    /// that is what is there already, it only reads.
    Await {
        /// What to write; waits while absent.
        change: &'a dyn Fn(u64) -> Option<u64>,
        /// The order.
        order: Ordering,
    },
}

/// Something that threads access.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// Which one it is.
    pub identity: &'a Identity,
    /// What it holds.
    pub memory: &'a dyn Memory,
    /// What it is, for people.
    pub kind: PlaceKind,
}

/// What a place is, for people. One thing is decided by it: a thread that waits for a
/// [`PlaceKind::Join`] is no part of a graph under weak memory until it can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlaceKind {
    /// An atomic variable.
    Atomic,
    /// A cell of persistent memory.
    Persistent,
    /// A line of persistent memory, which is read when it is flushed.
    Line,
    /// A `Mutex`.
    Mutex,
    /// A `RwLock`.
    RwLock,
    /// A `Condvar`.
    Condvar,
    /// The token of a parked thread.
    Park,
    /// Whether a thread has ended.
    Join,
    /// The count of an `Arc`.
    Arc,
    /// `Once`, `Barrier`, channels and other things that are made of the above.
    Other,
}

/// The memory of a place, as a word.
pub trait Memory {
    /// What it holds.
    fn get(&self) -> u64;
    /// Holds this from now on.
    fn set(&self, value: u64);
}

/// Which place or cell it is. Numbers are given at the first access in an execution, because `new`
/// is `const` and knows no execution.
#[derive(Debug)]
pub struct Identity {
    /// Generation of the execution (high 40 bits) and number of the place in it.
    tag: AtomicU64,
    /// What it held when it was first accessed in an execution.
    initial: AtomicU64,
}

const INDEX_BITS: u32 = 24;

impl Identity {
    /// Of something that was never accessed.
    #[expect(clippy::new_without_default, reason = "an identity is no value")]
    pub const fn new() -> Identity {
        Identity { tag: AtomicU64::new(0), initial: AtomicU64::new(0) }
    }

    /// The number in the execution with this generation, if it has one.
    #[inline]
    pub fn index(&self, generation: u64) -> Option<u32> {
        let tag = self.tag.load(Ordering::Relaxed);
        let index = tag & ((1 << INDEX_BITS) - 1);
        (tag >> INDEX_BITS == generation).then_some(index as u32)
    }

    /// Gives it a number in the execution with this generation. A static variable outlives
    /// executions: what it held at its first access is put back, so that all begin alike.
    pub fn register(&self, generation: u64, index: u32, memory: Option<&dyn Memory>) {
        let known = self.tag.load(Ordering::Relaxed) != 0;
        if known {
            OUTLIVED.set(true);
        }
        self.tag.store(generation << INDEX_BITS | u64::from(index), Ordering::Relaxed);
        match memory {
            Some(memory) if known => memory.set(self.initial.load(Ordering::Relaxed)),
            Some(memory) => self.initial.store(memory.get(), Ordering::Relaxed),
            None => {}
        }
    }

    /// As if it was never accessed: the one who has it alone may have changed it.
    pub fn forget(&mut self) {
        *self.tag.get_mut() = 0;
    }

    /// A generation that no execution had before: never 0.
    pub fn next_generation() -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        NEXT.fetch_add(1, Ordering::Relaxed)
    }
}

/// The thread-local variables of one thread.
#[derive(Default)]
pub struct Locals {
    /// In the order in which they were made, which is the order in which they are destroyed: it
    /// must be the same in every execution.
    values: RefCell<Vec<(usize, Local)>>,
}

enum Local {
    Value(Rc<dyn Any>),
    Destroyed,
}

impl Locals {
    /// The variable with this key, made if it is missing; nothing if it was destroyed.
    pub fn get(&self, key: usize, make: &dyn Fn() -> Rc<dyn Any>) -> Option<Rc<dyn Any>> {
        if let Some((_, local)) = self.values.borrow().iter().find(|(known, _)| *known == key) {
            return match local {
                Local::Value(value) => Some(value.clone()),
                Local::Destroyed => None,
            };
        }
        // Making it may use other variables, so nothing is borrowed meanwhile.
        let value = make();
        self.values.borrow_mut().push((key, Local::Value(value.clone())));
        Some(value)
    }

    /// Drops the variables, as the end of a thread does, one after the other; a destructor may make
    /// new ones.
    pub fn destroy(&self) {
        loop {
            let found = {
                let mut values = self.values.borrow_mut();
                let found = values.iter_mut().find(|(_, local)| matches!(local, Local::Value(_)));
                found.map(|(_, local)| std::mem::replace(local, Local::Destroyed))
            };
            match found {
                Some(local) => drop(local),
                None => return,
            }
        }
    }
}

thread_local! {
    static OUTLIVED: Cell<bool> = const { Cell::new(false) };
    static CURRENT: Cell<Option<*const dyn Runtime>> = const { Cell::new(None) };
    static ASKED: Cell<u64> = const { Cell::new(0) };
}

/// While this is there, executions on this thread of the system are controlled by a runtime.
pub struct Controlled<'a> {
    before: Option<*const dyn Runtime>,
    runtime: std::marker::PhantomData<&'a dyn Runtime>,
}

/// Hands control over to a runtime, until what is answered is dropped.
pub fn control(runtime: &dyn Runtime) -> Controlled<'_> {
    // SAFETY: only the lifetime changes. `Controlled` borrows the runtime, and takes the pointer
    // away when it is dropped.
    let runtime: *const dyn Runtime =
        unsafe { std::mem::transmute::<&dyn Runtime, &'static dyn Runtime>(runtime) };
    let before = CURRENT.with(|current| current.replace(Some(runtime)));
    Controlled { before, runtime: std::marker::PhantomData }
}

impl Drop for Controlled<'_> {
    fn drop(&mut self) {
        CURRENT.with(|current| current.set(self.before));
    }
}

/// Whether an execution on this thread of the system, since this was last asked, has accessed
/// something that was there before it: a static variable. Two such executions at the same time
/// would disturb each other.
pub fn took_static() -> bool {
    OUTLIVED.replace(false)
}

/// Whether the thread that runs is controlled.
pub fn is_controlled() -> bool {
    with(|_| ()).is_some()
}

/// Whether the thread that runs was controlled until a panic began to unwind it. The other threads
/// do not run any more, so nothing may wait for them.
pub fn is_unwinding() -> bool {
    std::thread::panicking() && CURRENT.try_with(Cell::get).ok().flatten().is_some()
}

/// A thread that is being unwound did not wait, because no other one runs. If it does so again and
/// again, it never ends, and the process must.
pub(crate) fn waited_in_vain() {
    thread_local!(static TIMES: Cell<u32> = const { Cell::new(0) });
    if is_unwinding() && TIMES.replace(TIMES.get().saturating_add(1)) > 100_000 {
        eprintln!("a destructor waits for other threads while a panic unwinds: it would never end");
        std::process::abort();
    }
}

/// How often a runtime was asked on this thread of the system. While it stays the same, no other
/// thread of the execution ran.
pub fn asked() -> u64 {
    ASKED.try_with(Cell::get).unwrap_or(0)
}

/// Asks the runtime, if there is one. Nothing is asked while a panic unwinds: no other thread may
/// run then, because all coroutines of a thread share its panic count.
#[inline]
pub fn with<R>(ask: impl FnOnce(&dyn Runtime) -> R) -> Option<R> {
    let runtime = CURRENT.try_with(Cell::get).ok().flatten()?;
    if std::thread::panicking() {
        return None;
    }
    ASKED.with(|asked| asked.set(asked.get().wrapping_add(1)));
    // SAFETY: `Controlled` keeps the runtime borrowed while the pointer is set.
    Some(ask(unsafe { &*runtime }))
}
