//! Confirms what the engines claim, with small code that shares nothing with them.
//!
//! A witness is confirmed by walking it once ([`confirm_witness`]). A core is confirmed in two
//! steps ([`confirm_core`]): what is not in it is left out where that cannot matter (`closure`),
//! and may have taken effect in its time, with any answer, where it can; then no order explains the
//! core, by an argument that needs little of the rest (`count`, `grow`, `kv`, `sum`, `swap`) or by
//! trying all orders (`frontier`). Where precedence is a partial order, `partial` does both. A
//! proof by reversing sub-operations is confirmed by executing them in all small states
//! ([`confirm_reduction`]). A proof of the shape engine is confirmed by executing every step from
//! every state that it names ([`ShapeCertificate`]).

mod budget;
mod closure;
mod count;
mod frontier;
mod grow;
mod hash;
mod header;
mod kv;
mod order;
mod partial;
mod reduction;
mod shape;
mod sum;
mod swap;
mod witness;

pub use budget::Budget;
pub use hash::{NotAHash, Sha256};
pub use header::{Claim, FileHash, HeaderError, header, read_header};
pub use partial::{PartialOperation, confirm_partial_core, confirm_partial_witness};
pub use reduction::{
    Confirmed, Ranges, ReductionCertificate, ReductionError, SequentialError, confirm_reduction,
    try_sequential,
};
pub use shape::{ComparedWith, ShapeCertificate, ShapeConfirmed, ShapeError, ShapeThreads};
pub use witness::{WitnessError, confirm_witness};

use linchpin_spec::{BUILTINS, Call, Spec, Value};
use order::Order;
use std::collections::HashMap;
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
    /// When it returned; if it did not, the instant by which it took effect if it ever did.
    /// [`u64::MAX`]: no limit.
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
    /// The core names an operation twice.
    #[error("the core names operation {0} twice")]
    Twice(usize),
    /// An order explains the core, with some other operations where those can matter.
    #[error("the operations {0:?}, in this order, explain the core")]
    Explained(Vec<usize>),
    /// The precedence is no order.
    #[error("operation {0} precedes itself")]
    Cyclic(usize),
    /// There are too many orders.
    #[error("there are too many orders to try them all")]
    TooLarge,
}

/// Confirms that no order of the operations in `core` explains them, and that therefore none
/// explains the history.
///
/// `spec_name` is the name of a built-in specification (it decides which operations can be left out
/// of a core); any other name is allowed, and then only operations called after `at` are left out.
/// `at` is the event at which the history so far cannot be explained: what happens later is
/// ignored.
pub fn confirm_core<S: Spec + ?Sized>(
    spec: &S,
    spec_name: &str,
    history: &[Operation],
    core: &[usize],
    at: Option<u64>,
) -> Result<(), CoreError> {
    confirm_core_within(spec, spec_name, history, core, at, &Budget::default())
}

/// An operation that was interrupted by a crash, and a later one of its process on the same object:
/// the first takes effect before the second, or never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Before {
    /// What was interrupted. It has no answer.
    pub operation: usize,
    /// What its process did next.
    pub next: usize,
}

/// Like [`confirm_core`], with a budget: beyond it the answer is [`CoreError::TooLarge`].
pub fn confirm_core_within<S: Spec + ?Sized>(
    spec: &S,
    spec_name: &str,
    history: &[Operation],
    core: &[usize],
    at: Option<u64>,
    budget: &Budget,
) -> Result<(), CoreError> {
    confirm_core_ordered(spec, spec_name, history, core, &[], at, budget)
}

