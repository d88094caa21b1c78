//! Random recordings, and how each format writes them.
#![allow(dead_code, reason = "each test uses a part")]

pub mod jepsen_file;
pub mod slow;

use linchpin_history::{History, OpId};
use linchpin_spec::Value;

/// An event that a recorder saw.
#[derive(Clone, Debug)]
pub struct Seen {
    pub process: usize,
    pub kind: &'static str,
    pub f: &'static str,
    pub value: Value,
}

/// The seed and the number of cases, from `LINCHPIN_SEED` and `LINCHPIN_CASES` if they are set.
pub fn seed_and_cases(cases: u64) -> (u64, u64) {
    let number = |name| std::env::var(name).ok().and_then(|it| it.parse().ok());
    let chosen = (number("LINCHPIN_SEED").unwrap_or(1), number("LINCHPIN_CASES").unwrap_or(cases));
    println!("seed {}, {} cases", chosen.0, chosen.1);
    chosen
}

/// Events of a well-formed recording: some operations fail, and the outcome of some is never known.
pub fn random_events(
    count: usize,
    rng: &mut fastrand::Rng,
    call: fn(&mut fastrand::Rng) -> (&'static str, Value, Value),
) -> Vec<Seen> {
    let mut events = Vec::new();
    let mut processes = [0, 1, 2, 3];
    let mut open = [const { None }; 4];
    for _ in 0..count {
        let slot = rng.usize(..open.len());
        let process = processes[slot];
        let Some((f, argument, answer)) = open[slot].take() else {
            let (f, argument, answer) = call(rng);
            events.push(Seen { process, kind: "invoke", f, value: argument.clone() });
            open[slot] = Some((f, argument, answer));
            continue;
        };
        let (kind, value) = match rng.u8(..10) {
            0 => ("fail", argument),
            1 => ("info", Value::Null),
            _ => ("ok", answer),
        };
        if kind == "info" {
            // The process is stopped, and another takes its place.
            processes[slot] = process + 4;
        }
        events.push(Seen { process, kind, f, value });
    }
    events
}

pub fn cas_register_call(rng: &mut fastrand::Rng) -> (&'static str, Value, Value) {
    let number = |text| Value::number(text).unwrap_or_default();
    let value = |rng: &mut fastrand::Rng| match rng.u8(..14) {
        0 => Value::Null,
        1 => Value::str("x y"),
        2 => Value::str("é \"quoted\"\n"),
        3 => Value::Int(-rng.i64(..5_000_000_000)),
        4 => Value::list([Value::Int(1), Value::Bool(true), Value::Null]),
        5 => number(["1.5", "-2.0e-30", "1000.0"][rng.usize(..3)]),
        6 => number(["9223372036854775808", "-123456789012345678901234567890"][rng.usize(..2)]),
        _ => Value::Int(rng.i64(..5)),
    };
    match rng.u8(..3) {
        0 => {
            let value = value(rng);
            ("write", value.clone(), value)
        }
        1 => ("read", Value::Null, value(rng)),
        _ => ("cas", Value::list([value(rng), value(rng)]), Value::Bool(rng.bool())),
    }
}

pub fn queue_call(rng: &mut fastrand::Rng) -> (&'static str, Value, Value) {
    let value = Value::Int(rng.i64(..50));
    match rng.bool() {
        true => ("enqueue", value.clone(), value),
        false if rng.u8(..4) == 0 => ("dequeue", Value::Null, Value::Null),
        false => ("dequeue", Value::Null, value),
    }
}

pub fn mwcas_call(rng: &mut fastrand::Rng) -> (&'static str, Value, Value) {
    let (one, other) = (Value::Int(rng.i64(..4)), Value::str("b"));
    let (a, b) = (Value::Int(rng.i64(..9)), Value::Int(rng.i64(..9)));
    let words = |of: &[[&Value; 2]]| {
        Value::list(of.iter().map(|word| Value::list(word.iter().map(|&value| value.clone()))))
    };
    if rng.u8(..3) == 0 {
        let asked = words(&[[&one, &Value::Null], [&other, &Value::Null]]);
        return ("mwread", asked, words(&[[&one, &a], [&other, &b]]));
    }
    let word = |address: &Value, expected: &Value| {
        Value::list([address.clone(), expected.clone(), Value::Int(77)])
    };
    let answer = match rng.u8(..4) {
        0 => Value::Bool(false),
        1 => Value::map([("failed".into(), one.clone())]),
        2 => Value::map([("read".into(), words(&[[&one, &b]]))]),
        _ => Value::Bool(true),
    };
    ("mwcas", Value::list([word(&one, &a), word(&other, &b)]), answer)
}

pub fn json_line(seen: &Seen) -> String {
    format!(
        r#"{{"process":{},"type":"{}","f":"{}","value":{}}}"#,
        seen.process, seen.kind, seen.f, seen.value
    )
}

pub fn json_lines(events: &[Seen]) -> String {
    events.iter().map(|seen| json_line(seen) + "\n").collect()
}

/// A value as EDN; strings stay strings.
pub fn edn(value: &Value) -> String {
    match value {
        Value::Null => "nil".to_owned(),
        Value::List(items) => {
            format!("[{}]", items.iter().map(edn).collect::<Vec<_>>().join(" "))
        }
        Value::Map(pairs) => {
            let pairs = pairs.iter().map(|(key, value)| format!("{} {}", edn(key), edn(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
        value => value.to_string(),
    }
}

pub fn edn_map(seen: &Seen, between: &str) -> String {
    format!(
        "{{:type :{},{between}:f :{},{between}:value {},{between}:process {},{between}:time 1.5}}",
        seen.kind,
        seen.f,
        edn(&seen.value),
        seen.process
    )
}

pub fn edn_lines(events: &[Seen]) -> String {
    events.iter().map(|seen| edn_map(seen, " ") + "\n").collect()
}

pub fn edn_vector(events: &[Seen]) -> String {
    let maps: Vec<_> = events.iter().map(|seen| edn_map(seen, " ; why\n  ")).collect();
    format!("; a test\n[{}]\n", maps.join("\n ; between\n #_ {{:not 1} [2]} "))
}

pub fn log(events: &[Seen]) -> String {
    let line = |seen: &Seen| {
        let value = match seen.kind {
            "invoke" | "ok" => edn(&seen.value),
            _ => ":timed-out".to_owned(),
        };
        format!(
            "INFO  jepsen.util - {}\t:{}\t:{}\t{value}\nINFO  jepsen.os - noise\n",
            seen.process, seen.kind, seen.f
        )
    };
    events.iter().map(line).collect()
}

/// A history with its values written out, to compare what was read in different orders.
pub fn shown(history: &History) -> Vec<String> {
    let ids = history.ids();
    let show = |id: OpId| {
        let op = &history[id];
        format!(
            "{} {:?} {:?} {} {} {}",
            history.processes[op.process as usize],
            history.call(id),
            history.response(id),
            history.values.get(op.key),
            op.invoked,
            op.returned
        )
    };
    ids.map(show).collect()
}
