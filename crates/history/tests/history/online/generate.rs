//! Random recordings: an object with random instants at which operations take effect, and now and
//! then a wrong answer.

use linchpin_history::Object;
use linchpin_spec::{AnySpec, AnyState, Call, Counter, Map, Mwcas, Shape, Value};

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
    /// Whether some failures do not say where.
    pub vague: bool,
    /// Whether a counter is changed by `fetch-add`.
    pub claims: bool,
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
    let mut given: Vec<Value> = match spec.initial().get() {
        Some(Value::List(list)) => list.to_vec(),
        other => other.cloned().into_iter().collect(),
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
                    what if sort.claims => {
                        [Counter::FETCH_ADD, Counter::READ][usize::from(what < 2)]
                    }
                    // Who adds now this way and now that is left to the frontier.
                    0 if !(sort.fresh && object.name == "counter") => {
                        random.usize(..spec.operations().len())
                    }
                    _ => random.usize(..spec.operations().len().min(2)),
                };
                let fresh = calls as i64 * 3671 % 10_007;
                let argument = match (&spec.operations()[operation].argument, object.name.as_str())
                {
                    (Shape::Unit, _) => Value::Null,
                    (_, "mwcas") => {
                        words(random, spec, &state, operation, sort.fresh.then_some(fresh))
                    }
                    (_, "map") => {
                        let key = Value::from(random.i64(0..2));
                        let value = match sort.fresh {
                            true => Value::from(fresh + 4),
                            false => random.i64(0..4).into(),
                        };
                        match operation {
                            Map::PUT => Value::list([key, value]),
                            _ => key,
                        }
                    }
                    (Shape::Tuple(_), _) if sort.fresh => {
                        let old =
                            given[given.len() - 1 - random.usize(..given.len().min(3))].clone();
                        Value::list([old, fresh.into()])
                    }
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
                given.push(match (&argument, object.name.as_str()) {
                    (Value::List(pair), "map" | "cas-register") => pair[1].clone(),
                    _ => argument.clone(),
                });
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
                let mut outcomes = spec.apply(&state, &call, None);
                if outcomes.is_empty() {
                    // It has to wait, unless the object is wrong.
                    match is_wrong && random.u32(..100) < sort.wrong * 2 {
                        true => Doing::Answering(call, Value::Null),
                        false => Doing::Waiting(call),
                    }
                } else {
                    let outcome = outcomes.remove(random.usize(..outcomes.len()));
                    state = outcome.state;
                    Doing::Answering(call, outcome.response)
                }
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
                        _ if object.name == "mwcas" => other_answer(random, &call, &answer),
                        (Shape::Bool, answer) => (*answer != Value::Bool(true)).into(),
                        (Shape::Int, answer) => {
                            (answer.as_int().unwrap_or(0) + 3 * random.i64(-1..=1)).into()
                        }
                        _ if random.u8(..4) == 0 => Value::Null,
                        // Mostly one of the last few, as a plausible mistake is.
                        _ => given[given.len() - 1 - random.usize(..given.len().min(6))].clone(),
                    };
                }
                if object.name == "mwcas" && sort.vague && random.bool() {
                    answer = vague(random, answer);
                }
                events.push(Event::Ok(name, answer));
                Doing::Nothing
            }
        };
    }
    Recording { events, calls }
}

type Memory = AnySpec;

/// The words of an operation on a memory of three locations. Mostly what is expected is there.
fn words(
    random: &mut fastrand::Rng,
    spec: &Memory,
    memory: &AnyState,
    operation: usize,
    fresh: Option<i64>,
) -> Value {
    let first = random.i64(0..3);
    let count = random.i64(1..=2);
    let word = |at: i64| {
        let at = Value::from((first + at) % 3);
        let asked = Value::list([at.clone(), Value::Null]);
        if operation == Mwcas::MWREAD {
            return asked;
        }
        let read = Call { operation: Mwcas::MWREAD, argument: Value::list([asked]) };
        let answer = spec.apply(memory, &read, None).remove(0).response;
        let there = answer.as_list().unwrap()[0].as_list().unwrap()[1].clone();
        let expected = match random.u8(..6) {
            0 => Value::from(fresh.unwrap_or(7) + at.as_int().unwrap() - 3671),
            _ => there,
        };
        let new = match fresh {
            Some(_) if random.u8(..12) == 0 => expected.clone(),
            Some(fresh) => Value::from(fresh + at.as_int().unwrap()),
            None => random.i64(0..4).into(),
        };
        Value::list([at, expected, new])
    };
    Value::list((0..count).map(word).collect::<Vec<_>>())
}

/// An answer that is probably wrong.
fn other_answer(random: &mut fastrand::Rng, call: &Call, answer: &Value) -> Value {
    let at = |word: &Value| word.as_list().unwrap()[0].clone();
    let words = call.argument.as_list().unwrap();
    if call.operation == Mwcas::MWCAS {
        return match answer {
            Value::Bool(_) => {
                let word = &words[random.usize(..words.len())];
                Value::map([("failed".into(), at(word))])
            }
            _ => true.into(),
        };
    }
    let seen = answer.as_list().unwrap().iter();
    let wrong = |word: &Value| {
        let value = word.as_list().unwrap()[1].as_int().unwrap_or(0);
        Value::list([at(word), (value - 3671).into()])
    };
    Value::list(seen.map(wrong).collect::<Vec<_>>())
}

/// A failure that does not say where.
fn vague(random: &mut fastrand::Rng, answer: Value) -> Value {
    match answer {
        Value::Map(_) if random.bool() => false.into(),
        answer => answer,
    }
}
