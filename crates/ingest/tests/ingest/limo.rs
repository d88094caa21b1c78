//! LiMo's text against a reader that is slow and obvious: the same history, or the same mistake at
//! the same place.

use crate::common;

use common::seed_and_cases;
use common::slow::{Kind, Mistake, SlowHistory, operations, shown, spoil};
use fastrand::Rng;
use linchpin_ingest::{Format, ReadOptions, Reader, read_bytes};
use linchpin_spec::{Value, builtin};
use std::collections::HashMap;

const SPECS: [&str; 5] = ["queue", "stack", "set", "priority-queue", "counter"];

/// The operation of an object that a name stands for.
fn meaning(spec: &str, name: &str) -> Option<&'static str> {
    let own = operations(spec).iter().find(|known| known.0 == name.replace('_', "-"));
    let [adds, takes] = match spec {
        "queue" => [Some("enqueue"), Some("dequeue")],
        "stack" => [Some("push"), Some("pop")],
        "set" => [Some("add"), Some("remove")],
        "priority-queue" => [Some("insert"), Some("remove-min")],
        _ => [Some("add"), None],
    };
    match name {
        _ if own.is_some() => own.map(|known| known.0),
        "add" | "put" | "push" | "enq" | "enqueue" | "insert" => adds,
        "rem" | "remove" | "get" | "pop" | "deq" | "dequeue" | "poll" => takes,
        _ => None,
    }
}

fn value(word: &str) -> Value {
    match word {
        "empty" | "null" | "nil" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        word => word.parse().map_or_else(|_| Value::str(word), Value::Int),
    }
}

/// A word in brackets at the beginning of a line, a verb, and the rest.
fn parts(text: &str) -> Option<(String, String, String)> {
    let inside: String = text.strip_prefix('[')?.chars().take_while(|c| *c != ']').collect();
    let after = text.get(1 + inside.len() + 1..)?.trim();
    let verb: String = after.chars().take_while(|c| !c.is_whitespace()).collect();
    let rest = after[verb.len()..].trim().to_owned();
    (!inside.trim().is_empty()).then(|| (inside.trim().to_owned(), verb, rest))
}

/// The name and the value of a call.
fn call(rest: &str) -> Option<(String, String)> {
    let name: String = rest.chars().take_while(|c| !matches!(c, '(' | ' ' | '\t')).collect();
    let value = rest[name.len()..].trim();
    let value = match value.strip_prefix('(') {
        Some(inside) => inside.strip_suffix(')')?.trim(),
        None => value,
    };
    (!name.is_empty()).then(|| (name, value.to_owned()))
}

