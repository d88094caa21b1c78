//! One execution, as an observer sees it.

use linchpin_sync::runtime::{CellAccess, PlaceKind, Resource, Site};
use std::sync::atomic::Ordering;

/// One execution.
#[derive(Clone, Debug, Default)]
pub struct Execution {
    /// What happened, in an order that explains it.
    pub events: Vec<Event>,
    /// What precedes each event: `clocks[e][t]` events of thread `t` do, or are the event itself.
    ///
    /// Under sequential consistency that is program order and the order of accesses of one place of
    /// which one writes: what every execution that shows the same has in common. Under weak memory
    /// it is happens-before.
    pub clocks: Vec<Vec<u32>>,
    /// What went wrong, if something did. The execution ends there.
    pub problem: Option<Problem>,
    /// What repeats it: see [`Strategy::Replay`](crate::Strategy::Replay).
    pub decisions: Vec<u32>,
    /// What the places are that events name, for people.
    pub places: Vec<PlaceKind>,
    /// Of each of these places, where it is in persistent memory, if it is there.
    pub lines: Vec<Option<InLine>>,
    /// How many threads there were.
    pub threads: usize,
    /// How often a thread was interrupted that could have gone on.
    pub preemptions: usize,
}

/// Where a place is in persistent memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InLine {
    /// Its address.
    pub address: usize,
    /// How many bytes it has; a line has none here.
    pub size: usize,
    /// Its line, which is a place of its own.
    pub line: usize,
}

/// Something that a thread did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Who.
    pub thread: usize,
    /// What.
    pub kind: EventKind,
    /// Where in the source; nowhere for marks.
    pub site: Option<Site>,
}

/// What a thread did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// Accessed a place.
    Access {
        /// Which: index into [`Execution::places`].
        place: usize,
        /// What it read, if it read.
        read: Option<u64>,
        /// What it wrote, if it wrote.
        wrote: Option<u64>,
        /// The order that was asked for.
        order: Ordering,
        /// The event that wrote what was read: index into [`Execution::events`]; the initial value
        /// if absent.
        from: Option<usize>,
    },
    /// A fence.
    Fence(Ordering),
    /// Accessed a cell.
    Cell {
        /// Which: cells have numbers of their own.
        cell: usize,
        /// How.
        access: CellAccess,
    },
    /// Waited for others to write.
    Pause,
    /// Took one of several alternatives.
    Choose {
        /// Which.
        taken: usize,
        /// Of how many.
        alternatives: usize,
    },
    /// Started a thread.
    Spawn {
        /// Which.
        thread: usize,
    },
    /// A note of the observer's: see [`linchpin_sync::runtime::Runtime::mark`].
    Mark(u64),
}

/// What went wrong in an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// A thread panicked.
    Panicked {
        /// Which.
        thread: usize,
        /// What it said.
        message: String,
    },
    /// Some threads have not ended and none can go on.
    Deadlock {
        /// Who waits for what.
        waiting: Vec<Waiting>,
    },
    /// Two accesses of a cell, one of which writes, and neither happens before the other.
    Race {
        /// The one that came first here.
        first: usize,
        /// Where.
        first_site: Site,
        /// The other.
        second: usize,
        /// Where.
        second_site: Site,
    },
    /// Something was not given back.
    Leaked {
        /// What.
        what: Resource,
        /// Where it was made.
        site: Site,
    },
    /// Something was used after it was given back, or given back twice.
    UsedAfterFree {
        /// What.
        what: Resource,
        /// Who uses it.
        thread: usize,
        /// Where.
        site: Site,
        /// Where it was made.
        acquired: Site,
        /// Where it was given back.
        released: Site,
    },
    /// The execution is too long.
    TooLong {
        /// The limit.
        steps: usize,
        /// What most of the last steps are: a thread, and where.
        again: Option<(usize, Site)>,
    },
    /// The code did something else than before although it was answered the same.
    Nondeterministic {
        /// Who.
        thread: usize,
        /// Where.
        site: Site,
    },
}

/// A thread that cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Which.
    pub thread: usize,
    /// For what; in a spin loop if absent.
    pub place: Option<PlaceKind>,
    /// Where.
    pub site: Site,
}

/// What was made where, for people.
#[derive(Debug)]
pub struct Resourceful<'a>(pub Resource, pub &'a Site);

impl std::fmt::Display for Resourceful<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = match self.0 {
            Resource::Allocation => "memory that was allocated",
            Resource::Arc => "an Arc that was made",
            Resource::Tracked => "a value that is tracked since",
        };
        write!(f, "{what} at {}", self.1)
    }
}

impl Execution {
    /// Whether one event precedes another: both are indices into [`Execution::events`].
    pub fn precedes(&self, first: usize, second: usize) -> bool {
        let thread = self.events[first].thread;
        let known = self.clocks[second].get(thread).copied().unwrap_or(0);
        let own = self.clocks[first].get(thread).copied().unwrap_or(0);
        first != second && own <= known
    }
}
