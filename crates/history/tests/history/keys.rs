//! Histories of many objects: every object is judged as if it were alone, every violated one is
//! found, and a hard one keeps no other waiting.

use crate::generate::{Sort, cases, history, seed};
use crate::judge::{is_violated, is_witness};
use linchpin_history::search::SearchOptions;
use linchpin_history::{
    Builder, CheckOptions, Checked, History, Judgement, KeyObserver, KeyVerdict, NEVER, Object,
    OpId, ValueId, check,
};
use linchpin_history_data::Part;
use linchpin_spec::{Queue, Signature, Spec, Value};
use linchpin_verdict::{Limits, StopReason};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SMALL: Sort =
    Sort { processes: 3, operations: 7, crashes: 8, deadlines: false, corrupted: 60, values: 2 };

/// A process calls an operation of one object; `null` is the object of a history of one.
pub fn invoke(
    builder: &mut Builder,
    process: &str,
    (operation, argument): (usize, &Value),
    signature: &Signature,
    key: &Value,
) {
    let process = builder.process(process);
    let argument = builder.argument(argument.clone(), &signature.argument);
    let key = builder.values().intern(key.clone());
    let operation = u16::try_from(operation).expect("few operations");
    builder.invoke_compact(process, operation, key, argument).expect("a call");
}

/// One history of these, in a random order that keeps that of each.
fn together<S: Spec + ?Sized>(random: &mut fastrand::Rng, spec: &S, parts: &[History]) -> History {
    let mut builder = Builder::new(spec.operations());
    let events = |part: &History| {
        let mut events: Vec<(u32, OpId, bool)> = Vec::new();
        for (id, operation) in part.iter() {
            events.push((operation.invoked.number(), id, false));
            if operation.completed {
                events.push((operation.returned.number(), id, true));
            }
        }
        events.sort_unstable_by(|one, two| two.cmp(one));
        events
    };
    let mut left: Vec<Vec<(u32, OpId, bool)>> = parts.iter().map(events).collect();
    loop {
        let open: Vec<usize> = (0..left.len()).filter(|at| !left[*at].is_empty()).collect();
        let Some(&at) = random.choice(&open) else { break };
        let Some((_, id, returns)) = left[at].pop() else { break };
        let (part, operation) = (&parts[at], &parts[at][id]);
        let process = format!("{at}.{}", operation.process);
        let number = usize::from(operation.operation);
        let signature = &spec.operations()[number];
        match returns {
            true => builder.ok(&process, part.value(operation.response)).expect("an answer"),
            false => {
                let argument = part.call(id).argument;
                let key = Value::from(format!("key {at}").as_str());
                invoke(&mut builder, &process, (number, &argument), signature, &key);
            }
        }
    }
    builder.finish()
}

fn options() -> CheckOptions {
    let search =
        SearchOptions { core_time: Duration::from_millis(100), ..SearchOptions::default() };
    CheckOptions { search, ..CheckOptions::default() }
}

fn ids_of(history: &History, key: ValueId) -> Vec<OpId> {
    history.ids().filter(|id| history[*id].key == key).collect()
}

