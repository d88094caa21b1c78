//! The fast paths against the complete parsers: the same random texts, read with and without them,
//! are the same events or the same error.

use super::edn::Edn;
use super::{edn_scan, jepsen_edn};
use crate::event::{Fields, Missing, RawEvent};
use crate::fast::FastPath;
use crate::format::Format;
use crate::options::ReadOptions;
use crate::token::View;
use crate::{Reader, read_bytes};
use fastrand::Rng;
use linchpin_spec::builtin;

pub(super) fn seed_and_cases(cases: u64) -> (u64, u64) {
    let number = |name| std::env::var(name).ok().and_then(|it| it.parse().ok());
    let chosen = (number("LINCHPIN_SEED").unwrap_or(1), number("LINCHPIN_CASES").unwrap_or(cases));
    println!("seed {}, {} cases", chosen.0, chosen.1);
    chosen
}

pub(super) fn pick<'a>(from: &[&'a str], rng: &mut Rng) -> &'a str {
    from[rng.usize(..from.len())]
}

/// An event, owned and comparable.
fn summary(event: Result<RawEvent<'_>, Missing>) -> String {
    let show = |view: View<'_>| match view.to_value() {
        Ok(value) => format!("{value:?}"),
        Err(_) => format!("unsupported {view}"),
    };
    match event {
        Ok(RawEvent { kind, process, f, key, value, time, .. }) => {
            let (process, key) = (process.map(show), key.map(show));
            format!("{kind:?} {process:?} {f:?} {key:?} {} {time:?}", show(value))
        }
        Err(missing) => format!("{} {}", missing.expected, missing.found),
    }
}

const SCALARS: &[&str] = &[
    "nil",
    "nilly",
    "true",
    "false",
    "0",
    "-0",
    "7",
    "-7",
    "+7",
    "007",
    "12N",
    "12M",
    "1.5",
    "1e3",
    "2/3",
    "7a",
    "-",
    "123456789012345678",
    "1234567890123456789",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "99999999999999999999999",
    ":kw",
    "::kw",
    ":",
    ":a/b",
    ":é",
    ":a#b",
    ":a\\",
    ":a\\b",
    "\"\"",
    "\"a\"",
    "\"exactly8\"",
    "\"longer than eight bytes\"",
    "\"q\\\"uote\"",
    "\"\\u00e9\"",
    "\"\\x\"",
    "\"é}\"",
    "\"tab\there\"",
    "\"line\nend\"",
    "sym",
    "'quoted",
    "\\a",
    "\\newline",
    "\\}",
    "##Inf",
    "#inst \"x\"",
    "#_ 3 4",
    "^:meta 5",
];

fn value(rng: &mut Rng, depth: u32) -> String {
    let usual = rng.u8(..3) > 0;
    let items = |rng: &mut Rng| {
        let count = rng.usize(..4);
        let items: Vec<_> = (0..count).map(|_| value(rng, depth + 1)).collect();
        items.join(pick(&[" ", " ", ", ", ",", "", "  ", " ; no\n"], rng))
    };
    match rng.u8(..12) {
        0..8 if usual => rng.u32(..100).to_string(),
        0..8 => pick(SCALARS, rng).to_owned(),
        _ if depth > 10 => "[]".to_owned(),
        8 => format!("({})", items(rng)),
        9 => format!("{{{}}}", items(rng)),
        10 if rng.u8(..4) == 0 => format!("#{{{}}}", items(rng)),
        _ => format!("[{}]", items(rng)),
    }
}

fn blank<'a>(rng: &mut Rng, usual: &'a str) -> &'a str {
    match rng.u8(..24) {
        0 => pick(&["", " ", ",", ", ", "\t", "  ", "\r", "\u{c}", " #_ x ", " ;c\n", "\n"], rng),
        _ => usual,
    }
}

