//! The workloads of Jepsen, as it writes them: read and judged.

use linchpin_history::{CheckOptions, Judgement, Object, Rank, check};
use linchpin_ingest::{Format, IngestError, ReadOptions, Reader, Recording, read_bytes};
use linchpin_spec::Value;

fn read(text: &str, object: &Object) -> Result<Recording, IngestError> {
    read_bytes(text.as_bytes(), &ReadOptions::new(&object.name, object.spec.operations()))
}

/// Whether the recording can be explained.
fn holds(text: &str, spec: &str, init: Option<Value>) -> bool {
    let object = Object::builtin(spec, init).expect("a built-in specification");
    let mut recording = read(text, &object).expect("it can be read");
    match check(&object, &mut recording.history, &CheckOptions::default()) {
        Ok(checked) => match checked.judgement {
            Judgement::Holds(_) => true,
            Judgement::Violated(_) => false,
            Judgement::Inconclusive(why) => panic!("{why}"),
        },
        Err(error) => panic!("{error}"),
    }
}

/// EDN of events `(process, type, f, value)`.
fn edn(events: &[(u32, &str, &str, &str)]) -> String {
    let event = |(process, kind, f, value): &(u32, &str, &str, &str)| {
        format!("{{:process {process}, :type :{kind}, :f :{f}, :value {value}}}\n")
    };
    events.iter().map(event).collect()
}

#[test]
fn list_append() {
    let text = |last: &str| {
        edn(&[
            (0, "invoke", "txn", "[[:append 5 1] [:r 6 nil]]"),
            (1, "invoke", "txn", "[[:append 5 2]]"),
            (0, "ok", "txn", "[[:append 5 1] [:r 6 []]]"),
            (1, "info", "txn", "[[:append 5 2]]"),
            (2, "invoke", "txn", "[[:r 5 nil]]"),
            (2, "ok", "txn", last),
        ])
    };
    for (last, expected) in
        [("[[:r 5 [1]]]", true), ("[[:r 5 [2 1]]]", true), ("[[:r 5 [2]]]", false)]
    {
        assert_eq!(holds(&text(last), "list-append", None), expected, "{last}");
    }
}

#[test]
fn rw_register() {
    let text = |read: &str| {
        edn(&[
            (0, "invoke", "txn", "[[:w :x 2] [:r :y nil]]"),
            (0, "ok", "txn", "[[:w :x 2] [:r :y nil]]"),
            (1, "invoke", "txn", "[[:read :x nil]]"),
            (1, "ok", "txn", read),
        ])
    };
    assert!(holds(&text("[[:read :x 2]]"), "rw-register", None));
    assert!(!holds(&text("[[:read :x 3]]"), "rw-register", None));
}

#[test]
fn sets_with_reads_of_everything() {
    let text = |read: &str| {
        edn(&[
            (0, "invoke", "add", "0"),
            (0, "ok", "add", "0"),
            (1, "invoke", "add", "1"),
            (1, "info", "add", "1"),
            (2, "invoke", "add", "2"),
            (2, "fail", "add", "2"),
            (3, "invoke", "read", "nil"),
            (3, "ok", "read", read),
        ])
    };
    let reads =
        [("[0]", true), ("#{1 0}", true), ("[1]", false), ("[0 2]", false), ("(0 0)", false)];
    for (read, expected) in reads {
        assert_eq!(holds(&text(read), "set-full", None), expected, "{read}");
    }
}

#[test]
fn counters() {
    let text = |read: &str| {
        edn(&[
            (0, "invoke", "add", "3"),
            (1, "invoke", "add", "-1"),
            (1, "ok", "add", "-1"),
            (2, "invoke", "read", "nil"),
            (2, "ok", "read", read),
            (0, "info", "add", "3"),
        ])
    };
    for (read, expected) in [("-1", true), ("2", true), ("3", false), ("0", false)] {
        assert_eq!(holds(&text(read), "counter", None), expected, "{read}");
    }
}

#[test]
fn banks() {
    let text = |read: &str| {
        edn(&[
            (0, "invoke", "transfer", "{:from 0, :to 1, :amount 5}"),
            (1, "invoke", "transfer", "{:from 1, :to 0, :amount 7}"),
            (1, "fail", "transfer", "{:from 1, :to 0, :amount 7}"),
            (0, "ok", "transfer", "{:from 0, :to 1, :amount 5}"),
            (2, "invoke", "read", "nil"),
            (2, "ok", "read", read),
        ])
    };
    let init = || Some(Value::map([("0".into(), 3.into()), ("1".into(), 4.into())]));
    for (read, expected) in
        [("{0 -2, 1 9}", true), ("{1 9, 0 -2}", true), ("{0 3, 1 4}", false), ("{0 -2}", false)]
    {
        assert_eq!(holds(&text(read), "bank", init()), expected, "{read}");
    }
    let json = r#"{"process":0,"type":"invoke","f":"transfer","value":{"from":0,"to":1,"amount":5}}
{"process":0,"type":"ok","f":"transfer"}
{"process":0,"type":"invoke","f":"read"}
{"process":0,"type":"ok","f":"read","value":{"0":-2,"1":9}}
"#;
    assert!(holds(json, "bank", init()));
    assert!(!holds(&json.replace("-2", "-1"), "bank", init()));
    let missing = Object::builtin("bank", None).err().map(|error| error.to_string());
    let said =
        "`bank` needs an initial value: an object from account to balance (it must be given)";
    assert_eq!(missing.as_deref(), Some(said));
}

