//! Queues and stacks: values are added at the end and taken from the one end or the other.

use super::{Described, answering, deterministic, looking, silent};
use crate::{Call, Outcome, Shape, Signature, Value};
use std::slice;
use std::sync::Arc;

/// First in, first out: `enqueue v`, `dequeue → v or null`, `peek → v or null`. The empty queue
/// answers `null`.
///
/// ```
/// use linchpin_spec::{Call, Queue, Spec, Value};
///
/// let queue = Queue::new([Value::Int(1)]);
/// let enqueue = Call { operation: Queue::ENQUEUE, argument: Value::Int(2) };
/// let both = queue.apply(&queue.initial(), &enqueue, None).remove(0).state;
/// assert_eq!(both.to_string(), "[1, 2]");
///
/// let dequeue = Call { operation: Queue::DEQUEUE, argument: Value::Null };
/// assert_eq!(queue.apply(&both, &dequeue, None)[0].response, Value::Int(1));
/// assert!(queue.apply(&both, &dequeue, Some(&Value::Int(2))).is_empty());
/// ```
#[derive(Clone, Debug)]
pub struct Queue {
    operations: [Signature; 3],
    initial: Value,
}

impl Queue {
    /// The index of `enqueue v`.
    pub const ENQUEUE: usize = 0;
    /// The index of `dequeue → v or null`.
    pub const DEQUEUE: usize = 1;
    /// The index of `peek → v or null`.
    pub const PEEK: usize = 2;

    /// A queue of `values`, front first.
    pub fn new(values: impl IntoIterator<Item = Value>) -> Queue {
        Queue { operations: signatures("enqueue", "dequeue"), initial: Value::list(values) }
    }

    fn step(&self, state: &Value, call: &Call, known: Option<&Value>) -> Option<Outcome<Value>> {
        let values = state.as_list()?;
        let front = || values.first().cloned().unwrap_or_default();
        match call.operation {
            Queue::ENQUEUE => silent(appended(values, &call.argument)),
            Queue::DEQUEUE => Some(Outcome {
                response: answering(front(), known)?,
                state: Value::list(values.iter().skip(1).cloned()),
            }),
            Queue::PEEK => looking(state, front(), known),
            _ => None,
        }
    }
}

deterministic!(Queue);

impl Default for Queue {
    fn default() -> Queue {
        Queue::new([])
    }
}

impl Described for Queue {
    const NAME: &'static str = "queue";
    const SUMMARY: &'static str = "first in, first out";
    const INITIAL: &'static str = "a list of values, front first (default: [])";

    fn starting_from(init: &Value) -> Option<Queue> {
        Some(Queue::new(init.as_list()?.iter().cloned()))
    }
}

/// Last in, first out: `push v`, `pop → v or null`, `peek → v or null`. The empty stack answers
/// `null`.
///
/// ```
/// use linchpin_spec::{Call, Spec, Stack, Value};
///
/// let stack = Stack::new([Value::Int(1)]);
/// let push = Call { operation: Stack::PUSH, argument: Value::Int(2) };
/// let both = stack.apply(&stack.initial(), &push, None).remove(0).state;
/// assert_eq!(both.to_string(), "[1, 2]");
///
/// let pop = Call { operation: Stack::POP, argument: Value::Null };
/// assert_eq!(stack.apply(&both, &pop, None)[0].response, Value::Int(2));
/// ```
#[derive(Clone, Debug)]
pub struct Stack {
    operations: [Signature; 3],
    initial: Value,
}

impl Stack {
    /// The index of `push v`.
    pub const PUSH: usize = 0;
    /// The index of `pop → v or null`.
    pub const POP: usize = 1;
    /// The index of `peek → v or null`.
    pub const PEEK: usize = 2;

    /// A stack of `values`, top last.
    pub fn new(values: impl IntoIterator<Item = Value>) -> Stack {
        Stack { operations: signatures("push", "pop"), initial: Value::list(values) }
    }

    fn step(&self, state: &Value, call: &Call, known: Option<&Value>) -> Option<Outcome<Value>> {
        let values = state.as_list()?;
        let top = || values.last().cloned().unwrap_or_default();
        match call.operation {
            Stack::PUSH => silent(appended(values, &call.argument)),
            Stack::POP => Some(Outcome {
                response: answering(top(), known)?,
                state: Value::List(Arc::new(
                    values.split_last().map_or_else(Vec::new, |(_, rest)| rest.to_vec()),
                )),
            }),
            Stack::PEEK => looking(state, top(), known),
            _ => None,
        }
    }
}

deterministic!(Stack);

impl Default for Stack {
    fn default() -> Stack {
        Stack::new([])
    }
}

impl Described for Stack {
    const NAME: &'static str = "stack";
    const SUMMARY: &'static str = "last in, first out";
    const INITIAL: &'static str = "a list of values, top last (default: [])";

    fn starting_from(init: &Value) -> Option<Stack> {
        Some(Stack::new(init.as_list()?.iter().cloned()))
    }
}

fn signatures(add: &str, take: &str) -> [Signature; 3] {
    [
        Signature::new(add, Shape::Any, Shape::Unit),
        Signature::new(take, Shape::Unit, Shape::Any.or_null()),
        Signature::new("peek", Shape::Unit, Shape::Any.or_null()),
    ]
}

fn appended(values: &[Value], value: &Value) -> Value {
    Value::List(Arc::new([values, slice::from_ref(value)].concat()))
}
