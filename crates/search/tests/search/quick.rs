//! The quick search against the brute-force judge, for every object that it knows.

use crate::generate::{Sort, answer_another, cases, history, seed};
use crate::judge::{check, is_witness};
use linchpin_history_data::{Argument, Builder, History, OpId};
use linchpin_search::quick::{Quick, decide};
use linchpin_search::{SearchOptions, search};
use linchpin_spec::{Builtin, BuiltinSpec, Spec, Value};
use linchpin_verdict::Limits;
use std::time::Duration;

/// The objects, some with contents.
fn objects() -> Vec<(Builtin, Option<Value>)> {
    let some = || Some(Value::list([Value::Int(1), Value::Int(0), Value::Int(1)]));
    let texts = Value::map([(Value::Int(0), Value::str("rw")), (Value::Int(9), Value::str("r"))]);
    let given = Value::map([(Value::Int(0), Value::Int(1))]);
    vec![
        (Builtin::Register, None),
        (Builtin::CasRegister, None),
        (Builtin::CasRegister, Some(Value::Int(1))),
        (Builtin::CasRegister, Some(Value::str("never mentioned"))),
        (Builtin::Queue, None),
        (Builtin::Queue, some()),
        (Builtin::Stack, None),
        (Builtin::Stack, some()),
        (Builtin::PriorityQueue, None),
        (Builtin::PriorityQueue, some()),
        (Builtin::Kv, None),
        (Builtin::Kv, Some(texts)),
        (Builtin::MultiRegister, None),
        (Builtin::MultiRegister, Some(Value::Int(1))),
        (Builtin::MultiRegister, Some(given)),
    ]
}

/// A history, perhaps with a wrong answer.
fn random_history(
    random: &mut fastrand::Rng,
    object: Builtin,
    spec: &BuiltinSpec,
    sort: Sort,
) -> History {
    // A transaction whose answer is about others is never possible: those are made otherwise.
    let is_plain = object != Builtin::MultiRegister;
    let corrupted = if is_plain { sort.corrupted } else { 0 };
    let mut history = history(random, &**spec, Sort { corrupted, ..sort });
    match (random.bool(), is_plain) {
        (true, true) => answer_another(&mut history, random),
        (true, false) => misread(&mut history, random, sort.values),
        (false, _) => {}
    }
    history
}

/// Some reads in transactions see another value.
fn misread(history: &mut History, random: &mut fastrand::Rng, values: i64) {
    let reads = ["r", "read"].map(|word| history.values.find(&Value::str(word)));
    for at in 0..history.operations.len() {
        let Argument::Words { start, count, .. } = history.operations[at].response else {
            continue;
        };
        for word in (start as usize..).take(count.into()) {
            let is_read = reads.contains(&Some(history.words[word][0]));
            if history.operations[at].completed && is_read && random.u8(..3) == 0 {
                history.words[word][2] = history.values.intern(random.i64(0..values).into());
            }
        }
    }
}

/// What is said of a history, held against the judge: whether it is violated, if it is said.
fn judged(
    object: Builtin,
    init: Option<&Value>,
    spec: &BuiltinSpec,
    history: &History,
) -> Option<bool> {
    let ids: Vec<OpId> = history.ids().collect();
    let decided = decide(object, init, history, &ids, &Limits::default())?;
    let judgement = decided.judgement(&**spec, history);
    Some(check(object.name(), &**spec, history, &judgement))
}

fn compare(sort: Sort, usual: usize) {
    for (object, init) in objects() {
        let spec = object.spec(init.as_ref()).unwrap();
        let mut random = fastrand::Rng::with_seed(seed(object.name()));
        let (rounds, mut decided, mut violated) = (cases(usual), 0, 0);
        for _ in 0..rounds {
            let operations = random.usize(1..=sort.operations);
            let values = random.i64(1..=sort.values);
            let sort = Sort { operations, values, ..sort };
            let history = random_history(&mut random, object, &spec, sort);
            if let Some(is_violated) = judged(object, init.as_ref(), &spec, &history) {
                decided += 1;
                violated += usize::from(is_violated);
            }
        }
        let name = object.name();
        println!("{name} {init:?}: {decided} of {rounds} decided, {violated} violated");
        assert!(decided > rounds / 3, "{name}: {decided} of {rounds} decided");
        assert!(violated > rounds / 40 && violated < decided * 19 / 20, "{name}: {violated}");
    }
}

const SMALL: Sort =
    Sort { processes: 4, operations: 8, crashes: 0, deadlines: false, corrupted: 40, values: 3 };

#[test]
fn complete_histories() {
    compare(SMALL, 500);
}

#[test]
fn histories_with_crashed_operations() {
    compare(Sort { processes: 5, crashes: 30, ..SMALL }, 400);
}

#[test]
fn histories_with_deadlines() {
    compare(Sort { processes: 5, crashes: 30, deadlines: true, ..SMALL }, 400);
}

/// Longer ones than brute force can judge, beside the general search.
#[test]
fn long_histories() {
    let sort = Sort { processes: 6, operations: 40, crashes: 4, deadlines: true, ..SMALL };
    for (object, init) in objects() {
        let spec = object.spec(init.as_ref()).unwrap();
        let mut random = fastrand::Rng::with_seed(seed(object.name()));
        let (mut holds, mut violated) = (0, 0);
        for _ in 0..cases(40) {
            let corrupted = *random.choice(&[0, 80]).unwrap();
            let history = random_history(&mut random, object, &spec, Sort { corrupted, ..sort });
            let ids: Vec<OpId> = history.ids().collect();
            let limits = Limits { configurations: Some(1 << 11), ..Limits::default() };
            let (core_time, event_time) = (Duration::ZERO, Duration::ZERO);
            let options = SearchOptions { core_time, event_time, ..SearchOptions::default() };
            let usual = search(&*spec, &history, &limits, &options).judgement;
            match decide(object, init.as_ref(), &history, &ids, &Limits::default()) {
                Some(Quick::Holds(witness)) => {
                    assert!(is_witness(&*spec, &history, &witness.order), "{history:#?}");
                    assert!(usual.violation().is_none(), "{history:#?}");
                    holds += 1;
                }
                Some(Quick::Violated(..)) => {
                    assert!(!usual.is_holds(), "{}: {history:#?}", object.name());
                    violated += 1;
                }
                None => {}
            }
        }
        println!("{}: {holds} hold, {violated} violated", object.name());
        assert!(holds > 5 && violated > 2, "{}: {holds} hold, {violated} not", object.name());
    }
}

