//! Maps.

use super::contents::{Changes, Contents};
use super::{Described, answering, deterministic, looking, pair};
use crate::{Call, Outcome, Shape, Signature, Value};
use std::collections::BTreeMap;

/// Values under keys: `put [k, v] → old or null`, `get k → v or null`, `remove k → old or null`.
/// Putting `null` is removing: no operation tells the two apart.
///
/// ```
/// use linchpin_spec::{Call, Map, Spec, Value};
///
/// let map = Map::default();
/// let put = |v| Call { operation: Map::PUT, argument: Value::list([Value::str("k"), v]) };
/// let first = map.apply(&map.initial(), &put(Value::Int(1)), None).remove(0);
/// assert_eq!(first.response, Value::Null);
/// let second = map.apply(&first.state, &put(Value::Int(2)), None).remove(0);
/// assert_eq!(second.response, Value::Int(1));
/// ```
#[derive(Clone, Debug)]
pub struct Map {
    operations: [Signature; 3],
    contents: Contents,
    initial: Value,
}

impl Map {
    /// The index of `put [k, v] → old or null`.
    pub const PUT: usize = 0;
    /// The index of `get k → v or null`.
    pub const GET: usize = 1;
    /// The index of `remove k → old or null`.
    pub const REMOVE: usize = 2;

    /// A map that holds the values `given`.
    pub fn new(given: BTreeMap<Value, Value>) -> Map {
        let entry = Shape::Tuple(vec![Shape::Any, Shape::Any]);
        Map {
            operations: [
                Signature::new("put", entry, Shape::Any.or_null()),
                Signature::new("get", Shape::Any, Shape::Any.or_null()),
                Signature::new("remove", Shape::Any, Shape::Any.or_null()),
            ],
            contents: Contents::new(given, Value::Null),
            initial: Value::map([]),
        }
    }

    fn step(&self, state: &Value, call: &Call, known: Option<&Value>) -> Option<Outcome<Value>> {
        let Value::Map(changes) = state else {
            return None;
        };
        match call.operation {
            Map::PUT => {
                let (key, value) = pair(&call.argument)?;
                self.replace(changes, key, value.clone(), known)
            }
            Map::GET => looking(state, self.contents.get(changes, &call.argument).clone(), known),
            Map::REMOVE => self.replace(changes, &call.argument, Value::Null, known),
            _ => None,
        }
    }

    fn replace(
        &self,
        changes: &Changes,
        key: &Value,
        value: Value,
        known: Option<&Value>,
    ) -> Option<Outcome<Value>> {
        let response = answering(self.contents.get(changes, key).clone(), known)?;
        let mut changes = Changes::clone(changes);
        self.contents.set(&mut changes, key, value);
        Some(Outcome { response, state: Value::Map(changes) })
    }
}

deterministic!(Map);

impl Default for Map {
    fn default() -> Map {
        Map::new(BTreeMap::new())
    }
}

impl Described for Map {
    const NAME: &'static str = "map";
    const SUMMARY: &'static str = "values under keys";
    const INITIAL: &'static str = "an object from key to value (default: {})";

    fn starting_from(init: &Value) -> Option<Map> {
        match init {
            Value::Map(given) => Some(Map::new(BTreeMap::clone(given))),
            _ => None,
        }
    }
}