/// An operation map, mostly of a layout that is common, and mostly with something unusual in it if
/// `wild`.
fn operation_map(rng: &mut Rng, wild: bool) -> String {
    let (process, kind, f) = (
        rng.u8(..3).to_string(),
        pick(&["invoke", "ok", "fail", "info"], rng),
        pick(&["read", "write"], rng),
    );
    let (kind, f) = (format!(":{kind}"), format!(":{f}"));
    let plain = match rng.u8(..3) {
        0 => "nil".to_owned(),
        _ => rng.u8(..9).to_string(),
    };
    let mut members = vec![(":process", process), (":type", kind), (":f", f), (":value", plain)];
    if rng.bool() {
        members.rotate_left(1);
    }
    if rng.bool() {
        members.push((":time", rng.u64(..).to_string()));
    }
    if wild {
        for _ in 0..rng.usize(..3) {
            let names = [
                ":key",
                ":index",
                ":error",
                ":é",
                "\"process\"",
                "::f",
                ":type/x",
                ":value",
                ":type",
                "3",
                "[]",
                ":",
            ];
            members.insert(rng.usize(..=members.len()), (pick(&names, rng), value(rng, 0)));
        }
        if let Some(member) = members.iter_mut().find(|(name, _)| *name == ":value") {
            member.1 = value(rng, 0);
        }
        if rng.u8(..8) == 0 {
            rng.shuffle(&mut members);
        }
        if rng.u8(..8) == 0 {
            members.remove(rng.usize(..members.len()));
        }
    }
    let mut text = pick(
        &["{", "{", "{", "{ ", "#op{", "#jepsen.history.Op{", "#op {", "#_{", "#{"]
            [..if wild { 9 } else { 3 }],
        rng,
    )
    .to_owned();
    for (at, (name, value)) in members.into_iter().enumerate() {
        text += if at > 0 { blank(rng, ", ") } else { "" };
        text += &format!("{name}{}{value}", blank(rng, " "));
    }
    text += blank(rng, "");
    text += "}";
    text
}

/// Changes a few bytes.
fn spoil(text: &mut Vec<u8>, rng: &mut Rng) {
    const BYTES: &[u8] = b"\"\\{}[]():,;#_^0123456789-+.NtfnE \r\n\t\x00\xff\xc3";
    for _ in 0..=rng.usize(..2) {
        if text.is_empty() {
            return;
        }
        let at = rng.usize(..text.len());
        match rng.u8(..5) {
            0 => text[at] = BYTES[rng.usize(..BYTES.len())],
            1 => drop(text.remove(at)),
            2 => text.truncate(at),
            _ => text.insert(at, BYTES[rng.usize(..BYTES.len())]),
        }
    }
}

#[test]
fn a_map_that_is_scanned_says_what_the_complete_parser_says() {
    let (seed, cases) = seed_and_cases(200_000);
    let mut rng = Rng::with_seed(seed);
    let mut layout = edn_scan::Layout::default();
    let (mut taken, mut left, mut wrong) = (0, 0, 0);
    for case in 0..cases {
        // What was learnt is forgotten now and then, so that templates of rare layouts are tried
        // too.
        if case % 1000 == 0 {
            layout = edn_scan::Layout::default();
        }
        let wild = rng.bool();
        let mut bytes = operation_map(&mut rng, wild).into_bytes();
        bytes.extend_from_slice(pick(&["", "", " ", "]", "{", "x"], &mut rng).as_bytes());
        if rng.u8(..3) == 0 {
            spoil(&mut bytes, &mut rng);
        }
        let Ok(text) = std::str::from_utf8(&bytes) else { continue };
        let (mut tokens, mut fields) = (Vec::new(), Fields::default());
        let end = edn_scan::scan(text, &mut layout, &mut tokens, &mut fields);
        let fast = end.map(|end| (end, summary(fields.event(1, &tokens, text))));
        let (mut tokens, mut scratch) = (Vec::new(), String::new());
        let mut edn = Edn::new(text, &mut tokens, &mut scratch);
        let fields = jepsen_edn::map(&mut edn);
        let end = edn.at;
        let complete = fields.ok().map(|fields| (end, summary(fields.event(1, &tokens, &scratch))));
        match (fast, complete) {
            (Some(fast), complete) => {
                assert_eq!(Some(fast), complete, "seed {seed}: {text:?}");
                taken += 1;
            }
            (None, Some(_)) => left += 1,
            (None, None) => wrong += 1,
        }
    }
    println!("fast {taken}, complete parser only {left}, neither {wrong}");
    for share in [taken, left, wrong] {
        assert!(share * 20 >= cases, "fast {taken}, complete parser only {left}, neither {wrong}");
    }
}

