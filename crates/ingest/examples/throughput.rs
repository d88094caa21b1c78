//! How fast recordings are read: a million operations of several objects, made in memory, in MB/s on one core.
//!
//! `cargo run --release -p linchpin-ingest --example throughput [operations]`

use linchpin_ingest::{Format, ReadOptions, read_bytes};
use linchpin_spec::builtin;
use std::fmt::Write;
use std::time::Instant;

const PROCESSES: usize = 16;

/// An operation as JSON: its name, its argument and its answer.
type Call = (&'static str, String, String);

fn main() {
    let operations = std::env::args().nth(1).map_or(Ok(1_000_000), |count| count.parse());
    let Ok(operations) = operations else {
        eprintln!("usage: throughput [operations]");
        std::process::exit(2);
    };
    let texts = [
        ("queue", Format::JsonLines, json(operations, queue)),
        ("register", Format::JsonLines, json(operations, register)),
        ("mwcas", Format::JsonLines, json(operations, mwcas)),
        ("kv", Format::JsonLines, json(operations, kv)),
        ("queue", Format::JepsenEdn, edn(operations, queue)),
        ("register", Format::JepsenLog, log(operations, register)),
        ("queue", Format::Fastlin, fastlin(operations)),
        ("queue", Format::Limo, limo(operations)),
    ];
    println!(
        "{:9} {:11} {:>7} {:>8} {:>7} {:>9}",
        "spec", "format", "MB", "seconds", "MB/s", "Mevents/s"
    );
    for (spec, format, text) in texts {
        measure(spec, format, &text);
    }
}

/// Seconds that this thread has run, where the system tells (others may be using the machine), or that have passed.
fn clock() -> f64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let passed = START.get_or_init(Instant::now).elapsed().as_secs_f64();
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let on_cpu =
        statistics.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<f64>().ok());
    on_cpu.map_or(passed, |nanoseconds| nanoseconds / 1e9)
}

/// The best of five.
fn measure(spec: &str, format: Format, text: &str) {
    let object = builtin(spec, None).expect("the name of a specification");
    let options = ReadOptions::new(spec, object.operations());
    assert_eq!(Format::detect(text.as_bytes()), Some(format));
    let mut best = f64::INFINITY;
    let mut events = 0;
    for _ in 0..5 {
        let start = clock();
        let recording = read_bytes(text.as_bytes(), &options).expect("a recording");
        best = best.min(clock() - start);
        events = recording.history.events.number();
    }
    let megabytes = text.len() as f64 / 1e6;
    println!(
        "{spec:9} {:11} {megabytes:7.1} {best:8.3} {:7.0} {:9.2}",
        format.name(),
        megabytes / best,
        f64::from(events) / best / 1e6,
    );
}

/// Calls and answers of all processes, which overlap; `time` counts events.
fn history(
    operations: usize,
    call: fn(usize, &mut fastrand::Rng) -> Call,
    mut event: impl FnMut(usize, bool, &Call, usize),
) {
    let mut rng = fastrand::Rng::with_seed(1);
    let mut open: Vec<Option<Call>> = vec![None; PROCESSES];
    let (mut made, mut time) = (0, 0);
    while made < operations || open.iter().any(Option::is_some) {
        let process = rng.usize(..PROCESSES);
        match open[process].take() {
            Some(done) => event(process, true, &done, time),
            None if made < operations => {
                let new = call(made, &mut rng);
                event(process, false, &new, time);
                open[process] = Some(new);
                made += 1;
            }
            None => continue,
        }
        time += 1;
    }
}

fn json(operations: usize, call: fn(usize, &mut fastrand::Rng) -> Call) -> String {
    let mut text = String::new();
    history(operations, call, |process, is_ok, (f, argument, answer), time| {
        let (kind, value) = if is_ok { ("ok", answer) } else { ("invoke", argument) };
        let comma = if value.starts_with('"') && *f != "read" { "," } else { ",\"value\":" };
        let _ = writeln!(
            text,
            r#"{{"process":{process},"type":"{kind}","f":"{f}"{comma}{value},"time":{time}}}"#
        );
    });
    text
}

