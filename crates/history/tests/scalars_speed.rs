//! How long the monitors take for a million operations:
//! `cargo test --release -p linchpin-history --test scalars_speed -- --ignored --nocapture`.

use fastrand::Rng;
use linchpin_history::monitor::{counter, map, mutex, register, semaphore, set};
use linchpin_history::{Builder, History, Limits, Monitored, Verdict};
use linchpin_spec::{Call, Value, builtin};
use std::time::Instant;

/// A history of a correct object: each operation takes effect between its call and its return.
fn simulate(
    name: &str,
    processes: usize,
    count: usize,
    crashes: bool,
    mut call: impl FnMut(&mut Rng, i64) -> (&'static str, Value),
) -> History {
    let spec = builtin(name, None).unwrap();
    let mut rng = Rng::with_seed(7);
    let mut builder = Builder::new(spec.operations());
    let mut names: Vec<String> = (0..processes).map(|p| p.to_string()).collect();
    let mut doing: Vec<Option<(Call, Option<Value>)>> = vec![None; processes];
    let (mut state, mut calls) = (spec.initial(), 0);
    while calls < count {
        let process = rng.usize(0..processes);
        doing[process] = match doing[process].take() {
            None => {
                calls += 1;
                let (operation, argument) = call(&mut rng, calls as i64);
                builder.invoke(&names[process], operation, argument.clone()).unwrap();
                Some((Call { operation: spec.operation(operation).unwrap(), argument }, None))
            }
            Some((call, None)) => match spec.apply(&state, &call, None).pop() {
                Some(outcome) => {
                    state = outcome.state;
                    Some((call, Some(outcome.response)))
                }
                None => Some((call, None)),
            },
            Some(_) if crashes && rng.u32(0..10_000) == 0 => {
                names[process] = format!("{}'", names[process]);
                None
            }
            Some((_, Some(response))) => {
                builder.ok(&names[process], response).unwrap();
                None
            }
        };
    }
    builder.finish()
}

type Check = fn(&History, &Value, &Limits) -> Monitored;

fn measure(name: &str, history: &History, check: Check) {
    let best = (0..3).map(|_| {
        let start = Instant::now();
        let verdict = check(history, &Value::Null, &Limits::default());
        let seconds = start.elapsed().as_secs_f64();
        let word = match verdict {
            Ok(Verdict::Holds(_)) => "holds".to_owned(),
            Ok(Verdict::Violated(violation)) => {
                format!("violated, core of {}: {}", violation.core.len(), violation.explanation)
            }
            Ok(Verdict::Inconclusive(why)) => why,
            Err(why) => why.reason,
        };
        (seconds, word)
    });
    let (seconds, word) = best.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
    println!("{name}: {:.3} s, {word}", seconds);
}

#[test]
#[ignore = "measures"]
fn a_million_operations() {
    let count =
        std::env::var("LINCHPIN_OPS").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000_000);
    for processes in [4, 64] {
        for crashes in [false, true] {
            let with = if crashes { ", crashes" } else { "" };
            let title = |name: &str| format!("{name}, P={processes}{with}");
            let make = |spec: &str, call: fn(&mut Rng, i64) -> (&'static str, Value)| {
                simulate(spec, processes, count, crashes, call)
            };
            let history = make("register", |rng, fresh| match rng.bool() {
                true => ("write", Value::Int(fresh)),
                false => ("read", Value::Null),
            });
            measure(&title("register"), &history, register::check);
            // Stale guesses: many fail.
            let mut last = Value::Null;
            let history =
                simulate("cas-register", processes, count, crashes, |rng, fresh| {
                    match rng.u8(0..4) {
                        0 => ("read", Value::Null),
                        1 => {
                            last = Value::Int(fresh);
                            ("write", Value::Int(fresh))
                        }
                        _ => {
                            let old = std::mem::replace(&mut last, Value::Int(fresh));
                            ("cas", Value::list([old, Value::Int(fresh)]))
                        }
                    }
                });
            measure(&title("cas-register"), &history, register::check);
            let history = make("set", |rng, _| {
                (["add", "remove", "contains"][rng.usize(0..3)], Value::Int(rng.i64(0..100)))
            });
            measure(&title("set of 100"), &history, set::check);
            let history = make("map", |rng, fresh| {
                let key = Value::Int(rng.i64(0..100));
                match rng.u8(0..4) {
                    0 | 1 => ("put", Value::list([key, Value::Int(fresh)])),
                    2 => ("get", key),
                    _ => ("remove", key),
                }
            });
            measure(&title("map of 100"), &history, map::check);
            let lock: fn(&mut Rng, i64) -> _ =
                |rng, _| (["acquire", "release"][rng.usize(0..2)], Value::Null);
            if !crashes {
                // With as many calls of each, nobody waits for ever.
                let pairs = |_: &mut Rng, fresh: i64| {
                    (["acquire", "release"][fresh as usize % 2], Value::Null)
                };
                measure(&title("mutex"), &make("mutex", pairs), mutex::check);
                measure(&title("semaphore"), &make("semaphore", pairs), semaphore::check);
                let _ = lock;
            }
            let history = make("counter", |rng, _| match rng.u8(0..4) {
                0 | 1 => ("add", Value::Int(1)),
                2 => ("read", Value::Null),
                _ => ("fetch-add", Value::Int(1)),
            });
            measure(&title("counter"), &history, counter::check);
            let mut broken = history.clone();
            if let Some(read) =
                (broken.operations.iter_mut().rev()).find(|o| o.completed && o.operation == 1)
            {
                read.response =
                    linchpin_history::Argument::One(broken.values.intern_int(count as i64 / 3));
            }
            measure(&title("counter, broken"), &broken, counter::check);
            let history = make("counter", |rng, _| match rng.u8(0..4) {
                0 => ("read", Value::Null),
                _ => ("fetch-add", Value::Int(rng.i64(1..9))),
            });
            measure(&title("fetch-add"), &history, counter::check);
        }
    }
}
