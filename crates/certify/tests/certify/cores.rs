//! Cores that the history engine finds are confirmed, however long the history; changed ones only
//! where they are cores still.

use linchpin_certify::{Operation, confirm_core};
use linchpin_history::{Builder, CheckOptions, History, Judgement, NEVER, Object, OpId, check};
use linchpin_spec::{Call, Value};

/// So many elements, keys and locations there are.
const FEW: i64 = 4;

const SPECS: [&str; 15] = [
    "register",
    "cas-register",
    "queue",
    "stack",
    "priority-queue",
    "set",
    "grow-set",
    "map",
    "counter",
    "mutex",
    "semaphore",
    "snapshot",
    "mwcas",
    "snzi",
    "mailbox",
];

/// The calls that are made, and what is written: a new value each time, where the object can hold
/// any.
fn call(name: &str, operation: &str, fresh: i64, random: &mut fastrand::Rng) -> Value {
    let few = |random: &mut fastrand::Rng| Value::Int(random.i64(0..FEW));
    match (name, operation) {
        ("set", _) => few(random),
        ("map", "put") => Value::list([few(random), fresh.into()]),
        ("map", _) => few(random),
        ("counter", "add" | "fetch-add") => Value::Int(1),
        ("snapshot", "update") => Value::list([Value::Int(random.i64(0..2)), fresh.into()]),
        ("mwcas", "mwread") => Value::list([Value::list([few(random), Value::Null])]),
        (_, "write" | "enqueue" | "push" | "insert" | "add") => fresh.into(),
        _ => Value::Null,
    }
}

fn object(name: &str) -> Object {
    let init = match name {
        "mwcas" => Some(Value::Int(-1)),
        "snapshot" => Some(Value::list([Value::Int(-1), Value::Int(-2)])),
        "semaphore" => Some(Value::Int(1)),
        _ => None,
    };
    Object::builtin(name, init).expect("a built-in specification")
}

/// A wrong answer.
fn wrong(answer: &Value, random: &mut fastrand::Rng) -> Value {
    match answer {
        Value::Bool(answer) => Value::Bool(!answer),
        Value::Int(answer) => Value::Int(answer - random.i64(1..4)),
        Value::List(items) => Value::list(items.iter().map(|item| wrong(item, random))),
        other => other.clone(),
    }
}

/// A history of an object that goes wrong once, towards the end: it gives a wrong answer, or lets
/// an operation return that had not taken effect.
fn history(object: &Object, count: usize, processes: usize, random: &mut fastrand::Rng) -> History {
    let spec = &*object.spec;
    let mut builder = Builder::new(spec.operations());
    let mut state = spec.initial();
    let mut last: Vec<(i64, i64)> = vec![(-1, -1); FEW as usize];
    // For each process its call, and its answer once it has taken effect.
    let mut open: Vec<Option<(Call, Option<Value>)>> = vec![None; processes];
    let mut names: Vec<usize> = (0..processes).collect();
    let (mut called, mut fresh, mut broken, mut idle) = (0, 0, 0, 0);
    while (called < count || open.iter().any(Option::is_some)) && idle < 50 * processes {
        idle += 1;
        let process = random.usize(..processes);
        let who = names[process].to_string();
        match &mut open[process] {
            None if called >= count => {}
            None => {
                let mut operation = random.usize(..spec.operations().len());
                if matches!(object.name.as_str(), "mutex" | "snzi" | "mailbox") {
                    // Mostly what need not wait.
                    let call = |operation| Call { operation, argument: Value::Null };
                    for _ in 0..4 {
                        if spec.apply(&state, &call(operation), None).is_empty() {
                            operation = random.usize(..spec.operations().len());
                        }
                    }
                }
                let signature = spec.operations()[operation].name.clone();
                fresh += 1;
                let argument = match (object.name.as_str(), signature.as_str()) {
                    ("mwcas", "mwcas") => {
                        let at = random.i64(0..FEW);
                        let expected = last[at as usize].1;
                        Value::list([Value::list([at.into(), expected.into(), fresh.into()])])
                    }
                    ("cas-register", "cas") => {
                        let expected = match spec
                            .apply(&state, &Call { operation: 1, argument: Value::Null }, None)
                            .first()
                        {
                            Some(found) => found.response.clone(),
                            None => Value::Null,
                        };
                        Value::list([expected, fresh.into()])
                    }
                    (name, signature) => call(name, signature, fresh, random),
                };
                builder.invoke(&who, &signature, argument.clone()).expect("a call");
                open[process] = Some((Call { operation, argument }, None));
                called += 1;
                idle = 0;
            }
            Some((call, answer @ None)) => {
                let mut outcomes = spec.apply(&state, call, None);
                if outcomes.is_empty() {
                    // It has to wait, or gives up; a broken object does not let it.
                    if broken < 3 && called * 4 > count * 3 && random.u8(..4) == 0 {
                        broken += 1;
                        *answer = Some(Value::Null);
                    } else if idle > 8 * processes {
                        let id = builder.process(&who);
                        // A release that may still come would excuse much.
                        match object.name.as_str() {
                            "mutex" | "semaphore" => builder.fail(id).expect("it is open"),
                            _ => builder.info(id).expect("it is open"),
                        }
                        open[process] = None;
                        names[process] += processes;
                        idle = 0;
                    }
                    continue;
                }
                let outcome = outcomes.swap_remove(0);
                if object.name == "mwcas" && outcome.response == Value::Bool(true) {
                    let words = call.argument.as_list().expect("words");
                    let word = words[0].as_list().expect("a word");
                    let at = word[0].as_int().expect("an address") as usize;
                    last[at] = (last[at].1, word[2].as_int().expect("a value"));
                }
                state = outcome.state;
                let mut found = outcome.response;
                let stale = |read: &Value| {
                    let at = read.as_list().and_then(|pair| pair[0].as_int()).unwrap_or(0);
                    Value::list([Value::Int(at), Value::Int(last[at as usize].0)])
                };
                let mut wrong = |answer: &Value| match answer {
                    Value::List(reads) if object.name == "mwcas" => {
                        Value::list(reads.iter().map(stale))
                    }
                    answer => wrong(answer, random),
                };
                if broken == 0 && called * 4 > count * 3 && wrong(&found) != found {
                    broken = 1;
                    found = wrong(&found);
                }
                *answer = Some(found);
                idle = 0;
            }
            Some((_, Some(answer))) => {
                builder.ok(&who, answer.clone()).expect("an answer");
                open[process] = None;
                idle = 0;
            }
        }
    }
    builder.finish()
}