/// The slow reader: a history and the number of notes about it.
fn slow(spec: &str, text: &[u8], keyed: bool) -> Result<(SlowHistory, usize), Mistake> {
    let mut history = SlowHistory::new(keyed);
    let mut told: HashMap<String, String> = HashMap::new();
    let mut notes = 0;
    for (at, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let number = at as u64 + 1;
        let line = std::str::from_utf8(line)
            .map_err(|error| Mistake::expected(number, error.valid_up_to() + 1, "UTF-8"))?;
        let column = line.len() - line.trim_start().len() + 1;
        let line = line.trim();
        if let Some(comment) = line.strip_prefix('#') {
            if let Some(object) = comment.trim().strip_prefix("@object") {
                let object = object.trim();
                notes += usize::from(object.strip_prefix("atomic-").unwrap_or(object) != spec);
            }
            continue;
        }
        if line == "crash" {
            history.crash();
            told.clear();
            continue;
        }
        if line.is_empty() {
            continue;
        }
        let wrong = || {
            let expected = "`[thread] call name(value)` or `[thread] return value`";
            Mistake::expected(number, column, expected)
        };
        let (thread, verb, rest) = parts(line).ok_or_else(wrong)?;
        // The number 1 is the same thread however it is written.
        let thread = thread.parse::<i64>().map_or(thread, |number| number.to_string());
        let is_said = |word: &str| !word.is_empty() && word != "()";
        match verb.as_str() {
            "call" => {
                let (name, word) = call(&rest).ok_or_else(wrong)?;
                if thread == "nemesis" {
                    continue;
                }
                let operation = meaning(spec, &name);
                let known = operations(spec).iter().find(|known| Some(known.0) == operation);
                let argument = if is_said(&word) { value(&word) } else { Value::Null };
                history.call(number, &thread, spec, operation.unwrap_or(&name), argument)?;
                if is_said(&word) && known.is_some_and(|known| known.1 == Kind::Nothing) {
                    told.insert(thread, word);
                }
            }
            "return" => {
                if thread == "nemesis" {
                    continue;
                }
                let told = told.remove(&thread);
                let word = Some(rest).filter(|word| is_said(word)).or(told);
                let open = history.open_name(&thread);
                let known = operations(spec).iter().find(|known| Some(known.0) == open);
                let answer = match (word, known.map(|known| known.2)) {
                    (Some(word), _) => value(&word),
                    (None, Some(Kind::Bool)) => Value::Bool(true),
                    (None, Some(Kind::Nothing) | None) => Value::Null,
                    (None, Some(_)) => {
                        let name = open.unwrap_or_default();
                        let expected = format!("what `{name}` returned, or `empty`");
                        return Err(Mistake::expected(number, column, &expected));
                    }
                };
                history.answer(number, &thread, spec, answer)?;
            }
            _ => return Err(wrong()),
        }
    }
    Ok((history, notes))
}

fn pick<'a>(from: &[&'a str], rng: &mut Rng) -> &'a str {
    from[rng.usize(..from.len())]
}

const WORDS: &[&str] = &[
    "empty",
    "null",
    "nil",
    "true",
    "false",
    "a",
    "x y",
    "-1",
    "-0",
    "+5",
    "007",
    "()",
    "é",
    "1.5",
    "123456789012345678",
    "-999999999999999999",
    "9223372036854775807",
    "9223372036854775808",
    "(3)",
    "emptyx",
    "3)",
];

fn word(rng: &mut Rng) -> String {
    match rng.u8(..8) {
        0 => pick(WORDS, rng).to_owned(),
        _ => rng.u32(..2_000).to_string(),
    }
}

