//! The same recording in every format, compressed, in pieces, and made by hand: always the same
//! history.

use crate::common;

use common::*;
use flate2::{Compression, write::GzEncoder};
use linchpin_history::Builder;
use linchpin_ingest::{
    EventKind, Format, IngestError, NilReads, ReadOptions, Reader, read_bytes, read_path,
};
use linchpin_spec::{Value, builtin};
use std::collections::HashMap;
use std::io::Write;

type RandomCall = fn(&mut fastrand::Rng) -> (&'static str, Value, Value);

const OBJECTS: [(&str, RandomCall); 3] =
    [("cas-register", cas_register_call), ("queue", queue_call), ("mwcas", mwcas_call)];

/// The history, without this crate.
fn by_hand(spec: &str, events: &[Seen]) -> Vec<String> {
    let object = builtin(spec, None).unwrap();
    let mut builder = Builder::new(object.operations());
    for seen in events {
        let name = seen.process.to_string();
        let process = builder.process(&name);
        match seen.kind {
            "invoke" => builder.invoke(&name, seen.f, seen.value.clone()),
            "ok" => builder.ok(&name, seen.value.clone()),
            "fail" => builder.fail(process),
            _ => builder.info(process),
        }
        .unwrap();
    }
    shown(&builder.finish())
}

/// Events of many objects: the key of each, and the event.
fn random_keys(events: Vec<Seen>, rng: &mut fastrand::Rng) -> Vec<(Value, Seen)> {
    let mut keys: HashMap<usize, Value> = HashMap::new();
    let with_key = |seen: Seen| {
        let key = [Value::Int(0), Value::str("k"), Value::Int(-7)][rng.usize(..3)].clone();
        let process = seen.process;
        let key = match seen.kind {
            "invoke" => key,
            _ => keys.get(&process).cloned().unwrap_or(key),
        };
        keys.insert(process, key.clone());
        (key, seen)
    };
    events.into_iter().map(with_key).collect()
}

/// The history of many objects, without this crate. Reads of `null` are left out if they are not
/// known.
fn by_hand_with_keys(spec: &str, events: &[(Value, Seen)], nil_reads: NilReads) -> Vec<String> {
    let object = builtin(spec, None).unwrap();
    let mut builder = Builder::new(object.operations());
    for (key, seen) in events {
        let process = builder.process(&seen.process.to_string());
        let operation = builder.operation(seen.f).unwrap();
        let signature = &object.operations()[usize::from(operation)];
        let is_unknown = nil_reads == NilReads::Unknown && seen.f == "read" && seen.value.is_null();
        match seen.kind {
            "invoke" => {
                let key = builder.values().intern(key.clone());
                let argument = builder.argument(seen.value.clone(), &signature.argument);
                builder.invoke_compact(process, operation, key, argument)
            }
            "ok" if is_unknown => builder.fail(process),
            "ok" => {
                let response = builder.argument(seen.value.clone(), &signature.response);
                builder.ok_compact(process, response)
            }
            "fail" => builder.fail(process),
            _ => builder.info(process),
        }
        .unwrap();
    }
    shown(&builder.finish())
}

#[test]
fn keys_are_the_same_in_every_format() {
    let (seed, cases) = seed_and_cases(300);
    let mut rng = fastrand::Rng::with_seed(seed);
    for case in 0..cases {
        let (spec, call) = OBJECTS[case as usize % OBJECTS.len()];
        let object = builtin(spec, None).unwrap();
        let nil_reads = if rng.bool() { NilReads::Unknown } else { NilReads::Value };
        let mut options = ReadOptions::new(spec, object.operations());
        options.nil_reads = Some(nil_reads);
        let count = 1 + rng.usize(..60);
        let events = random_keys(random_events(count, &mut rng, call), &mut rng);
        let expected = by_hand_with_keys(spec, &events, nil_reads);
        let pairs: Vec<Seen> = events
            .iter()
            .map(|(key, seen)| Seen {
                process: seen.process,
                kind: seen.kind,
                f: seen.f,
                value: Value::list([key.clone(), seen.value.clone()]),
            })
            .collect();
        let with_field = |(key, seen): &(Value, Seen)| {
            json_line(seen).replace("\"type\"", &format!("\"key\":{key},\"type\"")) + "\n"
        };
        let texts = [
            events.iter().map(with_field).collect(),
            json_lines(&pairs),
            edn_lines(&pairs),
            edn_vector(&pairs).replace(":value [", ":value #jepsen.independent/tuple ["),
            log(&pairs),
            log(&pairs).replace('\t', " "),
        ];
        for text in texts {
            let read = read_bytes(text.as_bytes(), &options)
                .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
            assert_eq!(shown(&read.history), expected, "seed {seed}\n{text}");
            assert!(read.has_keys);
        }
    }
}

#[test]
fn every_format_gives_the_same_history() {
    let (seed, cases) = seed_and_cases(400);
    let mut rng = fastrand::Rng::with_seed(seed);
    for case in 0..cases {
        let (spec, call) = OBJECTS[case as usize % OBJECTS.len()];
        let object = builtin(spec, None).unwrap();
        let mut options = ReadOptions::new(spec, object.operations());
        options.nil_reads = Some(NilReads::Value);
        let count = 1 + rng.usize(..80);
        let events = random_events(count, &mut rng, call);
        let expected = by_hand(spec, &events);
        let array: Vec<_> = events.iter().map(json_line).collect();
        let pretty: String = events
            .iter()
            .map(|seen| json_line(seen).replace(",\"f\"", ",\n \"f\"") + "\n")
            .collect();
        let texts = [
            (Format::JsonLines, json_lines(&events)),
            (Format::JsonLines, json_lines(&events).replace('\n', "\r\n\n").replace(':', " : ")),
            (Format::JsonLines, format!("\u{feff}[{}]", array.join(",\n"))),
            (Format::JsonLines, pretty),
            (Format::JepsenEdn, edn_lines(&events)),
            (Format::JepsenEdn, edn_vector(&events)),
            (Format::JepsenEdn, edn_vector(&events).replace('[', "(").replace(']', ")")),
            (Format::JepsenEdn, edn_lines(&events).replace("{:type", "#jepsen.history.Op{:type")),
            (Format::JepsenLog, log(&events)),
            (Format::JepsenLog, log(&events).replace('\t', "  ")),
        ];
        for (format, text) in texts {
            // Blanks inside strings are not blanks.
            if text.contains(" : ")
                && events.iter().any(|seen| seen.value.to_string().contains(':'))
            {
                continue;
            }
            assert_eq!(
                Format::detect(text.trim_start_matches('\u{feff}').as_bytes()),
                Some(format)
            );
            let read = read_bytes(text.as_bytes(), &options)
                .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
            assert_eq!(shown(&read.history), expected, "seed {seed}\n{text}");
            let ok = events.iter().filter(|seen| seen.kind == "ok").count() as u64;
            let failed = events.iter().filter(|seen| seen.kind == "fail").count() as u64;
            assert_eq!((read.completed, read.failed), (ok, failed));
        }
    }
}

#[test]
fn line_by_line_is_the_same_as_at_once() {
    let (seed, cases) = seed_and_cases(100);
    let mut rng = fastrand::Rng::with_seed(seed);
    for _ in 0..cases {
        let object = builtin("cas-register", None).unwrap();
        let options = ReadOptions::new("cas-register", object.operations());
        let events = random_events(60, &mut rng, cas_register_call);
        for text in [json_lines(&events), edn_vector(&events), log(&events)] {
            let format = Format::detect(text.as_bytes()).unwrap();
            let mut reader = Reader::new(format, &options);
            let mut told = 0;
            for line in text.split_inclusive('\n') {
                told += reader.push_line(line.as_bytes()).unwrap().len();
            }
            assert_eq!(told, events.len(), "seed {seed}\n{text}");
            let whole = read_bytes(text.as_bytes(), &options).unwrap();
            assert_eq!(shown(&reader.finish().unwrap().history), shown(&whole.history));
        }
    }
}

#[test]
fn files_are_read_compressed_or_not() {
    let object = builtin("queue", None).unwrap();
    let options = ReadOptions::new("queue", object.operations());
    let mut rng = fastrand::Rng::with_seed(3);
    // Large enough to be mapped.
    let events = random_events(30_000, &mut rng, queue_call);
    let text = json_lines(&events).into_bytes();
    assert!(text.len() > 1 << 20);
    let (one, other) = text.split_at(text.len() / 3);
    let gzip = |part: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(part).unwrap();
        encoder.finish().unwrap()
    };
    let zstandard = |part: &[u8]| {
        ruzstd::encoding::compress_to_vec(part, ruzstd::encoding::CompressionLevel::Fastest)
    };
    let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    let contents = [
        text.clone(),
        gzip(&text),
        [gzip(one), gzip(other)].concat(),
        zstandard(&text),
        [zstandard(one), skippable, zstandard(other)].concat(),
    ];
    let expected = by_hand("queue", &events);
    for content in contents {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&content).unwrap();
        let read = read_path(file.path(), &options).unwrap();
        assert_eq!(shown(&read.history), expected);
    }
    assert!(read_path("/nonexistent/history".as_ref(), &options).is_err());
    assert!(read_bytes(&gzip(&text)[..1000], &options).is_err());
    // A small file may hold any number of bytes: it is read up to the limit.
    let strict = ReadOptions { most_bytes: text.len() as u64 - 1, ..options };
    let halves = text.len() / 2;
    for bomb in [
        gzip(&text),
        zstandard(&text),
        [zstandard(&text[..halves]), zstandard(&text[halves..])].concat(),
    ] {
        let error = read_bytes(&bomb, &strict).unwrap_err().to_string();
        assert!(error.starts_with("it decompresses to more than"), "{error}");
        let exact = ReadOptions { most_bytes: text.len() as u64, ..options };
        assert!(read_bytes(&bomb, &exact).is_ok());
    }
    assert!(read_bytes(&zstandard(&text)[..1000], &options).is_err());
}

