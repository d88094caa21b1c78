//! How fast each format is read: the same kind of history as text of every shape that recorders write, and the best of several
//! times that it takes to read it on one thread; JSON lines also on two.

use fastrand::Rng;
use linchpin_ingest::{Format, ReadOptions, read_bytes};
use std::fmt::Write;
use std::time::Instant;

/// Times are taken so often, and the best counts: the others say what else the machine was doing.
const ROUNDS: usize = 8;

/// One way to write a history.
struct Text {
    name: &'static str,
    spec: &'static str,
    format: Format,
    text: String,
}

/// Prints a row for every shape of every format whose name begins so.
pub fn print(operations: usize, beginning: &str) {
    println!("Reading {operations} operations, the best of {ROUNDS} times.\n");
    println!("{:<44}{:>8}{:>10}{:>10}{:>12}", "text", "MB", "MB/s", "ns/event", "bytes/event");
    for text in texts(operations).into_iter().filter(|text| text.name.starts_with(beginning)) {
        row(&text, operations, false);
        if text.name.starts_with("json-lines") {
            row(&text, operations, true);
        }
    }
}

fn row(text: &Text, operations: usize, parallel: bool) {
    let object = linchpin_spec::builtin(text.spec, None).expect("a specification");
    let options = ReadOptions {
        parallel: Some(parallel),
        ..ReadOptions::new(text.spec, object.operations())
    };
    let bytes = text.text.as_bytes();
    assert_eq!(Format::detect(bytes), Some(text.format), "{}", text.name);
    let best = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        let recording = read_bytes(bytes, &options).expect(text.name);
        let seconds = start.elapsed().as_secs_f64();
        assert_eq!(recording.history.operations.len(), operations, "{}", text.name);
        seconds
    });
    let best = best.fold(f64::INFINITY, f64::min);
    let (bytes, events) = (bytes.len() as f64, 2.0 * operations as f64);
    println!(
        "{:<44}{:>8.1}{:>10.0}{:>10.0}{:>12.1}",
        if parallel { "  on two threads" } else { text.name },
        bytes / 1e6,
        bytes / 1e6 / best,
        best / events * 1e9,
        bytes / events
    );
}

/// An event before it is written. Values are written by each format in its own way.
#[derive(Clone)]
struct Seen {
    process: usize,
    is_call: bool,
    f: &'static str,
    value: Option<i64>,
}

/// A well-formed history of calls that alternate between adding a new value and asking for one.
fn events(operations: usize, adds: &'static str, asks: &'static str) -> Vec<Seen> {
    const PROCESSES: usize = 16;
    let mut random = Rng::with_seed(7);
    let mut open: Vec<Option<Seen>> = vec![None; PROCESSES];
    let mut events = Vec::with_capacity(2 * operations);
    let mut called = 0;
    while events.len() < 2 * operations {
        let process = random.usize(..PROCESSES);
        match open[process].take() {
            Some(call) => {
                let value = call.value.or_else(|| Some(random.i64(1..=called as i64)));
                events.push(Seen { is_call: false, value, ..call });
            }
            None if called == operations => {}
            None => {
                called += 1;
                let adding = random.bool();
                let (f, value) = if adding { (adds, Some(called as i64)) } else { (asks, None) };
                let call = Seen { process, is_call: true, f, value };
                events.push(call.clone());
                open[process] = Some(call);
            }
        }
    }
    events
}

fn written(events: &[Seen], mut line: impl FnMut(&mut String, usize, &Seen)) -> String {
    let mut out = String::with_capacity(events.len() * 80);
    events.iter().enumerate().for_each(|(at, event)| line(&mut out, at, event));
    out
}

fn kind(event: &Seen) -> &'static str {
    if event.is_call { "invoke" } else { "ok" }
}

/// The value, or what stands for none.
fn value(event: &Seen, none: &str) -> String {
    event.value.map_or(none.to_owned(), |value| value.to_string())
}

/// An operation map of Jepsen, as it is printed.
fn edn(out: &mut String, at: usize, event: &Seen) {
    let (kind, f, value, process) = (kind(event), event.f, value(event, "nil"), event.process);
    let time = 1_000_000 + at * 12_345;
    let _ = write!(
        out,
        "{{:type :{kind}, :f :{f}, :value {value}, :process {process}, :time {time}, :index {at}}}"
    );
}

fn short_edn(out: &mut String, event: &Seen) {
    let (kind, f, value, process) = (kind(event), event.f, value(event, "nil"), event.process);
    let _ = write!(out, "{{:process {process}, :type :{kind}, :f :{f}, :value {value}}}");
}

