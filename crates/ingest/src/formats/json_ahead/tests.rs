//! Thousands of random recordings, right and wrong at random places, read on one thread and on two
//! in blocks of all sizes, with and without the other fast paths.

use super::super::differential::{pick, seed_and_cases};
use super::{Blocks, Scanned, read, record_all};
use crate::fast::FastPath;
use crate::format::Format;
use crate::options::{FailedCas, ReadOptions};
use crate::reader::Reader;
use crate::recording::Recording;
use crate::{IngestError, read_bytes};
use fastrand::Rng;
use linchpin_spec::{Signature, builtin};
use std::sync::mpsc;

const SPECS: &[&str] = &["register", "cas-register", "queue", "mwcas", "kv", "map", "set", "mutex"];

/// All of a result, ids of values and tables included.
fn summary(result: Result<Recording, IngestError>) -> String {
    format!("{result:?}")
}

fn on_one_thread(text: &[u8], options: &ReadOptions<'_>) -> Result<Recording, IngestError> {
    let mut reader = Reader::new(Format::JsonLines, options);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        reader.push_line(line)?;
    }
    reader.finish()
}

fn on_two(text: &[u8], block: usize, options: &ReadOptions<'_>) -> Result<Recording, IngestError> {
    let mut reader = Reader::new(Format::JsonLines, options);
    read(text, block, &mut reader)?;
    reader.finish()
}

/// As when the system refuses to make a thread.
fn without_a_second(
    text: &[u8],
    block: usize,
    options: &ReadOptions<'_>,
) -> Result<Recording, IngestError> {
    let mut reader = Reader::new(Format::JsonLines, options);
    let (_, scanned) = mpsc::channel();
    let (give_back, _) = mpsc::channel::<Scanned<'_>>();
    record_all(&Blocks::new(text, block), scanned, give_back, &mut reader)?;
    reader.finish()
}

