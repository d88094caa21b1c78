//! The monitor of key-value stores against the brute-force judge, on random small histories.
//! `LINCHPIN_SEED` and `LINCHPIN_CASES` make this a longer or another fuzzing run.

use fastrand::Rng;
use linchpin_history_data::{Builder, History, Judgement, Monitored, NEVER, OpId, Rank, Violation};
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

struct Case {
    spec: &'static str,
    init: Value,
    history: History,
}

/// A history of a store: calls take effect one after the other, each in its time, but for some whose
/// times or answers are wrong. Each has a process of its own.
fn random_case(rng: &mut Rng) -> Case {
    let kind = [Pieces::Distinct, Pieces::Repeated, Pieces::Nested, Pieces::NestedDistinct]
        [rng.usize(..4)];
    let init = match rng.u8(..4) {
        0 => Value::map([(Value::str("k"), Value::str(&piece(kind, rng, 0)))]),
        _ => Value::map([]),
    };
    let spec = builtin("kv", Some(&init)).unwrap();
    let (count, wide) = (rng.i64(1..=12), [4, 12, 30][rng.usize(..3)]);
    let (lies, late) = [(0, 0), (0, 50), (0, 20), (20, 10)][rng.usize(..4)];
    let (pending, puts) = ([0, 20][rng.usize(..2)], rng.u8(0..4));
    let mut state = spec.initial();
    let mut seen = vec![String::new()];
    // When, who, and what is answered if this is a return.
    let mut events: Vec<(i64, i64, Option<Value>, &str, Value)> = Vec::new();
    for process in 0..count {
        let key = Value::str(if rng.u8(..12) == 0 { "l" } else { "k" });
        let text = match rng.u8(..12) {
            0 => String::new(),
            _ => piece(kind, rng, process as usize + 1),
        };
        let (name, argument) = match rng.u8(..8) {
            0..=3 => ("get", key),
            4..=7 if rng.u8(..4) < puts => ("put", Value::list([key, Value::str(&text)])),
            _ => ("append", Value::list([key, Value::str(&text)])),
        };
        let call = Call { operation: spec.operation(name).unwrap(), argument: argument.clone() };
        let outcome = spec.apply(&state, &call, None).pop().unwrap();
        let is_pending = rng.u32(..100) < pending;
        if !is_pending || rng.bool() {
            state = outcome.state;
        }
        let response = match outcome.response {
            Value::Str(_) if rng.u32(..100) < lies => lie(kind, rng, &seen, process as usize),
            Value::Str(text) => {
                seen.push(text.to_string());
                Value::Str(text)
            }
            other => other,
        };
        let shift = if rng.u32(..100) < late { rng.i64(-50..50) } else { 0 };
        let (before, after) = (rng.i64(1..=wide), rng.i64(1..=wide));
        events.push((10 * process + shift - before, process, None, name, argument.clone()));
        if !is_pending {
            events.push((10 * process + shift + after, process, Some(response), name, argument));
        }
    }
    events.sort_by_key(|(at, process, response, ..)| (*at, *process, response.is_some()));
    let mut builder = Builder::new(spec.operations());
    for (_, process, response, name, argument) in events {
        match response {
            None => builder.invoke(&process.to_string(), name, argument).unwrap(),
            Some(response) => builder.ok(&process.to_string(), response).unwrap(),
        }
    }
    let mut history = builder.finish();
    if pending > 0 && rng.bool() {
        deadlines(&mut history, rng);
    }
    Case { spec: "kv", init, history }
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
        let name = if case.spec == "kv" { ["get", "put", "append"][call.operation] } else { "txn" };
        format!("{id}: [{}, {}] {name} {} → {response}\n", o.invoked, o.returned, call.argument)
    };
    format!("init {}\n{}", case.init, case.history.ids().map(line).collect::<String>())
}

