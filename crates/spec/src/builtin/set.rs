//! Sets.

use super::{Described, answering, deterministic, looking};
use crate::{Call, Outcome, Shape, Signature, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A set: `add v → bool`, `remove v → bool` (whether it changed the set), `contains v → bool`.
///
/// ```
/// use linchpin_spec::{Call, Set, Spec, Value};
///
/// let set = Set::default();
/// let add = Call { operation: Set::ADD, argument: Value::Int(3) };
/// let first = set.apply(&set.initial(), &add, None).remove(0);
/// assert_eq!(first.response, Value::Bool(true));
/// let second = set.apply(&first.state, &add, None).remove(0);
/// assert_eq!(second.response, Value::Bool(false));
/// ```
#[derive(Clone, Debug)]
pub struct Set {
    operations: [Signature; 3],
    initial: Value,
}

impl Set {
    /// The index of `add v → bool`.
    pub const ADD: usize = 0;
    /// The index of `remove v → bool`.
    pub const REMOVE: usize = 1;
    /// The index of `contains v → bool`.
    pub const CONTAINS: usize = 2;

    /// A set of `members`.
    pub fn new(members: impl IntoIterator<Item = Value>) -> Set {
        let signature = |name| Signature::new(name, Shape::Any, Shape::Bool);
        Set {
            operations: ["add", "remove", "contains"].map(signature),
            initial: Value::Set(Arc::new(members.into_iter().collect())),
        }
    }

    fn step(&self, state: &Value, call: &Call, known: Option<&Value>) -> Option<Outcome<Value>> {
        let Value::Set(members) = state else {
            return None;
        };
        let value = &call.argument;
        let present = members.contains(value);
        match call.operation {
            Set::ADD if !present => Some(Outcome {
                response: answering(true.into(), known)?,
                state: changed(members, |members| members.insert(value.clone())),
            }),
            Set::REMOVE if present => Some(Outcome {
                response: answering(true.into(), known)?,
                state: changed(members, |members| members.remove(value)),
            }),
            Set::ADD | Set::REMOVE => looking(state, false.into(), known),
            Set::CONTAINS => looking(state, present.into(), known),
            _ => None,
        }
    }
}

deterministic!(Set);

impl Default for Set {
    fn default() -> Set {
        Set::new([])
    }
}

impl Described for Set {
    const NAME: &'static str = "set";
    const SUMMARY: &'static str = "a set of values";
    const INITIAL: &'static str = "a list of members (default: [])";

    fn starting_from(init: &Value) -> Option<Set> {
        match init {
            Value::List(members) => Some(Set::new(members.iter().cloned())),
            Value::Set(members) => Some(Set::new(members.iter().cloned())),
            _ => None,
        }
    }
}

fn changed(members: &BTreeSet<Value>, change: impl FnOnce(&mut BTreeSet<Value>) -> bool) -> Value {
    let mut members = members.clone();
    change(&mut members);
    Value::Set(Arc::new(members))
}
