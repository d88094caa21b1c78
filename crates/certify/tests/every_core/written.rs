//! A history as each format writes it, with operations that failed put between the others.
//!
//! A writer answers nothing where its format cannot say what happened.

#[path = "../../../ingest/tests/ingest/common/jepsen_file.rs"]
mod jepsen_file;

use linchpin_history::{History, NEVER, Object, OpId};
use linchpin_ingest::Format;
use linchpin_spec::Value;
use serde_json::{Value as Json, json};

/// An event that a recorder saw.
#[derive(Clone, Debug)]
pub struct Seen {
    pub process: usize,
    pub kind: &'static str,
    pub f: &'static str,
    pub value: Value,
    pub key: Value,
}

/// A text, or bytes, in a format.
pub struct Written {
    pub format: Format,
    pub how: &'static str,
    pub bytes: Vec<u8>,
}

/// The names of operations live as long as the tests.
fn name(object: &Object, id: u16) -> &'static str {
    object.spec.operations()[usize::from(id)].name.clone().leak()
}

/// The events of a history, by their order: what is pending ends in `info` or not at all, and some
/// operations more are called that fail.
fn events(object: &Object, history: &History, random: &mut fastrand::Rng) -> Vec<Seen> {
    let mut ranked: Vec<(u64, Seen)> = Vec::new();
    for (id, operation) in history.iter() {
        let seen = |kind, value: Value| Seen {
            process: operation.process as usize,
            kind,
            f: name(object, operation.operation),
            value,
            key: history.values.get(operation.key).clone(),
        };
        ranked.push((operation.invoked.into(), seen("invoke", history.call(id).argument)));
        match history.response(id) {
            Some(answer) => ranked.push((operation.returned.into(), seen("ok", answer))),
            None => assert_eq!(operation.returned, NEVER, "there is no crash"),
        }
        if history.response(id).is_none() && random.bool() {
            ranked.push((u64::MAX, seen("info", Value::Null)));
        }
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    let mut events: Vec<Seen> = ranked.into_iter().map(|(_, seen)| seen).collect();
    let calls: Vec<Seen> = events.iter().filter(|seen| seen.kind == "invoke").cloned().collect();
    for process in 0..random.usize(..3) {
        let Some(called) = random.choice(&calls) else { break };
        let called = Seen { process: 20 + process, ..called.clone() };
        let from = random.usize(..=events.len());
        let to = random.usize(from..=events.len());
        let failed = Seen { kind: "fail", value: called.value.clone(), ..called.clone() };
        events.insert(to, failed);
        events.insert(from, called);
    }
    events
}

fn json_line(seen: &Seen, value: &Value) -> String {
    let Seen { process, kind, f, .. } = seen;
    format!(r#"{{"process":{process},"type":"{kind}","f":"{f}","value":{value}}}"#)
}

fn edn(value: &Value) -> String {
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

fn edn_map(seen: &Seen) -> String {
    let Seen { process, kind, f, value, .. } = seen;
    format!("{{:type :{kind}, :f :{f}, :value {}, :process {process}}}\n", edn(value))
}

/// A line of a console log; columns are apart by blanks or by tabs.
fn log_line(seen: &Seen, random: &mut fastrand::Rng) -> String {
    let value = match seen.kind {
        "info" => ":timed-out".to_owned(),
        _ => edn(&seen.value),
    };
    let between = ["\t", " ", "   "][random.usize(..3)];
    let before = ["INFO  jepsen.util - ", ""][random.usize(..2)];
    let words = [seen.process.to_string(), format!(":{}", seen.kind), format!(":{}", seen.f)];
    format!("{before}{}{between}{value}\nINFO jepsen.os - noise\n", words.join(between))
}

/// What every object can be written in: the formats of Jepsen, and JSON.
pub fn common(object: &Object, history: &History, random: &mut fastrand::Rng) -> Vec<Written> {
    let events = events(object, history, random);
    let is_keyed = events.iter().any(|seen| !seen.key.is_null());
    let pair = |seen: &Seen| match is_keyed {
        true => Value::list([seen.key.clone(), seen.value.clone()]),
        false => seen.value.clone(),
    };
    let pairs: Vec<Seen> =
        events.iter().map(|seen| Seen { value: pair(seen), ..seen.clone() }).collect();
    let lines = |seen: &Seen| json_line(seen, &seen.value) + "\n";
    let with_field = |seen: &Seen| {
        let line = json_line(seen, &seen.value) + "\n";
        match is_keyed {
            true => line.replace("\"type\"", &format!("\"key\":{},\"type\"", seen.key)),
            false => line,
        }
    };
    let array: Vec<String> = pairs.iter().map(|seen| json_line(seen, &seen.value)).collect();
    let maps: String = pairs.iter().map(edn_map).collect();
    let tagged = maps.replace(":value [70", ":value #jepsen.independent/tuple [70");
    let log: String = pairs.iter().map(|seen| log_line(seen, random)).collect();
    let text = |format, how, text: String| Written { format, how, bytes: text.into_bytes() };
    let mut all = vec![
        text(Format::JsonLines, "keys beside", events.iter().map(with_field).collect()),
        text(Format::JsonLines, "pairs", pairs.iter().map(lines).collect()),
        text(Format::JsonLines, "an array", format!("[{}]", array.join(",\n"))),
        text(Format::JepsenEdn, "maps", maps),
        text(Format::JepsenEdn, "a vector", format!("[{tagged}]")),
        text(Format::JepsenLog, "blanks and tabs", log),
    ];
    let bytes = jepsen_file::test_jepsen(&pairs, random);
    all.push(Written { format: Format::TestJepsen, how: "binary", bytes });
    all
}

/// What only some objects can be written in.
pub fn special(object: &Object, history: &History, random: &mut fastrand::Rng) -> Vec<Written> {
    let text = |format, how, text: Option<String>| {
        text.map(|text| Written { format, how, bytes: text.into_bytes() })
    };
    let written = match object.name.as_str() {
        "kv" => vec![text(Format::PorcupineKv, "maps", porcupine(object, history, random))],
        "register" => vec![text(Format::Tipocket, "lines", tipocket(object, history))],
        "s2-stream" => vec![text(Format::S2, "lines", s2(object, history, random))],
        "queue" | "stack" | "set" | "priority-queue" => vec![
            text(Format::Fastlin, "lines", fastlin(object, history)),
            text(Format::Limo, "lines", limo(object, history)),
        ],
        _ => Vec::new(),
    };
    written.into_iter().flatten().collect()
}

fn porcupine(object: &Object, history: &History, random: &mut fastrand::Rng) -> Option<String> {
    let line = |seen: &Seen, key: &Value, value: &Value| {
        let Seen { process, kind, f, .. } = seen;
        format!(
            "{{:process {process}, :type :{kind}, :f :{f}, :key \"{key}\", :value {}}}\n",
            edn(value)
        )
    };
    let mut called: Vec<Option<Value>> = vec![None; 40];
    let mut text = String::new();
    for seen in events(object, history, random) {
        if seen.kind == "invoke" {
            called[seen.process] = Some(seen.value.clone());
        }
        let argument = called[seen.process].as_ref()?;
        let (key, string) = match argument {
            Value::List(parts) => (&parts[0], &parts[1]),
            key => (key, &Value::Null),
        };
        let value = if seen.f == "get" && seen.kind == "ok" { &seen.value } else { string };
        text += &line(&seen, key, value);
    }
    Some(text)
}

/// The events of a history without anything added, by their order: the operation, and whether it
/// is its return.
fn ordered(history: &History) -> Vec<(OpId, bool)> {
    let mut ranked: Vec<(u64, OpId, bool)> = Vec::new();
    for (id, operation) in history.iter() {
        ranked.push((operation.invoked.into(), id, false));
        if operation.completed {
            ranked.push((operation.returned.into(), id, true));
        }
    }
    ranked.sort_by_key(|(rank, ..)| *rank);
    ranked.into_iter().map(|(_, id, is_return)| (id, is_return)).collect()
}

/// TiPocket has 0 for nothing, so that other values are moved away from it.
fn tipocket(object: &Object, history: &History) -> Option<String> {
    let moved = |value: &Value| match value {
        Value::Null => Some(0),
        value => value.as_int().map(|int| int + 10),
    };
    let key = |id: OpId| history.values.get(history[id].key).as_int().unwrap_or(1);
    let mut lines = Vec::new();
    if let Some(init) = &object.init {
        let dump = [1, 70, 71].map(|key| json!({ "K": key, "V": moved(init) }));
        lines.push(json!({ "action": "dump", "proc": 0, "data": dump }));
    }
    for (id, is_return) in ordered(history) {
        let operation = &history[id];
        let is_write = name(object, operation.operation) == "write";
        let data = match is_return {
            true if is_write => json!({ "Val": 0, "Unknown": false }),
            true => json!({ "Val": moved(&history.response(id)?)?, "Unknown": false }),
            false => {
                let value = moved(&history.call(id).argument)?;
                json!({ "Op": u8::from(is_write), "Key": key(id), "Val": value })
            }
        };
        let action = if is_return { "return" } else { "call" };
        lines.push(json!({ "action": action, "proc": operation.process, "data": data }));
        if !is_return && !operation.completed && operation.process.is_multiple_of(2) {
            let data = json!({ "Val": 0, "Unknown": true, "Error": "timeout" });
            lines.push(json!({ "action": "return", "proc": operation.process, "data": data }));
        }
    }
    Some(lines.iter().map(|line| format!("{line}\n")).collect())
}

fn s2(object: &Object, history: &History, random: &mut fastrand::Rng) -> Option<String> {
    let to_json = |value: &Value| serde_json::from_str::<Json>(&value.to_string()).ok();
    let mut lines = Vec::new();
    for (id, is_return) in ordered(history) {
        let f = name(object, history[id].operation);
        let event = match (is_return, f) {
            (true, f) => match (history.response(id)?, f) {
                (Value::Null, "append") => json!({ "Finish": "AppendIndefiniteFailure" }),
                (Value::Int(tail), _) => json!({ "Finish": { "Success": { "tail": tail } } }),
                _ => return None,
            },
            (false, "append") => {
                let argument = to_json(&history.call(id).argument)?;
                json!({ "Start": { "Append": {
                    "num_records": argument[0], "set_fencing_token": argument[1],
                    "fencing_token": argument[2], "match_seq_num": argument[3],
                }}})
            }
            (false, "read") => json!({ "Start": "Read" }),
            (false, _) => json!({ "Start": "CheckTail" }),
        };
        let client = history[id].process;
        lines.push(json!({ "event": event, "client_id": client, "op_id": id.index() }));
    }
    // An append that did not happen.
    let from = random.usize(..=lines.len());
    let to = random.usize(from..=lines.len());
    let start = json!({ "Append": { "num_records": 1 } });
    let failed = json!({ "Finish": "AppendDefiniteFailure" });
    lines.insert(to, json!({ "event": failed, "client_id": 30, "op_id": 900 }));
    lines.insert(from, json!({ "event": { "Start": start }, "client_id": 30, "op_id": 900 }));
    Some(lines.iter().map(|line| format!("{line}\n")).collect())
}

/// What fastlin calls it; its values have -1 for nothing, and are moved away from it.
fn fastlin(object: &Object, history: &History) -> Option<String> {
    let title = object.name.replace('-', "");
    let mut text = format!("# {title}\n");
    for (id, operation) in history.iter() {
        let (argument, answer) = (history.call(id).argument, history.response(id)?);
        let is_set = object.name == "set";
        let (method, value) = match (name(object, operation.operation), &answer) {
            ("push", _) => ("push", argument),
            ("pop", _) => ("pop", answer),
            ("peek", _) => ("peek", answer),
            ("enqueue", _) => ("enq", argument),
            ("dequeue", _) => ("deq", answer),
            ("insert", _) => ("insert", argument),
            ("remove-min", _) => ("poll", answer),
            ("add", Value::Bool(true)) => ("insert", argument),
            ("remove", Value::Bool(true)) => ("remove", argument),
            ("contains", Value::Bool(true)) => ("contains_true", argument),
            ("contains", Value::Bool(false)) => ("contains_false", argument),
            _ => return None,
        };
        let value = match value {
            Value::Null => -1,
            value if object.name == "priority-queue" => -value.as_int()? - 10,
            value => value.as_int()? + if is_set { 0 } else { 10 },
        };
        let (from, to) = (u64::from(operation.invoked), u64::from(operation.returned));
        text += &format!("{method} {value} {from} {to}\n");
    }
    Some(text).filter(|_| object.init.is_none())
}

fn limo(object: &Object, history: &History) -> Option<String> {
    let mut text = format!("# @object {}\n", object.name);
    for (id, is_return) in ordered(history) {
        let operation = &history[id];
        let (process, f) = (operation.process, name(object, operation.operation));
        text += &match is_return {
            false => match history.call(id).argument {
                Value::Null => format!("[{process}] call {f}()\n"),
                argument => format!("[{process}] call {f}({argument})\n"),
            },
            true => match history.response(id)? {
                Value::Null if matches!(f, "push" | "enqueue" | "insert") => {
                    format!("[{process}] return\n")
                }
                Value::Null => format!("[{process}] return empty\n"),
                answer => format!("[{process}] return {answer}\n"),
            },
        };
    }
    Some(text)
}