#[test]
fn a_name_next_to_its_value_is_no_template() {
    let mut layout = edn_scan::Layout::default();
    let mut scan = |text: &str| {
        let (mut tokens, mut fields) = (Vec::new(), Fields::default());
        edn_scan::scan(text, &mut layout, &mut tokens, &mut fields)?;
        Some(summary(fields.event(1, &tokens, text)))
    };
    let written = r#"{:process 0, :type :invoke, :f :write, :value"a"}"#;
    assert!(scan(written).is_some_and(|said| said.contains("Str(\"a\")")));
    // `:value7` is one keyword, which then has no value.
    assert_eq!(scan("{:process 0, :type :invoke, :f :write, :value7}"), None);
}

/// All that can be known of how a text is read, at once and line by line.
fn outcome(text: &[u8], format: Format, keyed: Option<bool>) -> String {
    let object = builtin("register", None).unwrap();
    let options = ReadOptions {
        format: Some(format),
        keyed,
        ..ReadOptions::new("register", object.operations())
    };
    let at_once = match read_bytes(text, &options) {
        Ok(read) => {
            format!("{:?} {:?} {}", read.history.operations, read.notes, read.skipped_lines)
        }
        Err(error) => format!("{error} {:?} {:?}", error.line(), error.column()),
    };
    let mut reader = Reader::new(format, &options);
    let mut one_by_one = String::new();
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        match reader.push_line(line) {
            Ok(events) => one_by_one += &format!("{events:?}"),
            Err(error) => {
                one_by_one += &error.to_string();
                break;
            }
        }
    }
    format!("{at_once}\n{one_by_one}")
}

/// Events that make a history, as operation maps or lines of a log.
fn history(rng: &mut Rng, line: impl Fn(u8, &str, &str, &str) -> String) -> Vec<String> {
    let mut open: [Option<bool>; 3] = [None; 3];
    (0..rng.usize(1..12))
        .map(|_| {
            let process = rng.u8(..3);
            let slot = &mut open[usize::from(process)];
            let value = rng.u8(..9).to_string();
            match slot.take() {
                Some(true) => line(process, "ok", "write", &value),
                Some(false) => line(process, "ok", "read", pick(&["nil", &value], rng)),
                None => {
                    let writes = rng.bool();
                    *slot = Some(writes);
                    match writes {
                        true => line(process, "invoke", "write", &value),
                        false => line(process, "invoke", "read", "nil"),
                    }
                }
            }
        })
        .collect()
}

fn edn_text(rng: &mut Rng) -> Vec<u8> {
    let field = pick(&[" ", " ", " ", "\n  "], rng);
    let tag = pick(&["", "", "", "#op"], rng);
    let time = rng.bool();
    let mut maps = history(rng, |process, kind, f, value| {
        let time = if time { ", :time 123456789" } else { "" };
        format!(
            "{tag}{{:process {process},{field}:type :{kind},{field}:f :{f},{field}:value {value}{time}}}"
        )
    });
    if rng.u8(..3) == 0 {
        let at = rng.usize(..maps.len());
        maps[at] = operation_map(rng, true);
    }
    let (open, close) =
        [("", ""), ("[", "]"), ("(", ")"), ("[", ""), ("; c\n", "\n")][rng.usize(..5)];
    let mut text = open.to_owned();
    for map in maps {
        text += &map;
        text += pick(&["\n", "\n", "\n", " ", ",\n ", "\r\n", ""], rng);
    }
    (text + close).into_bytes()
}

