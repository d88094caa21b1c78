//! A brute-force judge of linearizability for tests: small, slow and obviously right. It shares no
//! code with any engine.
//!
//! ```text
//! process 0   ├─ enqueue 1 ─┤        ├─ dequeue → 2 ─┤
//! process 1        ├─ enqueue 2 ─┤
//! event       0    1        2    3   4               5
//! ```
//!
//! The two enqueues overlap, so either may be first, and the second explains the dequeue:
//!
//! ```
//! use linchpin_oracle::{Operation, is_linearizable, witness};
//! use linchpin_spec::{Call, Queue, Value};
//!
//! let enqueue = |process, value, invoked, returned| Operation {
//!     process,
//!     call: Call { operation: Queue::ENQUEUE, argument: Value::Int(value) },
//!     response: Some(Value::Null),
//!     invoked,
//!     returned: Some(returned),
//! };
//! let dequeue = |value, invoked, returned| Operation {
//!     process: 0,
//!     call: Call { operation: Queue::DEQUEUE, argument: Value::Null },
//!     response: Some(Value::Int(value)),
//!     invoked,
//!     returned: Some(returned),
//! };
//! let overlapping = [enqueue(0, 1, 0, 2), enqueue(1, 2, 1, 3), dequeue(2, 4, 5)];
//! assert_eq!(witness(&Queue::default(), &overlapping), Some(vec![1, 0, 2]));
//!
//! let one_after_the_other = [enqueue(0, 1, 0, 1), enqueue(1, 2, 2, 3), dequeue(2, 4, 5)];
//! assert!(!is_linearizable(&Queue::default(), &one_after_the_other));
//! ```

mod partial;

pub use partial::{PartialOperation, partial_witness};

use linchpin_spec::{Call, Spec, Value};
use std::collections::HashSet;

/// One operation of a history. Times are positions in the sequence of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Who called it. The judge does not look at it: the times say all about the order.
    pub process: usize,
    /// What was called.
    pub call: Call,
    /// What it answered; `None` if it is pending: it may have taken effect, may yet do so, or
    /// never.
    pub response: Option<Value>,
    /// When it was invoked.
    pub invoked: usize,
    /// When it returned. If it is pending: the time by which it takes effect, if it ever does, that
    /// is to say before every operation that is invoked later than this; `None` if it may do so at
    /// any time.
    pub returned: Option<usize>,
}

impl Operation {
    /// Whether this one returned, or must have taken effect, before `other` was invoked.
    fn precedes(&self, other: &Operation) -> bool {
        self.returned.is_some_and(|returned| returned < other.invoked)
    }

    fn is_pending(&self) -> bool {
        self.response.is_none()
    }
}

/// Whether some order of the operations explains the history: every completed one occurs exactly
/// once and the pending ones at most once, those that precede others in time come before them, and
/// each answers what `spec` says.
///
/// # Panics
///
/// As [`witness`].
pub fn is_linearizable<S: Spec + ?Sized>(spec: &S, history: &[Operation]) -> bool {
    witness(spec, history).is_some()
}

/// An order that explains the history, as indices into it, if there is one. Pending operations that
/// are not in it did not take effect.
///
/// # Panics
///
/// If there are more than 64 operations: this is for small histories.
pub fn witness<S: Spec + ?Sized>(spec: &S, history: &[Operation]) -> Option<Vec<usize>> {
    witness_in_order(spec, history, &[])
}

/// An order that explains the history, in which of each of these pairs the first does not come
/// after the second. The first may be missing, if it is pending.
///
/// # Panics
///
/// As [`witness`].
pub fn witness_in_order<S: Spec + ?Sized>(
    spec: &S,
    history: &[Operation],
    pairs: &[(usize, usize)],
) -> Option<Vec<usize>> {
    let count = history.len();
    assert!(count <= 64, "the oracle judges at most 64 operations, and this history has {count}");
    let mut search = Search { spec, history, pairs, visited: HashSet::new(), order: Vec::new() };
    search.explains_rest(0, spec.initial()).then_some(search.order)
}

/// The search of Wing and Gong, which tries every operation that may be the next one in the order.
struct Search<'a, S: Spec + ?Sized> {
    spec: &'a S,
    history: &'a [Operation],
    pairs: &'a [(usize, usize)],
    /// Where the search has been: what it did from there does not depend on how it came there.
    visited: HashSet<(u64, S::State)>,
    order: Vec<usize>,
}

impl<S: Spec + ?Sized> Search<'_, S> {
    /// Whether the operations that are not `done` (a bit for each) can be explained from `state`.
    /// If so, `order` goes on with how; if not, it is as it was.
    fn explains_rest(&mut self, done: u64, state: S::State) -> bool {
        let history = self.history;
        let is_done = |index: usize| done & (1 << index) != 0;
        let rest = || (0..history.len()).filter(|&index| !is_done(index));
        if rest().all(|index| history[index].is_pending()) {
            return true;
        }
        if !self.visited.insert((done, state.clone())) {
            return false;
        }
        for next in rest() {
            let operation = &history[next];
            let must_wait =
                |other: usize| !history[other].is_pending() && history[other].precedes(operation);
            if rest().any(must_wait) {
                continue;
            }
            // Too late: something is done that had to come after it. Of completed ones that is
            // never so.
            if (0..history.len()).any(|other| is_done(other) && operation.precedes(&history[other]))
            {
                continue;
            }
            // So is what must not come after something that is done.
            if self.pairs.iter().any(|&(first, second)| first == next && is_done(second)) {
                continue;
            }
            self.order.push(next);
            for outcome in self.spec.apply(&state, &operation.call, operation.response.as_ref()) {
                if self.explains_rest(done | 1 << next, outcome.state) {
                    return true;
                }
            }
            self.order.pop();
        }
        false
    }
}

#[cfg(test)]
mod tests;
