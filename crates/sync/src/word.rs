//! What locks, condition variables and the like are made of: one word that threads access.
//!
//! INVARIANT: all that decides whether a thread goes on is in the word. An engine may evaluate an
//! update for an execution that it drops afterwards, so there is no state beside it.

use crate::runtime::{self, Action, Identity, Memory, Place, PlaceKind, Site};
use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};

/// A word that threads access.
pub(crate) struct Word {
    identity: Identity,
    value: AtomicU64,
    kind: PlaceKind,
}

/// What an update makes of a word; nothing if it leaves it alone.
pub(crate) type Change<'a> = &'a dyn Fn(u64) -> Option<u64>;

impl Word {
    pub(crate) const fn new(kind: PlaceKind, value: u64) -> Word {
        Word { identity: Identity::new(), value: AtomicU64::new(value), kind }
    }

    #[track_caller]
    fn ask(&self, action: Action<'_>) -> Option<u64> {
        self.ask_at(action, Location::caller())
    }

    fn ask_at(&self, action: Action<'_>, site: Site) -> Option<u64> {
        let place = Place { identity: &self.identity, memory: self, kind: self.kind };
        runtime::with(|runtime| runtime.access(place, action, site))
    }

    /// What it holds.
    #[track_caller]
    pub(crate) fn load(&self, order: Ordering) -> u64 {
        self.ask(Action::Load(order)).unwrap_or_else(|| self.value.load(Ordering::SeqCst))
    }

    /// Holds this from now on.
    #[track_caller]
    pub(crate) fn store(&self, value: u64, order: Ordering) {
        self.store_at(value, order, Location::caller());
    }

    /// Holds this from now on, and that is done there for people.
    pub(crate) fn store_at(&self, value: u64, order: Ordering, site: Site) {
        if self.ask_at(Action::Store(value, order), site).is_none() {
            self.value.store(value, Ordering::SeqCst);
        }
    }

    /// Changes it in one step, and answers what it held before.
    #[track_caller]
    pub(crate) fn update(&self, change: Change<'_>, success: Ordering, failure: Ordering) -> u64 {
        self.update_at(change, success, failure, Location::caller())
    }

    /// Changes it in one step, and that is done there for people.
    pub(crate) fn update_at(
        &self,
        change: Change<'_>,
        success: Ordering,
        failure: Ordering,
        site: Site,
    ) -> u64 {
        let action = Action::Update { change, success, failure };
        self.ask_at(action, site).unwrap_or_else(|| self.change(change))
    }

    /// Waits until it can be changed, and answers what it held before: only under control. Nothing
    /// is answered, and nothing done, outside.
    #[track_caller]
    pub(crate) fn wait(&self, change: Change<'_>, order: Ordering) -> Option<u64> {
        self.ask(Action::Await { change, order })
    }

    /// Changes it outside of control.
    pub(crate) fn change(&self, change: Change<'_>) -> u64 {
        let both = Ordering::SeqCst;
        self.value.fetch_update(both, both, change).unwrap_or_else(|old| old)
    }

    /// What it holds, for the one who has it alone.
    #[track_caller]
    pub(crate) fn get_mut(&mut self) -> &mut u64 {
        if let Some(value) = self.ask(Action::Load(Ordering::Relaxed)) {
            *self.value.get_mut() = value;
        }
        self.identity.forget();
        self.value.get_mut()
    }
}

impl Memory for Word {
    fn get(&self) -> u64 {
        self.value.load(Ordering::Relaxed)
    }
    fn set(&self, value: u64) {
        self.value.store(value, Ordering::Relaxed);
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.value, f)
    }
}