/// Mostly a history of this object; now and then something that is said differently, or wrong.
fn random_text(spec: &str, rng: &mut Rng) -> Vec<u8> {
    let names: Vec<&str> = match spec {
        "queue" => vec!["enqueue", "enq", "add", "dequeue", "deq", "rem", "peek"],
        "stack" => vec!["push", "put", "pop", "get", "peek"],
        "set" => vec!["add", "insert", "remove", "rem", "contains"],
        "priority-queue" => vec!["insert", "push", "remove-min", "remove_min", "poll"],
        _ => vec!["add", "read", "fetch-add", "fetch_add"],
    };
    let threads: Vec<&str> = match rng.u8(..6) {
        0 => vec![
            "1",
            "01",
            "+1",
            "-1",
            "t",
            "nemesis",
            " 2 ",
            "123456789012",
            "99999999999999999999",
        ],
        _ => vec!["0", "1", "2", "17"],
    };
    let end = pick(&["\n", "\n", "\n", "\n", "\r\n"], rng);
    let mut open: HashMap<&str, &str> = HashMap::new();
    let mut text =
        pick(&["", "# @object atomic-queue\n", "# a comment\n\n", "#@object stack\n"], rng)
            .to_owned();
    for _ in 0..rng.usize(..24) {
        let thread = pick(&threads, rng);
        text += &format!("[{thread}]");
        text += pick(&[" ", " ", " ", " ", " ", " ", "", "  ", "\t"], rng);
        match open.remove(thread).filter(|_| rng.u8(..40) > 0) {
            Some(name) => {
                let known =
                    operations(spec).iter().find(|known| Some(known.0) == meaning(spec, name));
                let said = match known.map(|known| known.2) {
                    _ if rng.u8(..20) == 0 => word(rng),
                    Some(Kind::Nothing) => String::new(),
                    Some(Kind::Bool) => pick(&["", "true", "false"], rng).to_owned(),
                    Some(Kind::Int) => rng.u32(..100).to_string(),
                    _ if rng.u8(..4) == 0 => "empty".to_owned(),
                    _ => word(rng),
                };
                let blank = if said.is_empty() { "" } else { " " };
                text += &format!("return{blank}{said}");
            }
            None => {
                let name = match rng.u8(..60) {
                    0 => pick(&["enqueues", "deq(", "no", "é", ""], rng),
                    _ => names[rng.usize(..names.len())],
                };
                let takes =
                    operations(spec).iter().find(|known| Some(known.0) == meaning(spec, name));
                let said = match takes.map(|known| known.1) {
                    Some(Kind::Nothing) if rng.u8(..6) > 0 => String::new(),
                    Some(Kind::Int) if rng.u8(..10) > 0 => rng.u32(..100).to_string(),
                    _ => word(rng),
                };
                text += "call ";
                text += &match rng.u8(..5) {
                    0 => format!("{name} {said}"),
                    1 if said.is_empty() => name.to_owned(),
                    2 if rng.u8(..5) == 0 => format!("{name} ( {said} ) "),
                    _ => format!("{name}({said})"),
                };
                open.insert(thread, name);
            }
        }
        text += end;
        match rng.u8(..60) {
            0 => {
                text += pick(&["crash", " crash "], rng);
                text += end;
                open.clear();
            }
            1 => text += pick(&["\n", "  \n", "# [1] call enq(1)\n", "\u{2003}\n"], rng),
            _ => {}
        }
    }
    if rng.u8(..4) == 0 {
        text.truncate(text.trim_end().len());
    }
    text.into_bytes()
}

#[test]
fn texts_are_read_as_the_slow_reader_reads_them() {
    let (seed, cases) = seed_and_cases(20_000);
    let mut rng = Rng::with_seed(seed);
    let (mut good, mut bad, mut operations) = (0, 0, 0);
    for case in 0..cases {
        let spec = SPECS[rng.usize(..SPECS.len())];
        let mut text = random_text(spec, &mut rng);
        if rng.u8(..3) == 0 {
            spoil(&mut text, &mut rng);
        }
        let keyed = rng.u8(..50) == 0;
        let expected = slow(spec, &text, keyed);
        let object = builtin(spec, None).unwrap();
        let options = ReadOptions {
            format: Some(Format::Limo),
            keyed: keyed.then_some(true),
            ..ReadOptions::new(spec, object.operations())
        };
        let at_once = read_bytes(&text, &options);
        let mut reader = Reader::new(Format::Limo, &options);
        let mut told = 0;
        let line_by_line = text
            .split_inclusive(|byte| *byte == b'\n')
            .try_for_each(|line| reader.push_line(line).map(|events| told += events.len()))
            .and_then(|()| reader.finish());
        if let Ok(recording) = &line_by_line {
            assert_eq!(told, recording.history.events.index(), "every event is told");
        }
        for read in [at_once, line_by_line] {
            let shown_text = String::from_utf8_lossy(&text);
            let read = read.map(|read| (shown(&read.history, spec), read.notes.len()));
            let read = read.map_err(|error| Mistake::of(&error));
            let expected = expected.as_ref().map(|(history, notes)| (history.shown(), *notes));
            assert_eq!(
                read.as_ref(),
                expected.as_ref().map_err(|mistake| *mistake),
                "seed {seed}, case {case}: {spec}\n{shown_text}"
            );
        }
        match expected {
            Ok((history, _)) => {
                good += 1;
                operations += history.shown().len();
            }
            Err(_) => bad += 1,
        }
    }
    println!("good {good} with {operations} operations, bad {bad}");
    assert!(good * 4 >= cases && bad * 4 >= cases, "good {good}, bad {bad}");
}
