//! Lists under keys, appended to and read in transactions: the workload of Elle.

use super::contents::{Changes, Contents};
use super::{Described, answering, deterministic};
use crate::{Call, Outcome, Shape, Signature, Value};
use std::collections::BTreeMap;

/// A list per key, in transactions: `txn [["append", k, v], ["r", k, null], …]` answers the same
/// list, the reads filled in with the whole list of their key. A read sees the appends before it in
/// its own transaction. A list without elements is read as `null` or as `[]`: recorders write both.
///
/// ```
/// use linchpin_spec::{Call, ListAppend, Spec, Value};
///
/// let lists = ListAppend::default();
/// let read = |value| Value::list(["r".into(), "x".into(), value]);
/// let append = || Value::list(["append".into(), "x".into(), 7.into()]);
/// let argument = Value::list([read(Value::Null), append(), read(Value::Null)]);
///
/// let txn = Call { operation: ListAppend::TXN, argument };
/// let outcome = lists.apply(&lists.initial(), &txn, None).remove(0);
/// let seven = Value::list([7.into()]);
/// assert_eq!(outcome.response, Value::list([read(Value::Null), append(), read(seven)]));
/// ```
#[derive(Clone, Debug)]
pub struct ListAppend {
    operations: [Signature; 1],
    contents: Contents,
    initial: Value,
}

impl ListAppend {
    /// The index of `txn [["append", k, v], ["r", k, null], …] → [["append", k, v], ["r", k, [v,
    /// …]], …]`.
    pub const TXN: usize = 0;

    /// Lists that hold what is `given` for them; the others are empty.
    pub fn new(given: BTreeMap<Value, Vec<Value>>) -> ListAppend {
        let kind = Shape::Word(&["append", "r", "read"]);
        let accesses = Shape::List(Box::new(Shape::Tuple(vec![kind, Shape::Any, Shape::Any])));
        let given = given.into_iter().map(|(key, elements)| (key, Value::list(elements)));
        ListAppend {
            operations: [Signature::new("txn", accesses.clone(), accesses)],
            contents: Contents::new(given.collect(), Value::list([])),
            initial: Value::map([]),
        }
    }

    fn step(&self, state: &Value, call: &Call, known: Option<&Value>) -> Option<Outcome<Value>> {
        let (Value::Map(changes), ListAppend::TXN) = (state, call.operation) else {
            return None;
        };
        let known_accesses = known.and_then(Value::as_list).unwrap_or_default();
        let mut changes = Changes::clone(changes);
        let mut answers = Vec::new();
        for (at, access) in call.argument.as_list()?.iter().enumerate() {
            answers.push(self.access(&mut changes, access, known_accesses.get(at))?);
        }
        Some(Outcome {
            response: answering(Value::list(answers), known)?,
            state: Value::Map(changes),
        })
    }

    fn canonical(&self, _: usize, response: Value) -> Value {
        response.as_list().map_or_else(|| response.clone(), without_empty_lists)
    }

    /// Executes one element of a transaction, and gives it back as it is in the answer, where it is
    /// known to be `known`.
    fn access(
        &self,
        changes: &mut Changes,
        access: &Value,
        known: Option<&Value>,
    ) -> Option<Value> {
        let [Value::Str(kind), key, value] = access.as_list()? else {
            return None;
        };
        let held = self.contents.get(changes, key);
        match &**kind {
            "r" | "read" => {
                let shown = match held.as_list()? {
                    [] if is_empty_list(known) => held.clone(),
                    [] => Value::Null,
                    _ => held.clone(),
                };
                Some(Value::list([Value::Str(kind.clone()), key.clone(), shown]))
            }
            "append" => {
                let mut elements = held.as_list()?.to_vec();
                elements.push(value.clone());
                self.contents.set(changes, key, Value::list(elements));
                Some(access.clone())
            }
            _ => None,
        }
    }
}

/// An answer in which what is read of empty lists is `null`.
fn without_empty_lists(accesses: &[Value]) -> Value {
    let is_empty = |value: &Value| value.as_list().is_some_and(<[Value]>::is_empty);
    Value::list(accesses.iter().map(|access| match access.as_list() {
        Some([kind, key, value]) if *kind != Value::str("append") && is_empty(value) => {
            Value::list([kind.clone(), key.clone(), Value::Null])
        }
        _ => access.clone(),
    }))
}

/// Whether the answer to a read is known to be `[]`.
fn is_empty_list(known: Option<&Value>) -> bool {
    let value = known.and_then(Value::as_list).and_then(|access| access.get(2));
    value.and_then(Value::as_list).is_some_and(<[Value]>::is_empty)
}

deterministic!(ListAppend, canonical);

impl Default for ListAppend {
    fn default() -> ListAppend {
        ListAppend::new(BTreeMap::new())
    }
}

impl Described for ListAppend {
    const NAME: &'static str = "list-append";
    const SUMMARY: &'static str = "a list per key, appended to and read in transactions";
    const INITIAL: &'static str = "an object from key to list (default: {}, all of them [])";

    fn starting_from(init: &Value) -> Option<ListAppend> {
        let Value::Map(given) = init else {
            return None;
        };
        let list = |(key, value): (&Value, &Value)| Some((key.clone(), value.as_list()?.to_vec()));
        Some(ListAppend::new(given.iter().map(list).collect::<Option<_>>()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;

    #[test]
    fn an_empty_list_is_read_as_null_or_as_a_list() {
        let lists = ListAppend::default();
        let read = |value| Value::list([Value::list(["r".into(), "x".into(), value])]);
        let call = Call { operation: ListAppend::TXN, argument: read(Value::Null) };
        for (answer, is_right) in [
            (read(Value::Null), true),
            (read(Value::list([])), true),
            (read(Value::list([Value::Null])), false),
            (Value::Null, false),
        ] {
            let outcomes = lists.apply(&lists.initial(), &call, Some(&answer));
            assert_eq!(outcomes.len(), usize::from(is_right), "{answer}");
            assert!(outcomes.iter().all(|outcome| outcome.response == answer));
        }
    }
}
