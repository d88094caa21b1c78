//! Several registers, read and written together in transactions.

use super::contents::{Changes, Contents};
use super::{Described, answering, deterministic};
use crate::{Call, Outcome, Shape, Signature, Value};
use std::collections::BTreeMap;

/// A register per key, in transactions: `txn [["r", k, null], ["w", k, v], …]` answers the same
/// list with the reads filled in. A read sees the writes before it in its own transaction. `"read"`
/// and `"write"` may be spelled out.
///
/// ```
/// use linchpin_spec::{Call, MultiRegister, Spec, Value};
///
/// let registers = MultiRegister::default();
/// let read = |value| Value::list(["r".into(), "x".into(), value]);
/// let write = || Value::list(["w".into(), "x".into(), 7.into()]);
/// let argument = Value::list([read(Value::Null), write(), read(Value::Null)]);
///
/// let txn = Call { operation: MultiRegister::TXN, argument };
/// let outcome = registers.apply(&registers.initial(), &txn, None).remove(0);
/// assert_eq!(outcome.response, Value::list([read(Value::Null), write(), read(7.into())]));
/// ```
#[derive(Clone, Debug)]
pub struct MultiRegister {
    operations: [Signature; 1],
    contents: Contents,
    initial: Value,
}

impl MultiRegister {
    /// The index of `txn [["r", k, null], ["w", k, v], …] → [["r", k, v], ["w", k, v], …]`.
    pub const TXN: usize = 0;

    /// Registers that hold what is `given` for them, and the others `otherwise`.
    pub fn new(given: BTreeMap<Value, Value>, otherwise: Value) -> MultiRegister {
        let kind = Shape::Word(&["r", "w", "read", "write"]);
        let accesses = Shape::List(Box::new(Shape::Tuple(vec![kind, Shape::Any, Shape::Any])));
        MultiRegister {
            operations: [Signature::new("txn", accesses.clone(), accesses)],
            contents: Contents::new(given, otherwise),
            initial: Value::map([]),
        }
    }

    fn step(&self, state: &Value, call: &Call, known: Option<&Value>) -> Option<Outcome<Value>> {
        let (Value::Map(changes), MultiRegister::TXN) = (state, call.operation) else {
            return None;
        };
        let mut changes = Changes::clone(changes);
        let accesses = call.argument.as_list()?.iter();
        if let Some(known) = known {
            // No answer is built where it is known: a search asks this more often than anything.
            let known_accesses = known.as_list()?;
            let is_complete = known_accesses.len() == accesses.len();
            let fits = is_complete
                && accesses
                    .zip(known_accesses)
                    .all(|(access, known)| self.answers(&mut changes, access, known));
            let outcome = Outcome { response: known.clone(), state: Value::Map(changes) };
            return fits.then_some(outcome);
        }
        let answers: Option<Vec<Value>> =
            accesses.map(|access| self.access(&mut changes, access)).collect();
        Some(Outcome {
            response: answering(Value::list(answers?), known)?,
            state: Value::Map(changes),
        })
    }

    /// Whether a transaction has no write.
    fn only_looks(call: &Call) -> Option<bool> {
        let is_write = |access: &Value| {
            let kind = access.as_list().and_then(<[Value]>::first);
            matches!(kind, Some(Value::Str(kind)) if matches!(&**kind, "w" | "write"))
        };
        Some(!call.argument.as_list()?.iter().any(is_write))
    }

    /// Executes one element of a transaction; whether this is how it is in the answer.
    fn answers(&self, changes: &mut Changes, access: &Value, known: &Value) -> bool {
        let (Some([Value::Str(kind), key, value]), Some([known_kind, known_key, known_value])) =
            (access.as_list(), known.as_list())
        else {
            return false;
        };
        if !matches!(known_kind, Value::Str(known) if known == kind) || known_key != key {
            return false;
        }
        match &**kind {
            "r" | "read" => self.contents.get(changes, key) == known_value,
            "w" | "write" if known_value == value => {
                self.contents.set(changes, key, value.clone());
                true
            }
            _ => false,
        }
    }

    /// Executes one element of a transaction, and gives it back as it is in the answer.
    fn access(&self, changes: &mut Changes, access: &Value) -> Option<Value> {
        let [Value::Str(kind), key, value] = access.as_list()? else {
            return None;
        };
        match &**kind {
            "r" | "read" => {
                let held = self.contents.get(changes, key).clone();
                Some(Value::list([Value::Str(kind.clone()), key.clone(), held]))
            }
            "w" | "write" => {
                self.contents.set(changes, key, value.clone());
                Some(access.clone())
            }
            _ => None,
        }
    }
}

deterministic!(MultiRegister; only_looks);

impl Default for MultiRegister {
    fn default() -> MultiRegister {
        MultiRegister::new(BTreeMap::new(), Value::Null)
    }
}

impl Described for MultiRegister {
    const NAME: &'static str = "multi-register";
    const ALIASES: &'static [&'static str] = &["rw-register"];
    const SUMMARY: &'static str = "a register per key, read and written in transactions";
    const INITIAL: &'static str =
        "an object from key to value (the others hold null), or one value for all (default: null)";

    fn starting_from(init: &Value) -> Option<MultiRegister> {
        Some(match init {
            Value::Map(given) => MultiRegister::new(BTreeMap::clone(given), Value::Null),
            value => MultiRegister::new(BTreeMap::new(), value.clone()),
        })
    }
}
