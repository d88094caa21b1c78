//! fastlin's text against a reader that is slow and obvious: the same history, or the same mistake
//! at the same place.

use crate::common;

use common::seed_and_cases;
use common::slow::{Mistake, SlowHistory, shown, spoil};
use fastrand::Rng;
use linchpin_ingest::{Format, ReadOptions, Reader, read_bytes};
use linchpin_spec::{Value, builtin};
use std::collections::BTreeSet;

const SPECS: [&str; 4] = ["queue", "stack", "set", "priority-queue"];

struct SlowOperation {
    line: u64,
    name: &'static str,
    argument: Value,
    response: Value,
    start: u64,
    end: u64,
}

/// The words of a line, each with its column.
fn words(line: &[u8]) -> Vec<(usize, Vec<u8>)> {
    let mut words: Vec<(usize, Vec<u8>)> = Vec::new();
    let mut is_inside = false;
    for (at, byte) in line.iter().enumerate() {
        let is_blank = matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c);
        match words.last_mut() {
            _ if is_blank => {}
            Some((_, word)) if is_inside => word.push(*byte),
            _ => words.push((at + 1, vec![*byte])),
        }
        is_inside = !is_blank;
    }
    words
}

fn number<T: std::str::FromStr>(word: &[u8]) -> Option<T> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// One line that is neither blank nor a comment.
fn operation(
    line: u64,
    words: &[(usize, Vec<u8>)],
    is_set: bool,
    is_priority_queue: bool,
) -> Result<SlowOperation, Mistake> {
    let wrong = |word: usize, expected: &str| Mistake::expected(line, words[word].0, expected);
    if words.len() != 4 {
        return Err(wrong(0, "`method value start end`"));
    }
    // The operation, and what it answers if that is not the value.
    let (name, answers_value, answer) = match &words[0].1[..] {
        b"push" => ("push", false, Value::Null),
        b"enq" => ("enqueue", false, Value::Null),
        b"insert" if is_set => ("add", false, Value::Bool(true)),
        b"insert" => ("insert", false, Value::Null),
        b"pop" => ("pop", true, Value::Null),
        b"deq" => ("dequeue", true, Value::Null),
        b"peek" => ("peek", true, Value::Null),
        b"poll" => ("remove-min", true, Value::Null),
        b"remove" => ("remove", false, Value::Bool(true)),
        b"contains_true" => ("contains", false, Value::Bool(true)),
        b"contains_false" => ("contains", false, Value::Bool(false)),
        _ => return Err(wrong(0, "a method such as `push` or `deq`")),
    };
    let start: u64 = number(&words[2].1).ok_or_else(|| wrong(2, "a time stamp"))?;
    let end: u64 = number(&words[3].1).ok_or_else(|| wrong(3, "a time stamp"))?;
    if start > end {
        return Err(wrong(0, "a start that is not after the end"));
    }
    let text = std::str::from_utf8(&words[1].1).map_err(|_| wrong(1, "a value"))?;
    let value = text.parse().map_or_else(|_| Value::str(text), Value::Int);
    // Those of sets take any value, and -1 is one.
    let is_of_set = matches!(answer, Value::Bool(_));
    let value = match value {
        value if is_of_set => value,
        Value::Int(-1) if answers_value => Value::Null,
        Value::Int(-1) => return Err(wrong(1, "a value other than -1, which says empty")),
        Value::Int(int) if is_priority_queue && int != i64::MIN => Value::Int(-int),
        _ if is_priority_queue => return Err(wrong(1, "an integer in a priority queue")),
        value => value,
    };
    let (argument, response) = if answers_value { (Value::Null, value) } else { (value, answer) };
    Ok(SlowOperation { line, name, argument, response, start, end })
}

