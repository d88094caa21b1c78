//! Choices in reading: keys, unknown reads, the order of events, and what is an event of a log.

use linchpin_ingest::{
    Format, IngestError, NilReads, Order, ReadOptions, Reader, Recording, Remark,
};
use linchpin_spec::builtin;

fn read(spec: &str, text: &str) -> Result<Recording, IngestError> {
    read_as(spec, text, |_| ())
}

fn read_as(
    spec: &str,
    text: &str,
    set: impl Fn(&mut ReadOptions<'_>),
) -> Result<Recording, IngestError> {
    let object = builtin(spec, None).expect("a specification");
    let mut options = ReadOptions::new(spec, object.operations());
    set(&mut options);
    linchpin_ingest::read_bytes(text.as_bytes(), &options)
}

/// The operations in a few words: process, value, answer, and when.
fn shown(recording: &Recording) -> Vec<String> {
    let history = &recording.history;
    let operation = |id| {
        let (call, answer) = (history.call(id), history.response(id));
        let answer = answer.map_or_else(|| "?".to_owned(), |answer| answer.to_string());
        let op = &history[id];
        let returned = if op.completed { op.returned.to_string() } else { String::new() };
        let process = history.process_name(op.process);
        format!("{process} {} -> {answer} [{}, {returned}]", call.argument, op.invoked)
    };
    history.ids().map(operation).collect()
}

/// The events `(process, type, f, value)` as EDN.
fn edn(events: &[(u32, &str, &str, &str)]) -> String {
    let line = |(process, kind, f, value): &(u32, &str, &str, &str)| {
        format!("{{:process {process}, :type :{kind}, :f :{f}, :value {value}}}\n")
    };
    events.iter().map(line).collect()
}

/// A call and its answer.
fn both(spec: &str, f: &str, argument: &str, response: &str) -> Result<Recording, IngestError> {
    read(spec, &edn(&[(0, "invoke", f, argument), (0, "ok", f, response)]))
}

#[test]
fn pairs_are_found_from_all_events() {
    // Nothing but pairs, which could be plain values: it is said which.
    let text = edn(&[
        (0, "invoke", "write", "[0 1]"),
        (0, "ok", "write", "[0 1]"),
        (1, "invoke", "cas", "[1 [nil 2]]"),
        (1, "ok", "cas", "[1 [nil 2]]"),
    ]);
    let recording = read("cas-register", &text).unwrap();
    assert!(recording.has_keys);
    assert_eq!(recording.remarks, [Remark::ReadAsPairs]);
    let plain = read_as("cas-register", &text, |options| options.keyed = Some(false)).unwrap();
    assert!(!plain.has_keys && plain.remarks.is_empty());
    // One call that has none tells, however late.
    let late = text.clone() + &edn(&[(0, "invoke", "read", "nil")]);
    let recording = read("cas-register", &late).unwrap();
    assert!(!recording.has_keys && recording.remarks.is_empty());
    // The answer of a set tells.
    let recording = both("set", "add", "[0 5]", "[0 true]").unwrap();
    assert!(recording.has_keys && recording.remarks.is_empty());
    for (spec, f, argument, response) in [
        ("queue", "dequeue", "[0 nil]", "[0 5]"),
        ("queue", "dequeue", "[0 nil]", "[0 nil]"),
        ("stack", "pop", "[:a nil]", "[:a 1]"),
        ("counter", "add", "[0 5]", "[0 5]"),
        ("mutex", "acquire", "[0 nil]", "[0 nil]"),
        ("priority-queue", "remove-min", "[\"x\" nil]", "[\"x\" 5]"),
        ("register", "read", "[7 nil]", "[7 1]"),
    ] {
        let recording =
            both(spec, f, argument, response).unwrap_or_else(|error| panic!("{spec}: {error}"));
        assert!(recording.has_keys && recording.remarks.is_empty(), "{spec} {f}");
    }
}

#[test]
fn plain_values_that_are_pairs() {
    let recording = both("cas-register", "cas", "[1 2]", "[1 2]").unwrap();
    assert!(!recording.has_keys && recording.remarks.is_empty());
    let recording = both("register", "write", "[1 2]", "[1 2]").unwrap();
    assert!(recording.has_keys);
    assert_eq!(recording.remarks, [Remark::ReadAsPairs]);
    // The answer is about another key: plain values fit, and it is said.
    let recording = both("register", "write", "[1 2]", "[2 2]").unwrap();
    assert!(!recording.has_keys);
    assert_eq!(recording.remarks, [Remark::MayBePairs]);
}

#[test]
fn where_neither_reading_fits_the_one_that_got_further_is_refused() {
    let text = edn(&[
        (0, "invoke", "read", "[0 nil]"),
        (0, "ok", "read", "[0 1]"),
        (0, "invoke", "write", "5"),
    ]);
    let error = read("register", &text).unwrap_err();
    assert_eq!(error.to_string(), "line 3: expected a pair of key and value, found 5");
}

#[test]
fn streams_decide_by_the_first_doubtless_event() {
    let object = builtin("register", None).unwrap();
    let options = ReadOptions::new("register", object.operations());
    let stream = |text: &str| {
        let mut reader = Reader::new(Format::JepsenEdn, &options);
        for line in text.lines() {
            reader.push_line(line.as_bytes())?;
        }
        reader.finish()
    };
    let writes = edn(&[(0, "invoke", "write", "[0 1]"), (0, "ok", "write", "[0 1]")]);
    let undecided = stream(&writes).unwrap();
    assert!(!undecided.has_keys);
    assert_eq!(undecided.remarks, [Remark::MayBePairs]);
    let late = writes + &edn(&[(0, "invoke", "read", "[0 nil]")]);
    assert!(matches!(stream(&late), Err(IngestError::LateKeys { line: 3, .. })));
    let plain = edn(&[(0, "invoke", "write", "1"), (0, "ok", "write", "1")]);
    assert!(stream(&plain).unwrap().remarks.is_empty());
}

#[test]
fn reads_of_null() {
    let text = edn(&[
        (0, "invoke", "write", "1"),
        (0, "ok", "write", "1"),
        (0, "invoke", "read", "nil"),
        (0, "ok", "read", "nil"),
        (1, "invoke", "read", "nil"),
        (1, "ok", "read", "1"),
    ]);
    let recording = read("register", &text).unwrap();
    assert_eq!(recording.remarks, [Remark::UnknownReads { count: 1 }]);
    assert_eq!(recording.history.operations.len(), 2);
    let value = |options: &mut ReadOptions<'_>| options.nil_reads = Some(NilReads::Value);
    let recording = read_as("register", &text, value).unwrap();
    assert_eq!((recording.remarks.len(), recording.history.operations.len()), (0, 3));
    // A queue that answers `null` is empty.
    let recording = both("queue", "dequeue", "nil", "nil").unwrap();
    assert_eq!((recording.remarks.len(), recording.history.operations.len()), (0, 1));
    // With keys, and in a log, where the answer is one unless it is said otherwise.
    let recording = both("cas-register", "read", "[0 nil]", "[0 nil]").unwrap();
    assert_eq!(recording.remarks, [Remark::UnknownReads { count: 1 }]);
    let log = "0 :invoke :read nil\n0 :ok :read nil\n";
    assert_eq!(read("register", log).unwrap().completed, 1);
    let unknown = |options: &mut ReadOptions<'_>| options.nil_reads = Some(NilReads::Unknown);
    assert_eq!(read_as("register", log, unknown).unwrap().completed, 0);
}

#[test]
fn times_order_events() {
    let event = |line: &str, time: u32| format!("{{{line}, :time {time}}}\n");
    let text = [
        event(":process 0, :type :invoke, :f :write, :value 1", 10),
        event(":process 0, :type :ok, :f :write, :value 1", 30),
        event(":process 1, :type :invoke, :f :read, :value nil", 20),
        event(":process 1, :type :ok, :f :read, :value 7", 40),
        event(":process 2, :type :invoke, :f :read, :value nil", 30),
    ]
    .concat();
    let recording = read("register", &text).unwrap();
    assert_eq!(recording.remarks, [Remark::TimesGoBack { count: 2, line: 3 }]);
    let by_time = |options: &mut ReadOptions<'_>| options.order = Order::Time;
    let recording = read_as("register", &text, by_time).unwrap();
    assert!(recording.remarks.is_empty());
    assert_eq!(
        shown(&recording),
        ["0 1 -> null [0, 3]", "1 null -> 7 [1, 4]", "2 null -> ? [2, ]",]
            .map(|line| line.to_owned())
    );
    let lines: Vec<_> =
        (0..5).map(|at| recording.places.line(linchpin_history::Rank::new(at))).collect();
    assert_eq!(lines, [1, 3, 5, 2, 4].map(Some));
    let back = text.replace(":time 40", ":time 15");
    let error = read_as("register", &back, by_time).unwrap_err();
    assert!(matches!(error, IngestError::TimeGoesBack { line: 4, since: 3, .. }), "{error}");
    let without = text.replace(", :time 40", "");
    let error = read_as("register", &without, by_time).unwrap_err();
    assert!(matches!(error, IngestError::NoTime { line: 4 }), "{error}");
    let error = read_as("register", "0 :invoke :read nil\n", by_time).unwrap_err();
    assert!(matches!(error, IngestError::FormatWithoutTime { format: Format::JepsenLog }));
}

#[test]
fn a_process_that_answers_and_calls_at_one_time() {
    let event = |process: u32, kind: &str, value: &str| {
        format!("{{:process {process}, :type :{kind}, :f :write, :value {value}, :time 5}}\n")
    };
    let text = [
        event(0, "invoke", "1"),
        event(0, "ok", "1"),
        event(0, "invoke", "2"),
        event(0, "ok", "2"),
        event(1, "invoke", "3"),
        event(1, "ok", "3"),
    ]
    .concat();
    let recording = read_as("register", &text, |options| options.order = Order::Time).unwrap();
    assert_eq!(
        shown(&recording),
        ["0 1 -> null [0, 2]", "1 3 -> null [1, 3]", "0 2 -> null [4, 5]"]
            .map(|line| line.to_owned())
    );
}

#[test]
fn logs_with_blanks_and_tabs() {
    let text = "INFO  jepsen.core - Worker 3 starting\n\
        INFO  jepsen.util - 3  :invoke  :write  2\n\
        INFO  jepsen.util - 4\t:invoke\t:cas\t[1 2]\n\
        3 :ok :write 2\n\
        \tat jepsen.util$fn.invoke(util.clj:3)\n\
        WARN  the answer was :ok as it should be\n\
        {:type :ok :f :read :value 3}\n\
        INFO  jepsen.util - :nemesis  :info  :start  nil\n\
        :nemesis :info :stop [:n1 \"cut off\n\
        4 :fail :cas :timed-out because of that\n\
        a :invoke :read nil\n";
    assert_eq!(Format::detect(text.as_bytes()), Some(Format::JepsenLog));
    let recording = read("cas-register", text).unwrap();
    assert_eq!(shown(&recording).len(), 2);
    assert_eq!((recording.failed, recording.skipped_lines), (1, 6));
    let beside: Vec<_> = recording
        .annotations
        .iter()
        .map(|beside| format!("{} {} {}", beside.line, beside.name, beside.value))
        .collect();
    assert_eq!(beside, ["8 start ", "9 stop \"[:n1 \\\"cut off\""]);
}

/// What is said of a line that is almost an event.
const ALMOST: &str = "line 2, column 1: expected a type such as `:ok` between blanks, found `3";

#[test]
fn lines_of_logs_that_look_like_events_are_not_skipped() {
    let first = "3 :invoke :write 2\n";
    for (line, message) in [
        ("3 :ok :frobnicate 2", "line 2: the specification has no operation `frobnicate`"),
        ("3 :ok", "line 2, column 6: expected an operation such as `:read`, found nothing"),
        (
            "worker 3 :ok write 2",
            "line 2, column 14: expected an operation such as `:read`, found `write 2`",
        ),
        (
            "INFO jepsen.util - 3 :ok done",
            "line 2, column 26: expected an operation such as `:read`, found `done`",
        ),
        (
            ":ok :write 2",
            "line 2, column 1: expected a process before the type, found `:ok :write 2`",
        ),
        (
            "the client got :ok :write",
            "line 2, column 1: expected a process before the type, found `the client",
        ),
        ("3 ok :write 2", ALMOST),
        ("3 :OK :write 2", ALMOST),
        ("3 :okk :write 2", ALMOST),
        ("3\t:done\t:write\t2", ALMOST),
        ("3:ok :write 2", ALMOST),
        ("3, :ok, :write, 2", ALMOST),
        ("3\u{a0}:ok :write 2", ALMOST),
        ("3 :ok :write [1 2", "line 2, column 18: expected a closing bracket, found nothing"),
        ("b :ok :write 2", "line 2: process b"),
        ("4 :invoke :cas 3", "line 2: `cas` takes"),
    ] {
        let error = read("cas-register", &format!("{first}{line}\n")).unwrap_err().to_string();
        assert!(error.starts_with(message), "{line}: {error}");
    }
    for line in [
        "3 times :ok",
        ":ok :frobnicate",
        "3 :done :frobnicate",
        "the :last :write",
        "{:process 0 :type :ok :f :read}",
        "a took :ok 3",
    ] {
        let recording = read("cas-register", &format!("{first}{line}\n")).unwrap();
        assert_eq!((recording.skipped_lines, recording.completed), (1, 0), "{line}");
    }
}

#[test]
fn a_log_without_an_event_is_no_history() {
    let as_log = |options: &mut ReadOptions<'_>| options.format = Some(Format::JepsenLog);
    for text in ["", "INFO jepsen.core - starting\n", ":nemesis :info :start nil\n"] {
        let read = read_as("register", text, as_log);
        assert!(matches!(read, Err(IngestError::NoEvent)), "{text}");
    }
    assert_eq!(read("register", "\n").unwrap().history.operations.len(), 0);
}
