//! Walking a witness.

use crate::Operation;
use linchpin_spec::Spec;
use std::collections::HashSet;
use thiserror::Error;

/// Why a witness is not confirmed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WitnessError {
    /// The witness names an operation that is not there.
    #[error("the witness names operation {0}, but the history has fewer")]
    NoSuchOperation(usize),
    /// An operation takes effect twice.
    #[error("operation {0} takes effect twice")]
    Twice(usize),
    /// A completed operation does not take effect.
    #[error("operation {0} returned, but does not take effect")]
    Missing(usize),
    /// Real time is not respected.
    #[error(
        "operation {late} takes effect before operation {early}, but was called after it had returned"
    )]
    OutOfOrder {
        /// The one that must come first.
        early: usize,
        /// The one that came first.
        late: usize,
    },
    /// The precedence is not respected.
    #[error("operation {late} takes effect before operation {early}, which precedes it")]
    Precedes {
        /// The one that must come first.
        early: usize,
        /// The one that came first.
        late: usize,
    },
    /// The precedence is no order.
    #[error("operation {0} precedes itself")]
    Cyclic(usize),
    /// The specification does not allow the answer.
    #[error("in this order the specification does not allow the answer of operation {0}")]
    WrongAnswer(usize),
}

/// Confirms that the operations, taking effect in this order, explain the history.
pub fn confirm_witness<S: Spec + ?Sized>(
    spec: &S,
    history: &[Operation],
    order: &[usize],
) -> Result<(), WitnessError> {
    let mut done = vec![false; history.len()];
    // The operation called last among those that have taken effect: nothing that had returned
    // before may follow.
    let mut latest: Option<usize> = None;
    // A nondeterministic object may be in one of several states.
    let mut states = HashSet::from([spec.initial()]);
    for &id in order {
        let operation = history.get(id).ok_or(WitnessError::NoSuchOperation(id))?;
        if std::mem::replace(&mut done[id], true) {
            return Err(WitnessError::Twice(id));
        }
        match latest {
            Some(late) if operation.returned < history[late].invoked => {
                return Err(WitnessError::OutOfOrder { early: id, late });
            }
            Some(late) if operation.invoked <= history[late].invoked => {}
            _ => latest = Some(id),
        }
        let apply = |state| spec.apply(state, &operation.call, operation.response.as_ref());
        states = states.iter().flat_map(apply).map(|outcome| outcome.state).collect();
        if states.is_empty() {
            return Err(WitnessError::WrongAnswer(id));
        }
    }
    match (0..history.len()).find(|id| history[*id].is_completed() && !done[*id]) {
        Some(missing) => Err(WitnessError::Missing(missing)),
        None => Ok(()),
    }
}
