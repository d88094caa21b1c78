//! Multi-word compare-and-swap, over locations whose initial values may be unknown.
//!
//! A recorded history seldom says what the memory held when the recording began. A location of
//! which nothing is known is therefore kept as the set of the values that it certainly does *not*
//! hold: a read or a successful swap decides it, a failure there adds one value to the set. Values
//! are without number, so some value is always left and what is kept is exact: a sequence of
//! answers is possible here if and only if it is possible for some initial memory.

use super::contents::{Changes, Contents};
use super::{Described, pair};
use crate::{Call, Outcome, Outcomes, Shape, Signature, Spec, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Locations that are read and conditionally swapped several at a time.
///
/// - `mwread [[address, null], …] → [[address, value], …]`, in the same order.
/// - `mwcas [[address, expected, new], …]` stores all the new values and answers `true` if every
///   location holds what is expected of it. Otherwise it changes nothing and answers, in whichever
///   way the implementation has, `false`, `{"failed": address}` (any location that does not hold
///   what was expected) or `{"read": [[address, value], …]}` (what some or all of the locations
///   hold). Naming an address twice has no outcome.
///
/// Where the response is not known, `mwcas` answers `true` or `{"failed": address}`, and `mwread`
/// answers `null` for an unknown value.
///
/// ```
/// use linchpin_spec::{Call, Mwcas, Spec, Value};
///
/// let memory = Mwcas::default();
/// let word = Value::list(["x".into(), 1.into(), 2.into()]);
/// let cas = Call { operation: Mwcas::MWCAS, argument: Value::list([word]) };
///
/// // It fails at x: x does not hold 1, which is now known of it.
/// let failed = Value::map([("failed".into(), "x".into())]);
/// let not_one = memory.apply(&memory.initial(), &cas, Some(&failed)).remove(0).state;
/// assert!(memory.apply(&not_one, &cas, Some(&Value::Bool(true))).is_empty());
///
/// // It succeeds: x did hold 1, and holds 2 now.
/// let two = memory.apply(&memory.initial(), &cas, Some(&Value::Bool(true))).remove(0).state;
/// let read = Call { operation: Mwcas::MWREAD, argument: Value::list([Value::list(["x".into(), Value::Null])]) };
/// assert_eq!(memory.apply(&two, &read, None)[0].response.to_string(), r#"[["x", 2]]"#);
/// ```
#[derive(Clone, Debug)]
pub struct Mwcas {
    operations: [Signature; 2],
    // INVARIANT: what a location holds is a set if it is unknown (the values that it does not
    // hold), else the value. No value of a history is a set: `pairs` and `words` see to that.
    contents: Contents,
}

/// One location of an `mwcas`.
struct Word<'a> {
    address: &'a Value,
    expected: &'a Value,
    new: &'a Value,
}

impl Mwcas {
    /// The index of `mwread [[address, null], …] → [[address, value], …]`.
    pub const MWREAD: usize = 0;
    /// The index of `mwcas [[address, expected, new], …]`.
    pub const MWCAS: usize = 1;

    /// Locations that hold what is `given` for them, and the others `otherwise`, or an unknown
    /// value each if that is `None`. A [`Value::Set`] is no value of a location: where one is
    /// given, the location is unknown but for its elements, which it does not hold.
    pub fn new(given: BTreeMap<Value, Value>, otherwise: Option<Value>) -> Mwcas {
        let list_of = |items: Vec<Shape>| Shape::List(Box::new(Shape::Tuple(items)));
        let asked = list_of(vec![Shape::Any, Shape::Unit]);
        let answered = list_of(vec![Shape::Any, Shape::Any]);
        let words = list_of(vec![Shape::Any, Shape::Any, Shape::Any]);
        Mwcas {
            operations: [
                Signature::new("mwread", asked, answered),
                Signature::new("mwcas", words, Shape::Any),
            ],
            contents: Contents::new(given, otherwise.unwrap_or_else(unknown)),
        }
    }

    fn read(
        &self,
        memory: &Changes,
        argument: &Value,
        known: Option<&Value>,
    ) -> Option<Outcome<Value>> {
        let asked = pairs(argument)?;
        let Some(answer) = known else {
            let look = |(address, _): &(&Value, &Value)| match self.contents.get(memory, address) {
                Value::Set(_) => Value::list([(*address).clone(), Value::Null]),
                value => Value::list([(*address).clone(), value.clone()]),
            };
            let response = Value::list(asked.iter().map(look));
            return Some(Outcome { response, state: Value::Map(Arc::clone(memory)) });
        };
        let answered = pairs(answer)?;
        if !asked.iter().map(|pair| pair.0).eq(answered.iter().map(|pair| pair.0)) {
            return None;
        }
        Some(Outcome {
            state: Value::Map(self.holding(memory, &answered)?),
            response: answer.clone(),
        })
    }

    fn swap(
        &self,
        memory: &Changes,
        argument: &Value,
        known: Option<&Value>,
    ) -> Vec<Outcome<Value>> {
        let Some(words) = words(argument) else {
            return Vec::new();
        };
        let outcome = |memory: Changes, response: &Value| Outcome {
            state: Value::Map(memory),
            response: response.clone(),
        };
        match known {
            None => {
                let success = self.swapped(memory, &words);
                let failure = |word: &Word| {
                    let response = Value::map([("failed".into(), word.address.clone())]);
                    Some(outcome(self.mismatched(memory, word)?, &response))
                };
                let success = success.into_iter().map(|memory| outcome(memory, &true.into()));
                success.chain(words.iter().filter_map(failure)).collect()
            }
            Some(answer) => {
                let memories = self.answered(memory, &words, answer).unwrap_or_default();
                memories.into_iter().map(|memory| outcome(memory, answer)).collect()
            }
        }
    }

