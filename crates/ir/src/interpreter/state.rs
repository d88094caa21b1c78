//! The state of a running model: plain data, compared and hashed by the engines.
//!
//! Objects and threads are shared between a state and its successors (`Arc`): a step changes few of
//! them.

use crate::program::{NodeId, Program, Variable};
use linchpin_spec::Value;
use std::collections::BTreeSet;
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
}

/// A heap object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Object {
    /// Its type: index into [`Program::structs`].
    pub of: usize,
    /// Its fields; none if it is dead.
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
        }
    }

    /// A thread that has not called anything yet.
    pub fn idle_thread(program: &Program) -> Arc<ThreadState> {
        Arc::new(ThreadState {
            variables: initial_values(&program.thread_locals),
            links: BTreeSet::new(),
            status: Status::Idle,
        })
    }

    /// The operation that the thread has called and whose response has not been seen.
    pub fn pending(&self, thread: usize) -> Option<usize> {
        match self.threads.get(thread)?.status {
            Status::Idle => None,
            Status::Running { operation, .. } | Status::Returning { operation, .. } => {
                Some(operation)
            }
        }
    }

    /// Whether no operation is pending.
    pub fn is_quiescent(&self) -> bool {
        self.threads.iter().all(|thread| thread.status == Status::Idle)
    }

    /// This state with one thread doing something else.
    pub(super) fn with_status(&self, thread: usize, status: Status) -> State {
        let mut next = self.clone();
        let ThreadState { variables, links, .. } = &*self.threads[thread];
        next.threads[thread] =
            Arc::new(ThreadState { variables: variables.clone(), links: links.clone(), status });
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