/// What is wrong with a violation, if something is.
fn wrong(spec: &BuiltinSpec, history: &History, violation: &Violation) -> Option<String> {
    let Violation { core, blamed, explanation, at } = violation;
    let judge = |cut: Rank, known: &dyn Fn(OpId) -> bool| {
        is_linearizable(&**spec, &operations(history, cut, known))
    };
    if judge(NEVER, &|_| true) {
        return Some(format!("linearizable, but: {explanation} {core:?}"));
    }
    if !core.is_sorted_by(|a, b| a < b) || judge(at.unwrap_or(NEVER), &|id| core.contains(&id)) {
        return Some(format!("the core {core:?} does not stand alone: {explanation}"));
    }
    if blamed.iter().any(|id| !core.contains(id)) {
        return Some(format!("{blamed:?} are to blame, but not all are in the core {core:?}"));
    }
    let at = (*at)?;
    let before =
        |cut: Rank| cut.number().checked_sub(1).is_none_or(|cut| judge(Rank::new(cut), &|_| true));
    if judge(at, &|_| true) || !before(at) {
        return Some(format!("event {at} is not the first: {explanation}"));
    }
    None
}

/// A history of lists, likewise: transactions of one key.
fn random_list_case(rng: &mut Rng) -> Case {
    let init = match rng.u8(..4) {
        0 => Value::map([(Value::str("k"), Value::list([Value::Int(0)]))]),
        _ => Value::map([]),
    };
    let spec = builtin("list-append", Some(&init)).unwrap();
    let (count, wide) = (rng.i64(1..=10), [4, 12, 30][rng.usize(..3)]);
    let (lies, late) = [(0, 0), (0, 50), (0, 20), (20, 10)][rng.usize(..4)];
    let (pending, repeated) = ([0, 20][rng.usize(..2)], rng.u8(..3) == 0);
    let mut state = spec.initial();
    let mut seen = vec![Value::Null];
    let mut events: Vec<(i64, i64, Option<Value>, Value)> = Vec::new();
    for process in 0..count {
        let key = || Value::str(if process % 7 == 6 { "l" } else { "k" });
        let accesses = (0..[1, 1, 2, 3][rng.usize(..4)]).map(|number| match rng.bool() {
            true => Value::list([Value::str("r"), key(), Value::Null]),
            false if repeated => {
                Value::list([Value::str("append"), key(), Value::Int(rng.i64(0..4))])
            }
            false => Value::list([Value::str("append"), key(), (10 * process + number + 1).into()]),
        });
        let argument = Value::list(accesses.collect::<Vec<_>>());
        let call = Call { operation: 0, argument: argument.clone() };
        let outcome = spec.apply(&state, &call, None).pop().unwrap();
        let is_pending = rng.u32(..100) < pending;
        if !is_pending || rng.bool() {
            state = outcome.state;
        }
        let answers = outcome.response.as_list().unwrap().iter().map(|access| {
            let [kind, key, value] = access.as_list().unwrap() else { panic!("three") };
            if *kind == Value::str("append") {
                return access.clone();
            }
            seen.push(value.clone());
            let value = match rng.u32(..100) < lies {
                true => seen[rng.usize(..seen.len())].clone(),
                false => value.clone(),
            };
            Value::list([kind.clone(), key.clone(), value])
        });
        let response = Value::list(answers.collect::<Vec<_>>());
        let shift = if rng.u32(..100) < late { rng.i64(-50..50) } else { 0 };
        let (before, after) = (rng.i64(1..=wide), rng.i64(1..=wide));
        events.push((10 * process + shift - before, process, None, argument.clone()));
        if !is_pending {
            events.push((10 * process + shift + after, process, Some(response), argument));
        }
    }
    events.sort_by_key(|(at, process, response, _)| (*at, *process, response.is_some()));
    let mut builder = Builder::new(spec.operations());
    for (_, process, response, argument) in events {
        match response {
            None => builder.invoke(&process.to_string(), "txn", argument).unwrap(),
            Some(response) => builder.ok(&process.to_string(), response).unwrap(),
        }
    }
    let mut history = builder.finish();
    if pending > 0 && rng.bool() {
        deadlines(&mut history, rng);
    }
    Case { spec: "list-append", init, history }
}

type Check = fn(&History, &Value, &Limits) -> Monitored;

/// How many answers there were of each kind.
#[derive(Default, Debug)]
struct Counts {
    held: u64,
    violated: u64,
    /// Violated, and known from when on.
    dated: u64,
    refused: u64,
    longest_core: usize,
}