fn log_text(rng: &mut Rng) -> Vec<u8> {
    let before = pick(&["INFO  jepsen.util - ", "", "2026-01-01\tINFO\t[worker 0] - "], rng);
    let mut lines = history(rng, |process, kind, f, value| {
        format!("{before}{process}\t:{kind}\t:{f}\t{value}")
    });
    if rng.u8(..3) == 0 {
        let at = rng.usize(..lines.len());
        let (process, value) = (pick(SCALARS, rng), value(rng, 0));
        lines[at] = format!("{before}{process}\t:invoke\t:write\t{value}\t:why");
    }
    lines.join(pick(&["\n", "\r\n", "\nnothing here\n"], rng)).into_bytes()
}

/// The JSON of [`history`], in an array or over several lines.
fn json_text(rng: &mut Rng) -> Vec<u8> {
    let field = pick(&["", " ", "\n "], rng);
    let objects = history(rng, |process, kind, f, value| {
        let value = value.replace("nil", "null");
        format!(
            r#"{{"process":{field}{process},"type":"{kind}",{field}"f":"{f}","value":{value}}}"#
        )
    });
    let (open, between, close) =
        [("[", ",\n", "]"), ("[", ", ", ""), ("", "\n", ""), ("", " ", "\n")][rng.usize(..4)];
    let mut text = format!("{open}{}{close}", objects.join(between));
    if rng.u8(..4) == 0 {
        text = text.replacen(
            ":1",
            pick(&[":1.5", ":\"\\u00e9\"", ":[1, {\"a\": 2}]", ":1e3", ":-0"], rng),
            1,
        );
    }
    text.into_bytes()
}

#[test]
fn a_map_that_is_scanned_ends_where_it_would_be_cut_off() {
    // The backslash takes the bracket with it, so the map has no end.
    let call = "{:process 0,\n :type :invoke, :f :write, :value :a\\}";
    let answer = "{:process 0, :type :ok, :f :write, :value 1}";
    for text in [format!("{call}\n{answer}\n"), format!("{}\n{answer}\n", call.replace('\n', ""))] {
        let read = || outcome(text.as_bytes(), Format::JepsenEdn, None);
        assert_eq!(read(), FastPath::without(&FastPath::ALL, read));
        assert!(!read().starts_with('['), "{}", read());
    }
}

#[test]
fn recordings_are_read_the_same_with_and_without_the_fast_paths() {
    let (seed, cases) = seed_and_cases(20_000);
    let mut rng = Rng::with_seed(seed);
    let (mut good, mut bad) = (0, 0);
    for case in 0..cases {
        let (format, mut text) = match case % 4 {
            0 | 1 => (Format::JepsenEdn, edn_text(&mut rng)),
            2 => (Format::JepsenLog, log_text(&mut rng)),
            _ => (Format::JsonLines, json_text(&mut rng)),
        };
        if rng.u8(..3) == 0 {
            spoil(&mut text, &mut rng);
        }
        let keyed = [None, None, Some(false), Some(true)][rng.usize(..4)];
        let read = || outcome(&text, format, keyed);
        let fast = read();
        let some = rng.choice(FastPath::ALL).unwrap_or(FastPath::Scanner);
        for left_out in [&FastPath::ALL[..], &[some]] {
            let slow = FastPath::without(left_out, read);
            assert_eq!(fast, slow, "seed {seed}: {}", String::from_utf8_lossy(&text));
        }
        *(if fast.starts_with('[') { &mut good } else { &mut bad }) += 1;
    }
    println!("good {good}, bad {bad}");
    assert!(good * 10 >= cases && bad * 10 >= cases, "good {good}, bad {bad}");
}
