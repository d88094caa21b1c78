//! How fast each format is read: the same kind of history as text of every shape that recorders
//! write, and the best of several times that it takes to read it; and what each fast path brings.

use fastrand::Rng;
use linchpin_ingest::{FastPath, Format, ReadOptions, read_bytes};
use std::fmt::Write;
use std::time::Instant;

/// Times are taken so often, and the best counts: the others say what else the machine was doing.
const ROUNDS: usize = 8;

/// One shape of text. It is written when it is its turn: texts of millions of operations are large.
struct Text<'a> {
    name: &'static str,
    spec: &'static str,
    format: Format,
    write: Box<dyn Fn() -> String + 'a>,
}

/// The histories that are written.
struct Histories {
    register: Vec<Seen>,
    queue: Vec<Seen>,
    kv: Vec<Seen>,
}

impl Histories {
    fn new(operations: usize) -> Histories {
        Histories {
            register: events(operations, "write", "read"),
            queue: events(operations, "enqueue", "dequeue"),
            kv: events(operations, "append", "get"),
        }
    }
}

/// Prints a row for every shape of every format whose name begins so.
pub fn print(operations: usize, beginning: &str) {
    println!(
        "Reading {operations} operations, the best of {ROUNDS} times: on one thread in time of"
    );
    println!("the processor, on two in time that passed.\n");
    println!("{:<44}{:>8}{:>10}{:>10}{:>12}", "text", "MB", "MB/s", "ns/event", "bytes/event");
    let histories = Histories::new(operations);
    for text in texts(&histories).into_iter().filter(|text| text.name.starts_with(beginning)) {
        let written = (text.write)();
        let row = |name, seconds: f64| {
            let (bytes, events) = (written.len() as f64, 2.0 * operations as f64);
            println!(
                "{name:<44}{:>8.1}{:>10.0}{:>10.0}{:>12.1}",
                bytes / 1e6,
                bytes / 1e6 / seconds,
                seconds / events * 1e9,
                bytes / events
            );
        };
        let [alone] = best_seconds(&text, &written, operations, on_processor, [&ALONE]);
        row(text.name, alone);
        if has(&text, FastPath::Ahead) {
            let [two] = best_seconds(&text, &written, operations, passed, [&[]]);
            row("  on two threads", two);
        }
    }
}

/// On one thread.
const ALONE: [FastPath; 1] = [FastPath::Ahead];

/// Prints how long reading takes with all fast paths and, for each that the format has, without it.
pub fn print_fast_paths(operations: usize, beginning: &str) {
    println!("Reading {operations} operations: nanoseconds an event with all fast paths, and how");
    println!("many times as long it takes without each, on one thread in time of the processor.");
    println!(
        "Ahead: how many times as long passes on one thread as on two. The best of {ROUNDS}.\n"
    );
    println!(
        "{:<44}{:>6}{:>9}{:>11}{:>7}{:>7}{:>7}{:>7}{:>7}",
        "text", "ns", "scanner", "templates", "uncut", "lines", "plans", "usual", "ahead"
    );
    let histories = Histories::new(operations);
    for text in texts(&histories).into_iter().filter(|text| text.name.starts_with(beginning)) {
        let written = (text.write)();
        let without = FastPath::ALL.map(|path| [FastPath::Ahead, path]);
        let without = without.each_ref().map(|paths| &paths[..]);
        let mut seconds = best_seconds(&text, &written, operations, on_processor, without);
        // The last is `Ahead`, without which the others were measured.
        let [.., all] = seconds;
        if has(&text, FastPath::Ahead) {
            let times = best_seconds(&text, &written, operations, passed, [&ALONE, &[]]);
            seconds[FastPath::ALL.len() - 1] = all * times[0] / times[1];
        }
        print!("{:<44}{:>6.0}", text.name, all / (2.0 * operations as f64) * 1e9);
        for ((path, seconds), width) in
            FastPath::ALL.into_iter().zip(seconds).zip([9, 11, 7, 7, 7, 7, 7])
        {
            match has(&text, path) {
                true => print!("{:>width$.2}", seconds / all),
                false => print!("{:>width$}", "-"),
            }
        }
        println!();
    }
}

/// Whether there is a fast path for a text.
fn has(text: &Text<'_>, path: FastPath) -> bool {
    let format = text.format;
    match path {
        FastPath::Scanner => !matches!(format, Format::Fastlin | Format::Limo),
        FastPath::Templates => {
            matches!(format, Format::JsonLines | Format::JepsenEdn | Format::PorcupineKv)
        }
        FastPath::Uncut => matches!(format, Format::JepsenEdn | Format::PorcupineKv),
        FastPath::Lines => matches!(format, Format::Fastlin | Format::Limo),
        FastPath::Plans => format == Format::Fastlin,
        FastPath::Usual => !matches!(format, Format::Fastlin | Format::Limo),
        FastPath::Ahead => text.name.starts_with("json-lines"),
    }
}