fn edn(operations: usize, call: fn(usize, &mut fastrand::Rng) -> Call) -> String {
    let mut text = String::new();
    history(operations, call, |process, is_ok, (f, argument, answer), time| {
        let (kind, value) = if is_ok { ("ok", answer) } else { ("invoke", argument) };
        let value = value.replace("null", "nil");
        let _ = writeln!(
            text,
            "{{:process {process}, :type :{kind}, :f :{f}, :value {value}, :time {time}}}"
        );
    });
    text
}

fn log(operations: usize, call: fn(usize, &mut fastrand::Rng) -> Call) -> String {
    let mut text = String::new();
    history(operations, call, |process, is_ok, (f, argument, answer), _| {
        let (kind, value) = if is_ok { ("ok", answer) } else { ("invoke", argument) };
        let value = value.replace("null", "nil");
        let _ = writeln!(text, "INFO  jepsen.util - {process}\t:{kind}\t:{f}\t{value}");
    });
    text
}

fn fastlin(operations: usize) -> String {
    let mut text = "# queue\n".to_owned();
    let mut since = [0; PROCESSES];
    history(operations, queue, |process, is_ok, (f, argument, answer), time| {
        if !is_ok {
            since[process] = time;
            return;
        }
        let (name, value) = if *f == "enqueue" { ("enq", argument) } else { ("deq", answer) };
        let value = value.replace("null", "-1");
        let _ = writeln!(text, "{name} {value} {} {time}", since[process]);
    });
    text
}

fn limo(operations: usize) -> String {
    let mut text = "# @object atomic-queue\n".to_owned();
    history(operations, queue, |process, is_ok, (f, argument, answer), _| {
        let _ = match (is_ok, *f) {
            (false, "enqueue") => writeln!(text, "[{process}] call enq({argument})"),
            (false, _) => writeln!(text, "[{process}] call deq"),
            (true, "enqueue") => writeln!(text, "[{process}] return"),
            (true, _) => writeln!(text, "[{process}] return {}", answer.replace("null", "empty")),
        };
    });
    text
}

/// A value of late, as objects hold them: queues of a thousand elements, registers that are read soon after a write.
fn recent(made: usize, rng: &mut fastrand::Rng) -> usize {
    made - rng.usize(..=made.min(1000))
}

fn queue(made: usize, rng: &mut fastrand::Rng) -> Call {
    match rng.bool() {
        true => ("enqueue", made.to_string(), made.to_string()),
        false => ("dequeue", "null".to_owned(), recent(made, rng).to_string()),
    }
}

fn register(made: usize, rng: &mut fastrand::Rng) -> Call {
    match rng.u8(..3) {
        0 => ("write", made.to_string(), made.to_string()),
        _ => ("read", "null".to_owned(), recent(made, rng).to_string()),
    }
}

fn mwcas(made: usize, rng: &mut fastrand::Rng) -> Call {
    let (one, other) = (rng.usize(..32), 32 + rng.usize(..32));
    let (a, b) = (recent(made, rng), recent(made, rng));
    let answer = match rng.u8(..4) {
        0 => {
            return (
                "mwread",
                format!("[[{one},null],[{other},null]]"),
                format!("[[{one},{a}],[{other},{b}]]"),
            );
        }
        1 => format!(r#"{{"failed":{one}}}"#),
        _ => "true".to_owned(),
    };
    ("mwcas", format!("[[{one},{a},{made}],[{other},{b},{made}]]"), answer)
}

fn kv(made: usize, rng: &mut fastrand::Rng) -> Call {
    let key = format!(r#""key":"{}""#, rng.u8(..100));
    let text = |number| format!(r#"{key},"value":"x {number} y""#);
    match rng.bool() {
        true => ("append", text(made), text(made)),
        false => ("get", format!(r#"{key},"value":null"#), text(recent(made, rng))),
    }
}
