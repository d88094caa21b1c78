//! Recoverable linearizability, which is an order between operations, for every built-in object
//! against the brute-force judge: with monitors, by search, and with keys.

use crate::generate::{Bag, cases, random_value, seed};
use crate::keys::invoke;
use linchpin_history::search::SearchOptions;
use linchpin_history::{
    Builder, CheckOptions, Checked, History, Judgement, KeyVerdict, NEVER, Object, OpId, Property,
    Rank, check,
};
use linchpin_oracle::{Operation, witness_in_order};
use linchpin_spec::{BUILTINS, Call, Spec, Value};
use std::time::Duration;

/// What a process is doing.
#[derive(Clone)]
enum Doing {
    Nothing,
    Waiting(Call),
    Answering(Value),
}

/// A history with crashes of processes that go on; an operation that was interrupted may take
/// effect late, some answers are wrong.
fn history(random: &mut fastrand::Rng, object: &Object, keys: &[Value]) -> History {
    let spec = &object.spec;
    let mut builder = Builder::new(spec.operations());
    let mut doing: Vec<(usize, Doing)> = vec![(0, Doing::Nothing); 3];
    let mut states: Vec<_> = (0..keys.len().max(1)).map(|_| spec.initial()).collect();
    let mut late: Vec<(usize, Call)> = Vec::new();
    let (mut called, corrupted) = (0, random.u8(..5) < 2);
    for _ in 0..90 {
        if random.u8(..12) == 0
            && let Some((key, call)) = late.pop()
            && let Some(outcome) = random.choice(spec.apply(&states[key], &call, None))
        {
            states[key] = outcome.state;
        }
        let process = random.usize(..doing.len());
        let name = process.to_string();
        let (key, now) = doing[process].clone();
        doing[process] = match now {
            Doing::Nothing if called == 9 => (0, Doing::Nothing),
            Doing::Nothing => {
                called += 1;
                let key = random.usize(..states.len());
                let operation = random.usize(..spec.operations().len());
                let signature = &spec.operations()[operation];
                let argument = random_value(random, &signature.argument, 2);
                let key_value = keys.get(key).cloned().unwrap_or_default();
                invoke(&mut builder, &name, (operation, &argument), signature, &key_value);
                (key, Doing::Waiting(Call { operation, argument }))
            }
            Doing::Waiting(call) if random.u8(..5) == 0 => {
                {
                    let process = builder.process(&name);
                    builder.crash(Some(process))
                }
                .expect("a crash");
                if random.u8(..4) > 0 {
                    late.push((key, call));
                }
                (0, Doing::Nothing)
            }
            Doing::Waiting(call) => match random.choice(spec.apply(&states[key], &call, None)) {
                Some(outcome) => {
                    states[key] = outcome.state;
                    let wrong = corrupted && random.u8(..3) == 0;
                    let shape = &spec.operations()[call.operation].response;
                    let answer = match wrong {
                        true => random_value(random, shape, 2),
                        false => outcome.response,
                    };
                    (key, Doing::Answering(answer))
                }
                None if corrupted && random.u8(..3) == 0 => {
                    let shape = &spec.operations()[call.operation].response;
                    (key, Doing::Answering(random_value(random, shape, 2)))
                }
                None => (key, Doing::Waiting(call)),
            },
            Doing::Answering(_) if random.u8(..8) == 0 => {
                {
                    let process = builder.process(&name);
                    builder.crash(Some(process))
                }
                .expect("a crash");
                (0, Doing::Nothing)
            }
            Doing::Answering(answer) => {
                builder.ok(&name, answer).expect("an answer");
                (0, Doing::Nothing)
            }
        };
    }
    builder.finish()
}

/// An order that explains these operations, as the events before `end` show them: what was
/// interrupted comes before all that its process did later on the same object.
fn witness(object: &Object, history: &History, ids: &[OpId], end: Rank) -> Option<Vec<usize>> {
    let ids: Vec<OpId> = ids.iter().copied().filter(|id| history[*id].invoked < end).collect();
    let completed = |id: OpId| history[id].completed && history[id].returned < end;
    let judged = |&id: &OpId| Operation {
        process: history[id].process as usize,
        call: history.call(id),
        response: history.response(id).filter(|_| completed(id)),
        invoked: history[id].invoked.index(),
        returned: completed(id).then(|| history[id].returned.index()),
    };
    let operations: Vec<Operation> = ids.iter().map(judged).collect();
    let mut pairs = Vec::new();
    for (at, one) in ids.iter().enumerate() {
        for (later, two) in ids.iter().enumerate().skip(at + 1) {
            let (one, two) = (&history[*one], &history[*two]);
            if !one.completed && one.process == two.process && one.key == two.key {
                pairs.push((at, later));
            }
        }
    }
    witness_in_order(&*object.spec, &operations, &pairs)
}