fn fuzz(make: fn(&mut Rng) -> Case, check: Check) -> Counts {
    let seed = number("LINCHPIN_SEED", 0x6b76);
    let cases = number("LINCHPIN_CASES", 8_000);
    println!("LINCHPIN_SEED={seed} LINCHPIN_CASES={cases}");
    let mut rng = Rng::with_seed(seed);
    let mut counts = Counts::default();
    for number in 0..cases {
        let case = make(&mut rng);
        let spec = builtin(case.spec, Some(&case.init)).unwrap();
        let fail =
            |what: String| -> ! { panic!("seed {seed} case {number}: {what}\n{}", show(&case)) };
        match check(&case.history, &case.init, &Limits::default()) {
            Ok(Judgement::Holds(witness)) => {
                counts.held += 1;
                if let Err(why) = explains(&spec, &case.history, &witness.order) {
                    fail(format!("witness {:?}: {why}", witness.order));
                }
            }
            Ok(Judgement::Violated(violation)) => {
                counts.violated += 1;
                counts.longest_core = counts.longest_core.max(violation.core.len());
                counts.dated += u64::from(violation.at.is_some());
                if let Some(why) = wrong(&spec, &case.history, &violation) {
                    fail(why);
                }
            }
            Ok(Judgement::Inconclusive(why)) => fail(why.to_string()),
            Err(_) => counts.refused += 1,
        }
    }
    println!("{counts:?}");
    assert!(counts.held * 5 >= cases && counts.violated * 10 >= cases, "one-sided");
    counts
}

#[test]
fn key_value_stores() {
    let Counts { held, violated, dated, refused, .. } = fuzz(random_case, kv::check);
    assert!(refused * 20 <= held + violated && dated * 10 >= violated * 9);
}

/// What is obvious is judged alike, and what is not is refused.
#[test]
fn key_value_stores_without_much_effort() {
    let Counts { held, violated, dated, refused, .. } = fuzz(random_case, kv::check_obvious);
    assert!(refused * 20 <= held + violated && dated * 10 >= violated * 9);
}

#[test]
fn lists_in_transactions() {
    let Counts { held, violated, dated, refused, .. } = fuzz(random_list_case, kv::check_lists);
    assert!(refused * 3 <= held + violated && dated * 2 >= violated);
}

/// A history of the key "k": process, what it calls, and what it is answered where it returns.
fn story(events: &[(&str, &str, Option<&str>)]) -> History {
    let spec = builtin("kv", None).unwrap();
    let mut builder = Builder::new(spec.operations());
    for (process, what, text) in events {
        let text = text.map_or(Value::Null, Value::str);
        match *what {
            "get" => builder.invoke(process, "get", Value::str("k")).unwrap(),
            "put" => builder.invoke(process, "put", Value::list([Value::str("k"), text])).unwrap(),
            _ => builder.ok(process, text).unwrap(),
        }
    }
    builder.finish()
}

fn core_of(history: &History) -> Vec<OpId> {
    let spec = builtin("kv", None).unwrap();
    match kv::check(history, &Value::map([]), &Limits::default()) {
        Ok(Judgement::Violated(violation)) => {
            assert_eq!(wrong(&spec, history, &violation), None);
            violation.core
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_put_that_did_not_return_needs_the_get_that_shows_it() {
    // Process d never returns, but b shows it; c shows that a's text was there all the time.
    let history = story(&[
        ("a", "put", Some("1")),
        ("a", "ok", None),
        ("b", "get", None),
        ("d", "put", Some("4")),
        ("b", "ok", Some("4")),
        ("c", "get", None),
        ("c", "ok", Some("1")),
    ]);
    assert_eq!(core_of(&history).len(), 4);
}

#[test]
fn what_overwrote_the_other_put_of_the_same_text_is_in_the_core() {
    let history = story(&[
        ("a", "put", Some("1")),
        ("a", "ok", None),
        ("b", "put", Some("2")),
        ("b", "ok", None),
        ("c", "get", None),
        ("d", "put", Some("3")),
        ("d", "ok", None),
        ("e", "put", Some("1")),
        ("c", "ok", Some("1")),
        ("f", "get", None),
        ("f", "ok", Some("3")),
    ]);
    assert!(core_of(&history).contains(&OpId::new(1)));
}
