//! What each built-in data type brings to the checkers: one trait, one table.
//!
//! A new data type that is judged by the general search alone needs a line in [`data_type`]. What
//! makes it faster is added by implementing more of [`DataType`].

use crate::online::{EventRule, WindowRule, rules};
use linchpin_history_data::crash::Interrupted;
use linchpin_history_data::{History, Judgement, Monitored, NotApplicable, ValueId, Witness};
use linchpin_monitor as monitor;
use linchpin_search::{
    Knowledge, Relevance, SearchOptions, SplitBy, Tally, cas_register, lockstep,
};
use linchpin_spec::{Builtin, Mailbox, Snzi, Value};
use linchpin_verdict::Limits;

/// What a data type brings. Everything has a default: the general search.
pub(crate) trait DataType: Sync {
    /// The exact methods, the fastest first. Each may find that it does not apply.
    fn methods(&self) -> &'static [Method] {
        &[]
    }

    /// After how many of the methods a quick search goes, which the rest would take longer than;
    /// none if it does not know the object.
    fn quick_after(&self) -> Option<usize> {
        None
    }

    /// Methods that search: exact, faster than the general search, but exponential at worst. They
    /// keep to [`Limits::configurations`].
    fn searches(&self) -> &'static [Method] {
        &[]
    }

    /// Methods that take longer than a short search does, where that is enough: it goes first, if
    /// there are any.
    fn after_short_search(&self, _history: &History) -> &'static [Method] {
        &[]
    }

    /// Whether the methods know that an interrupted operation takes effect before the next one of
    /// its process does (recoverable linearizability).
    fn orders_interrupted(&self) -> bool {
        false
    }

    /// What the general search may rely on.
    fn knowledge(&self) -> Knowledge {
        Knowledge::default()
    }

    /// How an object that starts from `init` is judged while it is recorded.
    fn online(&self, _init: Option<&Value>) -> Online {
        Online::Search
    }
}

/// How an object is judged while it is recorded.
pub(crate) enum Online {
    /// By windows.
    Window(&'static dyn WindowRule),
    /// Event by event.
    Events(EventRule),
    /// By the general search.
    Search,
}

/// An exact method for one data type.
pub(crate) struct Method {
    /// What it is called.
    pub(crate) name: &'static str,
    /// Judges.
    pub(crate) check: fn(&Task<'_>) -> Monitored,
}

/// What a method judges.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a> {
    pub(crate) history: &'a History,
    pub(crate) init: Option<&'a Value>,
    pub(crate) interrupted: &'a [Interrupted],
    pub(crate) limits: &'a Limits,
    /// How long to look for the reasons of a violation, where that takes a search.
    pub(crate) search: &'a SearchOptions,
}

impl Task<'_> {
    /// The initial value, `null` if none was given.
    fn initial(&self) -> Value {
        self.init.cloned().unwrap_or_default()
    }

    /// Judges a collection, the initial contents of which must be values that the history knows.
    fn collection(&self, check: fn(&History, &[ValueId], &Limits) -> Monitored) -> Monitored {
        let init = self.initial();
        let mut initial = Vec::new();
        for value in init.as_list().unwrap_or_default() {
            let Some(id) = self.history.values.find(value) else {
                let reason = format!("the initial value {value} is never removed");
                return Err(NotApplicable { reason });
            };
            initial.push(id);
        }
        check(self.history, &initial, self.limits)
    }

    /// Judges a collection in which values repeat, where a guess which of equal values was removed
    /// when explains it.
    fn by_pairs(&self, guess: fn(&History, &Limits) -> Option<Witness>) -> Monitored {
        let is_empty = self.initial().as_list().is_none_or(<[Value]>::is_empty);
        let found = is_empty.then(|| guess(self.history, self.limits)).flatten();
        found.map(Judgement::Holds).ok_or_else(|| NotApplicable {
            reason: "which of equal values was removed when is not obvious".to_owned(),
        })
    }
}

/// The methods of a data type that has one, called like a function of [`monitor`].
macro_rules! monitored {
    ($name:literal, $module:ident) => {
        &[Method {
            name: $name,
            check: |task| monitor::$module::check(task.history, &task.initial(), task.limits),
        }]
    };
}

