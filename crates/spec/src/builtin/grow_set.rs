//! Sets that only grow and are read as a whole: the `set` workloads of Jepsen.

use super::{Described, deterministic, silent};
use crate::{Call, Outcome, Shape, Signature, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A set: `add v`, `read → [v, …]`, all members in any order, each once.
///
/// ```
/// use linchpin_spec::{Call, GrowSet, Spec, Value};
///
/// let set = GrowSet::new([5.into()]);
/// let add = Call { operation: GrowSet::ADD, argument: Value::Int(3) };
/// let state = set.apply(&set.initial(), &add, None).remove(0).state;
///
/// let read = Call { operation: GrowSet::READ, argument: Value::Null };
/// let seen = |members: [i64; 2]| Value::list(members.map(Value::Int));
/// assert_eq!(set.apply(&state, &read, None)[0].response, seen([3, 5]));
/// assert_eq!(set.apply(&state, &read, Some(&seen([5, 3]))).len(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct GrowSet {
    operations: [Signature; 2],
    initial: Value,
}

impl GrowSet {
    /// The index of `add v`.
    pub const ADD: usize = 0;
    /// The index of `read → [v, …]`.
    pub const READ: usize = 1;

    /// A set of `members`.
    pub fn new(members: impl IntoIterator<Item = Value>) -> GrowSet {
        GrowSet {
            operations: [
                Signature::new("add", Shape::Any, Shape::Unit),
                Signature::new("read", Shape::Unit, Shape::List(Box::new(Shape::Any))),
            ],
            initial: Value::Set(Arc::new(members.into_iter().collect())),
        }
    }

    fn step(&self, state: &Value, call: &Call, known: Option<&Value>) -> Option<Outcome<Value>> {
        let Value::Set(members) = state else {
            return None;
        };
        match call.operation {
            GrowSet::ADD if members.contains(&call.argument) => silent(state.clone()),
            GrowSet::ADD => {
                let mut members = BTreeSet::clone(members);
                members.insert(call.argument.clone());
                silent(Value::Set(Arc::new(members)))
            }
            GrowSet::READ => {
                let response = match known {
                    Some(known) if lists(known, members) => known.clone(),
                    Some(_) => return None,
                    None => Value::list(members.iter().cloned()),
                };
                Some(Outcome { response, state: state.clone() })
            }
            _ => None,
        }
    }

    fn canonical(&self, operation: usize, response: Value) -> Value {
        let Some(members) = response.as_list().filter(|_| operation == GrowSet::READ) else {
            return response;
        };
        let mut members = members.to_vec();
        members.sort();
        Value::list(members)
    }
}

/// Whether this is a list of these values, each once.
fn lists(known: &Value, members: &BTreeSet<Value>) -> bool {
    let Some(listed) = known.as_list().filter(|listed| listed.len() == members.len()) else {
        return false;
    };
    listed.iter().all(|value| members.contains(value))
        && listed.iter().collect::<BTreeSet<_>>().len() == listed.len()
}

deterministic!(GrowSet, canonical);

impl Default for GrowSet {
    fn default() -> GrowSet {
        GrowSet::new([])
    }
}

impl Described for GrowSet {
    const NAME: &'static str = "grow-set";
    const ALIASES: &'static [&'static str] = &["set-full", "g-set"];
    const SUMMARY: &'static str = "a set that is added to and read as a whole";
    const INITIAL: &'static str = "a list of members (default: [])";

    fn starting_from(init: &Value) -> Option<GrowSet> {
        match init {
            Value::List(members) => Some(GrowSet::new(members.iter().cloned())),
            Value::Set(members) => Some(GrowSet::new(members.iter().cloned())),
            _ => None,
        }
    }
}
