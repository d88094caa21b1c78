//! Streams against brute force: after every prefix the same judgement, with windows so small that
//! operations are dropped all the time.

mod generate;
mod register_rule;

use generate::{Event, Recording, Sort};
use linchpin_history::Object;
use linchpin_history::online::{Ended, OpenOperation, Stream};
use linchpin_oracle::{Operation, is_linearizable};
use linchpin_spec::Value;
use linchpin_verdict::Limits;
use std::collections::BTreeMap;
use std::env;

fn seed(test: &str) -> u64 {
    let seed = env::var("LINCHPIN_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(11);
    println!("{test}: LINCHPIN_SEED={seed}");
    seed
}

fn cases(usual: usize) -> usize {
    env::var("LINCHPIN_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

/// The first event after which brute force finds no order.
fn first_violated(object: &Object, recording: &Recording) -> Option<usize> {
    let mut operations: Vec<Operation> = Vec::new();
    let mut open: BTreeMap<usize, usize> = BTreeMap::new();
    let mut retracted: Vec<usize> = Vec::new();
    for (at, event) in recording.events.iter().enumerate() {
        match event {
            Event::Invoke(process, call) => {
                open.insert(*process, operations.len());
                let call = call.clone();
                let (response, returned) = (None, None);
                operations.push(Operation {
                    process: *process,
                    call,
                    response,
                    invoked: at,
                    returned,
                });
                continue;
            }
            Event::Ok(process, response) => {
                let operation = &mut operations[open.remove(process).unwrap()];
                operation.response = Some(response.clone());
                operation.returned = Some(at);
            }
            Event::Fail(process) => retracted.push(open.remove(process).unwrap()),
            Event::Info(_) => continue,
        }
        let happened = operations.iter().enumerate().filter(|(id, _)| !retracted.contains(id));
        let happened: Vec<Operation> = happened.map(|(_, operation)| operation.clone()).collect();
        if !is_linearizable(&*object.spec, &happened) {
            return Some(at);
        }
    }
    None
}

/// What a stream says, and whether it left the history to the frontier, and how many operations it
/// kept.
fn streamed(
    object: &Object,
    recording: &Recording,
    interval: usize,
    ways: Option<usize>,
    random: &mut fastrand::Rng,
) -> (Result<(), Ended>, bool, usize) {
    let stream = Stream::new(object, Limits::default()).with_interval(interval);
    let mut stream = match ways {
        Some(ways) => stream.with_ways(ways),
        None => stream,
    };
    let mut open: BTreeMap<usize, OpenOperation> = BTreeMap::new();
    let mut tell = |stream: &mut Stream<'_>, tag: usize, event: &Event| {
        let tag = tag as u64;
        match event {
            Event::Invoke(process, call) => {
                open.insert(*process, stream.invoke(tag, &process.to_string(), call.clone()));
            }
            Event::Ok(process, response) => {
                stream.response(tag, open.remove(process).unwrap(), response)?;
            }
            Event::Fail(process) => stream.retract(tag, open.remove(process).unwrap())?,
            Event::Info(process) => stream.crash(open.remove(process).unwrap()),
        }
        if random.u8(..4) == 0 { stream.judge() } else { Ok(()) }
    };
    let events = recording.events.iter().enumerate();
    let mut events = events.map(|(tag, event)| tell(&mut stream, tag, event));
    let judgement = events.find(Result::is_err).unwrap_or(Ok(()));
    drop(events);
    let judgement = judgement.and_then(|()| stream.finish());
    (judgement, stream.handed_over().is_some(), stream.kept())
}

fn compare(name: &str, init: Option<Value>, sort: Sort) {
    let is_unknown = init.is_none();
    let object = Object::builtin(name, init).unwrap();
    let mut random = fastrand::Rng::with_seed(seed(name));
    let rounds = cases(2500);
    let (mut violated, mut handed_over, mut kept, mut all, mut late) = (0, 0, 0, 0, 0);
    for round in 0..rounds {
        let recording = generate::recording(&mut random, &object, sort);
        let expected = first_violated(&object, &recording);
        let interval = random.usize(1..6);
        let (judgement, left, rest) = streamed(&object, &recording, interval, None, &mut random);
        let found = match &judgement {
            Ok(()) => None,
            Err(Ended::Violated(refutation)) => Some(refutation.tag as usize),
            Err(Ended::Unknown(reason)) => panic!("{name}, round {round}: {reason}"),
        };
        // Where nothing is known of the start, the monitor may have to wait until what follows
        // tells.
        let found = match (found, expected) {
            (Some(found), Some(first)) if name == "mwcas" && is_unknown && found > first => {
                late += 1;
                Some(first)
            }
            _ => found,
        };
        assert_eq!(
            found,
            expected,
            "{name}, round {round}, interval {interval}: {judgement:?} of {:#?}",
            recording.events.iter().enumerate().collect::<Vec<_>>()
        );
        violated += usize::from(expected.is_some());
        handed_over += usize::from(left);
        if expected.is_none() && !left {
            kept += rest;
            all += recording.calls;
        }
    }
    println!(
        "{name}: {violated} of {rounds} violated, {handed_over} handed over, {kept} of {all} operations kept"
    );
    assert!(late * 20 < rounds, "{name}: {late} of {rounds} reported late");
    assert!((rounds / 10..=rounds * 9 / 10).contains(&violated), "{name}: {violated} of {rounds}");
    if sort.fresh {
        assert!(handed_over * 3 < rounds, "{name}: {handed_over} of {rounds} handed over");
        assert!(kept * 10 < all * 9, "{name}: {kept} of {all} kept");
    }
}

const USUAL: Sort = Sort {
    processes: 3,
    calls: 11,
    unknown: 0,
    failed: 0,
    wrong: 12,
    fresh: true,
    vague: false,
    claims: false,
};

/// Complete histories; some operations that fail or never return; many in progress; values that
/// repeat; not from nothing.
fn compare_all(name: &str, init: Value) {
    compare(name, None, USUAL);
    compare(name, None, Sort { unknown: 8, failed: 8, calls: 10, ..USUAL });
    compare(name, None, Sort { processes: 5, calls: 9, ..USUAL });
    compare(name, None, Sort { fresh: false, ..USUAL });
    compare(name, Some(init), Sort { unknown: 4, ..USUAL });
}

fn two() -> Value {
    Value::list([900.into(), 901.into()])
}

#[test]
fn register() {
    compare_all("register", 900.into());
}

#[test]
fn queue() {
    compare_all("queue", two());
}

#[test]
fn stack() {
    compare_all("stack", two());
}

#[test]
fn priority_queue() {
    compare_all("priority-queue", two());
}

#[test]
fn set() {
    compare_all("set", Value::list([0.into(), 901.into()]));
}

#[test]
fn counter() {
    compare_all("counter", (-7).into());
}

/// Like `compare_all`, where the counter is changed by `fetch-add`; of different amounts where
/// values repeat.
#[test]
fn fetch_add() {
    let usual = Sort { claims: true, ..USUAL };
    compare("counter", None, usual);
    compare("counter", None, Sort { unknown: 8, failed: 8, calls: 10, ..usual });
    compare("counter", None, Sort { processes: 5, calls: 9, ..usual });
    compare("counter", None, Sort { fresh: false, unknown: 8, failed: 4, ..usual });
    compare("counter", Some((-7).into()), Sort { unknown: 12, ..usual });
}

#[test]
fn cas_register() {
    compare_all("cas-register", 900.into());
}

/// With few ways to explain what has happened, as if too many operations were in progress: what is
/// said is right, and sometimes it is not known.
#[test]
fn cas_register_with_few_ways() {
    let object = Object::builtin("cas-register", None).unwrap();
    let mut random = fastrand::Rng::with_seed(seed("few ways"));
    let rounds = cases(4000);
    let (mut violated, mut unknown, mut late) = (0, 0, 0);
    for round in 0..rounds {
        let processes = random.usize(2..6);
        let (fresh, unfinished) = (round % 4 == 0, random.u32(..2) * 4);
        let sort =
            Sort { processes, fresh, unknown: unfinished, failed: unfinished, calls: 10, ..USUAL };
        let recording = generate::recording(&mut random, &object, sort);
        let expected = first_violated(&object, &recording);
        let (interval, ways) = (random.usize(1..6), random.usize(1..3));
        let (judgement, ..) = streamed(&object, &recording, interval, Some(ways), &mut random);
        let first = expected.unwrap_or(usize::MAX);
        match &judgement {
            Err(Ended::Unknown(_)) => unknown += 1,
            Ok(()) if expected.is_none() => {}
            Err(Ended::Violated(found)) if found.tag as usize >= first => {
                violated += 1;
                late += usize::from(found.tag as usize > first);
            }
            wrong => panic!(
                "round {round}, interval {interval}, {ways} ways: {wrong:?}, not {expected:?}, of {:#?}",
                recording.events.iter().enumerate().collect::<Vec<_>>()
            ),
        }
    }
    println!("{violated} of {rounds} violated, {late} of them found late, {unknown} unknown");
    assert!(violated * 10 > rounds, "{violated} of {rounds}");
    assert!((1..rounds / 4).contains(&unknown), "{unknown} of {rounds}");
}

#[test]
fn map() {
    compare_all("map", Value::map([(0.into(), 900.into())]));
}

#[test]
fn mwcas() {
    let zero = || Some(Value::Int(-1));
    compare("mwcas", zero(), USUAL);
    compare("mwcas", zero(), Sort { unknown: 8, failed: 8, calls: 10, ..USUAL });
    compare("mwcas", zero(), Sort { processes: 5, calls: 9, ..USUAL });
    compare("mwcas", zero(), Sort { vague: true, unknown: 4, ..USUAL });
    compare("mwcas", None, Sort { unknown: 4, ..USUAL });
}

#[test]
fn mutex() {
    compare_all("mutex", true.into());
}

#[test]
fn semaphore() {
    compare_all("semaphore", 2.into());
}

/// The other types go to the frontier, through the same door.
#[test]
fn without_a_rule() {
    compare("snzi", None, Sort { fresh: false, calls: 8, ..USUAL });
}

/// With many removals in progress the monitors may have to wait until these return. The judgement
/// is that of the finished history, and the windows stay small meanwhile.
#[test]
fn with_very_many_in_progress() {
    let mut random = fastrand::Rng::with_seed(seed("very many"));
    for name in ["queue", "stack", "priority-queue"] {
        let object = Object::builtin(name, None).unwrap();
        let (mut violated, mut most) = (0, 0);
        for round in 0..cases(16) {
            let wrong = if round % 2 == 0 { 0 } else { 1 };
            let sort = Sort { processes: 64, calls: 3000, wrong, ..USUAL };
            let recording = generate::recording(&mut random, &object, sort);
            let mut builder = linchpin_history::Builder::new(object.spec.operations());
            for event in &recording.events {
                let told = match event {
                    Event::Invoke(process, call) => {
                        let name = &object.spec.operations()[call.operation].name;
                        builder.invoke(&process.to_string(), name, call.argument.clone())
                    }
                    Event::Ok(process, response) => {
                        builder.ok(&process.to_string(), response.clone())
                    }
                    Event::Fail(_) | Event::Info(_) => continue,
                };
                told.unwrap();
            }
            let options = linchpin_history::CheckOptions::default();
            let checked = linchpin_history::check(&object, &mut builder.finish(), &options);
            let expected = match checked.unwrap().judgement {
                linchpin_history::Judgement::Holds(_) => false,
                linchpin_history::Judgement::Violated(_) => true,
                linchpin_history::Judgement::Inconclusive(reason) => panic!("{name}: {reason}"),
            };
            let (judgement, _, kept) = streamed(&object, &recording, 64, None, &mut random);
            assert_eq!(judgement.is_err(), expected, "{name}, round {round}: {judgement:?}");
            violated += usize::from(expected);
            most = most.max(if expected { 0 } else { kept });
        }
        println!("{name}: {violated} violated, at most {most} operations kept at the end");
        assert!(violated > 1, "{name}: {violated} violated");
        assert!(most < 1500, "{name}: {most} kept");
    }
}
