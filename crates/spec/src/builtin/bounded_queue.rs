//! Queues that can be full.

use super::{Described, answering, deterministic, looking};
use crate::{Call, Outcome, Shape, Signature, Value};

/// First in, first out, and no more than fit: `enqueue v → bool`, `dequeue → v or null`. An
/// `enqueue` answers `false`, and changes nothing, exactly if the queue is full; a `dequeue`
/// answers `null` if it is empty.
///
/// ```
/// use linchpin_spec::{BoundedQueue, Call, Spec, Value};
///
/// let queue = BoundedQueue::new(1);
/// let enqueue = Call { operation: BoundedQueue::ENQUEUE, argument: Value::Int(7) };
/// let full = queue.apply(&queue.initial(), &enqueue, None).remove(0);
/// assert_eq!(full.response, Value::Bool(true));
/// assert_eq!(queue.apply(&full.state, &enqueue, None)[0].response, Value::Bool(false));
/// // It was not full.
/// assert!(queue.apply(&queue.initial(), &enqueue, Some(&Value::Bool(false))).is_empty());
/// ```
#[derive(Clone, Debug)]
pub struct BoundedQueue {
    operations: [Signature; 2],
    initial: Value,
    capacity: usize,
}

impl BoundedQueue {
    /// The index of `enqueue v → bool`.
    pub const ENQUEUE: usize = 0;
    /// The index of `dequeue → v or null`.
    pub const DEQUEUE: usize = 1;

    /// An empty queue for so many values.
    pub fn new(capacity: usize) -> BoundedQueue {
        let operations = [
            Signature::new("enqueue", Shape::Any, Shape::Bool),
            Signature::new("dequeue", Shape::Unit, Shape::Any.or_null()),
        ];
        BoundedQueue { operations, initial: Value::list([]), capacity }
    }

    fn step(&self, state: &Value, call: &Call, known: Option<&Value>) -> Option<Outcome<Value>> {
        let values = state.as_list()?;
        match call.operation {
            BoundedQueue::ENQUEUE if values.len() >= self.capacity => {
                looking(state, Value::Bool(false), known)
            }
            BoundedQueue::ENQUEUE => Some(Outcome {
                response: answering(Value::Bool(true), known)?,
                state: Value::list(values.iter().chain([&call.argument]).cloned()),
            }),
            BoundedQueue::DEQUEUE => Some(Outcome {
                response: answering(values.first().cloned().unwrap_or_default(), known)?,
                state: Value::list(values.iter().skip(1).cloned()),
            }),
            _ => None,
        }
    }
}

deterministic!(BoundedQueue);

/// A queue for one value; a history is judged with a capacity that is given only.
impl Default for BoundedQueue {
    fn default() -> BoundedQueue {
        BoundedQueue::new(1)
    }
}

impl Described for BoundedQueue {
    const NAME: &'static str = "bounded-queue";
    const SUMMARY: &'static str = "first in, first out, and no more than fit";
    const INITIAL: &'static str = "the capacity, a positive integer (it must be given)";
    const NEEDS_INITIAL: bool = true;

    fn starting_from(init: &Value) -> Option<BoundedQueue> {
        let capacity = usize::try_from(init.as_int()?).ok()?;
        (capacity > 0).then(|| BoundedQueue::new(capacity))
    }
}
