//! The key-value store of strings that is common in distributed-systems courses and their recorded
//! histories.

use super::contents::{Changes, Contents};
use super::{Described, deterministic, looking, pair, silent};
use crate::{Call, Outcome, Shape, Signature, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Strings under keys: `get key → string`, `put [key, string]`, `append [key, string]`. A missing
/// key reads as `""`.
///
/// ```
/// use linchpin_spec::{Call, Kv, Spec, Value};
///
/// let kv = Kv::default();
/// let argument = Value::list(["k".into(), "ab".into()]);
/// let append = Call { operation: Kv::APPEND, argument };
/// let once = kv.apply(&kv.initial(), &append, None).remove(0).state;
/// let twice = kv.apply(&once, &append, None).remove(0).state;
///
/// let get = |key| Call { operation: Kv::GET, argument: Value::str(key) };
/// assert_eq!(kv.apply(&twice, &get("k"), None)[0].response, Value::str("abab"));
/// assert_eq!(kv.apply(&twice, &get("other"), None)[0].response, Value::str(""));
/// ```
#[derive(Clone, Debug)]
pub struct Kv {
    operations: [Signature; 3],
    contents: Contents,
    initial: Value,
}

impl Kv {
    /// The index of `get key → string`.
    pub const GET: usize = 0;
    /// The index of `put [key, string]`.
    pub const PUT: usize = 1;
    /// The index of `append [key, string]`.
    pub const APPEND: usize = 2;

    /// A store that holds the strings `given`.
    pub fn new(given: BTreeMap<Value, Arc<str>>) -> Kv {
        let keyed = || Shape::Tuple(vec![Shape::Any, Shape::Str]);
        let given = given.into_iter().map(|(key, text)| (key, Value::Str(text)));
        Kv {
            operations: [
                Signature::new("get", Shape::Any, Shape::Str),
                Signature::new("put", keyed(), Shape::Unit),
                Signature::new("append", keyed(), Shape::Unit),
            ],
            contents: Contents::new(given.collect(), Value::str("")),
            initial: Value::map([]),
        }
    }

    fn step(&self, state: &Value, call: &Call, known: Option<&Value>) -> Option<Outcome<Value>> {
        let Value::Map(changes) = state else {
            return None;
        };
        match call.operation {
            Kv::GET => looking(state, self.contents.get(changes, &call.argument).clone(), known),
            Kv::PUT => {
                let (key, text) = keyed_text(&call.argument)?;
                self.with(changes, key, text)
            }
            Kv::APPEND => {
                let (key, text) = keyed_text(&call.argument)?;
                let Value::Str(held) = self.contents.get(changes, key) else {
                    return None;
                };
                self.with(changes, key, &format!("{held}{text}"))
            }
            _ => None,
        }
    }

    fn with(&self, changes: &Changes, key: &Value, text: &str) -> Option<Outcome<Value>> {
        let mut changes = Changes::clone(changes);
        self.contents.set(&mut changes, key, Value::str(text));
        silent(Value::Map(changes))
    }
}

deterministic!(Kv);

impl Default for Kv {
    fn default() -> Kv {
        Kv::new(BTreeMap::new())
    }
}

impl Described for Kv {
    const NAME: &'static str = "kv";
    const SUMMARY: &'static str = "strings under keys, replaced or appended to";
    const INITIAL: &'static str = "an object from key to string (default: {}, all of them \"\")";

    fn starting_from(init: &Value) -> Option<Kv> {
        let Value::Map(given) = init else {
            return None;
        };
        let text = |(key, value): (&Value, &Value)| match value {
            Value::Str(text) => Some((key.clone(), Arc::clone(text))),
            _ => None,
        };
        Some(Kv::new(given.iter().map(text).collect::<Option<_>>()?))
    }
}

fn keyed_text(argument: &Value) -> Option<(&Value, &str)> {
    match pair(argument)? {
        (key, Value::Str(text)) => Some((key, text)),
        _ => None,
    }
}
