//! `after`: recordings that say themselves what precedes what.

use linchpin_history::{OpId, Precedence};
use linchpin_ingest::{Format, IngestError, Order, ReadOptions, Reader, Recording, read_bytes};
use linchpin_spec::{Queue, Spec};

fn read_with(text: &str, change: impl Fn(&mut ReadOptions<'_>)) -> Result<Recording, IngestError> {
    let queue = Queue::default();
    let mut options = ReadOptions::new("queue", queue.operations());
    options.partial = true;
    change(&mut options);
    read_bytes(text.as_bytes(), &options)
}

fn read(text: &str) -> Result<Recording, IngestError> {
    read_with(text, |_| {})
}

/// The pairs from which the others follow.
fn steps(order: &Precedence) -> Vec<(usize, usize)> {
    order.steps().map(|(first, second)| (first.index(), second.index())).collect()
}

const TEXT: &str = r#"
{"process":"b","type":"invoke","f":"dequeue","after":[1]}
{"process":"a","type":"invoke","f":"enqueue","value":7,"op":1}
{"process":"b","type":"ok","f":"dequeue","value":7}
{"process":"a","type":"ok","f":"enqueue"}
{"process":"a","type":"invoke","f":"enqueue","value":8,"op":"x","after":[]}
{"process":"c","type":"invoke","f":"dequeue","after":["x","1"]}
{"process":"c","type":"ok","f":"dequeue","value":8}
"#;

#[test]
fn lines_of_different_processes_are_in_no_order() {
    let recording = read(TEXT).expect("reads");
    let order = recording.precedence.expect("is there");
    // By process: a's two. By `after`: 7 before both dequeues, 8 before the second.
    assert_eq!(steps(&order), [(1, 0), (1, 2), (2, 3)]);
    assert!(order.precedes(OpId::new(1), OpId::new(3)));
    assert!(!recording.history[OpId::new(2)].completed);
    assert_eq!(recording.places.line(recording.history[OpId::new(2)].invoked), Some(6));
    // The same in one array, and spread over lines.
    let objects: Vec<&str> = TEXT.trim().lines().collect();
    for text in [format!("[{}]", objects.join(",\n")), TEXT.replace(",\"type\"", ",\n\"type\"")] {
        assert_eq!(read(&text).expect("reads").precedence, Some(order.clone()));
    }
}

#[test]
fn without_after_nothing_changes() {
    let plain = TEXT.replace(",\"after\":[1]", "").replace(",\"after\":[]", "");
    let plain = plain.replace(",\"after\":[\"x\",\"1\"]", ",\"after\":null");
    let recording = read(&plain).expect("reads");
    assert_eq!(recording.precedence, None);
    // A value is no field.
    let value = plain.replace("\"value\":8", "\"value\":\"\\\"after\\\":[1]\"");
    assert_eq!(read(&value).expect("reads").precedence, None);
    assert_eq!(read(&value.replace("[1]", "")).expect("reads").precedence, None);
}

#[test]
fn what_did_not_happen_orders_the_others() {
    let text = TEXT
        .replace(
            r#"{"process":"a","type":"ok","f":"enqueue"}"#,
            r#"{"process":"a","type":"fail","f":"enqueue"}"#,
        )
        .replace(r#""op":1}"#, r#""op":1,"after":["y"]}"#)
        + r#"{"process":"d","type":"invoke","f":"enqueue","value":9,"op":"y"}"#;
    let recording = read(&text).expect("reads");
    assert_eq!(recording.history.operations.len(), 4);
    // Without it: 9 before all, 8 before the second dequeue.
    assert_eq!(steps(&recording.precedence.expect("is there")), [(3, 0), (3, 1), (1, 2)]);
}

#[test]
fn it_is_refused_where_it_is_not_looked_at() {
    let error =
        read_with(TEXT, |options| options.partial = false).expect_err("it is not looked at");
    assert!(matches!(error, IngestError::After { line: 2 }), "{error}");
    // Written in a way in which it is not found at once.
    for partial in [false, true] {
        let escaped = TEXT.replace("after", "\\u0061fter");
        let error = read_with(&escaped, |options| options.partial = partial);
        assert!(matches!(error, Err(IngestError::After { line: 2 })), "{error:?}");
    }
    let queue = Queue::default();
    let options = ReadOptions { partial: true, ..ReadOptions::new("queue", queue.operations()) };
    let mut reader = Reader::new(Format::JsonLines, &options);
    let mut lines = TEXT.trim().lines();
    let error = lines.find_map(|line| reader.push_line(line.as_bytes()).err());
    assert!(matches!(error, Some(IngestError::After { line: 1 })), "{error:?}");
}

#[test]
fn mistakes() {
    let of = |from: &str, to: &str| {
        assert!(TEXT.contains(from), "{from}");
        read(&TEXT.replace(from, to)).map(|_| ()).expect_err("a mistake").to_string()
    };
    assert_eq!(
        of("[1]", "[2]"),
        "line 2: `after` names the operation 2, but no call has this `op`"
    );
    assert_eq!(
        of("\"op\":\"x\"", "\"op\":1"),
        "line 6: there is an operation 1 already, called on line 3"
    );
    assert_eq!(
        of("\"op\":1", "\"op\":1,\"after\":[\"x\"]"),
        "line 2: this operation would come after itself, by way of others"
    );
    assert_eq!(of("[1]", "1"), "line 2: expected an `after` that is a list of operations, found 1");
    assert_eq!(
        of("[1]", "[1.5]"),
        "line 2: expected an operation that is named by a number or a string, found 1.5"
    );
    assert_eq!(
        of("\"op\":1", "\"op\":{}"),
        "line 3: expected an operation that is named by a number or a string, found {}"
    );
    assert_eq!(
        of("\"value\":7}\n{", "\"value\":7,\"after\":[]}\n{"),
        "line 4: expected `after` at a call, found it elsewhere"
    );
    let crash = TEXT.to_owned() + r#"{"type":"crash"}"#;
    assert!(matches!(read(&crash), Err(IngestError::AfterAndCrash { line: 2 })));
    let timed = TEXT.replace("\"process\"", "\"time\":1,\"process\"");
    let error = read_with(&timed, |options| options.order = Order::Time).expect_err("two orders");
    assert!(matches!(error, IngestError::AfterAndTime { line: 2 }), "{error}");
    let drain = TEXT.to_owned()
        + r#"{"process":"e","type":"invoke","f":"drain"}
{"process":"e","type":"ok","f":"drain","value":[1,2,3]}"#;
    assert!(matches!(read(&drain), Err(IngestError::AfterAndDrain)));
}

#[test]
fn there_are_at_most_64() {
    let call = |at: usize| {
        format!(r#"{{"process":{at},"type":"invoke","f":"dequeue","op":{at},"after":[]}}"#)
    };
    let text = |count: usize| (0..count).map(|at| call(at) + "\n").collect::<String>();
    assert_eq!(read(&text(64)).expect("reads").precedence.map(|order| order.len()), Some(64));
    let error = read(&text(65)).expect_err("too many").to_string();
    assert_eq!(
        error,
        "a history with a partial order can have at most 64 operations, and this one has 65"
    );
}