/// What a data type brings, by its name.
pub(crate) fn data_type(builtin: Builtin) -> &'static dyn DataType {
    match builtin {
        Builtin::Register => &Register { has_cas: false },
        Builtin::CasRegister => &Register { has_cas: true },
        Builtin::Queue => &Queue,
        Builtin::Stack => &Stack,
        Builtin::UnorderedQueue => &UnorderedQueue,
        Builtin::PriorityQueue => &PriorityQueue,
        Builtin::Set => &Set,
        Builtin::GrowSet => &GrowSet,
        Builtin::Map => &Map,
        Builtin::Counter => &Counter,
        Builtin::Mutex => &Mutex,
        Builtin::Semaphore => &Semaphore,
        Builtin::Mwcas => &Mwcas,
        Builtin::Kv => &Kv,
        Builtin::ListAppend => &ListAppend,
        Builtin::MultiRegister => &MultiRegister,
        Builtin::Snapshot => &Snapshot,
        Builtin::Snzi => &Counted(Tally { up: Snzi::ARRIVE, down: Snzi::DEPART }),
        Builtin::Mailbox => &Counted(Tally { up: Mailbox::DELIVER, down: Mailbox::REMOVE }),
        Builtin::BoundedQueue
        | Builtin::Rdcss
        | Builtin::Bank
        | Builtin::Etcd
        | Builtin::S2Stream => &Searched,
    }
}

struct Register {
    has_cas: bool,
}

impl DataType for Register {
    fn quick_after(&self) -> Option<usize> {
        Some(1)
    }

    fn methods(&self) -> &'static [Method] {
        monitored!("register", register)
    }

    fn searches(&self) -> &'static [Method] {
        &[Method {
            name: "cas-register",
            check: |task| {
                let init = task.initial();
                cas_register::check_with(task.history, &init, task.limits, task.search)
            },
        }]
    }

    fn online(&self, _: Option<&Value>) -> Online {
        Online::Window(if self.has_cas { &rules::CasRegister } else { &rules::Register })
    }
}

/// Collections share what the general search may rely on.
const SHARED_VALUES: Knowledge =
    Knowledge { split: None, relevance: Some(Relevance::SharedValues), tally: None };

struct Queue;

impl DataType for Queue {
    fn quick_after(&self) -> Option<usize> {
        Some(1)
    }

    fn methods(&self) -> &'static [Method] {
        &[Method { name: "queue", check: |task| task.collection(monitor::queue::check) }]
    }

    fn searches(&self) -> &'static [Method] {
        &[Method {
            name: "queue lockstep",
            check: |task| {
                let init = task.initial();
                let contents = init.as_list().unwrap_or_default();
                lockstep::queue_with(task.history, contents, task.limits, task.search)
            },
        }]
    }

    fn knowledge(&self) -> Knowledge {
        SHARED_VALUES
    }

    fn online(&self, _: Option<&Value>) -> Online {
        Online::Window(&rules::Queue)
    }
}

struct Stack;

impl DataType for Stack {
    fn quick_after(&self) -> Option<usize> {
        Some(1)
    }

    fn methods(&self) -> &'static [Method] {
        &[
            Method { name: "stack", check: |task| task.collection(monitor::stack::check) },
            Method { name: "stack by pairs", check: |task| task.by_pairs(monitor::stack::guess) },
        ]
    }

    fn knowledge(&self) -> Knowledge {
        SHARED_VALUES
    }

    fn online(&self, _: Option<&Value>) -> Online {
        Online::Window(&rules::Stack)
    }
}

struct UnorderedQueue;

impl DataType for UnorderedQueue {
    fn methods(&self) -> &'static [Method] {
        &[Method {
            name: "unordered-queue",
            check: |task| {
                let init = task.initial();
                let contents = init.as_list().unwrap_or_default().iter();
                // What the history does not know is never removed, which is no harm.
                let known: Vec<ValueId> =
                    contents.filter_map(|value| task.history.values.find(value)).collect();
                monitor::unordered_queue::check(task.history, &known, task.limits)
            },
        }]
    }
}

struct PriorityQueue;

impl DataType for PriorityQueue {
    fn quick_after(&self) -> Option<usize> {
        Some(1)
    }

    fn methods(&self) -> &'static [Method] {
        &[
            Method {
                name: "priority-queue",
                check: |task| task.collection(monitor::priority_queue::check),
            },
            Method {
                name: "priority-queue by pairs",
                check: |task| task.by_pairs(monitor::priority_queue::guess),
            },
        ]
    }

    fn knowledge(&self) -> Knowledge {
        SHARED_VALUES
    }

    fn online(&self, _: Option<&Value>) -> Online {
        Online::Window(&rules::PriorityQueue)
    }
}

