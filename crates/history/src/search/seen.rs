//! Which updates of a snapshot object matter to its scans.
//!
//! Each place is a register that only scans look at. Take out of an order that explains a history an update of a place with a
//! value that no scan sees there: what every scan sees was brought by another one, which is still the last before it.

use super::problem::Item;
use crate::history::{Argument, History};
use crate::value_table::ValueId;
use linchpin_spec::{Snapshot, Value};
use rustc_hash::FxHashSet;

/// Those of `gone` that may matter to the rest: the updates that bring what a scan sees where it sees it, and those
/// that nobody can read.
pub(crate) fn updates_seen(history: &History, mut gone: Vec<Item>, rest: &[Item]) -> Vec<Item> {
    let mut seen: FxHashSet<(i64, Value)> = FxHashSet::default();
    for item in rest {
        let operation = &history.operations[item.id as usize];
        if operation.operation as usize == Snapshot::SCAN
            && operation.completed
            && let Value::List(values) = history.value(operation.response)
        {
            seen.extend((0..).zip(values.iter().cloned()));
        }
    }
    gone.retain(|item| {
        let operation = &history.operations[item.id as usize];
        match (operation.operation as usize, operation.argument) {
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
