//! Queues that promise no order: every value comes out once.

use super::{Described, silent};
use crate::{Call, Outcome, Outcomes, Shape, Signature, Spec, Value};

/// A bag: `enqueue v`, `dequeue → v or null`, any of the values that are there. The empty one
/// answers `null`.
///
/// ```
/// use linchpin_spec::{Call, Spec, UnorderedQueue, Value};
///
/// let queue = UnorderedQueue::new([1, 2].map(Value::Int));
/// let dequeue = Call { operation: UnorderedQueue::DEQUEUE, argument: Value::Null };
/// assert_eq!(queue.apply(&queue.initial(), &dequeue, None).len(), 2);
/// let left = queue.apply(&queue.initial(), &dequeue, Some(&Value::Int(2))).remove(0).state;
/// assert_eq!(left.to_string(), "[1]");
/// ```
#[derive(Clone, Debug)]
pub struct UnorderedQueue {
    operations: [Signature; 2],
    // INVARIANT: like every state, a list in ascending order, so that equal contents are equal.
    initial: Value,
}

impl UnorderedQueue {
    /// The index of `enqueue v`.
    pub const ENQUEUE: usize = 0;
    /// The index of `dequeue → v or null`.
    pub const DEQUEUE: usize = 1;

    /// A bag of `values`.
    pub fn new(values: impl IntoIterator<Item = Value>) -> UnorderedQueue {
        let mut values: Vec<Value> = values.into_iter().collect();
        values.sort();
        UnorderedQueue {
            operations: [
                Signature::new("enqueue", Shape::Any, Shape::Unit),
                Signature::new("dequeue", Shape::Unit, Shape::Any.or_null()),
            ],
            initial: Value::list(values),
        }
    }
}

impl Spec for UnorderedQueue {
    type State = Value;

    fn operations(&self) -> &[Signature] {
        &self.operations
    }

    fn initial(&self) -> Value {
        self.initial.clone()
    }

    fn apply(&self, state: &Value, call: &Call, known: Option<&Value>) -> Outcomes<Value> {
        let Some(values) = state.as_list() else { return Outcomes::new() };
        match (call.operation, known) {
            (UnorderedQueue::ENQUEUE, _) => {
                let value = &call.argument;
                let (smaller, others) = values.split_at(values.partition_point(|it| it < value));
                let values = smaller.iter().chain([value]).chain(others);
                silent(Value::list(values.cloned())).into_iter().collect()
            }
            (UnorderedQueue::DEQUEUE, known) if values.is_empty() => {
                let is_possible = known.is_none_or(Value::is_null);
                let outcome = Outcome { state: state.clone(), response: Value::Null };
                is_possible.then_some(outcome).into_iter().collect()
            }
            (UnorderedQueue::DEQUEUE, Some(known)) => {
                let at = values.binary_search(known).ok();
                at.map(|at| without(values, at)).into_iter().collect()
            }
            (UnorderedQueue::DEQUEUE, None) => {
                let is_first = |at: &usize| *at == 0 || values[*at] != values[*at - 1];
                (0..values.len()).filter(is_first).map(|at| without(values, at)).collect()
            }
            _ => Outcomes::new(),
        }
    }
}

/// The outcome of taking the value at this place.
fn without(values: &[Value], at: usize) -> Outcome<Value> {
    let rest = values[..at].iter().chain(&values[at + 1..]).cloned();
    Outcome { state: Value::list(rest), response: values[at].clone() }
}

impl Default for UnorderedQueue {
    fn default() -> UnorderedQueue {
        UnorderedQueue::new([])
    }
}

impl Described for UnorderedQueue {
    const NAME: &'static str = "unordered-queue";
    const ALIASES: &'static [&'static str] = &["total-queue", "bag"];
    const SUMMARY: &'static str = "a queue that promises no order: every value comes out once";
    const INITIAL: &'static str = "a list of values, in any order (default: [])";

    fn starting_from(init: &Value) -> Option<UnorderedQueue> {
        Some(UnorderedQueue::new(init.as_list()?.iter().cloned()))
    }
}
