//! The monitor of key-value stores against the brute-force judge, on random small histories.
//! `LINCHPIN_SEED` and `LINCHPIN_CASES` make this a longer or another fuzzing run.

use fastrand::Rng;
use linchpin_history_data::{Builder, History, Judgement, NEVER, OpId, Rank, Violation};
use linchpin_monitor::kv;
use linchpin_oracle::{Operation, is_linearizable};
use linchpin_spec::{BuiltinSpec, Call, Value, builtin};
use linchpin_verdict::Limits;
use std::env;

fn number(name: &str, default: u64) -> u64 {
    env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Which texts are written.
#[derive(Clone, Copy, Debug)]
enum Pieces {
    /// All different, none begins with another.
    Distinct,
    /// Few, none begins with another.
    Repeated,
    /// Few, and some begin with others.
    Nested,
    /// All different, and some begin with others.
    NestedDistinct,
}

fn piece(kind: Pieces, rng: &mut Rng, fresh: usize) -> String {
    match kind {
        Pieces::Distinct => format!("{fresh}."),
        Pieces::Repeated => ["a", "b", "c", "d"][rng.usize(..4)].to_owned(),
        Pieces::Nested => ["a", "ab", "b", "ba", "abc"][rng.usize(..5)].to_owned(),
        Pieces::NestedDistinct => fresh.to_string(),
    }
}

#[derive(Clone)]
enum Activity {
    Idle,
    Called(&'static str, Value),
    Done(&'static str, Value),
}

struct Case {
    init: Value,
    history: History,
}

/// A history of a store that is correct, but for some wrong answers.
fn random_case(rng: &mut Rng) -> Case {
    let kind = [Pieces::Distinct, Pieces::Repeated, Pieces::Nested, Pieces::NestedDistinct]
        [rng.usize(..4)];
    let init = match rng.u8(..4) {
        0 => Value::map([(Value::str("k"), Value::str(&piece(kind, rng, 0)))]),
        _ => Value::map([]),
    };
    let spec = builtin("kv", Some(&init)).unwrap();
    let mut builder = Builder::new(spec.operations());
    let (processes, count) = (rng.usize(1..=6), rng.usize(1..=12));
    let lies = if rng.bool() { 0 } else { rng.u32(5..40) };
    let pending = if rng.bool() { 0 } else { 15 };
    let puts = rng.u8(0..4);
    let mut activities = vec![Activity::Idle; processes];
    let mut names: Vec<String> = (0..processes).map(|p| p.to_string()).collect();
    let (mut calls, mut renamed) = (0, processes);
    let mut state = spec.initial();
    let mut seen = vec![String::new()];
    let mut late: Vec<Call> = Vec::new();
    for _ in 0..count * 12 {
        let process = rng.usize(..processes);
        if !late.is_empty() && rng.u8(..4) == 0 {
            let call = late.swap_remove(rng.usize(..late.len()));
            state = spec.apply(&state, &call, None).pop().unwrap().state;
        }
        match activities[process].clone() {
            Activity::Idle if calls < count => {
                calls += 1;
                let key = Value::str(if rng.u8(..12) == 0 { "l" } else { "k" });
                let text = match rng.u8(..12) {
                    0 => String::new(),
                    _ => piece(kind, rng, calls),
                };
                let (name, argument) = match rng.u8(..8) {
                    0..=3 => ("get", key),
                    4..=7 if rng.u8(..4) < puts => ("put", Value::list([key, Value::str(&text)])),
                    _ => ("append", Value::list([key, Value::str(&text)])),
                };
                builder.invoke(&names[process], name, argument.clone()).unwrap();
                activities[process] = Activity::Called(name, argument);
            }
            Activity::Idle => {}
            Activity::Called(..) | Activity::Done(..) if rng.u32(..100) < pending / 2 => {
                (names[process], renamed) = (renamed.to_string(), renamed + 1);
                activities[process] = Activity::Idle;
            }
            Activity::Called(name, argument) => {
                let call = Call { operation: spec.operation(name).unwrap(), argument };
                // A write that lies takes effect after it returned, or never.
                if rng.u32(..100) < lies && name != "get" {
                    late.push(call);
                    activities[process] = Activity::Done(name, Value::Null);
                    continue;
                }
                let outcome = spec.apply(&state, &call, None).pop().unwrap();
                state = outcome.state;
                if let Value::Str(text) = &outcome.response {
                    seen.push(text.to_string());
                }
                activities[process] = Activity::Done(name, outcome.response);
            }
            Activity::Done(_, response) => {
                let response = match response {
                    Value::Str(_) if rng.u32(..100) < lies / 2 => lie(kind, rng, &seen, calls),
                    other => other,
                };
                builder.ok(&names[process], response).unwrap();
                activities[process] = Activity::Idle;
            }
        }
    }
    for (process, activity) in activities.into_iter().enumerate() {
        if let (Activity::Done(_, response), 0) = (activity, pending) {
            builder.ok(&names[process], response).unwrap();
        }
    }
    let mut history = builder.finish();
    if pending > 0 && rng.bool() {
        deadlines(&mut history, rng);
    }
    Case { init, history }
}

/// A wrong answer that is not too wrong.
fn lie(kind: Pieces, rng: &mut Rng, seen: &[String], calls: usize) -> Value {
    let text = seen[rng.usize(..seen.len())].clone();
    let other = rng.usize(..=calls);
    Value::str(&match rng.u8(..8) {
        0 => text + &piece(kind, rng, other),
        1 => piece(kind, rng, other),
        _ => text,
    })
}

/// Gives pending operations instants by which they took effect, at ranks that no event has.
fn deadlines(history: &mut History, rng: &mut Rng) {
    let end = history.events.number();
    for (number, operation) in history.operations.iter_mut().enumerate() {
        let spread = |rank: Rank| Rank::new(16 * rank.number() + 15);
        let deadline = rng.u32(operation.invoked.number()..=end);
        operation.invoked = spread(operation.invoked);
        if operation.returned != NEVER {
            operation.returned = spread(operation.returned);
        } else if rng.bool() {
            operation.returned = Rank::new(16 * (deadline + 1) + number as u32);
        }
    }
    history.events = Rank::new(16 * (end + 2));
}

/// The operations as the judge takes them, as known at an event. Of those that are not `known` only
/// the call counts: they may have taken effect in their time.
fn operations(history: &History, cut: Rank, known: impl Fn(OpId) -> bool) -> Vec<Operation> {
    let called = history.ids().filter(|id| history[*id].invoked <= cut);
    let convert = |id: OpId| {
        let operation = &history[id];
        let returned =
            operation.returned != NEVER && (!operation.completed || operation.returned <= cut);
        let response = history.response(id).filter(|_| operation.returned <= cut && known(id));
        Operation {
            process: operation.process as usize,
            call: history.call(id),
            response,
            invoked: operation.invoked.index(),
            returned: returned.then_some(operation.returned.index()),
        }
    };
    called.map(convert).collect()
}

fn explains(spec: &BuiltinSpec, history: &History, order: &[OpId]) -> Result<(), String> {
    let mut seen = vec![false; history.operations.len()];
    let mut state = spec.initial();
    let mut latest = Rank::FIRST;
    for id in order {
        let operation = &history[*id];
        if std::mem::replace(&mut seen[id.index()], true) {
            return Err(format!("{id} takes effect twice"));
        }
        latest = latest.max(operation.invoked);
        if operation.returned < latest {
            return Err(format!("{id} is out of order"));
        }
        match spec.apply(&state, &history.call(*id), history.response(*id).as_ref()).pop() {
            Some(outcome) => state = outcome.state,
            None => return Err(format!("{id} answers something else")),
        }
    }
    match history.operations.iter().zip(seen).position(|(o, seen)| o.completed && !seen) {
        Some(id) => Err(format!("{id} is missing")),
        None => Ok(()),
    }
}

fn show(case: &Case) -> String {
    let line = |id: OpId| {
        let o = &case.history[id];
        let (call, response) = (case.history.call(id), case.history.response(id));
        let response = response.map_or("?".to_owned(), |response| response.to_string());
        let name = ["get", "put", "append"][call.operation];
        format!("{id}: [{}, {}] {name} {} → {response}\n", o.invoked, o.returned, call.argument)
    };
    format!("init {}\n{}", case.init, case.history.ids().map(line).collect::<String>())
}

/// What is wrong with a violation, if something is.
fn wrong(spec: &BuiltinSpec, history: &History, violation: &Violation) -> Option<String> {
    let Violation { core, explanation, at } = violation;
    let judge = |cut: Rank, known: &dyn Fn(OpId) -> bool| {
        is_linearizable(&**spec, &operations(history, cut, known))
    };
    if judge(NEVER, &|_| true) {
        return Some(format!("linearizable, but: {explanation} {core:?}"));
    }
    if !core.is_sorted_by(|a, b| a < b) || judge(at.unwrap_or(NEVER), &|id| core.contains(&id)) {
        return Some(format!("the core {core:?} does not stand alone: {explanation}"));
    }
    let at = (*at)?;
    let before =
        |cut: Rank| cut.number().checked_sub(1).is_none_or(|cut| judge(Rank::new(cut), &|_| true));
    if judge(at, &|_| true) || !before(at) {
        return Some(format!("event {at} is not the first: {explanation}"));
    }
    None
}

#[test]
fn key_value_stores() {
    let seed = number("LINCHPIN_SEED", 0x6b76);
    let cases = number("LINCHPIN_CASES", 8_000);
    println!("LINCHPIN_SEED={seed} LINCHPIN_CASES={cases}");
    let mut rng = Rng::with_seed(seed);
    let (mut held, mut violated, mut refused, mut dated, mut length) = (0u64, 0u64, 0u64, 0u64, 0);
    let mut longest = 0;
    for number in 0..cases {
        let case = random_case(&mut rng);
        let spec = builtin("kv", Some(&case.init)).unwrap();
        let fail =
            |what: String| -> ! { panic!("seed {seed} case {number}: {what}\n{}", show(&case)) };
        match kv::check(&case.history, &case.init, &Limits::default()) {
            Ok(Judgement::Holds(witness)) => {
                held += 1;
                if let Err(why) = explains(&spec, &case.history, &witness.order) {
                    fail(format!("witness {:?}: {why}", witness.order));
                }
            }
            Ok(Judgement::Violated(violation)) => {
                violated += 1;
                length += violation.core.len();
                longest = longest.max(violation.core.len());
                dated += u64::from(violation.at.is_some());
                if let Some(why) = wrong(&spec, &case.history, &violation) {
                    fail(why);
                }
            }
            Ok(Judgement::Inconclusive(why)) => fail(why.to_string()),
            Err(_) => refused += 1,
        }
    }
    println!(
        "{held} hold, {violated} violated ({dated} dated, cores of {:.1}, at most {longest}), {refused} refused",
        length as f64 / violated.max(1) as f64
    );
    assert!(held * 5 >= cases && violated * 10 >= cases, "one-sided");
    assert!(refused * 20 <= cases && dated * 10 >= violated * 9);
}
