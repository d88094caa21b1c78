//! Priority queues.

use super::{Described, answering, deterministic, silent};
use crate::{Call, Outcome, Shape, Signature, Value};
use std::slice;
use std::sync::Arc;

/// The smallest value first: `insert v`, `remove-min → v or null`. Integers have their usual order,
/// other values that of [`Value`]; a value may be inserted several times. The empty queue answers
/// `null`.
///
/// ```
/// use linchpin_spec::{Call, PriorityQueue, Spec, Value};
///
/// let queue = PriorityQueue::new([Value::Int(5)]);
/// let insert = Call { operation: PriorityQueue::INSERT, argument: Value::Int(3) };
/// let both = queue.apply(&queue.initial(), &insert, None).remove(0).state;
///
/// let remove = Call { operation: PriorityQueue::REMOVE_MIN, argument: Value::Null };
/// let outcome = queue.apply(&both, &remove, None).remove(0);
/// assert_eq!((outcome.response, outcome.state), (Value::Int(3), queue.initial()));
/// ```
#[derive(Clone, Debug)]
pub struct PriorityQueue {
    operations: [Signature; 2],
    // INVARIANT: like every state, a list in ascending order.
    initial: Value,
}

impl PriorityQueue {
    /// The index of `insert v`.
    pub const INSERT: usize = 0;
    /// The index of `remove-min → v or null`.
    pub const REMOVE_MIN: usize = 1;

    /// A priority queue of `values`, in any order.
    pub fn new(values: impl IntoIterator<Item = Value>) -> PriorityQueue {
        let mut values: Vec<Value> = values.into_iter().collect();
        values.sort();
        PriorityQueue {
            operations: [
                Signature::new("insert", Shape::Any, Shape::Unit),
                Signature::new("remove-min", Shape::Unit, Shape::Any.or_null()),
            ],
            initial: Value::list(values),
        }
    }

    fn step(&self, state: &Value, call: &Call, known: Option<&Value>) -> Option<Outcome<Value>> {
        let values = state.as_list()?;
        match call.operation {
            PriorityQueue::INSERT => {
                let value = &call.argument;
                let (smaller, larger) =
                    values.split_at(values.partition_point(|other| other < value));
                silent(Value::List(Arc::new([smaller, slice::from_ref(value), larger].concat())))
            }
            PriorityQueue::REMOVE_MIN => Some(Outcome {
                response: answering(values.first().cloned().unwrap_or_default(), known)?,
                state: Value::List(Arc::new(values.get(1..).unwrap_or_default().to_vec())),
            }),
            _ => None,
        }
    }
}

deterministic!(PriorityQueue);

impl Default for PriorityQueue {
    fn default() -> PriorityQueue {
        PriorityQueue::new([])
    }
}

impl Described for PriorityQueue {
    const NAME: &'static str = "priority-queue";
    const SUMMARY: &'static str = "the smallest value first";
    const INITIAL: &'static str = "a list of values, in any order (default: [])";

    fn starting_from(init: &Value) -> Option<PriorityQueue> {
        Some(PriorityQueue::new(init.as_list()?.iter().cloned()))
    }
}
