//! `check` against the brute-force judge, for every built-in object, with its methods and without:
//! what the data types say about themselves is held against what is so.

use crate::generate::{Bag, Sort, cases, history, seed};
use crate::judge;
use linchpin_history::search::SearchOptions;
use linchpin_history::{Builder, CheckOptions, History, Judgement, Object, check};
use linchpin_spec::{BUILTINS, Value};
use std::time::Duration;

const SMALL: Sort =
    Sort { processes: 4, operations: 8, crashes: 8, deadlines: false, corrupted: 70, values: 3 };

/// Compares the door with the judge.
fn compare(object: &Object) {
    let mut random = fastrand::Rng::with_seed(seed(&object.name));
    let (rounds, mut violated) = (cases(150), 0);
    for round in 0..rounds {
        let sort = Sort { operations: random.usize(1..=SMALL.operations), ..SMALL };
        let mut history = history(&mut random, &*object.spec, sort);
        // Sometimes the quick search and the others look at the same time, from the beginning.
        let quick_alone = if round % 2 == 0 { 0 } else { usize::MAX };
        let core_time = Duration::from_millis(100);
        let search = SearchOptions { core_time, quick_alone, ..SearchOptions::default() };
        let options = CheckOptions { monitors: round % 3 != 0, search, ..CheckOptions::default() };
        let checked = check(object, &mut history, &options).unwrap();
        let tag = format!("{} by {}", object.name, checked.method);
        violated += usize::from(judge::check(&tag, &*object.spec, &history, &checked.judgement));
    }
    assert!((rounds / 10..=rounds * 9 / 10).contains(&violated), "{}: {violated}", object.name);
}

#[test]
fn every_builtin_object() {
    for info in BUILTINS {
        let init = match info.name {
            "snapshot" => Some(Value::list([0.into(), 0.into()])),
            "bank" => Some(Value::map((0..3).map(|account| (account.into(), 1.into())))),
            "bounded-queue" => Some(Value::Int(2)),
            _ => None,
        };
        compare(&Object::builtin(info.name, init).unwrap());
    }
}

/// Whichever is first, histories that are too long for brute force have one answer.
#[test]
fn the_quick_search_and_the_others_agree() {
    let sort = Sort { processes: 6, operations: 24, ..SMALL };
    for name in ["queue", "stack", "priority-queue", "multi-register", "cas-register", "kv"] {
        let object = Object::builtin(name, None).unwrap();
        let mut random = fastrand::Rng::with_seed(seed(name));
        let (rounds, mut violated) = (cases(25), 0);
        for _ in 0..rounds {
            let corrupted = *random.choice(&[0, 95]).unwrap();
            let mut history = history(&mut random, &*object.spec, Sort { corrupted, ..sort });
            let holds = [0, 1 << 7].map(|quick_alone| {
                let (core_time, event_time) = (Duration::ZERO, Duration::ZERO);
                let search =
                    SearchOptions { core_time, event_time, quick_alone, ..Default::default() };
                let options = CheckOptions { search, ..CheckOptions::default() };
                check(&object, &mut history, &options).unwrap().judgement.is_holds()
            });
            let options = CheckOptions { monitors: false, ..CheckOptions::default() };
            let slow = check(&object, &mut history, &options).unwrap().judgement;
            assert_eq!(holds, [slow.is_holds(); 2], "{name}: {slow:?}: {history:#?}");
            violated += usize::from(!slow.is_holds());
        }
        assert!((rounds / 10..=rounds * 9 / 10).contains(&violated), "{name}: {violated}");
    }
}

#[test]
fn an_object_with_a_state_of_its_own() {
    compare(&Object::custom("bag", Bag::default()));
}

/// A queue for two that says that it is full, after so many enqueues.
#[test]
fn a_wrong_full_is_a_violation() {
    assert!(Object::builtin("bounded-queue", None).is_err());
    let object = Object::builtin("bounded-queue", Some(Value::Int(2))).unwrap();
    for (enqueued, holds) in [(0, false), (1, false), (2, true)] {
        let mut builder = Builder::new(object.spec.operations());
        for value in 0..enqueued {
            builder.invoke("a", "enqueue", Value::Int(value)).unwrap();
            builder.ok("a", Value::Bool(true)).unwrap();
        }
        builder.invoke("a", "enqueue", Value::Int(9)).unwrap();
        builder.ok("a", Value::Bool(false)).unwrap();
        let checked = check(&object, &mut builder.finish(), &CheckOptions::default()).unwrap();
        assert_eq!(checked.judgement.is_holds(), holds, "{enqueued}: {:?}", checked.judgement);
    }
}

/// A history of one `update` of a snapshot object, and a scan.
fn update(index: i64) -> History {
    let object = Object::builtin("snapshot", None).unwrap();
    let mut builder = Builder::new(object.spec.operations());
    builder.invoke("a", "update", Value::list([Value::Int(index), Value::Int(7)])).unwrap();
    builder.ok("a", Value::Null).unwrap();
    builder.invoke("a", "scan", Value::Null).unwrap();
    builder.ok("a", Value::list([Value::Null, Value::Int(7)])).unwrap();
    builder.finish()
}

#[test]
fn no_index_is_too_large() {
    let object = Object::builtin("snapshot", None).unwrap();
    let huge = [i64::MIN, -1, 2, 1 << 22, 1 << 32, i64::MAX];
    for (index, holds) in huge.map(|index| (index, false)).into_iter().chain([(1, true)]) {
        let checked = check(&object, &mut update(index), &CheckOptions::default()).unwrap();
        assert_eq!(checked.judgement.is_holds(), holds, "{index}: {:?}", checked.judgement);
        assert!(!matches!(checked.judgement, Judgement::Inconclusive(_)));
    }
}