/// A value; of no shape in particular.
fn value(rng: &mut Rng) -> String {
    let int = |rng: &mut Rng| match rng.u8(..8) {
        0 => rng.i64(..).to_string(),
        1 => format!("-{}", rng.u32(..50)),
        _ => rng.u32(..50).to_string(),
    };
    match rng.u8(..16) {
        0..6 => int(rng),
        6 => "null".to_owned(),
        7 => pick(&["true", "false"], rng).to_owned(),
        8 => format!(r#""{}""#, pick(&["a", "bc", "é", "q\\\"uote", "\\u00e9", ""], rng)),
        9 => pick(&["1.5", "1e3", "99999999999999999999", "[[[[[[[[[[1]]]]]]]]]]"], rng).to_owned(),
        10 => format!("[{},{}]", int(rng), int(rng)),
        11 => format!(r#"{{"failed":{}}}"#, rng.u8(..5)),
        12 => format!(r#"{{"read":[[{},{}]]}}"#, rng.u8(..5), int(rng)),
        _ => format!("[[{},{},{}],[{},0, 1]]", int(rng), int(rng), int(rng), int(rng)),
    }
}

/// The argument or answer that an operation mostly has.
fn fitting(spec: &str, f: &str, is_call: bool, rng: &mut Rng) -> String {
    let (a, b, c) = (rng.u32(..30), rng.u32(..30), rng.u32(..30));
    match (spec, f, is_call) {
        ("mwcas", "mwcas", true) => format!("[[{a},{b},{c}],[{b},{c},{a}]]"),
        ("mwcas", "mwcas", false) => match rng.u8(..3) {
            0 => format!(r#"{{"failed":{a}}}"#),
            _ => rng.bool().to_string(),
        },
        ("mwcas", _, true) => format!("[[{a},null],[{b},null]]"),
        ("mwcas", _, false) => format!("[[{a},{b}],[{b},{c}]]"),
        ("kv", "get", true) => format!(r#""k{}""#, a % 3),
        ("kv", "get", false) => format!(r#""v{b}""#),
        ("kv", _, true) => format!(r#"["k{}","v{b}"]"#, a % 3),
        ("cas-register", "cas", true) | ("map", "put", true) => format!("[{a},{b}]"),
        ("cas-register", "cas", false) | ("set", _, false) => rng.bool().to_string(),
        (_, "read" | "dequeue" | "peek" | "acquire" | "release", true) => "null".to_owned(),
        _ => a.to_string(),
    }
}

/// A recording that is mostly well formed: at most one line in `wrong` is anything else.
fn recording(spec: &str, operations: &[Signature], wrong: usize, rng: &mut Rng) -> Vec<u8> {
    let mut text = Vec::new();
    let names: Vec<&str> = operations.iter().map(|it| it.name.as_str()).collect();
    let mut open: Vec<Option<&str>> = vec![None; rng.usize(1..9)];
    let mut numbers: Vec<usize> = (0..open.len()).collect();
    let spaced = rng.u8(..4) == 0;
    for at in 0..rng.usize(..120) {
        let is_wrong = rng.usize(..wrong) == 0;
        let place = rng.usize(..open.len());
        let process = numbers[place];
        let (kind, f) = match open[place].take() {
            Some(f) => (pick(&["ok", "ok", "ok", "ok", "ok", "fail", "info"], rng), f),
            None => ("invoke", pick(&names, rng)),
        };
        let is_call = kind == "invoke";
        open[place] = is_call.then_some(f);
        if kind == "info" {
            // The process goes on under another number.
            numbers[place] += 10;
        }
        let value = match is_wrong && rng.bool() {
            true => value(rng),
            false => fitting(spec, f, is_call, rng),
        };
        let key = if is_wrong && rng.u8(..4) == 0 { r#","key":"k1""# } else { "" };
        let time = if spaced { format!(r#", "time": {at}"#) } else { String::new() };
        let line = format!(
            r#"{{"process":{process},"type":"{kind}","f":"{f}","value":{value}{key}{time}}}"#
        );
        let mut line = line.into_bytes();
        match rng.u8(..6) {
            0 if is_wrong => line.truncate(rng.usize(..line.len())),
            1 if is_wrong => {
                let byte = rng.usize(..line.len());
                line[byte] = rng.u8(..);
            }
            2 if is_wrong => line.clear(),
            3 if is_wrong => line = br#"{"type":"crash"}"#.to_vec(),
            4 if is_wrong => line = br#"{"process":"nemesis","type":"info","f":"x"}"#.to_vec(),
            _ => {}
        }
        text.extend_from_slice(&line);
        text.extend_from_slice(if rng.u8(..20) == 0 { b"\r\n" } else { b"\n" });
    }
    if rng.bool() {
        text.pop();
    }
    text
}

#[test]
fn two_threads_read_what_one_reads() {
    let (seed, cases) = seed_and_cases(2_000);
    let (mut right, mut mistaken) = (0_u64, 0_u64);
    for case in 0..cases {
        let mut rng = Rng::with_seed(seed.wrapping_mul(0x9e37_79b9).wrapping_add(case));
        let spec = pick(SPECS, &mut rng);
        let object = builtin(spec, None).expect("a specification");
        let wrong = [30, 1_000, 100_000][rng.usize(..3)];
        let text = recording(spec, object.operations(), wrong, &mut rng);
        let failed_cas = [FailedCas::DidNotHappen, FailedCas::ReturnedFalse][rng.usize(..2)];
        let keyed = [None, None, None, Some(false), Some(true)][rng.usize(..5)];
        let options =
            ReadOptions { failed_cas, keyed, ..ReadOptions::new(spec, object.operations()) };
        let one = FastPath::without(&FastPath::ALL, || on_one_thread(&text, &options));
        let counter = if one.is_ok() { &mut right } else { &mut mistaken };
        *counter += 1;
        let one = summary(one);
        for block in [1, rng.usize(1..200), rng.usize(200..5_000)] {
            let two = || on_two(&text, block, &options);
            let left_out = rng.choice(FastPath::ALL).unwrap_or(FastPath::Usual);
            for read in [
                two(),
                FastPath::without(&[left_out], two),
                without_a_second(&text, block, &options),
                on_one_thread(&text, &options),
            ] {
                let read = summary(read);
                assert!(
                    one == read,
                    "seed {seed}, case {case}, blocks of {block}:\n{one}\n{read}\n{}",
                    String::from_utf8_lossy(&text)
                );
            }
        }
    }
    println!("{right} read, {mistaken} with a mistake");
    assert!(right > cases / 5 && mistaken > cases / 5, "{right} and {mistaken} of {cases}");
}

/// A recording of so many operations, and what is after it.
fn long(operations: usize, end: &str) -> String {
    let mut text = String::new();
    for at in 0..operations {
        let process = at % 7;
        let value = if at % 11 == 0 { -(at as i64) } else { at as i64 };
        text += &format!(
            "{{\"process\":{process},\"type\":\"invoke\",\"f\":\"enqueue\",\"value\":{value}}}\n\
             {{\"process\":{process},\"type\":\"ok\",\"f\":\"enqueue\",\"value\":{value}}}\n"
        );
    }
    text + end
}

#[test]
fn long_recordings_are_read_the_same_on_two_threads() {
    let queue = builtin("queue", None).expect("a specification");
    for end in
        ["", "{\"process\":0,\"type\":\"ok\"}", "\n\n{\"process\":0,\"type\":\"invoke\" \"f\""]
    {
        let text = long(60_000, end);
        assert!(text.len() > super::WORTHWHILE);
        let [one, two, chosen] = [Some(false), Some(true), None].map(|parallel| {
            let options = ReadOptions::new("queue", queue.operations());
            summary(read_bytes(text.as_bytes(), &ReadOptions { parallel, ..options }))
        });
        assert!(one == two && one == chosen, "with {end:?} at the end");
    }
}

#[test]
fn the_second_thread_is_for_long_texts_on_two_cores() {
    let options = ReadOptions::new("queue", &[]);
    let has_cores = std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1);
    assert_eq!(options.is_parallel(super::WORTHWHILE), has_cores);
    assert!(!options.is_parallel(super::WORTHWHILE - 1));
    for wanted in [false, true] {
        let options = ReadOptions { parallel: Some(wanted), ..options };
        assert_eq!(options.is_parallel(1), wanted);
        for path in [FastPath::Ahead, FastPath::Scanner] {
            assert!(!FastPath::without(&[path], || options.is_parallel(usize::MAX)));
        }
    }
}

/// Tokens are memory: of a line of any length none are made ahead.
#[test]
fn blocks_with_a_very_long_line_are_not_scanned() {
    let line = format!("{{\"process\":0,\"value\":[{}1]}}\n", "1,".repeat(1_000));
    let mut scanned = Scanned::default();
    for (longest, lines) in [(line.len(), 1), (line.len() / 2 - 1, 0)] {
        scanned.scan(line.as_bytes(), longest, &mut Default::default());
        assert_eq!(scanned.lines.len(), lines);
        assert_eq!(scanned.tokens.len() > 1_000, lines == 1);
    }
}

/// The second thread may be ahead of a mistake, or not have begun: reading ends with both.
#[test]
fn reading_ends_at_the_first_mistake() {
    let queue = builtin("queue", None).expect("a specification");
    let options = ReadOptions::new("queue", queue.operations());
    let text = long(3_000, "");
    for line in [0, 1, 50, 3_000, 5_999] {
        let mut lines: Vec<_> = text.lines().collect();
        lines[line] = "{\"process\":9,\"type\":\"ok\"}";
        for block in [1, 100, 10_000] {
            let read = on_two(lines.join("\n").as_bytes(), block, &options);
            let found = read.err().and_then(|error| error.line());
            assert_eq!(found, Some(line as u64 + 1));
        }
    }
}

#[test]
fn keys_that_come_late_are_found_on_two_threads() {
    let spec = "cas-register";
    let object = builtin(spec, None).expect("a specification");
    // What `cas` takes may be a pair of key and value or not; what `read` takes tells.
    let mut text =
        String::from("{\"process\":0,\"type\":\"invoke\",\"f\":\"cas\",\"value\":[1,[2,3]]}\n");
    for at in 0..60_000 {
        let process = 1 + at % 7;
        for kind in ["invoke", "ok"] {
            let value = if kind == "ok" { "4" } else { "null" };
            text += &format!(r#"{{"process":{process},"type":"{kind}","f":"read","#);
            text += &format!("\"value\":[{at},{value}]}}\n");
        }
    }
    assert!(text.len() > super::WORTHWHILE);
    let [one, two] = [false, true].map(|parallel| {
        let options = ReadOptions::new(spec, object.operations());
        let options = ReadOptions { parallel: Some(parallel), ..options };
        read_bytes(text.as_bytes(), &options)
    });
    assert!(one.as_ref().is_ok_and(|recording| recording.has_keys));
    assert!(summary(one) == summary(two));
}
