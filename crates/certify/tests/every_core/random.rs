//! Small random histories of any built-in specification.

use linchpin_history::{Builder, History, Object, ValueId};
use linchpin_spec::{Builtin, Call, Shape, Value};
use std::fmt::Write;

/// An object, with an initial value where it needs one.
pub fn object(builtin: Builtin, random: &mut fastrand::Rng) -> Object {
    let init = match builtin {
        Builtin::Mwcas => Some(Value::Int(0)),
        Builtin::Snapshot => Some(Value::list([Value::Int(0), Value::Int(0)])),
        Builtin::Bank => {
            Some(Value::map([(Value::str("0"), 5.into()), (Value::str("1"), 5.into())]))
        }
        Builtin::Semaphore => Some(Value::Int(random.i64(0..3))),
        Builtin::BoundedQueue => Some(Value::Int(random.i64(1..3))),
        Builtin::Register | Builtin::CasRegister if random.bool() => Some(Value::Int(0)),
        Builtin::Queue | Builtin::Stack if random.u8(..4) == 0 => {
            Some(Value::list([Value::Int(1)]))
        }
        _ => None,
    };
    Object::new(builtin, init).expect("an initial value that fits")
}

/// Where values come from.
struct Values {
    /// So many different ones there are, unless they are fresh.
    few: i64,
    fresh: Option<i64>,
}

impl Values {
    fn next(&mut self, random: &mut fastrand::Rng) -> i64 {
        match &mut self.fresh {
            Some(fresh) => {
                *fresh += 1;
                *fresh
            }
            None => random.i64(0..self.few),
        }
    }
}

/// What is called with: what fits the operation, values that meet often.
fn argument(
    object: &Object,
    operation: usize,
    values: &mut Values,
    random: &mut fastrand::Rng,
) -> Value {
    let signature = &object.spec.operations()[operation];
    let few = |random: &mut fastrand::Rng| Value::Int(random.i64(0..2));
    match (object.name.as_str(), signature.name.as_str()) {
        ("counter", "add" | "fetch-add") => {
            Value::Int(*random.choice(&[1, 1, 1, 2, 5, -1]).unwrap_or(&1))
        }
        ("set", _) => few(random),
        ("bank", "transfer") => {
            let from = random.i64(0..2);
            Value::list([from, 1 - from, random.i64(1..3)].map(Value::Int))
        }
        ("kv", "get") => few(random),
        ("kv", _) => {
            let text = Value::str(&format!("x{}", values.next(random)));
            Value::list([few(random), text])
        }
        ("map", "put") | ("snapshot", "update") => {
            Value::list([few(random), values.next(random).into()])
        }
        ("map", _) => few(random),
        ("mwcas", "mwread") => Value::list([Value::list([few(random), Value::Null])]),
        ("mwcas", "mwcas") => {
            let word = |at: i64, values: &mut Values, random: &mut fastrand::Rng| {
                let old = random.i64(0..3);
                Value::list([at.into(), old.into(), values.next(random).into()])
            };
            let both = random.u8(..3) == 0;
            let first = random.i64(0..2);
            let mut words = vec![word(first, values, random)];
            words.extend(both.then(|| word(1 - first, values, random)));
            Value::list(words)
        }
        (name @ ("multi-register" | "list-append"), "txn") => {
            let writes = if name == "list-append" { "append" } else { "w" };
            let both = random.u8(..3) == 0;
            let first = random.i64(0..2);
            let mut word = |at: i64| match random.bool() {
                true => Value::list(["r".into(), at.into(), Value::Null]),
                false => Value::list([writes.into(), at.into(), values.next(random).into()]),
            };
            let mut words = vec![word(first)];
            if both {
                words.push(word(1 - first));
            }
            Value::list(words)
        }
        _ => shaped(&signature.argument, values, random),
    }
}

fn shaped(shape: &Shape, values: &mut Values, random: &mut fastrand::Rng) -> Value {
    match shape {
        Shape::Unit => Value::Null,
        Shape::Bool => random.bool().into(),
        Shape::Int | Shape::Any => values.next(random).into(),
        Shape::Str => Value::str(&format!("x{}", values.next(random))),
        Shape::Word(words) => Value::str(random.choice(words.iter()).unwrap_or(&"")),
        Shape::Optional(_) if random.u8(..4) == 0 => Value::Null,
        Shape::Optional(inner) => shaped(inner, values, random),
        Shape::Tuple(items) => Value::list(items.iter().map(|item| shaped(item, values, random))),
        Shape::Record(fields) => Value::map(
            fields.iter().map(|(name, shape)| (Value::str(name), shaped(shape, values, random))),
        ),
        Shape::List(item) => Value::list([shaped(item, values, random)]),
    }
}

