//! Where events stand, and what the log says beside them.

use linchpin_history::Rank;
use linchpin_ingest::{Format, ReadOptions, Reader, Recording, read_bytes};
use linchpin_spec::{Queue, Register, Signature, Spec, Stack};

fn read(text: &str, spec: &str, operations: &[Signature]) -> Recording {
    read_bytes(text.as_bytes(), &ReadOptions::new(spec, operations)).expect("it can be read")
}

/// The lines of all events, in their order.
fn lines(recording: &Recording) -> Vec<u64> {
    (0..).map_while(|rank| recording.places.line(Rank::new(rank))).collect()
}

#[test]
fn every_format_has_lines() {
    let queue = Queue::default().operations().to_vec();
    let register = Register::default().operations().to_vec();
    let stack = Stack::default().operations().to_vec();
    let json = r#"
{"process":0,"type":"invoke","f":"enqueue","value":1}

{"process":0,"type":"step","f":"enqueue","value":1}
{"process":0,"type":"ok","f":"enqueue"}
{"process":1,"type":"invoke","f":"dequeue"}
{"process":1,"type":"info","f":"dequeue"}
{"type":"crash"}
{"process":2,"type":"invoke","f":"enqueue","value":5}
{"process":2,"type":"fail","f":"enqueue"}
"#;
    assert_eq!(lines(&read(json, "queue", &queue)), [2, 5, 6, 7, 8, 9, 10]);
    let array = "[\n{\"process\":0,\"type\":\"invoke\",\n\"f\":\"enqueue\",\"value\":1},\n\n\
        {\"process\":0,\n\"type\":\"ok\",\"f\":\"enqueue\"}]";
    assert_eq!(lines(&read(array, "queue", &queue)), [2, 5]);
    let edn = "[{:process 0, :type :invoke,\n  :f :write, :value 1}\n ; a comment\n\
        {:process 0, :type :ok, :f :write, :value 1} {:process 1\n:type :invoke :f :read}]";
    assert_eq!(lines(&read(edn, "register", &register)), [1, 4, 4]);
    let log = "INFO  jepsen.core - begin\nINFO  jepsen.util - 0\t:invoke\t:write\t1\n\
        INFO  jepsen.util - 0\t:ok\t:write\t1\n";
    assert_eq!(lines(&read(log, "register", &register)), [2, 3]);
    let kv = linchpin_spec::builtin("kv", None).expect("a key-value store").operations().to_vec();
    let porcupine = "{:process 0, :type :invoke, :f :put, :key \"0\", :value \"x\"}\n\n\
        {:process 0, :type :ok, :f :put, :key \"0\", :value \"x\"}\n";
    assert_eq!(lines(&read(porcupine, "kv", &kv)), [1, 3]);
    // Lines in no order; one process would do but for the overlap.
    let fastlin = "# queue\n\ndeq 1 5 6\nenq 1 1 2\n\nenq x 2 9\n";
    assert_eq!(lines(&read(fastlin, "queue", &queue)), [4, 6, 4, 3, 3, 6]);
    let limo = "# @object atomic-stack\n[1] call push(3)\n\n[1] return\ncrash\n[2] call pop\n";
    assert_eq!(lines(&read(limo, "stack", &stack)), [2, 4, 5, 6]);
}

#[test]
fn lines_outlive_what_is_forgotten() {
    let queue = Queue::default().operations().to_vec();
    let mut reader = Reader::new(Format::JsonLines, &ReadOptions::new("queue", &queue));
    for line in [
        r#"{"process":0,"type":"invoke","f":"enqueue","value":1}"#,
        r#"{"process":1,"type":"invoke","f":"enqueue","value":2}"#,
        r#"{"process":0,"type":"ok","f":"enqueue"}"#,
    ] {
        reader.push_line(line.as_bytes()).expect("an event");
    }
    reader.forget_returned();
    reader.push_line(br#"{"process":1,"type":"ok","f":"enqueue"}"#).expect("an event");
    let recording = reader.finish().expect("a recording");
    let line = |rank| recording.places.line(Rank::new(rank));
    assert_eq!([line(0), line(1), line(2), line(3), line(4)], [None, Some(2), None, Some(4), None]);
}

#[test]
fn times_are_kept_where_all_have_one() {
    let register = Register::default().operations().to_vec();
    let edn = "{:process 0, :type :invoke, :f :write, :value 1, :time 10}\n\
        {:process :nemesis, :type :info, :f :start, :value [:n1 :n2], :time 15}\n\
        {:process 0, :type :ok, :f :write, :value 1, :time 20}\n";
    let recording = read(edn, "register", &register);
    let time = |rank| recording.places.time(Rank::new(rank));
    assert_eq!([time(0), time(1), time(2)], [Some(10), Some(20), None]);
    let [annotation] = &recording.annotations[..] else { panic!("one annotation") };
    assert_eq!((annotation.before, annotation.line), (Rank::new(1), 2));
    assert_eq!((annotation.time, &*annotation.process), (Some(15), "nemesis"));
    assert_eq!((&*annotation.name, &*annotation.value), ("start", r#"["n1", "n2"]"#));
    let one_without = edn.replace(", :time 20", "");
    let recording = read(&one_without, "register", &register);
    assert!(!recording.places.has_times());
    assert_eq!(recording.places.time(Rank::new(0)), None);
}

#[test]
fn what_happens_beside_is_an_annotation() {
    let register = Register::default().operations().to_vec();
    let text = "{:process :killer, :type :info, :f :kill, :value nil}\n\
        {:process 0, :type :invoke, :f :write, :value 1}\n\
        {:process :killer, :type :info, :f :kill, :value :n1}\n";
    let recording = read(text, "register", &register);
    let told: Vec<_> = recording
        .annotations
        .iter()
        .map(|beside| {
            format!("{} {} {} {}", beside.line, beside.before.index(), beside.name, beside.value)
        })
        .collect();
    assert_eq!(told, ["1 0 kill ", "3 1 kill \"n1\""]);
    // The answer of a process that called nothing is wrong all the same.
    let wrong = "{:process :a, :type :info, :f :write, :value 1}\n";
    let options = ReadOptions::new("register", &register);
    assert!(read_bytes(wrong.as_bytes(), &options).is_err());
}

#[test]
fn annotations_are_bounded() {
    let register = Register::default().operations().to_vec();
    let text = "{:process :nemesis, :type :info, :f :start, :value nil}\n".repeat(10_003);
    let recording = read(&text, "register", &register);
    assert_eq!(recording.annotations.len(), 10_000);
    assert!(recording.notes.iter().any(|note| note.contains("3 more are not shown")));
}