/// Pieces that begin with each other, so that one string comes about in many ways.
#[test]
fn texts_that_are_cut_in_several_ways() {
    let spec = Builtin::Kv.spec(None).unwrap();
    let mut random = fastrand::Rng::with_seed(seed("texts"));
    let (rounds, mut violated) = (cases(1500), 0);
    for _ in 0..rounds {
        let mut builder = Builder::new(spec.operations());
        let mut stored = String::new();
        let mut open: Vec<Option<String>> = vec![None; 3];
        for _ in 0..14 {
            let (at, key) = (random.usize(..3), Value::Int(0));
            let name = at.to_string();
            if let Some(answer) = open[at].take() {
                let answer = if random.u8(..8) == 0 { "a".repeat(2) } else { answer };
                builder.ok(&name, Value::str(&answer)).unwrap();
                continue;
            }
            let piece = *random.choice(&["", "a", "aa", "ab", "b"]).unwrap();
            let pair = Value::list([key.clone(), Value::str(piece)]);
            open[at] = Some(match random.u8(..5) {
                0 => {
                    builder.invoke(&name, "put", pair).unwrap();
                    stored = piece.to_owned();
                    String::new()
                }
                1 | 2 => {
                    builder.invoke(&name, "append", pair).unwrap();
                    stored.push_str(piece);
                    String::new()
                }
                _ => {
                    builder.invoke(&name, "get", key).unwrap();
                    stored.clone()
                }
            });
        }
        let history = builder.finish();
        violated += usize::from(judged(Builtin::Kv, None, &spec, &history) == Some(true));
    }
    println!("{violated} of {rounds} are violated");
    assert!((rounds / 20..rounds * 9 / 10).contains(&violated), "{violated} of {rounds}");
}

#[test]
fn what_it_does_not_know_is_handed_over() {
    let limits = Limits::default();
    let decided = |object: Builtin, calls: &[(&str, Value, Value)]| {
        let spec = object.spec(None).unwrap();
        let mut builder = Builder::new(spec.operations());
        for (name, argument, answer) in calls {
            builder.invoke("a", name, argument.clone()).unwrap();
            builder.ok("a", answer.clone()).unwrap();
        }
        let history = builder.finish();
        let ids: Vec<OpId> = history.ids().collect();
        decide(object, None, &history, &ids, &limits)
    };
    // A null that is removed looks like nothing.
    let null = || Value::Null;
    assert!(decided(Builtin::Queue, &[("enqueue", null(), null())]).is_none());
    // Not a text.
    assert!(decided(Builtin::Kv, &[("get", 1.into(), 2.into())]).is_none());
    assert!(decided(Builtin::Mutex, &[("acquire", null(), null())]).is_none());
    let pop = decided(Builtin::Stack, &[("pop", null(), 1.into())]);
    assert!(matches!(pop, Some(Quick::Violated(..))), "{pop:?}");
}

/// A value that the history does not mention is not the one that a register has by default.
#[test]
fn an_initial_value_that_is_not_mentioned_is_seen_by_no_read() {
    let init = Value::str("never mentioned");
    for object in [Builtin::Register, Builtin::CasRegister] {
        let spec = object.spec(Some(&init)).unwrap();
        for seen in [Value::Null, Value::Bool(false), Value::Bool(true), Value::Int(0)] {
            let mut builder = Builder::new(spec.operations());
            builder.invoke("a", "read", Value::Null).unwrap();
            builder.ok("a", seen).unwrap();
            let history = builder.finish();
            assert_eq!(judged(object, Some(&init), &spec, &history), Some(true));
        }
    }
}

/// More operations in progress than it has bits for, and more configurations than it looks at.
#[test]
fn what_is_too_large_is_handed_over() {
    let spec = Builtin::Stack.spec(None).unwrap();
    for (pushes, is_decided) in [(10, true), (70, false)] {
        let mut builder = Builder::new(spec.operations());
        for process in 0..pushes {
            builder.invoke(&process.to_string(), "push", Value::Int(process)).unwrap();
        }
        let history = builder.finish();
        let ids: Vec<OpId> = history.ids().collect();
        let decided = decide(Builtin::Stack, None, &history, &ids, &Limits::default());
        assert_eq!(decided.is_some(), is_decided);
    }
    let mut builder = Builder::new(spec.operations());
    for process in 0..12 {
        builder.invoke(&process.to_string(), "push", Value::Int(process)).unwrap();
    }
    for popped in [3, 5, 7, 3] {
        builder.invoke("p", "pop", Value::Null).unwrap();
        builder.ok("p", Value::Int(popped)).unwrap();
    }
    let history = builder.finish();
    let ids: Vec<OpId> = history.ids().collect();
    assert!(decide(Builtin::Stack, None, &history, &ids, &Limits::default()).is_none());
    let few = Limits { configurations: Some(0), ..Limits::default() };
    assert!(decide(Builtin::Stack, None, &history, &ids, &few).is_none());
}
