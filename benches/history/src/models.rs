//! The objects for [`crate::wgl`], with states as a Rust programmer would write them, and histories
//! as it takes them.

use crate::wgl::{Limit, Model, Operation, check};
use linchpin_history::{History, OpId};
use linchpin_spec::{Call, CasRegister, Kv, Queue as QueueSpec, Value};
use std::collections::{BTreeMap, VecDeque};

/// Whether plain Wing–Gong–Lowe finds a history linearizable; nothing if it reached the limit.
pub fn judge(spec: &str, history: &History, limit: &Limit) -> Option<bool> {
    match spec {
        "register" | "cas-register" => check(&Register, &whole(history, register), limit),
        "queue" => check(&Queue, &whole(history, collection), limit),
        "stack" => check(&Stack, &whole(history, collection), limit),
        "priority-queue" => check(&PriorityQueue, &whole(history, collection), limit),
        "kv" => check(&Text, &by_key(history), limit),
        "multi-register" => check(&Registers, &whole(history, transaction), limit),
        _ => None,
    }
}

/// The history as one partition.
fn whole<C>(history: &History, call: impl Fn(&History, OpId) -> C) -> Vec<Vec<Operation<C>>> {
    vec![history.ids().map(|id| operation(history, id, call(history, id))).collect()]
}

fn operation<C>(history: &History, id: OpId, call: C) -> Operation<C> {
    let operation = &history[id];
    // Ranks are smaller than NEVER, which an operation that did not return has.
    Operation { call, invoked: operation.invoked.number(), returned: operation.returned.number() }
}

/// A number, where there is one.
type Number = Option<i64>;

fn number(value: &Value) -> Number {
    match value {
        Value::Int(number) => Some(*number),
        _ => None,
    }
}

fn string(value: &Value) -> &str {
    match value {
        Value::Str(text) => text,
        _ => "",
    }
}

fn items(value: &Value) -> &[Value] {
    value.as_list().unwrap_or_default()
}

/// What is called on a register, with the answer if it is known.
enum RegisterCall {
    Read(Option<Number>),
    Write(Number),
    Cas { old: Number, new: Number, fits: Option<bool> },
}

fn register(history: &History, id: OpId) -> RegisterCall {
    let call = history.call(id);
    let answer = history.response(id);
    match call.operation {
        CasRegister::READ => RegisterCall::Read(answer.map(|answer| number(&answer))),
        CasRegister::WRITE => RegisterCall::Write(number(&call.argument)),
        _ => {
            let words = items(&call.argument);
            let word = |at: usize| words.get(at).and_then(number);
            let fits = answer.map(|answer| answer == Value::Bool(true));
            RegisterCall::Cas { old: word(0), new: word(1), fits }
        }
    }
}

struct Register;

impl Model for Register {
    type State = Number;
    type Call = RegisterCall;

    fn initial(&self) -> Number {
        None
    }

    fn step(&self, state: &Number, call: &RegisterCall) -> Option<Number> {
        match call {
            RegisterCall::Read(answer) => {
                answer.is_none_or(|seen| seen == *state).then_some(*state)
            }
            RegisterCall::Write(value) => Some(*value),
            RegisterCall::Cas { old, new, fits } => {
                let does = old == state;
                let after = if does { *new } else { *state };
                fits.is_none_or(|fits| fits == does).then_some(after)
            }
        }
    }

    fn bytes(_: &Number) -> usize {
        16
    }
}

/// What is called on a collection, with the answer if it is known.
enum CollectionCall {
    Add(i64),
    Remove(Option<Number>),
    Peek(Option<Number>),
}

fn collection(history: &History, id: OpId) -> CollectionCall {
    let call = history.call(id);
    let answer = history.response(id).map(|answer| number(&answer));
    // The operations of all collections are numbered alike.
    match call.operation {
        QueueSpec::ENQUEUE => CollectionCall::Add(number(&call.argument).unwrap_or_default()),
        QueueSpec::DEQUEUE => CollectionCall::Remove(answer),
        _ => CollectionCall::Peek(answer),
    }
}

/// The step of a collection whose next value is at one end.
fn collect<S: Clone>(
    state: &S,
    call: &CollectionCall,
    next: impl Fn(&S) -> Number,
    add: impl Fn(&mut S, i64),
    remove: impl Fn(&mut S),
) -> Option<S> {
    let fits = |answer: &Option<Number>| answer.is_none_or(|seen| seen == next(state));
    match call {
        CollectionCall::Add(value) => {
            let mut state = state.clone();
            add(&mut state, *value);
            Some(state)
        }
        CollectionCall::Remove(answer) => fits(answer).then(|| {
            let mut state = state.clone();
            remove(&mut state);
            state
        }),
        CollectionCall::Peek(answer) => fits(answer).then(|| state.clone()),
    }
}

struct Queue;

