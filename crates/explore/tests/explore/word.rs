//! A word of memory that accesses can wait for: locks are made of it.

use linchpin_sync::runtime::{self, Action, Identity, Memory, Place, PlaceKind, Site};
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};

/// A word of memory that accesses can wait for.
pub struct Word {
    identity: Identity,
    value: AtomicU64,
}

impl Memory for Word {
    fn get(&self) -> u64 {
        self.value.load(Ordering::Relaxed)
    }
    fn set(&self, value: u64) {
        self.value.store(value, Ordering::Relaxed);
    }
}

impl Word {
    pub const fn new(value: u64) -> Word {
        Word { identity: Identity::new(), value: AtomicU64::new(value) }
    }

    fn access(&self, action: Action<'_>, site: Site) -> u64 {
        let place = Place { identity: &self.identity, memory: self, kind: PlaceKind::Atomic };
        runtime::with(|runtime| runtime.access(place, action, site)).unwrap()
    }

    pub fn load(&self, site: Site) -> u64 {
        self.access(Action::Load(Ordering::SeqCst), site)
    }

    pub fn store(&self, value: u64, site: Site) {
        self.access(Action::Store(value, Ordering::SeqCst), site);
    }

    pub fn update(&self, change: &dyn Fn(u64) -> Option<u64>, site: Site) -> u64 {
        let order = Ordering::SeqCst;
        self.access(Action::Update { change, success: order, failure: order }, site)
    }

    /// Waits until it holds one value, and writes another.
    pub fn wait(&self, from: u64, to: u64, site: Site) {
        let change = |value| (value == from).then_some(to);
        self.access(Action::Await { change: &change, order: Ordering::SeqCst }, site);
    }
}

/// A lock.
pub struct Lock(Word);

impl Lock {
    pub const fn new() -> Lock {
        Lock(Word::new(0))
    }

    #[track_caller]
    pub fn lock(&self) {
        self.0.wait(0, 1, Location::caller());
    }

    #[track_caller]
    pub fn unlock(&self) {
        self.0.store(0, Location::caller());
    }
}
