//! Objects that hold one value per key: how they remember them.

use crate::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the keys hold now, where it is not what they started with.
pub(super) type Changes = Arc<BTreeMap<Value, Value>>;

/// What the keys hold at the start. The state of the object is only what has changed since.
#[derive(Clone, Debug)]
pub(super) struct Contents {
    given: BTreeMap<Value, Value>,
    otherwise: Value,
}

impl Contents {
    /// Each key holds what is `given` for it, and the others `otherwise`. The key of a JSON object
    /// is always a string, so what is given for `"3"` is given for `3` too.
    pub(super) fn new(given: BTreeMap<Value, Value>, otherwise: Value) -> Contents {
        Contents { given, otherwise }
    }

    /// What `key` holds.
    pub(super) fn get<'a>(&'a self, changes: &'a Changes, key: &Value) -> &'a Value {
        changes.get(key).unwrap_or_else(|| self.at_start(key))
    }

    /// Makes `key` hold `value`.
    pub(super) fn set(&self, changes: &mut Changes, key: &Value, value: Value) {
        // INVARIANT: a key that holds what it held at the start is not in the map, so equal
        // contents are equal states.
        if *self.get(changes, key) == value {
            return; // The map stays shared.
        }
        let changes = Arc::make_mut(changes);
        if value == *self.at_start(key) {
            changes.remove(key);
        } else {
            changes.insert(key.clone(), value);
        }
    }

    fn at_start(&self, key: &Value) -> &Value {
        let as_string = || match key {
            Value::Int(i) if !self.given.is_empty() => self.given.get(&Value::str(&i.to_string())),
            _ => None,
        };
        self.given.get(key).or_else(as_string).unwrap_or(&self.otherwise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn object_keys_name_integers_too() {
        let contents = Contents::new(BTreeMap::from([("3".into(), 7.into())]), Value::Null);
        let unchanged = Changes::default();
        assert_eq!(*contents.get(&unchanged, &3.into()), Value::Int(7));
        assert_eq!(*contents.get(&unchanged, &"3".into()), Value::Int(7));
        assert_eq!(*contents.get(&unchanged, &4.into()), Value::Null);
    }

    #[test]
    fn changing_back_gives_the_same_state() {
        let contents = Contents::new(BTreeMap::from([("3".into(), 7.into())]), Value::Null);
        let mut changes = Changes::default();
        contents.set(&mut changes, &3.into(), Value::Null);
        assert_eq!(*contents.get(&changes, &3.into()), Value::Null);
        contents.set(&mut changes, &3.into(), 7.into());
        assert_eq!(changes, Changes::default());
    }
}