/// What is no regular file may never end: reading it stops at the limit.
#[cfg(unix)]
#[test]
fn endless_inputs_are_read_up_to_the_limit() {
    let object = builtin("register", None).unwrap();
    let options = ReadOptions::new("register", object.operations());
    let strict = |most_bytes| ReadOptions { most_bytes, ..options };
    let error = read_path("/dev/zero".as_ref(), &strict(1 << 20)).unwrap_err();
    assert!(matches!(error, IngestError::Endless { most } if most == 1 << 20), "{error}");
    assert_eq!(error.line(), None);
    // A pipe that another thread never stops writing to, and one with just as much as is allowed.
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let written = |line: &'static [u8], lines: usize| {
        let fifo = fifo.clone();
        std::thread::spawn(move || {
            let mut pipe = std::fs::OpenOptions::new().write(true).open(fifo).unwrap();
            (0..lines).try_for_each(|_| pipe.write_all(line)).is_ok()
        })
    };
    let writer = written(b"\n", usize::MAX);
    let error = read_path(&fifo, &strict(100_000)).unwrap_err();
    assert!(matches!(error, IngestError::Endless { most: 100_000 }), "{error}");
    assert!(!writer.join().unwrap(), "the pipe is closed when the limit is reached");
    let line = b"{\"type\":\"crash\"}\n";
    for most in [line.len() * 9, line.len() * 9 - 1] {
        let writer = written(line, 9);
        let read = read_path(&fifo, &strict(most as u64));
        assert_eq!(read.is_ok(), most == line.len() * 9);
        writer.join().unwrap();
    }
    // A regular file of any size says how long it is.
    for lines in [9, 100_000] {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&line.repeat(lines)).unwrap();
        assert!(read_path(file.path(), &strict(10)).is_ok());
    }
}

