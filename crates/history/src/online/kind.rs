//! The types that are judged by windows: their monitors, and which operations still matter.

use super::window::Fate;
use super::{priority_queue, queue, register, set, stack};
use crate::history::History;
use crate::monitor;
use crate::verdict::{Limits, Monitored};
use linchpin_spec::{PriorityQueue, Queue, Register, Set, Stack, Value};

/// A type that is judged by windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Register,
    Queue,
    Stack,
    PriorityQueue,
    Set,
}

/// What a register holds before its first write: a value that nobody may use, as nobody may read it.
pub(super) const UNWRITTEN: &str = "\u{0}linchpin: unwritten\u{0}";

impl Kind {
    /// The kind of a built-in specification, if it has one.
    pub(super) fn of(name: &str) -> Option<Kind> {
        Some(match name {
            "register" => Kind::Register,
            "queue" => Kind::Queue,
            "stack" => Kind::Stack,
            "priority-queue" => Kind::PriorityQueue,
            "set" => Kind::Set,
            _ => return None,
        })
    }

    /// The name of the built-in specification.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Register => "register",
            Kind::Queue => "queue",
            Kind::Stack => "stack",
            Kind::PriorityQueue => "priority-queue",
            Kind::Set => "set",
        }
    }

    /// The operations that lead from the blank object to the initial state: operation, argument and answer.
    pub(super) fn initial_operations(self, init: Option<&Value>) -> Vec<(usize, Value, Value)> {
        let members = || -> Vec<Value> {
            match init {
                Some(Value::List(members)) => members.iter().cloned().collect(),
                Some(Value::Set(members)) => members.iter().cloned().collect(),
                _ => Vec::new(),
            }
        };
        let silent = |operation| move |value: Value| (operation, value, Value::Null);
        match self {
            Kind::Register => {
                vec![(Register::WRITE, init.cloned().unwrap_or_default(), Value::Null)]
            }
            Kind::Queue => members().into_iter().map(silent(Queue::ENQUEUE)).collect(),
            Kind::Stack => members().into_iter().map(silent(Stack::PUSH)).collect(),
            Kind::PriorityQueue => {
                members().into_iter().map(silent(PriorityQueue::INSERT)).collect()
            }
            Kind::Set => {
                let mut members = members();
                members.sort();
                members.dedup();
                let add = |member| (Set::ADD, member, Value::Bool(true));
                members.into_iter().map(add).collect()
            }
        }
    }

    /// The operations that add and remove, of a collection.
    pub(super) fn adds_and_removes(self) -> Option<(usize, usize)> {
        match self {
            Kind::Register | Kind::Set => None,
            Kind::Queue => Some((Queue::ENQUEUE, Queue::DEQUEUE)),
            Kind::Stack => Some((Stack::PUSH, Stack::POP)),
            Kind::PriorityQueue => Some((PriorityQueue::INSERT, PriorityQueue::REMOVE_MIN)),
        }
    }

    /// What to start the specification from, for an object in which there is nothing.
    pub(super) fn blank(self) -> Value {
        match self {
            Kind::Register => Value::str(UNWRITTEN),
            _ => Value::list([]),
        }
    }

    /// What the monitor says of a history that starts from the blank object.
    pub(super) fn monitor(self, history: &History, limits: &Limits) -> Monitored {
        match self {
            Kind::Register => monitor::register::check(history, &self.blank(), limits),
            Kind::Queue => monitor::queue::check(history, &[], limits),
            Kind::Stack => monitor::stack::check(history, &[], limits),
            Kind::PriorityQueue => monitor::priority_queue::check(history, &[], limits),
            Kind::Set => monitor::set::check(history, &self.blank(), limits),
        }
    }

    /// For each operation of a history that holds whether it still matters to what may follow. Open ones always do, whatever this says.
    pub(super) fn still_matter(self, history: &History, fates: &[Fate]) -> Vec<bool> {
        match self {
            Kind::Register => register::still_matter(history, fates),
            Kind::Queue => queue::still_matter(history, fates),
            Kind::Stack => stack::still_matter(history, fates),
            Kind::PriorityQueue => priority_queue::still_matter(history, fates),
            Kind::Set => set::still_matter(history, fates),
        }
    }
}
