//! Counters.

use super::{Described, answering, deterministic, looking, silent};
use crate::{Call, Outcome, Shape, Signature, Value};

/// A sum: `add n`, `read → n`, `fetch-add n → old`. It does not overflow: beyond 64 bits it goes
/// on, its digits as a string, and no answer of 64 bits is right there.
///
/// ```
/// use linchpin_spec::{Call, Counter, Spec, Value};
///
/// let counter = Counter::new(10);
/// let add = Call { operation: Counter::FETCH_ADD, argument: Value::Int(-3) };
/// let outcome = counter.apply(&counter.initial(), &add, None).remove(0);
/// assert_eq!((outcome.response, outcome.state), (Value::Int(10), Value::Int(7)));
/// ```
#[derive(Clone, Debug)]
pub struct Counter {
    operations: [Signature; 3],
    initial: Value,
}

impl Counter {
    /// The index of `add n`.
    pub const ADD: usize = 0;
    /// The index of `read → n`.
    pub const READ: usize = 1;
    /// The index of `fetch-add n → old`.
    pub const FETCH_ADD: usize = 2;

    /// A counter that starts from `initial`.
    pub fn new(initial: i64) -> Counter {
        Counter {
            operations: [
                Signature::new("add", Shape::Int, Shape::Unit),
                Signature::new("read", Shape::Unit, Shape::Int),
                Signature::new("fetch-add", Shape::Int, Shape::Int),
            ],
            initial: Value::Int(initial),
        }
    }

    fn step(&self, state: &Value, call: &Call, known: Option<&Value>) -> Option<Outcome<Value>> {
        let sum = || {
            let sum = whole(state)?.checked_add(call.argument.as_int()?.into())?;
            Some(i64::try_from(sum).map_or_else(|_| Value::str(&sum.to_string()), Value::Int))
        };
        match call.operation {
            Counter::ADD => silent(sum()?),
            Counter::READ => looking(state, state.clone(), known),
            Counter::FETCH_ADD => {
                Some(Outcome { response: answering(state.clone(), known)?, state: sum()? })
            }
            _ => None,
        }
    }
}

impl Counter {
    /// A sum that overflows, for people.
    fn beyond(state: &Value) -> Option<String> {
        match state {
            Value::Str(digits) => Some(format!("{digits} (an overflow of 64 bits)")),
            _ => None,
        }
    }
}

/// The sum that a state is.
fn whole(state: &Value) -> Option<i128> {
    match state {
        Value::Int(sum) => Some((*sum).into()),
        Value::Str(digits) => digits.parse().ok(),
        _ => None,
    }
}

deterministic!(Counter => beyond);

impl Default for Counter {
    fn default() -> Counter {
        Counter::new(0)
    }
}

impl Described for Counter {
    const NAME: &'static str = "counter";
    const SUMMARY: &'static str = "a sum that is added to and read";
    const INITIAL: &'static str = "an integer (default: 0)";

    fn starting_from(init: &Value) -> Option<Counter> {
        Some(Counter::new(init.as_int()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;

    #[test]
    fn an_overflow_is_said_to_be_one() {
        let counter = Counter::new(i64::MAX);
        let add = Call { operation: Counter::ADD, argument: Value::Int(1) };
        let state = counter.apply(&counter.initial(), &add, None).remove(0).state;
        let said = counter.describe(&state);
        assert_eq!(said.as_deref(), Some("9223372036854775808 (an overflow of 64 bits)"));
        assert_eq!(counter.describe(&counter.initial()), None);
    }
}
