//! Which operations may matter to which, where the object is known: what may be left out of a core
//! without asking what it did.

use super::problem::Item;
use super::shrink::values;
use linchpin_history_data::{Argument, History, ValueId};
use linchpin_spec::{Queue, Snapshot, Value};
use rustc_hash::FxHashSet;

/// Which operations of an object may matter to which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relevance {
    /// A queue, a stack or a priority queue: those that share values.
    SharedValues,
    /// A snapshot object: updates and the scans that see them.
    UpdatesSeen,
    /// Registers in transactions: writes and the transactions that read them.
    WritesRead,
}

impl Relevance {
    /// Those of `gone` that may matter to the rest.
    pub(crate) fn relevant(self, history: &History, gone: Vec<Item>, rest: &[Item]) -> Vec<Item> {
        match self {
            Relevance::SharedValues => shared_values(history, gone, rest),
            Relevance::UpdatesSeen => updates_seen(history, gone, rest),
            Relevance::WritesRead => writes_read(history, gone, rest),
        }
    }

    /// Those operations that may matter to the rest still, of some that may have taken effect with
    /// any answer.
    pub(crate) fn still_relevant(
        self,
        history: &History,
        context: Vec<Item>,
        rest: &[Item],
    ) -> Vec<Item> {
        match self {
            // What a removal of any value takes is not known.
            Relevance::SharedValues => context,
            Relevance::UpdatesSeen => updates_seen(history, context, rest),
            Relevance::WritesRead => writes_read(history, context, rest),
        }
    }
}

/// For registers in transactions, those of `gone` that may matter to the rest.
///
/// Take out of an order that explains a history a transaction that writes nothing which the rest
/// reads where it is written: what each read found was brought by another one, or was there at the
/// start, and is still the last before it.
fn writes_read(history: &History, mut gone: Vec<Item>, rest: &[Item]) -> Vec<Item> {
    let is_read = |access: &[Value]| matches!(access.first(), Some(Value::Str(kind)) if matches!(&**kind, "r" | "read"));
    let pairs = |of: Value, reads: bool| -> Vec<(Value, Value)> {
        let accesses = of.as_list().unwrap_or_default().iter().filter_map(Value::as_list);
        let wanted = accesses.filter(|access| is_read(access) == reads);
        wanted.filter_map(|access| Some((access.get(1)?.clone(), access.get(2)?.clone()))).collect()
    };
    let mut read: FxHashSet<(Value, Value)> = FxHashSet::default();
    for item in rest.iter().filter(|item| history[item.id].completed) {
        read.extend(pairs(history.value(history[item.id].response), true));
    }
    gone.retain(|item| {
        let written = pairs(history.value(history[item.id].argument), false);
        written.iter().any(|pair| read.contains(pair))
    });
    gone
}

/// For a snapshot object, those of `gone` that may matter to the rest.
///
/// Each place is a register that only scans look at. Take out of an order that explains a history
/// an update of a place with a value that no scan sees there: what every scan sees was brought by
/// another one, which is still the last before it. So what matters are the updates that bring what
/// a scan sees where it sees it, and those that no operation can read.
fn updates_seen(history: &History, mut gone: Vec<Item>, rest: &[Item]) -> Vec<Item> {
    let mut seen: FxHashSet<(i64, Value)> = FxHashSet::default();
    for item in rest {
        let operation = &history[item.id];
        if usize::from(operation.operation) == Snapshot::SCAN
            && operation.completed
            && let Value::List(values) = history.value(operation.response)
        {
            seen.extend((0..).zip(values.iter().cloned()));
        }
    }
    gone.retain(|item| {
        let operation = &history[item.id];
        match (usize::from(operation.operation), operation.argument) {
            (Snapshot::SCAN, _) => false,
            (Snapshot::UPDATE, Argument::Two(place, value)) => {
                let read = |id: ValueId| history.values.get(id);
                read(place).as_int().is_none_or(|place| seen.contains(&(place, read(value))))
            }
            _ => true,
        }
    });
    gone
}

/// For a queue, a stack or a priority queue, those of `gone` that may matter to the rest.
///
/// An operation that found nothing changes nothing, nor does a peek. And take all operations on
/// some values out of an order that explains a history: the others find what they found. So nothing
/// matters if the rest mentions none of the values.
pub(crate) fn shared_values(history: &History, mut gone: Vec<Item>, rest: &[Item]) -> Vec<Item> {
    // The three have their operations in the same order; a priority queue has no peek.
    gone.retain(|item| {
        let operation = &history[item.id];
        match usize::from(operation.operation) {
            Queue::ENQUEUE => true,
            Queue::DEQUEUE => history.value(operation.response) != Value::Null,
            _ => false,
        }
    });
    let mentioned: Vec<Vec<ValueId>> = gone.iter().map(|item| values(history, item)).collect();
    let among: FxHashSet<ValueId> = mentioned.iter().flatten().copied().collect();
    let shares = |item: &Item| values(history, item).iter().any(|value| among.contains(value));
    if !rest.iter().any(shares) && mentioned.iter().all(|values| !values.is_empty()) {
        gone.clear();
    }
    gone
}

#[cfg(test)]
mod tests {
    use linchpin_spec::{PriorityQueue, Queue, Stack};

    #[test]
    fn the_operations_of_collections_are_in_the_same_order() {
        assert_eq!((Queue::ENQUEUE, Queue::DEQUEUE), (Stack::PUSH, Stack::POP));
        assert_eq!(
            (Queue::ENQUEUE, Queue::DEQUEUE),
            (PriorityQueue::INSERT, PriorityQueue::REMOVE_MIN)
        );
    }
}