fn operations(history: &History) -> Vec<Operation> {
    let operation = |id: usize| Operation {
        call: history.call(OpId::new(id)),
        response: history.response(OpId::new(id)),
        invoked: history.operations[id].invoked.into(),
        returned: match history.operations[id].returned {
            NEVER => u64::MAX,
            returned => returned.into(),
        },
    };
    (0..history.operations.len()).map(operation).collect()
}

/// The core that the engine finds, and the event up to which it counts.
fn core(object: &Object, history: &mut History) -> Option<(Vec<usize>, Option<u64>)> {
    match check(object, history, &CheckOptions::default()).expect("no crashes").judgement {
        Judgement::Violated(violation) => {
            let core = violation.core.into_iter().map(|id| id.index()).collect();
            Some((core, violation.at.map(u64::from)))
        }
        _ => None,
    }
}

fn holds(object: &Object, history: &[Operation]) -> bool {
    let known = |(id, operation): (usize, &Operation)| linchpin_oracle::Operation {
        process: id,
        call: operation.call.clone(),
        response: operation.response.clone(),
        invoked: operation.invoked as usize,
        returned: (operation.returned < u64::MAX).then_some(operation.returned as usize),
    };
    let known: Vec<_> = history.iter().enumerate().map(known).collect();
    linchpin_oracle::is_linearizable(&*object.spec, &known)
}

/// Nothing is confirmed of a history that holds: not if the answer of an operation of the core is
/// forgotten, or changed; nor by other cores.
#[test]
fn small_cores_against_the_oracle() {
    for (number, name) in SPECS.into_iter().enumerate() {
        let object = object(name);
        let confirm = |history: &[Operation], core: &[usize], at| {
            confirm_core(&*object.spec, name, history, core, at).is_ok()
        };
        let (mut violated, mut confirmed, mut refused, mut mended) = (0, 0, 0, 0);
        for seed in 0..300 {
            let mut random = fastrand::Rng::with_seed(seed * 100 + number as u64);
            let mut history = history(&object, 8, 3, &mut random);
            let all = operations(&history);
            let Some((core, at)) = core(&object, &mut history) else {
                let some: Vec<usize> = (0..all.len()).filter(|_| random.bool()).collect();
                assert!(!confirm(&all, &some, None), "{name}, seed {seed}: {some:?}");
                continue;
            };
            violated += 1;
            assert!(!holds(&object, &all));
            let answer = confirm_core(&*object.spec, name, &all, &core, at);
            assert!(
                answer.is_ok(),
                "{name}, seed {seed}: {answer:?} {core:?} at {at:?} of {all:?}"
            );
            confirmed += usize::from(answer.is_ok());
            for gone in &core {
                let less: Vec<usize> = core.iter().copied().filter(|id| id != gone).collect();
                refused += usize::from(!confirm(&all, &less, at));
                let answer = all[*gone].response.as_ref();
                let other = answer.map(|answer| wrong(answer, &mut random));
                for (response, core) in [(None, &less), (None, &core), (other, &core)] {
                    let mut changed = all.clone();
                    changed[*gone].response = response;
                    let good = holds(&object, &changed);
                    mended += usize::from(good);
                    let words =
                        || format!("{name}, seed {seed}: {core:?} at {at:?} of {changed:?}");
                    assert!(!good || !confirm(&changed, core, at), "{}", words());
                }
            }
        }
        println!(
            "{name}: {violated} violated, {confirmed} confirmed, {refused} smaller ones refused, {mended} mended"
        );
        assert!(violated > 20 && confirmed == violated && refused > 0 && mended > 0, "{name}");
    }
}

fn large(count: usize, seeds: u64) {
    for (number, name) in SPECS.into_iter().enumerate() {
        let object = object(name);
        let mut confirmed = 0;
        for seed in 0..seeds {
            let mut random = fastrand::Rng::with_seed(seed * 100 + number as u64);
            let mut history = history(&object, count, 4, &mut random);
            let all = operations(&history);
            let Some((core, at)) = core(&object, &mut history) else { continue };
            let start = std::time::Instant::now();
            let answer = confirm_core(&*object.spec, name, &all, &core, at);
            println!("{name}: {} of {}: {:?}", core.len(), all.len(), start.elapsed());
            assert!(answer.is_ok(), "{name}, seed {seed}: {answer:?}");
            confirmed += usize::from(answer.is_ok());
        }
        assert!(confirmed > 0, "{name}");
    }
}

#[test]
fn cores_of_long_histories() {
    let count = std::env::var("LINCHPIN_CASES").ok().and_then(|text| text.parse().ok());
    large(count.unwrap_or(2_000), 20);
}
