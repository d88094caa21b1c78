//! Confirms what the engines claim, with small code that shares nothing with them.
//!
//! A witness is confirmed by walking it once ([`confirm_witness`]). A core is confirmed in two steps ([`confirm_core`]): what is not in
//! it is left out where that cannot matter (`closure`), and may have taken effect in its time, with any answer, where it can; then no
//! order explains the core, by trying all of them (`exhaust`). A proof by reversing sub-operations is confirmed by executing them in all small
//! states ([`confirm_reduction`]).

mod closure;
mod exhaust;
mod reduction;
mod witness;

pub use reduction::{ReductionError, confirm_reduction};
pub use witness::{WitnessError, confirm_witness};

use linchpin_spec::{Call, Spec, Value};
use thiserror::Error;

/// An operation of the history that is claimed about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What was called.
    pub call: Call,
    /// What it answered; `None` if it did not return.
    pub response: Option<Value>,
    /// When it was called.
    pub invoked: u64,
    /// When it returned; if it did not, the instant by which it took effect if it ever did. [`u64::MAX`]: no limit.
    pub returned: u64,
}

impl Operation {
    fn is_completed(&self) -> bool {
        self.response.is_some()
    }
}

/// Why a core is not confirmed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CoreError {
    /// The core names an operation that is not there.
    #[error("the core names operation {0}, but the history has fewer")]
    NoSuchOperation(usize),
    /// An order explains the core, with some other operations where those can matter.
    #[error("the operations {0:?}, in this order, explain the core")]
    Explained(Vec<usize>),
    /// There are too many orders.
    #[error("the core is too large to be confirmed by trying all orders")]
    TooLarge,
}

/// Confirms that no order of the operations in `core` explains them, and that therefore none explains the history.
///
/// `spec_name` is the name of a built-in specification (it decides which operations can be left out of a core); any other
/// name is allowed, and then only operations called after `at` are left out. `at` is the event at which the history so
/// far cannot be explained: what happens later is ignored.
pub fn confirm_core<S: Spec + ?Sized>(
    spec: &S,
    spec_name: &str,
    history: &[Operation],
    core: &[usize],
    at: Option<u64>,
) -> Result<(), CoreError> {
    if let Some(missing) = core.iter().find(|id| **id >= history.len()) {
        return Err(CoreError::NoSuchOperation(*missing));
    }
    let cut = at.unwrap_or(u64::MAX);
    let mut ids: Vec<usize> = core.to_vec();
    let mut operations: Vec<Operation> = core.iter().map(|id| as_of(&history[*id], cut)).collect();
    for id in closure::context(spec, spec_name, history, core, cut) {
        ids.push(id);
        operations.push(weakened(&history[id]));
    }
    match exhaust::explain(spec, &operations) {
        exhaust::Found::Nothing => Ok(()),
        exhaust::Found::TooMuch => Err(CoreError::TooLarge),
        exhaust::Found::Order(order) => {
            Err(CoreError::Explained(order.into_iter().map(|at| ids[at]).collect()))
        }
    }
}

/// The operation if nothing is known of it but its call and its time: it may have taken effect, with any answer. A history that is
/// linearizable stays so if some of its operations are replaced by this.
fn weakened(operation: &Operation) -> Operation {
    Operation { response: None, ..operation.clone() }
}

/// The operation as it was known right after the event `cut`.
fn as_of(operation: &Operation, cut: u64) -> Operation {
    let mut operation = operation.clone();
    if operation.is_completed() && operation.returned > cut {
        operation.response = None;
        operation.returned = u64::MAX;
    }
    operation
}

#[cfg(test)]
mod tests;