/// Holds what is said of one object against the judge; whether it is violated.
fn compare(
    tag: &str,
    object: &Object,
    history: &History,
    ids: &[OpId],
    judgement: &Judgement,
) -> bool {
    let expected = witness(object, history, ids, NEVER).is_none();
    match judgement {
        Judgement::Holds(found) => {
            assert!(!expected, "{tag}: nothing explains {history:#?}");
            let order: Vec<OpId> =
                found.order.iter().copied().filter(|id| ids.contains(id)).collect();
            for (at, one) in order.iter().enumerate() {
                for two in &order[at + 1..] {
                    let (one, two) = (&history[*one], &history[*two]);
                    let is_interrupted = !two.completed && one.process == two.process;
                    let is_late = is_interrupted && one.key == two.key && two.invoked < one.invoked;
                    assert!(!is_late, "{tag}: {order:?} of {history:#?}");
                }
            }
        }
        Judgement::Violated(violation) => {
            assert!(expected, "{tag}: {violation:?}, but some order explains {history:#?}");
            let core = &violation.core;
            let explained = witness(object, history, core, NEVER);
            assert_eq!(explained, None, "{tag}: {core:?} of {history:#?}");
            if let Some(at) = violation.at {
                let tag = format!("{tag}: {at} of {history:#?}");
                assert!(witness(object, history, ids, at + 1).is_none(), "{tag}");
                assert!(witness(object, history, ids, at).is_some(), "{tag}");
            }
        }
        Judgement::Inconclusive(reason) => panic!("{tag}: {reason}: {history:#?}"),
    }
    expected
}

fn checked(object: &Object, history: &mut History, monitors: bool) -> Checked {
    let search =
        SearchOptions { core_time: Duration::from_millis(100), ..SearchOptions::default() };
    let property = Property::Recoverable;
    let options = CheckOptions { property, monitors, search, ..CheckOptions::default() };
    check(object, history, &options).expect("the crashes make sense")
}

/// Without keys. How many are violated, and how many only because of the order.
fn compare_all(object: &Object) -> (usize, usize) {
    let mut random = fastrand::Rng::with_seed(seed(&object.name));
    let (rounds, mut violated, mut by_order, mut located) = (cases(120), 0, 0, 0);
    for round in 0..rounds {
        let mut history = history(&mut random, object, &[]);
        let checked = checked(object, &mut history, round % 2 == 0);
        let ids: Vec<OpId> = history.ids().collect();
        let tag = format!("{} by {}", object.name, checked.method);
        if compare(&tag, object, &history, &ids, &checked.judgement) {
            violated += 1;
            let event = checked.judgement.violation().and_then(|violation| violation.at);
            located += usize::from(event.is_some());
            let free = check(object, &mut history, &CheckOptions::default());
            by_order += usize::from(free.expect("no crashes").judgement.is_holds());
        }
    }
    println!("{}: {violated} of {rounds} are violated, {by_order} by order", object.name);
    println!("{}: the event is known of {located}", object.name);
    assert!(located >= violated / 2, "{}: {located} of {violated}", object.name);
    assert!(violated <= rounds * 19 / 20, "{}: {violated}", object.name);
    (violated, by_order)
}

#[test]
fn every_builtin_object_exactly() {
    let (mut violated, mut by_order) = (0, 0);
    for info in BUILTINS {
        let init = match info.name {
            "snapshot" => Some(Value::list([0.into(), 0.into()])),
            "bounded-queue" => Some(Value::Int(2)),
            "bank" => Some(Value::map((0..3).map(|account| (account.into(), 1.into())))),
            _ => None,
        };
        let found = compare_all(&Object::builtin(info.name, init).expect("a built-in"));
        violated += found.0;
        by_order += found.1;
    }
    by_order += compare_all(&Object::custom("bag", Bag::default())).1;
    assert!(violated > cases(120), "{violated} are violated");
    assert!(by_order > 10, "the order mattered {by_order} times");
}

#[test]
fn with_keys_too() {
    let names = [Value::from("x"), Value::from("y")];
    for name in ["register", "queue", "mwcas", "counter"] {
        let object = Object::builtin(name, None).expect("a built-in");
        let mut random = fastrand::Rng::with_seed(seed(name));
        for round in 0..cases(150) {
            let mut history = history(&mut random, &object, &names);
            let checked = checked(&object, &mut history, round % 2 == 0);
            for key in &checked.keys {
                let all = history.ids();
                let ids: Vec<OpId> = all.filter(|id| history[*id].key == key.key).collect();
                let tag = format!("{name} by {}", key.method);
                let judgement = match &key.verdict {
                    KeyVerdict::Violated { violation, .. } => {
                        Judgement::Violated(violation.clone())
                    }
                    KeyVerdict::Holds => match &checked.judgement {
                        Judgement::Holds(witness) => Judgement::Holds(witness.clone()),
                        _ => continue,
                    },
                    KeyVerdict::Open(reason) => panic!("{tag}: {reason}"),
                };
                compare(&tag, &object, &history, &ids, &judgement);
            }
        }
    }
}
