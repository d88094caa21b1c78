//! What the events of a graph are, and which orderings they have.

use super::graph::Source;
use linchpin_sync::runtime::{Action, CellAccess, Resource};
use std::sync::atomic::Ordering;

/// What an event is. Locations, cells and resources are numbers in the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    Read {
        location: u32,
        asked: Asked,
        from: Source,
        effect: Effect,
    },
    /// The write of an update is the event after its read.
    Write {
        location: u32,
        order: Ordering,
        update: bool,
    },
    Fence(Ordering),
    Cell {
        cell: u32,
        access: CellAccess,
    },
    Pause,
    Choose {
        taken: u32,
        alternatives: u32,
    },
    Spawn {
        thread: u32,
    },
    Acquired {
        what: Resource,
        resource: u32,
    },
    Released {
        resource: u32,
    },
    Used {
        resource: u32,
    },
    Mark,
}

/// How a read was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Load(Ordering),
    Update { success: Ordering, failure: Ordering },
    Await(Ordering),
}

/// What a read comes to, which depends on the value that it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Not known: an update or await that reads something else since it was last run.
    Open,
    /// Nothing is written.
    Reads,
    /// A write follows.
    Updates,
    /// An await that has to wait.
    Blocks,
}

impl Asked {
    /// What an action asks, but for stores.
    pub(super) fn of(action: Action<'_>) -> Option<Asked> {
        match action {
            Action::Load(order) => Some(Asked::Load(order)),
            Action::Store(..) => None,
            Action::Update { success, failure, .. } => Some(Asked::Update { success, failure }),
            Action::Await { order, .. } => Some(Asked::Await(order)),
        }
    }

    /// The order that counts, given what the read comes to.
    pub(super) fn order(self, effect: Effect) -> Ordering {
        match (self, effect) {
            (Asked::Load(order) | Asked::Await(order), _) => order,
            (Asked::Update { success, .. }, Effect::Updates) => success,
            (Asked::Update { failure, .. }, Effect::Reads | Effect::Blocks) => failure,
            // Until it is known, the read counts for nothing.
            (Asked::Update { .. }, Effect::Open) => Ordering::Relaxed,
        }
    }
}

/// What a value comes to, and what is written then.
pub(super) fn effect(action: Action<'_>, value: u64) -> (Effect, Option<u64>) {
    match action {
        Action::Load(_) | Action::Store(..) => (Effect::Reads, None),
        Action::Update { change, .. } => match change(value) {
            Some(new) => (Effect::Updates, Some(new)),
            None => (Effect::Reads, None),
        },
        Action::Await { change, .. } => match change(value) {
            Some(new) if new == value => (Effect::Reads, None),
            Some(new) => (Effect::Updates, Some(new)),
            None => (Effect::Blocks, None),
        },
    }
}

impl Label {
    fn order(self) -> Option<Ordering> {
        match self {
            Label::Read { asked, effect, .. } => Some(asked.order(effect)),
            Label::Write { order, .. } | Label::Fence(order) => Some(order),
            _ => None,
        }
    }

    pub(super) fn acquires(self) -> bool {
        let acquires = [Ordering::Acquire, Ordering::AcqRel, Ordering::SeqCst];
        self.order().is_some_and(|order| acquires.contains(&order))
    }

    pub(super) fn releases(self) -> bool {
        let releases = [Ordering::Release, Ordering::AcqRel, Ordering::SeqCst];
        self.order().is_some_and(|order| releases.contains(&order))
    }

    /// Whether it takes part in the order of all `SeqCst` events.
    pub(super) fn is_sequential(self) -> bool {
        self.order() == Some(Ordering::SeqCst)
    }

    /// The location that it accesses.
    pub(super) fn location(self) -> Option<u32> {
        match self {
            Label::Read { location, .. } | Label::Write { location, .. } => Some(location),
            _ => None,
        }
    }

    /// Whether it is the write of an update.
    pub(super) fn is_update_write(self) -> bool {
        matches!(self, Label::Write { update: true, .. })
    }
}