/// Seconds by a clock that reading takes without these fast paths. All are measured in turn, so
/// that what else the machine does disturbs all alike.
fn best_seconds<const N: usize>(
    text: &Text<'_>,
    written: &str,
    operations: usize,
    clock: fn() -> f64,
    left_out: [&[FastPath]; N],
) -> [f64; N] {
    let object = linchpin_spec::builtin(text.spec, None).expect("a specification");
    let options = ReadOptions::new(text.spec, object.operations());
    let bytes = written.as_bytes();
    assert_eq!(Format::detect(bytes), Some(text.format), "{}", text.name);
    let mut best = [f64::INFINITY; N];
    for _ in 0..ROUNDS {
        for (best, left_out) in best.iter_mut().zip(left_out) {
            let start = clock();
            let recording = FastPath::without(left_out, || read_bytes(bytes, &options));
            *best = best.min(clock() - start);
            let read = recording.expect(text.name).history.operations.len();
            assert_eq!(read, operations, "{}", text.name);
        }
    }
    best
}

/// Seconds that have passed.
fn passed() -> f64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// Seconds that this thread has run, where the system tells (other programs may be using the
/// machine), or that have passed.
fn on_processor() -> f64 {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let on_cpu = statistics.split(' ').next().and_then(|nanoseconds| nanoseconds.parse().ok());
    on_cpu.map_or_else(passed, |nanoseconds: f64| nanoseconds / 1e9)
}

const PROCESSES: usize = 16;

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

fn texts(histories: &Histories) -> Vec<Text<'_>> {
    let Histories { register, queue, kv } = histories;
    let mut texts = Vec::new();
    let mut add = |name, spec, format, write: Box<dyn Fn() -> String>| {
        texts.push(Text { name, spec, format, write });
    };
    add("json-lines, queue", "queue", Format::JsonLines, Box::new(|| json_lines(queue)));
    add(
        "json-lines, register, with time and index",
        "register",
        Format::JsonLines,
        Box::new(|| json_timed(register)),
    );
    add(
        "json-lines, kv (keys and values strings)",
        "kv",
        Format::JsonLines,
        Box::new(|| json_kv(kv)),
    );
    add(
        "json array, queue",
        "queue",
        Format::JsonLines,
        Box::new(|| "[".to_owned() + &json_lines(queue).trim_end().replace('\n', ",\n") + "]\n"),
    );
    let edn = Format::JepsenEdn;
    add(
        "jepsen-edn, a map a line, time and index",
        "register",
        edn,
        Box::new(|| edn_lines(register)),
    );
    add("jepsen-edn, vector, a map a line", "register", edn, Box::new(|| edn_vector(register)));
    add("jepsen-edn, list on one line", "register", edn, Box::new(|| edn_list(register)));
    add("jepsen-edn, [key value]", "register", edn, Box::new(|| edn_tuples(register)));
    add(
        "jepsen-edn, tagged maps",
        "register",
        edn,
        Box::new(|| edn_lines(register).replace("{:type", "#jepsen.history.Op{:type")),
    );
    add(
        "jepsen-edn, a field a line",
        "register",
        edn,
        Box::new(|| edn_lines(register).replace(", ", ",\n ")),
    );
    add("porcupine-kv", "kv", Format::PorcupineKv, Box::new(|| porcupine(kv)));
    add("jepsen-log", "register", Format::JepsenLog, Box::new(|| log(register)));
    add("jepsen-log, with dates", "register", Format::JepsenLog, Box::new(|| dated_log(register)));
    add("fastlin, queue", "queue", Format::Fastlin, Box::new(|| fastlin(queue, 1)));
    add(
        "fastlin, queue, times in nanoseconds",
        "queue",
        Format::Fastlin,
        Box::new(|| fastlin(queue, 12_345)),
    );
    add("limo, queue", "queue", Format::Limo, Box::new(|| limo(queue, false)));
    add("limo, queue, answers in the calls", "queue", Format::Limo, Box::new(|| limo(queue, true)));
    texts
}