struct Set;

impl DataType for Set {
    fn methods(&self) -> &'static [Method] {
        monitored!("set", set)
    }

    fn knowledge(&self) -> Knowledge {
        Apart(SplitBy::FirstValue).knowledge()
    }

    fn online(&self, _: Option<&Value>) -> Online {
        Online::Window(&rules::Set)
    }
}

struct GrowSet;

impl DataType for GrowSet {
    fn methods(&self) -> &'static [Method] {
        monitored!("grow-set", grow_set)
    }
}

struct Map;

impl DataType for Map {
    fn methods(&self) -> &'static [Method] {
        monitored!("map", map)
    }

    fn knowledge(&self) -> Knowledge {
        Apart(SplitBy::FirstValue).knowledge()
    }

    fn online(&self, _: Option<&Value>) -> Online {
        Online::Window(&rules::Map)
    }
}

struct Kv;

impl DataType for Kv {
    fn quick_after(&self) -> Option<usize> {
        Some(0)
    }

    fn methods(&self) -> &'static [Method] {
        &[Method {
            name: "kv",
            check: |task| monitor::kv::check_obvious(task.history, &task.initial(), task.limits),
        }]
    }

    fn after_short_search(&self, history: &History) -> &'static [Method] {
        match monitor::kv::is_short(history) {
            true => monitored!("kv", kv),
            false => &[],
        }
    }

    fn knowledge(&self) -> Knowledge {
        Apart(SplitBy::FirstValue).knowledge()
    }
}

struct ListAppend;

impl DataType for ListAppend {
    fn methods(&self) -> &'static [Method] {
        &[Method {
            name: "list-append",
            check: |task| monitor::kv::check_lists(task.history, &task.initial(), task.limits),
        }]
    }

    fn knowledge(&self) -> Knowledge {
        Apart(SplitBy::Locations(1)).knowledge()
    }
}

struct Counter;

impl DataType for Counter {
    fn methods(&self) -> &'static [Method] {
        monitored!("counter", counter)
    }

    fn online(&self, init: Option<&Value>) -> Online {
        EventRule::counter(init).map_or(Online::Search, Online::Events)
    }
}

struct Mutex;

impl DataType for Mutex {
    fn methods(&self) -> &'static [Method] {
        monitored!("mutex", mutex)
    }

    fn online(&self, init: Option<&Value>) -> Online {
        EventRule::mutex(init).map_or(Online::Search, Online::Events)
    }
}

struct Semaphore;

impl DataType for Semaphore {
    fn methods(&self) -> &'static [Method] {
        monitored!("semaphore", semaphore)
    }

    fn online(&self, init: Option<&Value>) -> Online {
        EventRule::semaphore(init).map_or(Online::Search, Online::Events)
    }
}

struct Mwcas;

impl DataType for Mwcas {
    fn methods(&self) -> &'static [Method] {
        &[Method {
            name: "mwcas",
            check: |Task { history, init, interrupted, limits, .. }| {
                monitor::mwcas::check_interrupted(history, interrupted, *init, limits)
            },
        }]
    }

    fn orders_interrupted(&self) -> bool {
        true
    }

    fn knowledge(&self) -> Knowledge {
        Apart(SplitBy::Locations(0)).knowledge()
    }

    fn online(&self, _: Option<&Value>) -> Online {
        Online::Window(&rules::Mwcas)
    }
}

struct MultiRegister;

impl DataType for MultiRegister {
    fn quick_after(&self) -> Option<usize> {
        Some(0)
    }

    fn knowledge(&self) -> Knowledge {
        let relevance = Some(Relevance::WritesRead);
        Knowledge { relevance, ..Apart(SplitBy::Locations(1)).knowledge() }
    }
}

struct Snapshot;

impl DataType for Snapshot {
    fn knowledge(&self) -> Knowledge {
        Knowledge { relevance: Some(Relevance::UpdatesSeen), ..Knowledge::default() }
    }
}

/// An object of independent parts that are judged alone.
struct Apart(SplitBy);

impl DataType for Apart {
    fn knowledge(&self) -> Knowledge {
        Knowledge { split: Some(self.0), ..Knowledge::default() }
    }
}

/// An object whose state is a count.
struct Counted(Tally);

impl DataType for Counted {
    fn knowledge(&self) -> Knowledge {
        Knowledge { tally: Some(self.0), ..Knowledge::default() }
    }
}

/// An object of which nothing more is known.
struct Searched;

impl DataType for Searched {}
