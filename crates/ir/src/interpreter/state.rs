//! The state of a running model: plain data, compared and hashed by the engines.
//!
//! Objects and threads are shared between a state and its successors (`Arc`): a step changes few of
//! them.

use crate::program::{NodeId, Program, Variable};
use linchpin_spec::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Everything that the next steps depend on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The shared variables.
    pub shared: Vec<Value>,
    /// The heap objects; [`Value::Ref`] is an index into this.
    pub heap: Vec<Arc<Object>>,
    /// The threads.
    pub threads: Vec<Arc<ThreadState>>,
    /// The stores to persistent words that no fence has guaranteed yet, by line, in order; only of
    /// a machine with crashes.
    ///
    /// INVARIANT: no list is empty.
    pub pending: BTreeMap<Line, Vec<Store>>,
    /// `recover`, which runs alone after a system crash, until it is done.
    pub recovery: Option<Arc<Recovery>>,
}

/// A line of persistent memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Line {
    /// One of [`Persistence::lines`](crate::persistence::Persistence::lines).
    Shared(usize),
    /// That of an element of a shared array.
    Element {
        /// The array.
        variable: usize,
        /// The element.
        index: usize,
    },
    /// A line of an object.
    Object {
        /// The object: index into [`State::heap`].
        object: u32,
        /// Which of its lines: see [`ObjectLines`](crate::persistence::ObjectLines).
        line: usize,
    },
}

/// A pending store. Memory has its effect; undoing the last stores of a line gives what a crash may
/// leave of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Store {
    /// The word.
    pub at: Location,
    /// What it held before.
    pub old: Value,
}

/// Where `recover` is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Recovery {
    /// The node that it goes on from.
    pub node: NodeId,
    /// Its local variables.
    pub locals: Vec<Value>,
    /// What it has flushed since its last fence.
    pub noted: BTreeMap<Line, usize>,
}

/// A heap object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Object {
    /// Its type: index into [`Program::structs`].
    pub of: usize,
    /// Its fields; none if it is dead. Where crashes are kept track of, a dead object of a
    /// persistent struct has what its memory holds.
    pub fields: Vec<Value>,
    /// Whether it may be used: false between `free` and the `new` that takes it again.
    pub live: bool,
}

/// What a thread remembers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ThreadState {
    /// The variables that it keeps between operations ([`Program::thread_locals`]).
    pub variables: Vec<Value>,
    /// The words that it load-linked and that no thread has written since.
    pub links: BTreeSet<Location>,
    /// What it has flushed since its last fence: for each line, how many of its pending stores.
    ///
    /// INVARIANT: each at least 1 and at most the number of stores that are pending.
    pub noted: BTreeMap<Line, usize>,
    /// What it is doing.
    pub status: Status,
}

/// What a thread is doing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Nothing: it may call an operation.
    Idle,
    /// It is inside an operation.
    Running {
        /// Which one: index into [`Program::operations`].
        operation: usize,
        /// Where in its body.
        node: NodeId,
        /// The local variables of the body.
        locals: Vec<Value>,
    },
    /// The operation is done; its response has not been seen yet.
    Returning {
        /// Which one: index into [`Program::operations`].
        operation: usize,
        /// What it answers.
        value: Value,
    },
    /// A crash interrupted its call: before it calls anything it must ask for the outcome
    /// ([`Resolve`](crate::persistence::Resolve)).
    Interrupted {
        /// What it had called.
        operation: usize,
    },
    /// It asks for the outcome of an interrupted call.
    Resolving {
        /// What it had called.
        operation: usize,
        /// Where in the body of [`Resolve`](crate::persistence::Resolve).
        node: NodeId,
        /// The local variables of that body.
        locals: Vec<Value>,
    },
    /// The outcome is known, and has not been seen yet.
    Resolved {
        /// What it had called.
        operation: usize,
        /// The response, or [`Value::Null`]: the call had no effect.
        outcome: Value,
    },
}

/// A word of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// The variable or field.
    pub root: Root,
    /// The element, if the access was to one element of an array.
    pub element: Option<usize>,
}

