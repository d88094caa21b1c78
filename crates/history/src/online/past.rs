//! What is known of operations that were dropped, where no operation of the window stands for them.

use super::cas_register::Frozen;
use linchpin_history_data::OpId;
use linchpin_spec::Value;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// What became of what was dropped.
pub(crate) enum Past {
    /// Operations of the window say it.
    InWindow,
    /// What the locations or keys hold.
    Contents(Contents),
    /// The ways in which a register may have come to the first event of the window.
    Register(Frozen),
}

impl Past {
    /// The operations of the window have new ids; those that are not in it any more have none.
    pub(super) fn renumber(&mut self, ids: &[Option<OpId>]) {
        if let Past::Register(frozen) = self {
            frozen.renumber(ids);
        }
    }
}

/// What the locations of a memory, or the keys of a map, hold.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// What dropped operations left.
    held: FxHashMap<Value, Value>,
    /// What the others hold: what is given for each, or else this, or else it is not known.
    given: BTreeMap<Value, Value>,
    otherwise: Option<Value>,
}

impl Contents {
    pub(super) fn new(given: BTreeMap<Value, Value>, otherwise: Option<Value>) -> Contents {
        Contents { held: FxHashMap::default(), given, otherwise }
    }

    /// What is held there, if it is known.
    pub(super) fn get(&self, key: &Value) -> Option<&Value> {
        // The keys of a JSON object are strings: what is given for "3" is given for 3 too.
        let as_string = || match key {
            Value::Int(int) if !self.given.is_empty() => {
                self.given.get(&Value::str(&int.to_string()))
            }
            _ => None,
        };
        let given = || self.given.get(key).or_else(as_string).or(self.otherwise.as_ref());
        self.held.get(key).or_else(given)
    }

    /// Whether it is known of every location or key.
    pub(super) fn is_total(&self) -> bool {
        self.otherwise.is_some()
    }

    /// Something else is held there now.
    pub(super) fn set(&mut self, key: Value, value: Value) {
        self.held.insert(key, value);
    }

    /// What was left by operations that were dropped.
    pub(super) fn left(&self) -> impl Iterator<Item = (&Value, &Value)> {
        self.held.iter()
    }
}