/// Holds what is said of each object, and of the whole, against the judge; how many are violated.
fn compare(object: &Object, history: &History, checked: &Checked) -> usize {
    let spec = &*object.spec;
    let (mut violated, mut smallest) = (0, usize::MAX);
    for key in &checked.keys {
        let ids = ids_of(history, key.key);
        assert_eq!(ids.len(), key.operations);
        let expected = is_violated(spec, history, &ids, NEVER);
        let tag = format!("{} by {}: {history:#?}", object.name, key.method);
        match &key.verdict {
            KeyVerdict::Holds => {
                assert!(!expected, "{tag}");
                if let Judgement::Holds(witness) = &checked.judgement {
                    let part = Part::new(history, &ids);
                    let place = |id: &OpId| ids.binary_search(id).ok().map(OpId::new);
                    let order: Vec<OpId> = witness.order.iter().filter_map(place).collect();
                    assert!(is_witness(spec, &part.history, &order), "{tag}");
                }
            }
            KeyVerdict::Violated { violation, .. } => {
                assert!(expected, "{tag}");
                assert!(violation.core.iter().all(|id| ids.contains(id)), "{tag}");
                assert!(is_violated(spec, history, &violation.core, NEVER), "{tag}");
                if let Some(at) = violation.at {
                    assert!(is_violated(spec, history, &ids, at + 1), "{tag}");
                    assert!(!is_violated(spec, history, &ids, at), "{tag}");
                }
                violated += 1;
                smallest = smallest.min(violation.core.len());
            }
            KeyVerdict::Open(reason) => panic!("{reason}: {tag}"),
        }
    }
    match &checked.judgement {
        Judgement::Holds(witness) => {
            assert_eq!(violated, 0);
            assert!(witness.order.len() <= history.operations.len());
        }
        Judgement::Violated(violation) => {
            assert!(violated > 0);
            assert_eq!(violation.core.len(), smallest);
            let key = checked.key.expect("the key of the violation");
            let own = checked.keys.iter().find(|checked| checked.key == key);
            let own = own.map(|own| &own.verdict);
            let own_at = match own {
                Some(KeyVerdict::Violated { violation, .. }) => violation.at,
                other => panic!("{other:?}"),
            };
            assert_eq!(violation.at, own_at);
            assert!(violation.core.iter().all(|id| history[*id].key == key));
        }
        Judgement::Inconclusive(reason) => panic!("{reason}"),
    }
    violated
}

#[test]
fn every_violated_key_is_found() {
    for name in ["register", "queue", "stack", "set", "kv", "counter", "mwcas"] {
        let object = Object::builtin(name, None).expect("a built-in");
        let mut random = fastrand::Rng::with_seed(seed(name));
        let (rounds, mut some, mut several) = (cases(80), 0, 0);
        for round in 0..rounds {
            let parts: Vec<History> = (0..random.usize(1..=5))
                .map(|_| history(&mut random, &*object.spec, SMALL))
                .filter(|part| !part.operations.is_empty())
                .collect();
            let mut history = together(&mut random, &*object.spec, &parts);
            let told: Arc<Mutex<Vec<ValueId>>> = Arc::default();
            let telling = told.clone();
            let observer = KeyObserver::new(move |_, key| {
                telling.lock().expect("no panic").push(key.key);
            });
            let observer = Some(observer);
            let options = CheckOptions { monitors: round % 2 == 0, observer, ..options() };
            let checked = check(&object, &mut history, &options).expect("no crashes");
            assert_eq!(checked.keys.len(), parts.len());
            let violated = compare(&object, &history, &checked);
            some += usize::from(violated > 0);
            several += usize::from(violated > 1);
            assert_eq!(told.lock().expect("no panic").len(), violated);
        }
        println!("{name}: {some} of {rounds} are violated, {several} in several keys");
        assert!((rounds / 10..=rounds * 19 / 20).contains(&some), "{name}: {some}");
        assert!(several > rounds / 20, "{name}: {several}");
    }
}

/// Pushes that all overlap, so that almost every order has to be tried, and a pop of what was never
/// pushed at the very end.
fn hard(count: i64) -> History {
    let mut builder = Builder::new(Queue::default().operations());
    for at in 0..count {
        builder.invoke(&at.to_string(), "enqueue", Value::Int(at % 6)).expect("a call");
    }
    for at in 0..count {
        builder.ok(&at.to_string(), Value::Null).expect("an answer");
    }
    for at in 0..count {
        builder.invoke("x", "dequeue", Value::Null).expect("a call");
        let answer = if at == count - 1 { 9 } else { at * 5 % 6 };
        builder.ok("x", Value::Int(answer)).expect("an answer");
    }
    builder.finish()
}

/// A few operations one after the other, the last of which is wrong if `wrong`.
fn easy(wrong: bool) -> History {
    let mut builder = Builder::new(Queue::default().operations());
    for value in [1, 2] {
        builder.invoke("a", "enqueue", Value::Int(value)).expect("a call");
        builder.ok("a", Value::Null).expect("an answer");
    }
    builder.invoke("b", "dequeue", Value::Null).expect("a call");
    builder.ok("b", Value::Int(if wrong { 2 } else { 1 })).expect("an answer");
    builder.finish()
}

