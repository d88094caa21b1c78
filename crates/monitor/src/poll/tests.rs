//! Every monitor, stopped whenever it asks, says that it was stopped and nothing else.

use super::super::{
    counter, map, mutex, mwcas, priority_queue, queue, register, semaphore, set, stack,
};
use super::{STEPS, StopPoll, StopReason};
use linchpin_history_data::{Builder, History, Judgement, Monitored};
use linchpin_spec::{Call, Value, builtin};
use linchpin_verdict::{Limits, StopFlag};
use std::cell::Cell;
use std::time::Instant;

const NAMES: [&str; 11] = [
    "register",
    "cas-register",
    "queue",
    "stack",
    "priority-queue",
    "set",
    "map",
    "counter",
    "mutex",
    "semaphore",
    "mwcas",
];

thread_local! {
    /// After how many questions of this thread it is asked to stop.
    static PATIENCE: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// An operation asked.
pub(super) fn asked() -> Result<(), StopReason> {
    PATIENCE.with(|patience| {
        let left = patience.get();
        patience.set(left.saturating_sub(usize::from(left < usize::MAX)));
        if left == 0 { Err(StopReason::Interrupt) } else { Ok(()) }
    })
}

/// An operation says stop when asked for the nth time, counted from 0.
fn stopped_after<T>(asked: usize, check: impl FnOnce() -> T) -> T {
    PATIENCE.set(asked);
    let found = check();
    PATIENCE.set(usize::MAX);
    found
}

fn start(name: &str) -> Option<Value> {
    (name == "mwcas").then_some(Value::Int(0))
}

/// Operations of two processes, each pair overlapping; if `wrong` one of the last answers is, or
/// the last that acquire all do.
fn history(name: &str, wrong: bool) -> History {
    const CALLS: i64 = 60;
    let spec = builtin(name, start(name).as_ref()).expect("a specification");
    let mut builder = Builder::new(spec.operations());
    let mut state = spec.initial();
    let mut answers = Vec::new();
    for at in 0..CALLS {
        let half = (at / 2) % 2 == 0;
        let (operation, argument) = match name {
            "map" => {
                (if half { 0 } else { 2 }, if half { pair(at % 3, at) } else { (at % 3).into() })
            }
            "set" => (at as usize % 2, Value::Int(at / 2 % 3)),
            // Different amounts, and the same one.
            "counter" if wrong => {
                (at as usize % 2, if at % 2 == 0 { 1.into() } else { Value::Null })
            }
            "counter" => (2, Value::Int(1 + at % 3)),
            "mwcas" => (1, Value::list([Value::list([1.into(), at.into(), (at + 1).into()])])),
            "cas-register" if at % 3 == 2 => (2, pair(-7, at)),
            "mutex" | "semaphore" if wrong && at >= CALLS - 10 => (0, Value::Null),
            "mutex" => (at as usize % 2, Value::Null),
            "semaphore" => (usize::from(half), Value::Null),
            _ if half => (0, Value::Int(at)),
            _ => (1, Value::Null),
        };
        let call = Call { operation, argument: argument.clone() };
        let (process, name_of) = ((at % 2).to_string(), &spec.operations()[operation].name);
        builder.invoke(&process, name_of, argument).expect("a call");
        let mut outcomes = spec.apply(&state, &call, None);
        let mut answer = Value::Null;
        if !outcomes.is_empty() {
            let outcome = outcomes.swap_remove(0);
            (answer, state) = (outcome.response, outcome.state);
        }
        if wrong && at == if name == "counter" { CALLS - 1 } else { CALLS - 2 } {
            answer = match answer {
                Value::Bool(answer) => Value::Bool(!answer),
                Value::Int(answer) => Value::Int(answer - 7),
                _ => Value::Int(5000),
            };
        }
        answers.push((process, answer));
        if at % 2 == 1 {
            for (process, answer) in answers.drain(..) {
                builder.ok(&process, answer).expect("an answer");
            }
        }
    }
    builder.finish()
}

fn pair(one: i64, other: i64) -> Value {
    Value::list([one.into(), other.into()])
}

fn check(name: &str, history: &History, limits: &Limits) -> Monitored {
    match name {
        "register" | "cas-register" => register::check(history, &Value::Null, limits),
        "queue" => queue::check(history, &[], limits),
        "stack" => stack::check(history, &[], limits),
        "priority-queue" => priority_queue::check(history, &[], limits),
        "set" => set::check(history, &Value::Null, limits),
        "map" => map::check(history, &Value::Null, limits),
        "counter" => counter::check(history, &Value::Null, limits),
        "mutex" => mutex::check(history, &Value::Null, limits),
        "semaphore" => semaphore::check(history, &Value::Null, limits),
        _ => mwcas::check(history, start(name).as_ref(), limits),
    }
}

#[test]
fn the_first_steps_are_free() {
    let stop = StopFlag::default();
    stop.ask(StopReason::Interrupt);
    let limits = Limits::until(stop);
    let poll = StopPoll::new(&limits);
    assert!((0..STEPS).all(|_| poll.step().is_ok()));
    // Once it is over, it stays so.
    assert!((0..3).all(|_| poll.step() == Err(StopReason::Interrupt)));
}

#[test]
fn a_deadline_that_is_over_is_noticed_at_once() {
    let limits = Limits { deadline: Some(Instant::now()), ..Limits::default() };
    for (name, wrong) in NAMES.into_iter().flat_map(|name| [(name, false), (name, true)]) {
        let found = check(name, &history(name, wrong), &limits);
        assert!(matches!(found, Ok(Judgement::Inconclusive(_))), "{name}: {found:?}");
    }
}

#[test]
fn whenever_it_asks_a_monitor_can_be_stopped() {
    for (name, wrong) in NAMES.into_iter().flat_map(|name| [(name, false), (name, true)]) {
        let history = history(name, wrong);
        let limits = Limits::default();
        let full = check(name, &history, &limits);
        let is_expected = match &full {
            Ok(Judgement::Holds(_)) => !wrong,
            Ok(Judgement::Violated(_)) => wrong,
            _ => false,
        };
        assert!(is_expected, "{name}, {wrong}: {full:?}");
        let (mut stopped, mut asked) = (0, 0);
        loop {
            match stopped_after(asked, || check(name, &history, &limits)) {
                Ok(Judgement::Inconclusive(reason)) => {
                    assert_eq!(reason.stopped_by(), Some(StopReason::Interrupt));
                    stopped += 1;
                }
                // It was stopped while it looked for a small core, or not at all.
                Ok(Judgement::Violated(violation)) => {
                    assert!(wrong && !violation.core.is_empty(), "{name}: {violation:?}");
                }
                Ok(Judgement::Holds(_)) => assert!(!wrong, "{name}"),
                Err(refused) => panic!("{name}, stopped at question {asked}: {refused:?}"),
            }
            asked += 1;
            if asked > 2_000 {
                break;
            }
        }
        // Many times in each of several passes, unless one shows that it is wrong; and it does come
        // to an end.
        let least = if wrong { 8 } else { 30 };
        assert!((least..2_000).contains(&stopped), "{name}, {wrong}: {stopped}");
    }
}

/// Calls of three processes that take effect at random instants or never return; some answers are
/// wrong.
fn random_history(name: &str, random: &mut fastrand::Rng) -> History {
    let spec = builtin(name, start(name).as_ref()).expect("a specification");
    let (mut builder, mut state) = (Builder::new(spec.operations()), spec.initial());
    let mut open: [Option<(Call, Option<Value>)>; 3] = Default::default();
    let mut fresh = 0;
    for _ in 0..random.usize(10..80) {
        let process = random.usize(..open.len());
        let who = process.to_string();
        open[process] = match open[process].take() {
            None => {
                fresh += 1;
                let operation = random.usize(..spec.operations().len());
                let small = Value::Int(random.i64(..3));
                let argument = match (name, operation) {
                    ("set", _) | ("map", 1 | 2) => small,
                    ("map", _) => Value::list([small, fresh.into()]),
                    ("counter", 0 | 2) => Value::Int(1),
                    ("cas-register", 2) => pair(random.i64(..fresh), fresh),
                    ("mwcas", 0) => Value::list([Value::list([1.into(), Value::Null])]),
                    ("mwcas", _) => {
                        let expected = (fresh - random.i64(1..4)).max(0);
                        Value::list([Value::list([1.into(), expected.into(), fresh.into()])])
                    }
                    (_, 0) => Value::Int(fresh),
                    _ => Value::Null,
                };
                let what = &spec.operations()[operation].name;
                builder.invoke(&who, what, argument.clone()).expect("a call");
                Some((Call { operation, argument }, None))
            }
            Some((call, None)) => {
                let outcome = spec.apply(&state, &call, None).into_iter().next();
                let wrong = random.u8(..40) == 0;
                match outcome {
                    Some(outcome) => {
                        state = outcome.state;
                        let answer = match (wrong, outcome.response) {
                            (true, Value::Bool(answer)) => Value::Bool(!answer),
                            (true, Value::Int(_) | Value::Null) => Value::Int(random.i64(..fresh)),
                            (true, Value::List(_)) => Value::list([pair(1, random.i64(..fresh))]),
                            (_, answer) => answer,
                        };
                        Some((call, Some(answer)))
                    }
                    None if wrong => Some((call, Some(Value::Null))),
                    None => Some((call, None)),
                }
            }
            Some((_, Some(answer))) => {
                builder.ok(&who, answer).expect("an answer");
                None
            }
        };
    }
    builder.finish()
}

#[test]
fn what_is_stopped_is_never_judged_otherwise() {
    let kind = |found: &Monitored| match found {
        Ok(Judgement::Holds(_)) => 0,
        Ok(Judgement::Violated(_)) => 1,
        Ok(Judgement::Inconclusive(_)) => 2,
        Err(_) => 3,
    };
    let mut random = fastrand::Rng::with_seed(9);
    for (number, name) in NAMES.into_iter().enumerate() {
        let mut kinds = [0; 4];
        for case in 0..100 {
            // The history does not depend on how often others were asked.
            let seed = number as u64 * 1000 + case;
            let history = random_history(name, &mut fastrand::Rng::with_seed(seed));
            let limits = Limits::default();
            let full = kind(&check(name, &history, &limits));
            kinds[full] += 1;
            // Until nothing stops it any more, and in one case of a few later ones.
            let mut asked = 0;
            loop {
                let found = stopped_after(asked, || check(name, &history, &limits));
                if found == Ok(Judgement::from(StopReason::Interrupt)) {
                    asked += 1 + random.usize(..4);
                    continue;
                }
                assert_eq!(
                    kind(&found),
                    full,
                    "{name}, case {case}, question {asked}: {history:?}"
                );
                break;
            }
            for _ in 0..20 {
                let at = random.usize(..4 * asked + 40);
                let found = stopped_after(at, || check(name, &history, &limits));
                let same = kind(&found) == full;
                let stopped = found == Ok(Judgement::from(StopReason::Interrupt));
                assert!(same || stopped, "{name}, case {case}, question {at}: {found:?}");
            }
        }
        assert!(kinds[0] >= 6 && kinds[1] >= 6, "{name}: {kinds:?}");
    }
}
