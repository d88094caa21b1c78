//! Trying all orders.

use crate::Operation;
use linchpin_spec::Spec;
use std::collections::HashSet;

/// After so many different situations the search gives up.
const MAX_SITUATIONS: usize = 2_000_000;

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
    let mut done = vec![false; operations.len()];
    match search.extend(&mut done, spec.initial()) {
        Some(true) => Found::Order(search.order),
        Some(false) => Found::Nothing,
        None => Found::TooMuch,
    }
}

struct Search<'a, S: Spec + ?Sized> {
    spec: &'a S,
    operations: &'a [Operation],
    /// What has taken effect, and the state: no need to look at the same situation twice.
    seen: HashSet<(Vec<bool>, S::State)>,
    order: Vec<usize>,
}

impl<S: Spec + ?Sized> Search<'_, S> {
    /// Whether the order so far can be extended to all completed operations; `None` if that is too much work.
    fn extend(&mut self, done: &mut Vec<bool>, state: S::State) -> Option<bool> {
        let left = |id: &usize| !done[*id];
        let ids = 0..self.operations.len();
        if !ids.clone().filter(left).any(|id| self.operations[id].is_completed()) {
            return Some(true);
        }
        if self.seen.len() >= MAX_SITUATIONS || self.order.len() > 2_000 {
            return None;
        }
        if !self.seen.insert((done.clone(), state.clone())) {
            return Some(false);
        }
        // What has not taken effect when a completed operation returns comes after it.
        let completed = ids.clone().filter(left).filter(|id| self.operations[*id].is_completed());
        let first_return =
            completed.map(|id| self.operations[id].returned).min().unwrap_or(u64::MAX);
        for id in ids {
            let operation = &self.operations[id];
            let too_late = self
                .order
                .iter()
                .any(|before| operation.returned < self.operations[*before].invoked);
            if done[id] || operation.invoked > first_return || too_late {
                continue;
            }
            for outcome in self.spec.apply(&state, &operation.call, operation.response.as_ref()) {
                done[id] = true;
                self.order.push(id);
                if self.extend(done, outcome.state)? {
                    return Some(true);
                }
                self.order.pop();
                done[id] = false;
            }
        }
        Some(false)
    }
}