/// Like [`confirm_core_within`], where interrupted operations come before what their process did
/// next: of the pairs of one operation, what comes next after the next one counts too.
pub fn confirm_core_ordered<S: Spec + ?Sized>(
    spec: &S,
    spec_name: &str,
    history: &[Operation],
    core: &[usize],
    before: &[Before],
    at: Option<u64>,
    budget: &Budget,
) -> Result<(), CoreError> {
    if let Some(missing) = core.iter().find(|id| **id >= history.len()) {
        return Err(CoreError::NoSuchOperation(*missing));
    }
    let mut ids: Vec<usize> = core.to_vec();
    ids.sort_unstable();
    if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(CoreError::Twice(pair[0]));
    }
    let cut = at.unwrap_or(u64::MAX);
    let history = &order::with_deadlines(history, before)[..];
    let core: Vec<Operation> = ids.iter().map(|id| as_of(&history[*id], cut)).collect();
    let Some(mut others) = closure::context(spec, spec_name, history, &ids, cut, budget) else {
        return Err(CoreError::TooLarge);
    };
    if !BUILTINS.iter().any(|info| info.name == spec_name) {
        leave_out_observers(spec, history, &ids, &mut others, budget);
    }
    let context: Vec<Operation> = others.iter().map(|id| weakened(&history[*id])).collect();
    let refuted = match spec_name {
        "semaphore" => count::too_many_acquired(spec, &core, &context),
        "counter" => count::sums_contradict(spec, &core, &context),
        "grow-set" => grow::no_order(spec, &core, &context),
        "mwcas" => swap::no_order(spec, &core, &context),
        "kv" => kv::no_order(spec, &core, &context),
        "list-append" => kv::no_order_of_lists(spec, &core, &context),
        "snzi" | "mailbox" => {
            let called = (0..history.len()).filter(|id| history[*id].invoked <= cut);
            let known = called.map(|id| (as_of(&history[id], cut), ids.binary_search(&id).is_ok()));
            sum::no_order(spec, spec_name, &known.collect::<Vec<_>>(), budget)
        }
        _ => false,
    };
    if refuted || at_the_end(spec, spec_name, &core, &context, budget) {
        return Ok(());
    }
    ids.extend(others);
    let operations = [core, context].concat();
    let observers = closure::observers(spec, spec_name, &operations);
    let order = Order::new(&ids, before);
    match frontier::explain(spec, vec![spec.initial()], &operations, &observers, &order, budget) {
        frontier::Found::Nothing => Ok(()),
        frontier::Found::TooMuch => Err(CoreError::TooLarge),
        frontier::Found::Order(order) => {
            Err(CoreError::Explained(order.into_iter().map(|at| ids[at]).collect()))
        }
    }
}

/// Leaves out what changes nothing in any state that the operations can lead to, if these are few:
/// of an object that is not known by its name nothing else is known.
fn leave_out_observers<S: Spec + ?Sized>(
    spec: &S,
    history: &[Operation],
    core: &[usize],
    others: &mut Vec<usize>,
    budget: &Budget,
) {
    let all: Vec<Operation> = core.iter().chain(&*others).map(|id| history[*id].clone()).collect();
    let Some(states) = frontier::all_states(spec, &all, FEW_STATES, budget) else { return };
    let mut idle: HashMap<&Call, bool> = HashMap::new();
    others.retain(|id| {
        let call = &history[*id].call;
        let changes = |state: &S::State| {
            spec.apply(state, call, None).iter().any(|outcome| outcome.state != *state)
        };
        !*idle.entry(call).or_insert_with(|| !budget.is_over() && !states.iter().any(changes))
    });
}

/// Objects with more states are not started from each of them.
const FEW_STATES: usize = 3_000;

/// Whether nothing explains what of the core comes after all of the context has returned, whatever
/// the state was by then. What of the core was called before may have taken effect by then, and
/// otherwise must by its return: so it may take effect until then, or not.
fn at_the_end<S: Spec + ?Sized>(
    spec: &S,
    spec_name: &str,
    core: &[Operation],
    context: &[Operation],
    budget: &Budget,
) -> bool {
    let Some(over) = context.iter().map(|operation| operation.returned).max() else {
        return false;
    };
    let late: Vec<Operation> = core
        .iter()
        .filter(|operation| operation.returned > over)
        .map(|operation| match operation.invoked > over {
            true => operation.clone(),
            false => weakened(operation),
        })
        .collect();
    if late.is_empty() {
        return false;
    }
    let all = [core, context].concat();
    let Some(states) = frontier::all_states(spec, &all, FEW_STATES, budget) else { return false };
    let observers = closure::observers(spec, spec_name, &late);
    // What the order forbids is not needed here: without it there are more explanations.
    let order = Order::none(late.len());
    let found = frontier::explain(spec, states, &late, &observers, &order, budget);
    matches!(found, frontier::Found::Nothing)
}

/// The operation if nothing is known of it but its call and its time: it may have taken effect,
/// with any answer. A history that is linearizable stays so if some of its operations are replaced
/// by this.
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