/// The slow reader: a history and the number of notes about it.
fn slow(spec: &str, text: &[u8], keyed: bool) -> Result<(SlowHistory, usize), Mistake> {
    let (mut is_set, mut is_priority_queue) = (spec == "set", spec == "priority-queue");
    let mut operations = Vec::new();
    for (at, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let words = words(line);
        let Some((_, first)) = words.first() else { continue };
        if first[0] == b'#' {
            let all: Vec<u8> = line.iter().copied().filter(|byte| *byte != b'#').collect();
            let is_one_mark = line.iter().filter(|byte| **byte == b'#').count() == 1;
            match all.trim_ascii() {
                b"set" if is_one_mark => (is_set, is_priority_queue) = (true, false),
                b"priorityqueue" | b"pqueue" if is_one_mark => {
                    (is_set, is_priority_queue) = (false, true);
                }
                b"stack" | b"queue" if is_one_mark => (is_set, is_priority_queue) = (false, false),
                _ => {}
            }
            continue;
        }
        operations.push(operation(at as u64 + 1, &words, is_set, is_priority_queue)?);
    }
    // At one stamp calls come before returns; otherwise what is written first comes first.
    let mut events: Vec<(u64, bool, usize)> = Vec::new();
    for (at, operation) in operations.iter().enumerate() {
        events.push((operation.start, false, at));
        events.push((operation.end, true, at));
    }
    events.sort();
    let mut history = SlowHistory::new(keyed);
    let mut free: BTreeSet<usize> = (0..operations.len()).collect();
    let mut processes = vec![0; operations.len()];
    for (_, is_return, at) in events {
        let SlowOperation { line, name, argument, response, .. } = &operations[at];
        if is_return {
            free.insert(processes[at]);
            history.answer(*line, &processes[at].to_string(), spec, response.clone())?;
        } else {
            processes[at] = free.pop_first().unwrap();
            history.call(*line, &processes[at].to_string(), spec, name, argument.clone())?;
        }
    }
    Ok((history, usize::from(is_priority_queue && !operations.is_empty())))
}

fn pick<'a>(from: &[&'a str], rng: &mut Rng) -> &'a str {
    from[rng.usize(..from.len())]
}

const WORDS: &[&str] = &[
    "-1",
    "-2",
    "-0",
    "+5",
    "007",
    "a",
    "x-y",
    "é",
    "1.5",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "123456789012345678",
    "1234567890123456789",
];

/// Mostly operations of this object, with stamps that are often equal; now and then something that
/// is wrong.
fn random_text(spec: &str, rng: &mut Rng) -> Vec<u8> {
    let names: &[&str] = match spec {
        "queue" => &["enq", "deq", "peek"],
        "stack" => &["push", "pop", "peek"],
        "set" => &["insert", "remove", "contains_true", "contains_false"],
        _ => &["insert", "poll"],
    };
    let header = match spec {
        _ if rng.u8(..8) == 0 => {
            pick(&["", "#set", "# pqueue ", "# queue", "# a remark", "##set"], rng)
        }
        "priority-queue" => "# priorityqueue",
        "set" => "# set",
        _ => "# stack",
    };
    // Many, so that some are far from where they belong, and more are in progress than fit into a
    // word.
    let (count, longest, latest) = match rng.u8(..60) {
        0 => (rng.usize(..300), 200, 100),
        1 => (rng.usize(..300), 5, 1_000),
        _ => (rng.usize(..14), 6, 16),
    };
    let scale = if rng.u8(..6) == 0 { 1_000_000_007_000 } else { 1 };
    let mut operations: Vec<(u64, u64, String)> = Vec::new();
    for _ in 0..count {
        let start = rng.u64(..=latest);
        let end = start + rng.u64(..=longest);
        let name = names[rng.usize(..names.len())];
        let value = match rng.u8(..100) {
            0 => pick(WORDS, rng).to_owned(),
            1..20 if ["deq", "pop", "poll", "peek"].contains(&name) => "-1".to_owned(),
            _ => rng.u32(..2_000).to_string(),
        };
        let blank = if rng.u8(..60) == 0 { pick(&["  ", "\t", " \t"], rng) } else { " " };
        let (start, end) = (start * scale, end * scale);
        operations.push((start, end, format!("{name}{blank}{value} {start} {end}")));
    }
    match rng.u8(..4) {
        0 => operations.sort_by_key(|operation| operation.0),
        1 => {}
        _ => operations.sort_by_key(|operation| operation.1),
    }
    let end = pick(&["\n", "\n", "\n", "\n", "\r\n"], rng);
    let mut text = format!("{header}{end}");
    for (_, _, line) in operations {
        text += &line;
        text += end;
        if rng.u8(..100) == 0 {
            text += pick(
                &[
                    "\n",
                    "  \n",
                    "# set\n",
                    "# queue\n",
                    "enq 1 2\n",
                    "deq 1 2 3 4\n",
                    "pop 5 9 8\n",
                    "no 1 1 1\n",
                ],
                rng,
            );
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
            format: Some(Format::Fastlin),
            keyed: keyed.then_some(true),
            ..ReadOptions::new(spec, object.operations())
        };
        let at_once = read_bytes(&text, &options);
        let mut reader = Reader::new(Format::Fastlin, &options);
        let line_by_line = text
            .split_inclusive(|byte| *byte == b'\n')
            .try_for_each(|line| reader.push_line(line).map(|_| ()))
            .and_then(|()| reader.finish());
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
    assert!(good * 4 >= cases && bad * 8 >= cases, "good {good}, bad {bad}");
}