    /// The memories after an `mwcas` that gave this answer.
    fn answered(&self, memory: &Changes, words: &[Word], answer: &Value) -> Option<Vec<Changes>> {
        match answer {
            Value::Bool(true) => Some(vec![self.swapped(memory, words)?]),
            Value::Bool(false) => Some(self.mismatched_anywhere(memory, words)),
            Value::Map(fields) if fields.len() == 1 => {
                let (Value::Str(field), content) = fields.first_key_value()? else {
                    return None;
                };
                let find = |address: &Value| words.iter().find(|word| word.address == address);
                match &**field {
                    "failed" => Some(vec![self.mismatched(memory, find(content)?)?]),
                    "read" => {
                        let seen = pairs(content)?;
                        if seen.iter().any(|(address, _)| find(address).is_none()) {
                            return None;
                        }
                        let memory = self.holding(memory, &seen)?;
                        Some(self.mismatched_anywhere(&memory, words))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The memory in which, as was seen, each of these locations holds this value; nothing if one
    /// cannot.
    fn holding(&self, memory: &Changes, seen: &[(&Value, &Value)]) -> Option<Changes> {
        let mut memory = Arc::clone(memory);
        for &(address, value) in seen {
            match self.contents.get(&memory, address) {
                Value::Set(excluded) if excluded.contains(value) => return None,
                Value::Set(_) => self.contents.set(&mut memory, address, value.clone()),
                held if held == value => {}
                _ => return None,
            }
        }
        Some(memory)
    }

    /// The memory after every location held what was expected of it.
    fn swapped(&self, memory: &Changes, words: &[Word]) -> Option<Changes> {
        let expected: Vec<_> = words.iter().map(|word| (word.address, word.expected)).collect();
        let mut memory = self.holding(memory, &expected)?;
        for word in words {
            self.contents.set(&mut memory, word.address, word.new.clone());
        }
        Some(memory)
    }

    /// The memory in which this location does not hold what was expected of it; nothing if it does.
    fn mismatched(&self, memory: &Changes, word: &Word) -> Option<Changes> {
        let mut memory = Arc::clone(memory);
        match self.contents.get(&memory, word.address) {
            Value::Set(excluded) if excluded.contains(word.expected) => {}
            Value::Set(excluded) => {
                let mut excluded = BTreeSet::clone(excluded);
                excluded.insert(word.expected.clone());
                self.contents.set(&mut memory, word.address, Value::Set(Arc::new(excluded)));
            }
            held if held == word.expected => return None,
            _ => {}
        }
        Some(memory)
    }

    /// The memories in which some location does not hold what was expected of it.
    fn mismatched_anywhere(&self, memory: &Changes, words: &[Word]) -> Vec<Changes> {
        let mut ways: Vec<Changes> =
            words.iter().filter_map(|word| self.mismatched(memory, word)).collect();
        // Where one location is certain not to match, nothing is learnt of the others.
        if ways.contains(memory) {
            ways = vec![Arc::clone(memory)];
        }
        ways
    }
}

impl Spec for Mwcas {
    type State = Value;

    fn operations(&self) -> &[Signature] {
        &self.operations
    }

    fn initial(&self) -> Value {
        Value::map([])
    }

    fn apply(&self, state: &Value, call: &Call, response: Option<&Value>) -> Outcomes<Value> {
        let Value::Map(memory) = state else {
            return Outcomes::new();
        };
        match call.operation {
            Mwcas::MWREAD => self.read(memory, &call.argument, response).into_iter().collect(),
            Mwcas::MWCAS => self.swap(memory, &call.argument, response).into(),
            _ => Outcomes::new(),
        }
    }
}

impl Default for Mwcas {
    /// Every location holds an unknown value of its own.
    fn default() -> Mwcas {
        Mwcas::new(BTreeMap::new(), None)
    }
}

impl Described for Mwcas {
    const NAME: &'static str = "mwcas";
    const SUMMARY: &'static str = "multi-word compare-and-swap and multi-word read";
    const INITIAL: &'static str =
        "one value for all locations, or an object from address to value (default: unknown, each)";

    fn starting_from(init: &Value) -> Option<Mwcas> {
        match init {
            Value::Map(given) if given.values().any(is_set) => None,
            Value::Map(given) => Some(Mwcas::new(BTreeMap::clone(given), None)),
            Value::Set(_) => None,
            value => Some(Mwcas::new(BTreeMap::new(), Some(value.clone()))),
        }
    }
}

/// What a location holds of which nothing is known.
fn unknown() -> Value {
    Value::Set(Arc::default())
}

fn is_set(value: &Value) -> bool {
    matches!(value, Value::Set(_))
}

/// The addresses and values of `[[address, value], …]`.
fn pairs(list: &Value) -> Option<Vec<(&Value, &Value)>> {
    let pairs: Vec<_> = list.as_list()?.iter().map(pair).collect::<Option<_>>()?;
    (!pairs.iter().any(|(_, value)| is_set(value))).then_some(pairs)
}

/// The words of `[[address, expected, new], …]`, if no address repeats.
fn words(list: &Value) -> Option<Vec<Word<'_>>> {
    let word = |word| match Value::as_list(word)? {
        [_, expected, new] if is_set(expected) || is_set(new) => None,
        [address, expected, new] => Some(Word { address, expected, new }),
        _ => None,
    };
    let words: Vec<Word> = list.as_list()?.iter().map(word).collect::<Option<_>>()?;
    let addresses: BTreeSet<&Value> = words.iter().map(|word| word.address).collect();
    (addresses.len() == words.len()).then_some(words)
}

#[cfg(test)]
mod tests;
