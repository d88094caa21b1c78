//! Trying all orders.

use crate::Operation;
use linchpin_spec::Spec;
use std::collections::HashSet;

/// After so many different situations the search gives up.
const MAX_SITUATIONS: usize = 500_000;

/// Longer orders are not tried: each operation is a level of recursion.
const MAX_LENGTH: usize = 2_000;

pub(crate) enum Found {
    /// No order explains the operations.
    Nothing,
    /// This one does.
    Order(Vec<usize>),
    /// There are too many.
    TooMuch,
}

/// Looks for an order that explains the operations.
pub(crate) fn explain<S: Spec + ?Sized>(spec: &S, operations: &[Operation]) -> Found {
    let mut search = Search { spec, operations, seen: HashSet::new(), order: Vec::new() };
    match search.extend(&vec![false; operations.len()], spec.initial()) {
        Some(true) => Found::Order(search.order),
        Some(false) => Found::Nothing,
        None => Found::TooMuch,
    }
}

struct Search<'a, S: Spec + ?Sized> {
    spec: &'a S,
    operations: &'a [Operation],
    /// What can still take effect, and the state: no need to look at the same situation twice.
    seen: HashSet<(Vec<bool>, S::State)>,
    order: Vec<usize>,
}

impl<S: Spec + ?Sized> Search<'_, S> {
    /// Whether the order so far, in which `gone` cannot take effect any more, can be extended to all completed operations;
    /// `None` if that is too much work.
    fn extend(&mut self, gone: &[bool], state: S::State) -> Option<bool> {
        let waiting = |id: &usize| !gone[*id] && self.operations[*id].is_completed();
        let ids = 0..self.operations.len();
        let Some(first_return) =
            ids.clone().filter(waiting).map(|id| self.operations[id].returned).min()
        else {
            return Some(true);
        };
        if self.seen.len() >= MAX_SITUATIONS || self.order.len() > MAX_LENGTH {
            return None;
        }
        if !self.seen.insert((gone.to_vec(), state.clone())) {
            return Some(false);
        }
        // What is called after a completed operation has returned takes effect after it.
        for id in ids.filter(|id| !gone[*id] && self.operations[*id].invoked < first_return) {
            let operation = &self.operations[id];
            // Taking effect makes it too late for whatever had to take effect before this was called.
            let too_late = |at: usize| self.operations[at].returned < operation.invoked;
            let after: Vec<bool> =
                (0..gone.len()).map(|at| gone[at] || at == id || too_late(at)).collect();
            let outcomes = self.spec.apply(&state, &operation.call, operation.response.as_ref());
            for outcome in outcomes {
                if !operation.is_completed() && outcome.state == state {
                    continue; // it need not have taken effect at all
                }
                self.order.push(id);
                if self.extend(&after, outcome.state)? {
                    return Some(true);
                }
                self.order.pop();
            }
        }
        Some(false)
    }
}
