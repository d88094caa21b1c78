//! Interrupted operations that come before what their process did next, or never take effect.
//!
//! Once an operation has taken effect, no interrupted one that was called before it by the same
//! process does. Where operations are left out, the order between the others stays.

use crate::{Before, Operation};
use std::collections::{HashMap, HashSet};

/// The order between some operations, which are numbered from 0.
pub(crate) struct Order {
    /// For each operation those that do not take effect any more once it has.
    ended: Vec<Vec<usize>>,
    /// Whether an operation is in any pair.
    is_ordered: Vec<bool>,
}

/// The operations, where what was interrupted has the return of what its process completed next as
/// its last instant: it takes effect before that does, or never. So much is known of it even where
/// the other is left out.
pub(crate) fn with_deadlines(history: &[Operation], before: &[Before]) -> Vec<Operation> {
    let mut known = history.to_vec();
    let next: HashMap<usize, usize> =
        before.iter().map(|pair| (pair.operation, pair.next)).collect();
    for pair in before {
        let (mut later, mut seen) = (Some(pair.next), HashSet::new());
        while let Some(id) = later.filter(|id| seen.insert(*id)) {
            let Some(after) = history.get(id) else { break };
            if after.is_completed() {
                if let Some(operation) = known.get_mut(pair.operation) {
                    operation.returned = operation.returned.min(after.returned);
                }
                break;
            }
            later = next.get(&id).copied();
        }
    }
    known
}

impl Order {
    pub(crate) fn none(operations: usize) -> Order {
        Order { ended: vec![Vec::new(); operations], is_ordered: vec![false; operations] }
    }

    /// The order between the operations with these ids, given that between all.
    pub(crate) fn new(ids: &[usize], before: &[Before]) -> Order {
        let mut order = Order::none(ids.len());
        let places: HashMap<usize, usize> =
            ids.iter().enumerate().map(|(place, id)| (*id, place)).collect();
        let next: HashMap<usize, usize> =
            before.iter().map(|pair| (pair.operation, pair.next)).collect();
        for pair in before {
            let Some(first) = places.get(&pair.operation) else { continue };
            let (mut later, mut seen) = (Some(pair.next), HashSet::new());
            // What is after the next one is after this one, too.
            while let Some(id) = later.filter(|id| seen.insert(*id)) {
                if let Some(second) = places.get(&id) {
                    order.ended[*second].push(*first);
                    order.is_ordered[*first] = true;
                    order.is_ordered[*second] = true;
                }
                later = next.get(&id).copied();
            }
        }
        order
    }

    /// What does not take effect any more once this operation has.
    pub(crate) fn ended_by(&self, operation: usize) -> &[usize] {
        &self.ended[operation]
    }

    /// Whether it matters when this operation takes effect, whatever that changes.
    pub(crate) fn concerns(&self, operation: usize) -> bool {
        self.is_ordered[operation]
    }
}