fn texts(operations: usize) -> Vec<Text> {
    let register = events(operations, "write", "read");
    let queue = events(operations, "enqueue", "dequeue");
    let kv = events(operations, "append", "get");
    let jsonl = |events: &[Seen]| {
        written(events, |out, _, event| {
            let (kind, value) = (kind(event), value(event, "null"));
            let (f, process) = (event.f, event.process);
            let _ = writeln!(
                out,
                r#"{{"process":{process},"type":"{kind}","f":"{f}","value":{value}}}"#
            );
        })
    };
    let text = |name, spec, format, text| Text { name, spec, format, text };
    let lines = written(&register, |out, at, event| {
        edn(out, at, event);
        out.push('\n');
    });
    let vector = written(&register, |out, at, event| {
        out.push_str(if at == 0 { "[" } else { "\n " });
        short_edn(out, event);
    }) + "]\n";
    let list = written(&register, |out, at, event| {
        out.push_str(if at == 0 { "(" } else { " " });
        edn(out, at, event);
    }) + ")\n";
    let tuples = written(&register, |out, at, event| {
        let (kind, f, process) = (kind(event), event.f, event.process);
        let (key, value) = (process / 2, value(event, "nil"));
        let time = 1_000_000 + at * 12_345;
        let _ = writeln!(
            out,
            "{{:type :{kind}, :f :{f}, :value [{key} {value}], :process {process}, :time {time}, :index {at}}}"
        );
    });
    let tagged = lines.replace("{:type", "#jepsen.history.Op{:type");
    let spread = lines.replace(", ", ",\n ");
    let log = written(&register, |out, _, event| {
        let (kind, f, process, value) = (kind(event), event.f, event.process, value(event, "nil"));
        let _ = writeln!(out, "INFO  jepsen.util - {process}\t:{kind}\t:{f}\t{value}");
    });
    let dated = written(&register, |out, at, event| {
        let (kind, f, process, value) = (kind(event), event.f, event.process, value(event, "nil"));
        let (second, milli) = (at / 1000 % 60, at % 1000);
        let _ = writeln!(
            out,
            "2026-02-03 04:05:{second:02},{milli:03}{{GMT}}\tINFO\t[jepsen worker {process}] jepsen.util: {process}\t:{kind}\t:{f}\t{value}"
        );
    });
    let porcupine = written(&kv, |out, _, event| {
        let (kind, f, process) = (kind(event), event.f, event.process);
        let value =
            event.value.map_or("nil".to_owned(), |value| format!("\"x {process} {value} y\""));
        let _ = writeln!(
            out,
            "{{:process {process}, :type :{kind}, :f :{f}, :key \"{}\", :value {value}}}",
            process / 2
        );
    });
    let json_kv = written(&kv, |out, _, event| {
        let (kind, f, process) = (kind(event), event.f, event.process);
        let value =
            event.value.map_or("null".to_owned(), |value| format!("\"x {process} {value} y\""));
        let _ = writeln!(
            out,
            r#"{{"process":{process},"type":"{kind}","f":"{f}","key":"{}","value":{value}}}"#,
            process / 2
        );
    });
    let json_timed = written(&register, |out, at, event| {
        let (kind, f, process, value) = (kind(event), event.f, event.process, value(event, "null"));
        let time = 1_000_000 + at * 12_345;
        let _ = writeln!(
            out,
            r#"{{"index": {at}, "time": {time}, "type": "{kind}", "process": {process}, "f": "{f}", "value": {value}}}"#
        );
    });
    let array = "[".to_owned() + &jsonl(&queue).trim_end().replace('\n', ",\n") + "]\n";
    let limo = "# @object atomic-queue\n".to_owned()
        + &written(&queue, |out, _, event| {
            let process = event.process;
            let _ = match (event.is_call, event.f) {
                (true, "enqueue") => {
                    writeln!(out, "[{process}] call enqueue({})", value(event, ""))
                }
                (true, _) => writeln!(out, "[{process}] call dequeue()"),
                (false, "enqueue") => writeln!(out, "[{process}] return"),
                (false, _) => writeln!(out, "[{process}] return {}", value(event, "")),
            };
        });
    vec![
        text("json-lines, queue", "queue", Format::JsonLines, jsonl(&queue)),
        text(
            "json-lines, register, with time and index",
            "register",
            Format::JsonLines,
            json_timed,
        ),
        text("json-lines, kv (keys and values strings)", "kv", Format::JsonLines, json_kv),
        text("json array, queue", "queue", Format::JsonLines, array),
        text("jepsen-edn, a map a line, time and index", "register", Format::JepsenEdn, lines),
        text("jepsen-edn, vector, a map a line", "register", Format::JepsenEdn, vector),
        text("jepsen-edn, list on one line", "register", Format::JepsenEdn, list),
        text("jepsen-edn, [key value]", "register", Format::JepsenEdn, tuples),
        text("jepsen-edn, tagged maps", "register", Format::JepsenEdn, tagged),
        text("jepsen-edn, a field a line", "register", Format::JepsenEdn, spread),
        text("porcupine-kv", "kv", Format::PorcupineKv, porcupine),
        text("jepsen-log", "register", Format::JepsenLog, log),
        text("jepsen-log, with dates", "register", Format::JepsenLog, dated),
        text("fastlin, queue", "queue", Format::Fastlin, fastlin(&queue)),
        text("limo, queue", "queue", Format::Limo, limo),
    ]
}

/// Complete operations with time stamps, in the order of their ends.
fn fastlin(events: &[Seen]) -> String {
    let mut starts = [0; 64];
    let mut out = "# queue\n".to_owned();
    for (at, event) in events.iter().enumerate() {
        match event.is_call {
            true => starts[event.process] = at,
            false => {
                let name = if event.f == "enqueue" { "enq" } else { "deq" };
                let _ =
                    writeln!(out, "{name} {} {} {at}", value(event, "-1"), starts[event.process]);
            }
        }
    }
    out
}