fn budget(configurations: u64, parallel: bool) -> CheckOptions {
    let limits = Limits { configurations: Some(configurations), ..Limits::default() };
    let options = options();
    let search = SearchOptions { parallel, ..options.search };
    CheckOptions { limits, search, monitors: false, ..options }
}

#[test]
fn a_hard_key_keeps_no_other_waiting() {
    let object = Object::builtin("queue", None).expect("a built-in");
    let mut random = fastrand::Rng::with_seed(seed("hard"));
    // Whether the hard ones or the easy ones are called first.
    for at in [0, 2, 3] {
        let mut parts = vec![hard(40), easy(false), hard(36)];
        parts.insert(at, easy(true));
        let mut history = together(&mut random, &*object.spec, &parts);
        let checked = check(&object, &mut history, &budget(2000, true)).expect("no crashes");
        let violation = checked.judgement.violation().expect("the easy one is wrong");
        assert_eq!(violation.core.len(), 3);
        let of = |name: &str| {
            let key = history.values.find(&Value::from(name)).expect("a key");
            checked.keys.iter().find(|checked| checked.key == key).expect("its verdict")
        };
        assert!(matches!(of(&format!("key {at}")).verdict, KeyVerdict::Violated { .. }));
        let stopped = checked.keys.iter().filter_map(|key| match &key.verdict {
            KeyVerdict::Open(reason) => reason.stopped_by(),
            _ => None,
        });
        assert_eq!(stopped.collect::<Vec<_>>(), [StopReason::Budget, StopReason::Budget]);
    }
}

#[test]
fn what_stayed_open_is_named() {
    let object = Object::builtin("queue", None).expect("a built-in");
    let mut random = fastrand::Rng::with_seed(seed("open"));
    let parts = [easy(false), hard(40), easy(false)];
    let mut history = together(&mut random, &*object.spec, &parts);
    let checked = check(&object, &mut history, &budget(2000, true)).expect("no crashes");
    let Judgement::Inconclusive(reason) = &checked.judgement else { panic!("{checked:?}") };
    assert_eq!(reason.stopped_by(), Some(StopReason::Budget));
    let words = "1 of 3 keys stayed open: \"key 1\"; the others can be explained";
    assert!(reason.to_string().contains(words), "{reason}");
}

/// Where a budget ends the search, the same keys are decided in every run, on any number of
/// threads.
#[test]
fn budgets_decide_alike() {
    let object = Object::builtin("queue", None).expect("a built-in");
    let mut random = fastrand::Rng::with_seed(seed("alike"));
    let sizes = [6, 8, 9, 10, 30];
    let parts: Vec<History> = sizes.map(hard).into_iter().chain([easy(true)]).collect();
    let mut history = together(&mut random, &*object.spec, &parts);
    let mut counts = Vec::new();
    for configurations in [100, 1000, 6000] {
        let run = |history: &mut History, parallel| -> Vec<String> {
            let options = budget(configurations, parallel);
            let checked = check(&object, history, &options).expect("no crashes");
            let word = |verdict: &KeyVerdict| match verdict {
                KeyVerdict::Holds => "holds".to_owned(),
                KeyVerdict::Violated { violation, .. } => format!("violated at {:?}", violation.at),
                KeyVerdict::Open(reason) => format!("{:?}", reason.stopped_by()),
            };
            checked.keys.iter().map(|key| word(&key.verdict)).collect()
        };
        let once = run(&mut history, true);
        assert_eq!(once, run(&mut history, true));
        assert_eq!(once, run(&mut history, false));
        counts.push(once.iter().filter(|word| word.starts_with("violated")).count());
    }
    assert!(counts.is_sorted() && counts[0] < counts[2], "{counts:?}");
    assert!(counts[0] >= 1 && counts[2] < parts.len(), "{counts:?}");
}