/// Another answer of the same kind.
fn wrong(answer: &Value, given: &[Value], random: &mut fastrand::Rng) -> Value {
    match random.choice(given) {
        Some(other) if random.bool() => other.clone(),
        _ => match answer {
            Value::Bool(answer) => Value::Bool(!answer),
            Value::Int(answer) => Value::Int(answer + random.i64(-2..3)),
            Value::List(items) => Value::list(items.iter().map(|item| wrong(item, &[], random))),
            Value::Str(text) if random.bool() && text.len() > 1 => Value::str(&text[2..]),
            Value::Str(text) => Value::str(&format!("x{}{text}", random.u8(..3))),
            Value::Null if random.bool() => Value::Int(random.i64(0..3)),
            other => other.clone(),
        },
    }
}

#[derive(Clone)]
enum Doing {
    Nothing,
    Waiting(usize, Call),
    Answering(Value),
    Gone,
}

/// A history, of two keys now and then: recorded from the object with random points at which
/// operations take effect, about half of them with some answers changed.
pub fn history(object: &Object, random: &mut fastrand::Rng) -> History {
    let spec = &*object.spec;
    let mut builder = Builder::new(spec.operations());
    let keys: Vec<ValueId> = match random.u8(..4) {
        0 => (0..2).map(|key| builder.values().intern(Value::Int(70 + key))).collect(),
        _ => vec![ValueId::NULL],
    };
    let count = random.usize(3..9);
    let mut doing = vec![Doing::Nothing; random.usize(2..5)];
    let names: Vec<u32> = (0..doing.len()).map(|at| builder.process(&at.to_string())).collect();
    let broken = random.u8(..3) > 0;
    let (lost, failed) = (random.u8(..20), random.u8(..20));
    let mut values = Values { few: random.i64(2..5), fresh: random.bool().then_some(0) };
    let mut states = vec![spec.initial(); keys.len()];
    let mut given: Vec<Vec<Value>> = vec![Vec::new(); spec.operations().len()];
    let mut called = 0;
    for _ in 0..20 * count {
        let at = random.usize(..doing.len());
        let process = names[at];
        doing[at] = match doing[at].clone() {
            Doing::Nothing if called == count => Doing::Nothing,
            Doing::Nothing => {
                called += 1;
                let operation = random.usize(..spec.operations().len());
                let argument = argument(object, operation, &mut values, random);
                let key = random.usize(..keys.len());
                let shape = &spec.operations()[operation].argument;
                let compact = builder.argument(argument.clone(), shape);
                let invoked = builder.invoke_compact(process, operation as u16, keys[key], compact);
                invoked.expect("it is idle");
                Doing::Waiting(key, Call { operation, argument })
            }
            Doing::Waiting(..) if random.u8(..100) < lost => Doing::Gone,
            Doing::Waiting(..) if random.u8(..100) < failed => {
                builder.fail(process).expect("it is open");
                Doing::Nothing
            }
            Doing::Waiting(key, call) => {
                let outcomes = spec.apply(&states[key], &call, None);
                let lies = broken && random.u8(..5) < 2;
                match random.choice(outcomes) {
                    Some(outcome) => {
                        states[key] = outcome.state;
                        let answer = match lies {
                            true => wrong(&outcome.response, &given[call.operation], random),
                            false => outcome.response,
                        };
                        given[call.operation].push(answer.clone());
                        Doing::Answering(answer)
                    }
                    None if lies => Doing::Answering(Value::Null),
                    None => Doing::Waiting(key, call),
                }
            }
            Doing::Answering(_) if random.u8(..100) < lost => Doing::Gone,
            Doing::Answering(answer) => {
                let open = builder.open(process).expect("it is open");
                let operation = usize::from(builder.history()[open].operation);
                let compact = builder.argument(answer, &spec.operations()[operation].response);
                builder.ok_compact(process, compact).expect("it is open");
                Doing::Nothing
            }
            Doing::Gone => Doing::Gone,
        };
    }
    builder.finish()
}

/// The history, for people.
pub fn words(object: &Object, history: &History) -> String {
    let mut text = format!("  init {:?}\n", object.init);
    for (id, operation) in history.iter() {
        let name = &object.spec.operations()[usize::from(operation.operation)].name;
        let (argument, key) =
            (history.value(operation.argument), history.values.get(operation.key));
        let answer = history.response(id).map_or("?".to_owned(), |answer| answer.to_string());
        let (from, to) = (operation.invoked, operation.returned);
        let _ =
            writeln!(text, "  {id:?} key {key} [{from:?}, {to:?}] {name} {argument} -> {answer}");
    }
    text
}
