//! Random recordings: an object with random instants at which operations take effect, and now and then a wrong answer.

use linchpin_history::Object;
use linchpin_spec::{Call, Shape, Value};

/// What is recorded. Processes are never used again after an operation of unknown outcome.
#[derive(Clone, Debug)]
pub enum Event {
    Invoke(usize, Call),
    Ok(usize, Value),
    Fail(usize),
    Info(usize),
}

pub struct Recording {
    pub events: Vec<Event>,
    pub calls: usize,
}

/// What recordings look like.
#[derive(Clone, Copy)]
pub struct Sort {
    pub processes: usize,
    pub calls: usize,
    /// Of a hundred operations, how many never return, and how many fail.
    pub unknown: u32,
    pub failed: u32,
    /// Of a hundred answers, how many are wrong (perhaps).
    pub wrong: u32,
    /// Whether every value that is given is new.
    pub fresh: bool,
}

#[derive(Clone)]
enum Doing {
    Nothing,
    Waiting(Call),
    Answering(Call, Value),
}

pub fn recording(random: &mut fastrand::Rng, object: &Object, sort: Sort) -> Recording {
    let spec = &*object.spec;
    let mut state = spec.initial();
    let mut doing = vec![Doing::Nothing; sort.processes];
    let mut names: Vec<usize> = (0..sort.processes).collect();
    let (mut events, mut calls, mut next) = (Vec::new(), 0, sort.processes);
    let mut given: Vec<Value> = match spec.initial() {
        Value::List(list) => list.to_vec(),
        other => vec![other],
    };
    let is_wrong = random.bool();
    // Of short recordings some end with operations in progress, of crowded ones none.
    let steps = sort.calls * 5 + if sort.processes > 8 { sort.processes * 200 } else { 0 };
    for _ in 0..steps {
        let process = random.usize(..sort.processes);
        let name = names[process];
        doing[process] = match doing[process].clone() {
            Doing::Nothing if calls == sort.calls => Doing::Nothing,
            Doing::Nothing => {
                let operation = match random.u8(..6) {
                    // A counter has `fetch-add`, which is left to the frontier.
                    0 if !(sort.fresh && object.name == "counter") => {
                        random.usize(..spec.operations().len())
                    }
                    _ => random.usize(..spec.operations().len().min(2)),
                };
                let argument = match (&spec.operations()[operation].argument, object.name.as_str())
                {
                    (Shape::Unit, _) => Value::Null,
                    (Shape::Tuple(_), _) => {
                        Value::list([random.i64(0..4).into(), random.i64(0..4).into()])
                    }
                    (_, "set") => random.i64(0..2).into(),
                    (_, "counter") if sort.fresh => 3.into(),
                    (_, "counter") => random.i64(2..4).into(),
                    // In no particular order, for priority queues.
                    _ if sort.fresh => (calls as i64 * 3671 % 10_007).into(),
                    _ => random.i64(0..4).into(),
                };
                given.push(argument.clone());
                calls += 1;
                let call = Call { operation, argument };
                events.push(Event::Invoke(name, call.clone()));
                Doing::Waiting(call)
            }
            Doing::Waiting(call) if random.u32(..100) < sort.failed => {
                let _ = call;
                events.push(Event::Fail(name));
                Doing::Nothing
            }
            Doing::Waiting(call) => {
                let outcome = spec.apply(&state, &call, None).remove(0);
                state = outcome.state;
                Doing::Answering(call, outcome.response)
            }
            Doing::Answering(..) if random.u32(..100) < sort.unknown => {
                events.push(Event::Info(name));
                names[process] = next;
                next += 1;
                Doing::Nothing
            }
            Doing::Answering(call, mut answer) => {
                let shape = &spec.operations()[call.operation].response;
                if is_wrong && *shape != Shape::Unit && random.u32(..100) < sort.wrong * 2 {
                    answer = match (shape, &answer) {
                        (Shape::Bool, answer) => (*answer != Value::Bool(true)).into(),
                        (Shape::Int, answer) => {
                            (answer.as_int().unwrap_or(0) + 3 * random.i64(-1..=1)).into()
                        }
                        _ if random.u8(..4) == 0 => Value::Null,
                        // Mostly one of the last few, as a plausible mistake is.
                        _ => given[given.len() - 1 - random.usize(..given.len().min(6))].clone(),
                    };
                }
                events.push(Event::Ok(name, answer));
                Doing::Nothing
            }
        };
    }
    Recording { events, calls }
}
