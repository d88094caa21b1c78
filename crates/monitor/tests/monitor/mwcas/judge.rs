//! The brute-force judge, told about crashes, and a check of witnesses that shares nothing with the
//! monitor.

use linchpin_history_data::{History, NEVER, OpId};
use linchpin_oracle::Operation;
use linchpin_spec::{Call, Outcomes, Signature, Spec, Value, builtin};

/// An object that refuses calls that come after one of those that they must precede. Calls carry
/// their index.
struct InOrder {
    object: linchpin_spec::BuiltinSpec,
    /// For each call those that must not have taken effect before it.
    later: Vec<u64>,
}

impl Spec for InOrder {
    type State = (Value, u64);

    fn operations(&self) -> &[Signature] {
        self.object.operations()
    }

    fn initial(&self) -> (Value, u64) {
        (self.object.initial(), 0)
    }

    fn apply(
        &self,
        (state, done): &(Value, u64),
        call: &Call,
        response: Option<&Value>,
    ) -> Outcomes<(Value, u64)> {
        let [index, argument] = call.argument.as_list().unwrap() else { panic!("{call:?}") };
        let index = index.as_int().unwrap() as usize;
        if self.later[index] & done != 0 {
            return Outcomes::new();
        }
        let call = Call { operation: call.operation, argument: argument.clone() };
        let outcomes = self.object.apply(state, &call, response);
        let outcomes = outcomes.into_iter().map(|outcome| linchpin_spec::Outcome {
            state: (outcome.state, done | 1 << index),
            response: outcome.response,
        });
        outcomes.collect()
    }
}

/// Whether `a` is pending and `b` is a later operation of the same process.
fn is_interrupted_before(history: &History, a: usize, b: usize) -> bool {
    let (a, b) = (&history.operations[a], &history.operations[b]);
    !a.completed && a.process == b.process && a.invoked < b.invoked
}

/// The judgement of the oracle; with `ordered`, interrupted operations come before what their
/// process does later.
pub fn is_linearizable(history: &History, init: Option<&Value>, ordered: bool) -> bool {
    let count = history.operations.len();
    let later = |a: usize| {
        let later = (0..count).filter(|&b| ordered && is_interrupted_before(history, a, b));
        later.fold(0, |mask, b| mask | 1 << b)
    };
    let object = builtin("mwcas", init).unwrap();
    let spec = InOrder { object, later: (0..count).map(later).collect() };
    let operation = |(index, operation): (usize, &linchpin_history_data::Operation)| {
        let mut call = history.call(OpId::new(index));
        call.argument = Value::list([Value::Int(index as i64), call.argument]);
        Operation {
            process: operation.process as usize,
            call,
            response: history.response(OpId::new(index)),
            invoked: operation.invoked.index(),
            returned: (operation.returned != NEVER).then_some(operation.returned.index()),
        }
    };
    let operations: Vec<Operation> = history.operations.iter().enumerate().map(operation).collect();
    linchpin_oracle::is_linearizable(&spec, &operations)
}

/// The history of these operations alone.
pub fn without_others(history: &History, core: &[OpId]) -> History {
    let mut history = history.clone();
    let mut ids = history.ids();
    history.operations.retain(|_| ids.next().is_some_and(|id| core.contains(&id)));
    history
}

/// The order contains what it must, respects time, deadlines and crashes, and the object can answer
/// so.
pub fn assert_witness(
    history: &History,
    init: Option<&Value>,
    ordered: bool,
    order: &[OpId],
    text: impl Fn() -> String,
) {
    let operations = &history.operations;
    for (id, operation) in operations.iter().enumerate() {
        let times = order.iter().filter(|&&other| other.index() == id).count();
        assert!(times == 1 || times == 0 && !operation.completed, "{id}: {}", text());
    }
    for (at, &later) in order.iter().enumerate() {
        for &earlier in &order[..at] {
            let (earlier, later) = (earlier.index(), later.index());
            assert!(operations[later].returned >= operations[earlier].invoked, "{}", text());
            let interrupted = ordered && is_interrupted_before(history, later, earlier);
            assert!(!interrupted, "{}", text());
        }
    }
    let spec = builtin("mwcas", init).unwrap();
    let mut states = vec![spec.initial()];
    for &id in order {
        let (call, response) = (history.call(id), history.response(id));
        // A pending swap in the order is one that succeeded.
        let response = response.unwrap_or(true.into());
        let apply = |state: &Value| spec.apply(state, &call, Some(&response));
        states = states.iter().flat_map(apply).map(|outcome| outcome.state).collect();
    }
    assert!(!states.is_empty(), "{}", text());
}

pub fn shown(history: &History, init: Option<&Value>) -> String {
    let mut text = format!("init {init:?}, crashes {:?}\n", history.crashes);
    for (id, operation) in history.operations.iter().enumerate() {
        let call = history.call(OpId::new(id));
        let answer =
            history.response(OpId::new(id)).map_or("?".to_owned(), |answer| answer.to_string());
        text += &format!(
            "{id}: process {} [{}, {}] {} {} → {answer}\n",
            history.processes[operation.process as usize],
            operation.invoked,
            if operation.returned == NEVER {
                "never".to_owned()
            } else {
                operation.returned.to_string()
            },
            ["mwread", "mwcas"][call.operation],
            call.argument,
        );
    }
    text
}
