//! One witness for the whole, from witnesses for its parts.
//!
//! Linearizability is local (Herlihy and Wing, TOPLAS 1990): if each part of a history that
//! concerns an object of its own can be explained, the whole can. The proof is a merge. Of the
//! first operations not yet taken, one for each part, always take the one that was called first.
//! Nothing that is left had returned before that call: let o be the operation that is left with the
//! earliest return, and h the first that is left of its part. The order of the part respects time,
//! so o did not return before h was called; the one taken was called no later than h. Hence the
//! merged order respects time, and it contains the orders of the parts.

use linchpin_history_data::{History, OpId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Merges orders of disjoint sets of operations, each of which respects time, into one that does.
pub(crate) fn merge(history: &History, parts: &[Vec<OpId>]) -> Vec<OpId> {
    let invoked = |id: OpId| history[id].invoked;
    let mut firsts: BinaryHeap<_> = parts
        .iter()
        .enumerate()
        .filter_map(|(part, order)| Some(Reverse((invoked(*order.first()?), part, 0))))
        .collect();
    let mut merged = Vec::with_capacity(parts.iter().map(Vec::len).sum());
    while let Some(Reverse((_, part, at))) = firsts.pop() {
        merged.push(parts[part][at]);
        if let Some(&next) = parts[part].get(at + 1) {
            firsts.push(Reverse((invoked(next), part, at + 1)));
        }
    }
    merged
}