impl Model for Queue {
    type State = VecDeque<i64>;
    type Call = CollectionCall;

    fn initial(&self) -> VecDeque<i64> {
        VecDeque::new()
    }

    fn step(&self, state: &VecDeque<i64>, call: &CollectionCall) -> Option<VecDeque<i64>> {
        let remove = |state: &mut VecDeque<i64>| _ = state.pop_front();
        collect(state, call, |state| state.front().copied(), VecDeque::push_back, remove)
    }

    fn bytes(state: &VecDeque<i64>) -> usize {
        32 + state.len() * 8
    }
}

struct Stack;

impl Model for Stack {
    type State = Vec<i64>;
    type Call = CollectionCall;

    fn initial(&self) -> Vec<i64> {
        Vec::new()
    }

    fn step(&self, state: &Vec<i64>, call: &CollectionCall) -> Option<Vec<i64>> {
        let remove = |state: &mut Vec<i64>| _ = state.pop();
        collect(state, call, |state| state.last().copied(), Vec::push, remove)
    }

    fn bytes(state: &Vec<i64>) -> usize {
        32 + state.len() * 8
    }
}

/// The least value is the last.
struct PriorityQueue;

impl Model for PriorityQueue {
    type State = Vec<i64>;
    type Call = CollectionCall;

    fn initial(&self) -> Vec<i64> {
        Vec::new()
    }

    fn step(&self, state: &Vec<i64>, call: &CollectionCall) -> Option<Vec<i64>> {
        let add = |state: &mut Vec<i64>, value| {
            let at = state.partition_point(|other| *other > value);
            state.insert(at, value);
        };
        let remove = |state: &mut Vec<i64>| _ = state.pop();
        collect(state, call, |state| state.last().copied(), add, remove)
    }

    fn bytes(state: &Vec<i64>) -> usize {
        32 + state.len() * 8
    }
}

/// What is called on one key of a key-value store.
enum TextCall {
    Get(Option<String>),
    Put(String),
    Append(String),
}

/// A partition a key.
fn by_key(history: &History) -> Vec<Vec<Operation<TextCall>>> {
    let mut parts: BTreeMap<Value, Vec<Operation<TextCall>>> = BTreeMap::new();
    let text = |value: &Value| string(value).to_owned();
    for id in history.ids() {
        let Call { operation: called, argument } = history.call(id);
        let words = items(&argument);
        let (key, call) = match called {
            Kv::GET => (argument.clone(), TextCall::Get(history.response(id).as_ref().map(text))),
            Kv::PUT => (words[0].clone(), TextCall::Put(text(&words[1]))),
            _ => (words[0].clone(), TextCall::Append(text(&words[1]))),
        };
        parts.entry(key).or_default().push(operation(history, id, call));
    }
    parts.into_values().collect()
}

struct Text;

impl Model for Text {
    type State = String;
    type Call = TextCall;

    fn initial(&self) -> String {
        String::new()
    }

    fn step(&self, state: &String, call: &TextCall) -> Option<String> {
        match call {
            TextCall::Get(answer) => {
                answer.as_ref().is_none_or(|seen| seen == state).then(|| state.clone())
            }
            TextCall::Put(text) => Some(text.clone()),
            TextCall::Append(text) => Some(format!("{state}{text}")),
        }
    }

    fn bytes(state: &String) -> usize {
        24 + state.len()
    }
}

/// A read with what it saw, if that is known, or a write.
enum Access {
    Read(i64, Option<Number>),
    Write(i64, Number),
}

fn transaction(history: &History, id: OpId) -> Vec<Access> {
    let argument = history.call(id).argument;
    let answer = history.response(id);
    let accesses = items(&argument).iter().enumerate().map(|(at, access)| {
        let word = |at: usize| items(access).get(at).and_then(number);
        let key = word(1).unwrap_or_default();
        match items(access).first().map(string) {
            Some("r" | "read") => {
                let seen = answer.as_ref().and_then(|answer| items(answer).get(at));
                Access::Read(key, seen.map(|seen| items(seen).get(2).and_then(number)))
            }
            _ => Access::Write(key, word(2)),
        }
    });
    accesses.collect()
}

struct Registers;

impl Model for Registers {
    type State = BTreeMap<i64, Number>;
    type Call = Vec<Access>;

    fn initial(&self) -> Self::State {
        BTreeMap::new()
    }

    fn step(&self, state: &Self::State, call: &Vec<Access>) -> Option<Self::State> {
        let mut state = state.clone();
        for access in call {
            match access {
                Access::Write(key, value) => drop(state.insert(*key, *value)),
                Access::Read(key, Some(seen)) => {
                    if state.get(key).copied().flatten() != *seen {
                        return None;
                    }
                }
                Access::Read(_, None) => {}
            }
        }
        Some(state)
    }

    fn bytes(state: &Self::State) -> usize {
        64 + state.len() * 32
    }
}