/// A shared variable or a field of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Root {
    /// A shared variable.
    Shared(usize),
    /// A field of an object.
    Field {
        /// The object: index into [`State::heap`].
        object: u32,
        /// The field.
        field: usize,
    },
}

impl Location {
    /// Whether a write to one is a write to the other: the same word, or an array and one of its
    /// elements.
    pub fn overlaps(&self, other: &Location) -> bool {
        let either_whole = self.element.is_none() || other.element.is_none();
        self.root == other.root && (either_whole || self.element == other.element)
    }

    /// Whether this word belongs to the object.
    pub fn is_in(&self, heap_object: u32) -> bool {
        matches!(self.root, Root::Field { object, .. } if object == heap_object)
    }
}

impl State {
    /// The state before `init` runs: every variable has its initial value.
    pub fn blank(program: &Program) -> State {
        State {
            shared: initial_values(&program.shared),
            heap: Vec::new(),
            threads: vec![State::idle_thread(program); program.threads.len()],
            pending: BTreeMap::new(),
            recovery: None,
        }
    }

    /// A thread that has not called anything yet.
    pub fn idle_thread(program: &Program) -> Arc<ThreadState> {
        Arc::new(ThreadState {
            variables: initial_values(&program.thread_locals),
            links: BTreeSet::new(),
            noted: BTreeMap::new(),
            status: Status::Idle,
        })
    }

    /// The operation that the thread has called and whose response has not been seen; also while
    /// it asks for the outcome of an interrupted call.
    pub fn pending(&self, thread: usize) -> Option<usize> {
        match self.threads.get(thread)?.status {
            Status::Idle | Status::Interrupted { .. } => None,
            Status::Running { operation, .. }
            | Status::Returning { operation, .. }
            | Status::Resolving { operation, .. }
            | Status::Resolved { operation, .. } => Some(operation),
        }
    }

    /// Whether no operation is pending, and nothing recovers.
    pub fn is_quiescent(&self) -> bool {
        let idle = |thread: usize| self.pending(thread).is_none();
        self.recovery.is_none() && (0..self.threads.len()).all(idle)
    }

    /// This state with one thread doing something else.
    pub(super) fn with_status(&self, thread: usize, status: Status) -> State {
        let mut next = self.clone();
        let ThreadState { variables, links, noted, .. } = &*self.threads[thread];
        let (variables, links, noted) = (variables.clone(), links.clone(), noted.clone());
        next.threads[thread] = Arc::new(ThreadState { variables, links, noted, status });
        next
    }

    /// The value of a word; `None` if there is no such word.
    pub fn get(&self, at: Location) -> Option<&Value> {
        let whole = match at.root {
            Root::Shared(variable) => self.shared.get(variable)?,
            Root::Field { object, field } => self.heap.get(object as usize)?.fields.get(field)?,
        };
        match at.element {
            None => Some(whole),
            Some(index) => whole.as_list()?.get(index),
        }
    }

    /// The value of a word, to be changed. Changing it loses every link to it, so they are cleared.
    pub(super) fn get_mut(&mut self, at: Location) -> Option<&mut Value> {
        self.clear_links(|link| link.overlaps(&at));
        let whole = match at.root {
            Root::Shared(variable) => self.shared.get_mut(variable)?,
            Root::Field { object, field } => {
                Arc::make_mut(self.heap.get_mut(object as usize)?).fields.get_mut(field)?
            }
        };
        match (at.element, whole) {
            (None, whole) => Some(whole),
            (Some(index), Value::List(items)) => Arc::make_mut(items).get_mut(index),
            (Some(_), _) => None,
        }
    }

    /// Clears the links, of every thread, that `lost` picks.
    pub(super) fn clear_links(&mut self, lost: impl Fn(&Location) -> bool) {
        for thread in &mut self.threads {
            if thread.links.iter().any(&lost) {
                Arc::make_mut(thread).links.retain(|link| !lost(link));
            }
        }
    }
}

/// The initial values of variables.
pub(super) fn initial_values(variables: &[Variable]) -> Vec<Value> {
    variables.iter().map(|variable| variable.initial.clone()).collect()
}
