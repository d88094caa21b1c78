//! A stream of S2: records are appended at its tail.

use super::Described;
use crate::{Call, Outcome, Outcomes, Shape, Signature, Spec, Value};

/// A stream that remembers how many records it has, and a fencing token.
///
/// - `append [records, new token, token, number]` appends so many records and answers the new tail.
///   The rest may be `null`: the token that the stream has from then on, the token that it must
///   have, and the tail that it must have. An answer of `null` says that it is not known whether it
///   took place: it did before it returned, or never will.
/// - `read` and `check-tail` answer the tail. What was read is not looked at.
///
/// ```
/// use linchpin_spec::{Call, S2Stream, Spec, Value};
///
/// let stream = S2Stream::default();
/// let append = |items: [Value; 4]| {
///     Call { operation: S2Stream::APPEND, argument: Value::list(items) }
/// };
/// let fence = append([1.into(), "a".into(), Value::Null, 0.into()]);
/// let fenced = stream.apply(&stream.initial(), &fence, None).remove(0);
/// assert_eq!(fenced.response, Value::Int(1));
/// let by_another = append([1.into(), Value::Null, "b".into(), Value::Null]);
/// let refused = stream.apply(&fenced.state, &by_another, None);
/// assert!(refused.iter().all(|outcome| outcome.response == Value::Null));
/// ```
#[derive(Clone, Debug)]
pub struct S2Stream {
    operations: [Signature; 3],
    initial: Value,
}

impl S2Stream {
    /// The index of `append [records, new token, token, number] → int or null`.
    pub const APPEND: usize = 0;
    /// The index of `read → int`.
    pub const READ: usize = 1;
    /// The index of `check-tail → int`.
    pub const CHECK_TAIL: usize = 2;

    /// A stream with so many records and no token.
    pub fn new(tail: i64) -> S2Stream {
        let token = || Shape::Str.or_null();
        let append = Shape::Tuple(vec![Shape::Int, token(), token(), Shape::Int.or_null()]);
        S2Stream {
            operations: [
                Signature::new("append", append, Shape::Int.or_null()),
                Signature::new("read", Shape::Unit, Shape::Int),
                Signature::new("check-tail", Shape::Unit, Shape::Int),
            ],
            initial: Value::list([tail.into(), Value::Null]),
        }
    }

    /// The state and the tail after an append, if it is allowed.
    fn appended(tail: i64, token: &Value, argument: &Value) -> Option<(Value, i64)> {
        let [Value::Int(records), new, needed, number] = argument.as_list()? else {
            return None;
        };
        let fits = |wanted: &Value, is: &Value| wanted.is_null() || wanted == is;
        if *records < 0 || !fits(needed, token) || !fits(number, &tail.into()) {
            return None;
        }
        let tail = tail.checked_add(*records)?;
        let token = if new.is_null() { token } else { new };
        Some((Value::list([tail.into(), token.clone()]), tail))
    }
}

impl Spec for S2Stream {
    type State = Value;

    fn operations(&self) -> &[Signature] {
        &self.operations
    }

    fn initial(&self) -> Value {
        self.initial.clone()
    }

    fn apply(&self, state: &Value, call: &Call, response: Option<&Value>) -> Outcomes<Value> {
        let mut outcomes = Outcomes::new();
        let Some([Value::Int(tail), token]) = state.as_list() else {
            return outcomes;
        };
        match call.operation {
            S2Stream::APPEND => {
                let appended = S2Stream::appended(*tail, token, &call.argument);
                let after = appended.as_ref().map(|(state, tail)| (state, Value::Int(*tail)));
                let known = after.into_iter().map(|(state, tail)| (state.clone(), tail));
                // What is not known is what it did, not that it is over.
                let unknown = appended.iter().map(|(state, _)| state).chain([state]);
                let unknown = unknown.map(|state| (state.clone(), Value::Null));
                let all = known.chain(unknown);
                let answers = all.filter(|(_, answer)| response.is_none_or(|is| is == answer));
                outcomes.extend(answers.map(|(state, response)| Outcome { state, response }));
            }
            S2Stream::READ | S2Stream::CHECK_TAIL => {
                let answer = Value::Int(*tail);
                if response.is_none_or(|known| *known == answer) {
                    outcomes.push(Outcome { state: state.clone(), response: answer });
                }
            }
            _ => {}
        }
        outcomes
    }
}

impl Default for S2Stream {
    fn default() -> S2Stream {
        S2Stream::new(0)
    }
}

impl Described for S2Stream {
    const NAME: &'static str = "s2-stream";
    const SUMMARY: &'static str = "a stream of S2, appended to at its tail, with a fencing token";
    const INITIAL: &'static str = "the number of records (default: 0)";

    fn starting_from(init: &Value) -> Option<S2Stream> {
        init.as_int().filter(|tail| *tail >= 0).map(S2Stream::new)
    }
}