fn json_lines(events: &[Seen]) -> String {
    written(events, |out, _, event| {
        let (kind, value) = (kind(event), value(event, "null"));
        let (f, process) = (event.f, event.process);
        let _ =
            writeln!(out, r#"{{"process":{process},"type":"{kind}","f":"{f}","value":{value}}}"#);
    })
}

fn json_timed(events: &[Seen]) -> String {
    written(events, |out, at, event| {
        let (kind, f, process, value) = (kind(event), event.f, event.process, value(event, "null"));
        let time = 1_000_000 + at * 12_345;
        let _ = writeln!(
            out,
            r#"{{"index": {at}, "time": {time}, "type": "{kind}", "process": {process}, "f": "{f}", "value": {value}}}"#
        );
    })
}

/// A value of the key-value store between quotes, or what stands for none.
fn quoted(event: &Seen, none: &str) -> String {
    let process = event.process;
    event.value.map_or(none.to_owned(), |value| format!("\"x {process} {value} y\""))
}

fn json_kv(events: &[Seen]) -> String {
    written(events, |out, _, event| {
        let (kind, f, process, value) =
            (kind(event), event.f, event.process, quoted(event, "null"));
        let key = process / 2;
        let _ = writeln!(
            out,
            r#"{{"process":{process},"type":"{kind}","f":"{f}","key":"{key}","value":{value}}}"#
        );
    })
}

fn edn_lines(events: &[Seen]) -> String {
    written(events, |out, at, event| {
        edn(out, at, event);
        out.push('\n');
    })
}

fn edn_vector(events: &[Seen]) -> String {
    let maps = written(events, |out, at, event| {
        out.push_str(if at == 0 { "[" } else { "\n " });
        short_edn(out, event);
    });
    maps + "]\n"
}

fn edn_list(events: &[Seen]) -> String {
    let maps = written(events, |out, at, event| {
        out.push_str(if at == 0 { "(" } else { " " });
        edn(out, at, event);
    });
    maps + ")\n"
}

fn edn_tuples(events: &[Seen]) -> String {
    written(events, |out, at, event| {
        let (kind, f, process) = (kind(event), event.f, event.process);
        let (key, value) = (process / 2, value(event, "nil"));
        let time = 1_000_000 + at * 12_345;
        let _ = writeln!(
            out,
            "{{:type :{kind}, :f :{f}, :value [{key} {value}], :process {process}, :time {time}, :index {at}}}"
        );
    })
}

fn porcupine(events: &[Seen]) -> String {
    written(events, |out, _, event| {
        let (kind, f, process, value) = (kind(event), event.f, event.process, quoted(event, "nil"));
        let key = process / 2;
        let _ = writeln!(
            out,
            "{{:process {process}, :type :{kind}, :f :{f}, :key \"{key}\", :value {value}}}"
        );
    })
}

fn log(events: &[Seen]) -> String {
    written(events, |out, _, event| {
        let (kind, f, process, value) = (kind(event), event.f, event.process, value(event, "nil"));
        let _ = writeln!(out, "INFO  jepsen.util - {process}\t:{kind}\t:{f}\t{value}");
    })
}

fn dated_log(events: &[Seen]) -> String {
    written(events, |out, at, event| {
        let (kind, f, process, value) = (kind(event), event.f, event.process, value(event, "nil"));
        let (second, milli) = (at / 1000 % 60, at % 1000);
        let _ = writeln!(
            out,
            "2026-02-03 04:05:{second:02},{milli:03}{{GMT}}\tINFO\t[jepsen worker {process}] jepsen.util: {process}\t:{kind}\t:{f}\t{value}"
        );
    })
}

/// Calls and returns. What a dequeue answers is said when it returns, or already when it is called.
fn limo(events: &[Seen], in_advance: bool) -> String {
    let mut answers = vec![String::new(); events.len()];
    let mut called = [0; PROCESSES];
    for (at, event) in events.iter().enumerate() {
        match event.is_call {
            true => called[event.process] = at,
            false => answers[called[event.process]] = value(event, ""),
        }
    }
    let lines = written(events, |out, at, event| {
        let process = event.process;
        let _ = match (event.is_call, event.f) {
            (true, "enqueue") => writeln!(out, "[{process}] call enqueue({})", value(event, "")),
            (true, _) if in_advance => writeln!(out, "[{process}] call dequeue({})", answers[at]),
            (true, _) => writeln!(out, "[{process}] call dequeue()"),
            (false, "dequeue") if !in_advance => {
                writeln!(out, "[{process}] return {}", value(event, ""))
            }
            (false, _) => writeln!(out, "[{process}] return"),
        };
    });
    "# @object atomic-queue\n".to_owned() + &lines
}

/// Complete operations with time stamps so far apart, in the order of their ends.
fn fastlin(events: &[Seen], apart: usize) -> String {
    let mut starts = [0; PROCESSES];
    let mut out = "# queue\n".to_owned();
    for (at, event) in events.iter().enumerate() {
        let stamp = at * apart;
        match event.is_call {
            true => starts[event.process] = stamp,
            false => {
                let name = if event.f == "enqueue" { "enq" } else { "deq" };
                let start = starts[event.process];
                let _ = writeln!(out, "{name} {} {start} {stamp}", value(event, "-1"));
            }
        }
    }
    out
}