/// A reader that forgets what has returned says the same as one that does not.
#[test]
fn forgetting_changes_nothing() {
    let texts = [("mwcas", MWCAS.repeat(3)), ("kv", KV.repeat(3)), ("cas-register", CAS.repeat(3))];
    for (spec, text) in texts {
        let object = builtin(spec, None).unwrap();
        let options = ReadOptions::new(spec, object.operations());
        let said = |every: usize| -> Vec<String> {
            let mut reader = Reader::new(Format::JsonLines, &options);
            let mut said = Vec::new();
            for (at, line) in text.lines().enumerate() {
                let events = reader.push_line(line.as_bytes()).unwrap().to_vec();
                let history = reader.history();
                said.extend(events.iter().map(|event| match event.kind {
                    EventKind::Invoke { process, operation, key, argument } => format!(
                        "{process} {operation} {} {}",
                        history.values.get(key),
                        history.value(argument)
                    ),
                    EventKind::Ok { process, response } => {
                        format!("{process} {}", history.value(response))
                    }
                    other => format!("{other:?}"),
                }));
                if at % every == every - 1 {
                    reader.forget_returned();
                }
            }
            said
        };
        let expected = said(usize::MAX);
        for every in 1..8 {
            assert_eq!(said(every), expected, "{spec}, every {every}");
        }
    }
}

const MWCAS: &str = r#"{"process":0,"type":"invoke","f":"mwcas","value":[[10,0,1],["y",0,"new"]]}
{"process":1,"type":"invoke","f":"mwcas","value":[[10,0,2]]}
{"process":0,"type":"ok","f":"mwcas","value":[[10,0,1],["y",0,"new"]]}
{"process":1,"type":"ok","f":"mwcas","value":{"failed":10}}
{"process":1,"type":"invoke","f":"mwcas","value":[["y",0,2]]}
{"process":0,"type":"invoke","f":"mwread","value":[["y",null]]}
{"process":1,"type":"ok","f":"mwcas","value":{"failed":"y"}}
{"process":0,"type":"ok","f":"mwread","value":[["y","new"]]}
"#;

const KV: &str = r#"{"process":0,"type":"invoke","f":"put","key":"a","value":"one"}
{"process":1,"type":"invoke","f":"get","key":"b","value":null}
{"process":2,"type":"invoke","f":"append","key":"c","value":"two"}
{"process":0,"type":"ok","f":"put","key":"a","value":"one"}
{"process":2,"type":"ok","f":"append","key":"c","value":"two"}
{"process":1,"type":"ok","f":"get","key":"b","value":"zero"}
"#;

const CAS: &str = r#"{"process":0,"type":"invoke","f":"cas","value":[7000000,8000000]}
{"process":1,"type":"invoke","f":"write","value":-5}
{"process":1,"type":"ok","f":"write","value":-5}
{"process":0,"type":"ok","f":"cas","value":[7000000,8000000]}
"#;
