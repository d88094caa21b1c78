//! Other checkers on the same histories: `todc-utils` (Wing–Gong–Lowe) and the tester of
//! `stateright`.

use serde_json::Value as Json;
use stateright::semantics::{ConsistencyTester, LinearizabilityTester, SequentialSpec};
use std::collections::VecDeque;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use todc_utils::linearizability::WGLChecker;
use todc_utils::linearizability::history::{Action, History};
use todc_utils::specifications::Specification;

/// Events of a queue or register history.
#[derive(Clone, Debug)]
pub struct Event {
    pub process: usize,
    pub is_call: bool,
    pub operation: Operation,
}

/// An operation with its answer, where it has one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    Write(i64),
    Read(Option<i64>),
    Enqueue(i64),
    Dequeue(Option<i64>),
}

/// The events of JSON lines; `None` for objects that the peers are not given.
pub fn events(lines: &str) -> Option<Vec<Event>> {
    lines.lines().map(event).collect()
}

fn event(line: &str) -> Option<Event> {
    let json: Json = serde_json::from_str(line).ok()?;
    let value = json["value"].as_i64();
    let operation = match json["f"].as_str()? {
        "write" => Operation::Write(value?),
        "read" => Operation::Read(value),
        "enqueue" => Operation::Enqueue(value?),
        "dequeue" => Operation::Dequeue(value),
        _ => return None,
    };
    let is_call = json["type"] == "invoke";
    Some(Event { process: json["process"].as_u64()? as usize, is_call, operation })
}

struct Spec;

impl Specification for Spec {
    type State = (Option<i64>, VecDeque<i64>);
    type Operation = Operation;

    fn init() -> Self::State {
        (None, VecDeque::new())
    }

    fn apply(operation: &Operation, state: &Self::State) -> (bool, Self::State) {
        let mut state = state.clone();
        let fits = match operation {
            Operation::Write(v) => {
                state.0 = Some(*v);
                true
            }
            Operation::Read(v) => state.0 == *v,
            Operation::Enqueue(v) => {
                state.1.push_back(*v);
                true
            }
            Operation::Dequeue(v) => state.1.pop_front() == *v,
        };
        (fits, state)
    }
}

/// The object as `stateright` wants it.
#[derive(Clone, Debug, Default)]
struct Object(Option<i64>, VecDeque<i64>);

impl SequentialSpec for Object {
    type Op = Operation;
    type Ret = Operation;

    fn invoke(&mut self, operation: &Operation) -> Operation {
        match operation {
            Operation::Write(v) => {
                self.0 = Some(*v);
                operation.clone()
            }
            Operation::Read(_) => Operation::Read(self.0),
            Operation::Enqueue(v) => {
                self.1.push_back(*v);
                operation.clone()
            }
            Operation::Dequeue(_) => Operation::Dequeue(self.1.pop_front()),
        }
    }
}

/// Seconds that a peer takes, or nothing if it takes longer than the limit (its thread is left
/// behind).
pub fn measure(peer: fn(Vec<Event>) -> bool, events: &[Event], limit: Duration) -> Option<f64> {
    let events = events.to_vec();
    let (send, receive) = mpsc::channel();
    let work = move || {
        let start = Instant::now();
        peer(events);
        let _ = send.send(start.elapsed().as_secs_f64());
    };
    std::thread::Builder::new().stack_size(1 << 30).spawn(work).ok()?;
    receive.recv_timeout(limit).ok()
}

pub fn todc(events: Vec<Event>) -> bool {
    let actions = events.into_iter().map(|event| {
        let action = match event.is_call {
            true => Action::Call(event.operation),
            false => Action::Response(event.operation),
        };
        (event.process, action)
    });
    WGLChecker::<Spec>::is_linearizable(History::from_actions(actions.collect()))
}

pub fn stateright(events: Vec<Event>) -> bool {
    let mut tester = LinearizabilityTester::new(Object::default());
    for event in events {
        let recorded = match event.is_call {
            true => tester.on_invoke(event.process, event.operation).map(drop),
            false => tester.on_return(event.process, event.operation).map(drop),
        };
        if recorded.is_err() {
            return false;
        }
    }
    tester.is_consistent()
}
