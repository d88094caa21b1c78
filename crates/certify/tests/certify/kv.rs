//! The cores that the monitor of key-value stores finds are confirmed, and what is confirmed is no
//! history that the oracle explains.

use linchpin_certify::{CoreError, Operation, confirm_core};
use linchpin_history::{Builder, CheckOptions, History, Judgement, NEVER, Object, check};
use linchpin_spec::{Call, Value};

/// A history of one key, with pieces that are all different if there are none to choose from.
fn history(object: &Object, pieces: usize, count: usize, random: &mut fastrand::Rng) -> History {
    history_of(object, count, random, |random, fresh| {
        let text = match random.u8(..12) {
            0 => String::new(),
            _ if pieces == 0 => format!("x{fresh}."),
            _ => format!("x{}.", random.usize(..pieces)),
        };
        match ["get", "get", "append", "put"][random.usize(..4)] {
            "get" => ("get", Value::str("k")),
            name => (name, Value::list([Value::str("k"), Value::str(&text)])),
        }
    })
}

/// A history in which some calls take effect too early or too late.
fn history_of(
    object: &Object,
    count: usize,
    random: &mut fastrand::Rng,
    make: impl Fn(&mut fastrand::Rng, usize) -> (&'static str, Value),
) -> History {
    let spec = &*object.spec;
    let mut events: Vec<(i64, usize, bool, Call, Value)> = Vec::new();
    let mut state = spec.initial();
    for process in 0..count {
        let (name, argument) = make(random, process);
        let operation = spec.operation(name).expect("an operation");
        let call = Call { operation, argument };
        let outcome = spec.apply(&state, &call, None).remove(0);
        state = outcome.state;
        let shift = if random.u8(..5) == 0 { random.i64(-90..90) } else { 0 };
        let at = 10 * process as i64 + shift;
        let (from, to) = (at - random.i64(1..40), at + random.i64(1..40));
        events.push((from, process, false, call.clone(), Value::Null));
        if random.u8(..12) > 0 {
            events.push((to, process, true, call, outcome.response));
        }
    }
    events.sort_by_key(|(at, process, returns, ..)| (*at, *process, *returns));
    let mut builder = Builder::new(spec.operations());
    for (_, process, returns, call, response) in events {
        let who = process.to_string();
        let name = spec.operations()[call.operation].name.as_str();
        let done = match returns {
            false => builder.invoke(&who, name, call.argument),
            true => builder.ok(&who, response),
        };
        done.expect("well-formed");
    }
    builder.finish()
}

fn operations(history: &History) -> Vec<Operation> {
    let convert = |id| {
        let operation = &history[id];
        let returned = operation.returned;
        Operation {
            call: history.call(id),
            response: history.response(id),
            invoked: operation.invoked.into(),
            returned: if returned == NEVER { u64::MAX } else { returned.into() },
        }
    };
    history.ids().map(convert).collect()
}

#[test]
fn cores_of_key_value_stores_are_confirmed() {
    let seed = std::env::var("LINCHPIN_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    println!("LINCHPIN_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let object = Object::builtin("kv", None).expect("a built-in specification");
    let (mut confirmed, mut longest) = (0, 0);
    for case in 0..2_000 {
        let (pieces, count) = [(0, 200), (4, 8), (60, 60), (0, 12)][case % 4];
        let mut history = history(&object, pieces, count, &mut random);
        let checked = check(&object, &mut history, &CheckOptions::default()).expect("no crashes");
        let Judgement::Violated(violation) = checked.judgement else { continue };
        if !checked.method.starts_with("kv monitor") {
            continue;
        }
        let core: Vec<usize> = violation.core.iter().map(|id| id.index()).collect();
        let at = violation.at.map(u64::from);
        let found = confirm_core(&*object.spec, "kv", &operations(&history), &core, at);
        assert_eq!(found, Ok(()), "seed {seed} case {case}: {core:?} {}", violation.explanation);
        confirmed += 1;
        longest = longest.max(core.len());
    }
    println!("{confirmed} confirmed, the longest has {longest}");
    assert!(confirmed > 500);
}

/// A transaction on one list: a read, an append, or both.
fn transaction(random: &mut fastrand::Rng, fresh: usize) -> Value {
    let read = || Value::list([Value::str("r"), Value::str("k"), Value::Null]);
    let append = |value: usize| {
        Value::list([Value::str("append"), Value::str("k"), Value::Int(value as i64)])
    };
    match random.u8(..6) {
        0..=2 => Value::list([read()]),
        3 => Value::list([append(2 * fresh)]),
        4 => Value::list([append(2 * fresh), append(2 * fresh + 1)]),
        _ => Value::list([read(), append(2 * fresh), read()]),
    }
}

#[test]
fn cores_of_lists_are_confirmed() {
    let seed = std::env::var("LINCHPIN_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(3);
    println!("LINCHPIN_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let object = Object::builtin("list-append", None).expect("a built-in specification");
    let mut confirmed = 0;
    for case in 0..1_000 {
        let mut history = history_of(&object, [40, 8][case % 2], &mut random, |random, fresh| {
            ("txn", transaction(random, fresh))
        });
        let checked = check(&object, &mut history, &CheckOptions::default()).expect("no crashes");
        let Judgement::Violated(violation) = checked.judgement else { continue };
        assert!(checked.method.starts_with("list-append monitor"), "{}", checked.method);
        let core: Vec<usize> = violation.core.iter().map(|id| id.index()).collect();
        let at = violation.at.map(u64::from);
        let found = confirm_core(&*object.spec, "list-append", &operations(&history), &core, at);
        assert_eq!(found, Ok(()), "seed {seed} case {case}: {core:?} {}", violation.explanation);
        confirmed += 1;
    }
    println!("{confirmed} confirmed");
    assert!(confirmed > 200);
}

/// No part of a history that can be explained is confirmed as a core.
#[test]
fn what_can_be_explained_is_not_confirmed() {
    let seed = std::env::var("LINCHPIN_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(2);
    println!("LINCHPIN_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let object = Object::builtin("kv", None).expect("a built-in specification");
    let (mut refused, mut confirmed) = (0, 0);
    for case in 0..3_000 {
        let history = history(&object, [0, 3][case % 2], 8, &mut random);
        let operations = operations(&history);
        let whole: Vec<usize> = (0..operations.len()).collect();
        let judged: Vec<linchpin_oracle::Operation> = operations
            .iter()
            .enumerate()
            .map(|(process, operation)| linchpin_oracle::Operation {
                process,
                call: operation.call.clone(),
                response: operation.response.clone(),
                invoked: operation.invoked as usize,
                returned: operation.response.as_ref().map(|_| operation.returned as usize),
            })
            .collect();
        let truth = linchpin_oracle::is_linearizable(&*object.spec, &judged);
        match confirm_core(&*object.spec, "kv", &operations, &whole, None) {
            Ok(()) => {
                confirmed += 1;
                assert!(!truth, "seed {seed} case {case}");
            }
            Err(CoreError::Explained(_)) => {
                refused += 1;
                assert!(truth, "seed {seed} case {case}");
            }
            Err(other) => panic!("seed {seed} case {case}: {other}"),
        }
    }
    println!("{confirmed} confirmed, {refused} refused");
    assert!(confirmed > 150 && refused > 300);
}