#[test]
fn mutexes_are_released_by_others() {
    let text = edn(&[
        (0, "invoke", "acquire", "nil"),
        (0, "ok", "acquire", "nil"),
        (1, "invoke", "release", "nil"),
        (1, "ok", "release", "nil"),
    ]);
    assert!(holds(&text, "mutex", None));
}

/// Values 1 and 2 are there when the queue is drained, and 3 comes meanwhile.
fn drained(values: &str) -> String {
    edn(&[
        (0, "invoke", "enqueue", "1"),
        (0, "ok", "enqueue", "1"),
        (0, "invoke", "enqueue", "2"),
        (0, "ok", "enqueue", "2"),
        (1, "invoke", "drain", "nil"),
        (0, "invoke", "enqueue", "3"),
        (0, "ok", "enqueue", "3"),
        (1, "ok", "drain", values),
        (2, "invoke", "dequeue", "nil"),
        (2, "ok", "dequeue", "3"),
    ])
}

#[test]
fn a_drain_is_its_dequeues() {
    for (values, queue, unordered) in [
        ("[1 2]", true, true),
        ("(2 1)", true, true),
        ("[2]", false, true),
        ("[1 2 3]", false, false),
        ("[]", false, true),
        ("[1 1]", false, false),
    ] {
        assert_eq!(holds(&drained(values), "queue", None), queue, "{values}");
        assert_eq!(holds(&drained(values), "total-queue", None), unordered, "{values}");
    }
}

#[test]
fn where_the_dequeues_of_a_drain_are() {
    let object = Object::builtin("queue", None).expect("a queue");
    let recording = read(&drained("[1 2]"), &object).expect("it can be read");
    let history = &recording.history;
    let line = |rank: Rank| recording.places.line(rank).unwrap_or_default();
    let shown: Vec<String> = history
        .iter()
        .map(|(id, operation)| {
            let process = history.process_name(operation.process);
            let answer = history.response(id).unwrap_or_default();
            let (from, to) = (line(operation.invoked), line(operation.returned));
            format!("{process} {answer} {from} {to}")
        })
        .collect();
    let expected =
        ["0 null 1 2", "0 null 3 4", "1 1 5 8", "1/drain-1 2 5 8", "0 null 6 7", "2 3 9 10"];
    assert_eq!(shown, expected);
    let mut ranks: Vec<u32> = Vec::new();
    for operation in &history.operations {
        ranks.extend([operation.invoked.number(), operation.returned.number()]);
    }
    ranks.sort_unstable();
    assert_eq!(ranks, (0..history.events.number()).collect::<Vec<_>>());
}

#[test]
fn drains_that_cannot_be_judged() {
    let object = Object::builtin("queue", None).expect("a queue");
    let unknown = drained("nil").replace(":ok, :f :drain", ":info, :f :drain");
    let error = read(&unknown, &object).err().and_then(|error| error.line());
    assert_eq!(error, Some(8));
    let open = edn(&[(1, "invoke", "drain", "nil")]);
    assert!(matches!(read(&open, &object), Err(IngestError::UnknownDrain { line: 1 })));
    let options = ReadOptions::new("queue", object.spec.operations());
    let mut reader = Reader::new(Format::JepsenEdn, &options);
    let streamed = reader.push_line(open.as_bytes());
    assert!(matches!(streamed, Err(IngestError::StreamedDrain { line: 1 })), "{streamed:?}");
}

#[test]
fn drains_of_keys() {
    let text = edn(&[
        (0, "invoke", "enqueue", "[7 1]"),
        (0, "ok", "enqueue", "[7 1]"),
        (1, "invoke", "drain", "[7 nil]"),
        (1, "ok", "drain", "[7 [1]]"),
        (1, "invoke", "dequeue", "[8 nil]"),
        (1, "ok", "dequeue", "[8 nil]"),
    ]);
    let object = Object::builtin("queue", None).expect("a queue");
    let options = ReadOptions::new("queue", object.spec.operations());
    let options = ReadOptions { keyed: Some(true), ..options };
    let mut recording = read_bytes(text.as_bytes(), &options).expect("it can be read");
    let checked = check(&object, &mut recording.history, &CheckOptions::default());
    assert!(checked.expect("it is judged").judgement.is_holds());
}

#[test]
fn another_specification_is_advised() {
    let object = Object::builtin("set", None).expect("a set");
    for text in [
        edn(&[(0, "invoke", "add", "3"), (0, "ok", "add", "3")]),
        edn(&[(0, "invoke", "read", "nil")]),
    ] {
        let error = read(&text, &object).expect_err("no set says that").to_string();
        assert!(error.ends_with("there is `--spec grow-set`"), "{error}");
    }
}

#[test]
fn a_drain_in_one_document() {
    let text = r#"[{"process":0,"type":"invoke","f":"enqueue","value":1},
        {"process":0,"type":"ok","f":"enqueue"},
        {"process":0,"type":"invoke","f":"drain"},
        {"process":0,"type":"ok","f":"drain","value":[1]}]"#;
    assert!(holds(text, "queue", None));
    assert!(!holds(&text.replace("[1]}", "[2]}"), "queue", None));
}
