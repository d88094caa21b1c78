//! The workloads of Jepsen, as it writes them: read and judged.

use linchpin_history::{CheckOptions, Judgement, Object, Rank, check};
use linchpin_ingest::{
    Format, IngestError, NilReads, ReadOptions, Reader, Recording, Remark, read_bytes,
};
use linchpin_spec::{Call, Value};

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
        ("#{2 1}", true, true),
        ("[2]", false, true),
        ("[1 2 3]", false, false),
        ("[]", false, true),
        ("[1 1]", false, false),
    ] {
        assert_eq!(holds(&drained(values), "queue", None), queue, "{values}");
        assert_eq!(holds(&drained(values), "total-queue", None), unordered, "{values}");
    }
}

/// Values come out in the order in which they are listed, where that can be said.
#[test]
fn the_order_of_a_drain() {
    let object = Object::builtin("queue", None).expect("a queue");
    let before = [(0, "invoke", "enqueue", "1"), (0, "ok", "enqueue", "1")];
    let call = (0, "invoke", "enqueue", "2");
    let answer = (0, "ok", "enqueue", "2");
    let drain = (1, "invoke", "drain", "nil");
    for (drained, holds_in_order) in [("[1 2]", true), ("(2 1)", false), ("#{2 1}", true)] {
        let ok = (1, "ok", "drain", drained);
        for rest in [
            [call, answer, drain, ok],
            [call, drain, answer, ok],
            [drain, call, ok, answer],
            [drain, call, answer, ok],
        ] {
            let text = edn(&[&before[..], &rest].concat());
            let remarks = read(&text, &object).expect("it can be read").remarks;
            assert_eq!(remarks, [], "{text}");
            assert_eq!(holds(&text, "queue", None), holds_in_order, "{text}");
        }
        // One operation after the other beside it.
        let other = [(2, "invoke", "enqueue", "3"), (2, "ok", "enqueue", "3")];
        let text = edn(&[&before[..], &[drain, call, answer], &other, &[ok]].concat());
        let remarks = read(&text, &object).expect("it can be read").remarks;
        let is_list = !drained.starts_with('#');
        assert_eq!(
            remarks,
            vec![Remark::UnorderedDrain { line: 3, count: 1 }; usize::from(is_list)]
        );
        assert!(holds(&text, "queue", None), "{text}");
    }
}

/// An event of [`drains_in_order_against_the_oracle`].
type Line = (u32, &'static str, &'static str, String);

/// Enqueues, dequeues and drains of few values, which answer what was enqueued, or nearly so.
fn random_drains(random: &mut fastrand::Rng) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut open: Vec<Option<&str>> = vec![None; random.usize(2..5)];
    let (mut enqueued, mut taken) = (0_usize, 0_usize);
    let is_distinct = random.u8(..4) > 0;
    let value = |at: usize| if is_distinct { at } else { at % 2 };
    for _ in 0..random.usize(8..26) {
        let process = random.usize(..open.len());
        let number = u32::try_from(process).expect("few");
        let line = |kind, f, value: String| (number, kind, f, value);
        open[process] = match open[process].take() {
            None => {
                let f = *random
                    .choice(&["enqueue", "enqueue", "enqueue", "dequeue", "drain"])
                    .expect("some");
                let argument = match f {
                    "enqueue" => {
                        enqueued += 1;
                        value(enqueued).to_string()
                    }
                    _ => "nil".to_owned(),
                };
                lines.push(line("invoke", f, argument));
                Some(f)
            }
            Some("drain") => {
                let count = random.usize(..=enqueued.saturating_sub(taken).min(4));
                let mut values: Vec<usize> = (1..=count).map(|at| value(taken + at)).collect();
                taken += count;
                if random.bool() && count > 1 {
                    let at = random.usize(1..count);
                    values.swap(at - 1, at);
                }
                let values: Vec<String> = values.iter().map(usize::to_string).collect();
                lines.push(line("ok", "drain", format!("[{}]", values.join(" "))));
                None
            }
            Some("dequeue") => {
                let is_there = taken < enqueued;
                taken += usize::from(is_there);
                let late = usize::from(random.u8(..8) == 0);
                let answer = match is_there {
                    true => value(taken + late).to_string(),
                    false => "nil".to_owned(),
                };
                lines.push(line("ok", "dequeue", answer));
                None
            }
            Some(f) => {
                lines.push(line("ok", f, "nil".to_owned()));
                None
            }
        };
    }
    // What is left open may take effect; a drain that is would be one of unknown outcome.
    let is_open_drain = |at: usize, line: &Line| {
        let is_call = line.1 == "invoke" && line.2 == "drain";
        is_call && !lines[at + 1..].iter().any(|later| later.0 == line.0)
    };
    let kept = lines.iter().enumerate().filter(|(at, line)| !is_open_drain(*at, line));
    kept.map(|(_, line)| line.clone()).collect()
}

/// What the oracle is told: of a drain its dequeues, and pairs that are in order.
fn told(lines: &[Line]) -> (Vec<linchpin_oracle::Operation>, Vec<(usize, usize)>) {
    let (mut operations, mut pairs) = (Vec::new(), Vec::new());
    for (invoked, (process, kind, f, argument)) in lines.iter().enumerate() {
        if *kind != "invoke" {
            continue;
        }
        let answer = (invoked + 1..lines.len()).find(|at| lines[*at].0 == *process);
        let values: Vec<Option<&str>> = match (*f, answer.map(|at| &*lines[at].3)) {
            ("drain", Some(all)) => {
                all.trim_matches(['[', ']']).split_whitespace().map(Some).collect()
            }
            (_, answer) => vec![answer],
        };
        let number = |text: &str| text.parse().map_or(Value::Null, Value::Int);
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                pairs.push((operations.len() - 1, operations.len()));
            }
            operations.push(linchpin_oracle::Operation {
                process: *process as usize,
                call: Call { operation: usize::from(*f != "enqueue"), argument: number(argument) },
                response: value.map(number),
                invoked,
                returned: answer,
            });
        }
    }
    (operations, pairs)
}

/// Against brute force: dequeues in the order of the values, or in any where that is said.
#[test]
fn drains_in_order_against_the_oracle() {
    let (seed, cases) = crate::common::seed_and_cases(3_000);
    let mut random = fastrand::Rng::with_seed(seed);
    let object = Object::builtin("queue", None).expect("a queue");
    let (mut held, mut violated, mut by_order, mut unordered) = (0, 0, 0, 0);
    for case in 0..cases {
        let lines = random_drains(&mut random);
        let text: Vec<(u32, &str, &str, &str)> =
            lines.iter().map(|(process, kind, f, value)| (*process, *kind, *f, &**value)).collect();
        let text = edn(&text);
        let remarks = read(&text, &object).expect("it can be read").remarks;
        let (operations, mut pairs) = told(&lines);
        if !remarks.is_empty() {
            // Of several drains some may be in order: between both readings.
            let found = holds(&text, "queue", None);
            let free = linchpin_oracle::is_linearizable(&*object.spec, &operations);
            let strict = linchpin_oracle::witness_in_order(&*object.spec, &operations, &pairs);
            assert!(!found || free, "case {case}: {text}");
            assert!(found || strict.is_none(), "case {case}: {text}");
            unordered += 1;
            continue;
        }
        let in_order = linchpin_oracle::witness_in_order(&*object.spec, &operations, &pairs);
        pairs.clear();
        let free = linchpin_oracle::witness_in_order(&*object.spec, &operations, &pairs);
        assert_eq!(holds(&text, "queue", None), in_order.is_some(), "case {case}: {text}");
        by_order += u64::from(in_order.is_none() && free.is_some());
        if in_order.is_some() { held += 1 } else { violated += 1 }
    }
    println!("{held} hold, {violated} are violated, {by_order} by order; {unordered} unordered");
    assert!(held * 10 > cases && violated * 10 > cases, "{held} {violated}");
    assert!(by_order * 40 > cases && unordered * 20 > cases, "{by_order} {unordered}");
}

#[test]
fn where_the_dequeues_of_a_drain_are() {
    let object = Object::builtin("queue", None).expect("a queue");
    let unordered = drained("#{1 2}");
    check_places(
        &read(&unordered, &object).expect("it can be read"),
        &["0 null 1 2", "0 null 3 4", "1 1 5 8", "1/drain-1 2 5 8", "0 null 6 7", "2 3 9 10"],
    );
    let ordered = edn(&[
        (0, "invoke", "enqueue", "1"),
        (1, "invoke", "drain", "nil"),
        (2, "invoke", "enqueue", "2"),
        (0, "ok", "enqueue", "1"),
        (1, "ok", "drain", "[1 2 3]"),
    ]);
    check_places(
        &read(&ordered, &object).expect("it can be read"),
        &["0 null 1 4", "1 1 2 5", "2 null 3 0", "1 2 2 5", "1 3 2 5"],
    );
}

fn check_places(recording: &Recording, expected: &[&str]) {
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
    assert_eq!(shown, expected);
    let mut ranks: Vec<u32> = Vec::new();
    for operation in &history.operations {
        ranks.push(operation.invoked.number());
        ranks.extend(operation.completed.then(|| operation.returned.number()));
    }
    ranks.sort_unstable();
    assert_eq!(ranks, (0..history.events.number()).collect::<Vec<_>>());
}

/// What a drain of unknown outcome took is left open, however it ends.
#[test]
fn drains_of_unknown_outcome() {
    let unknown = drained("nil").replace(":ok, :f :drain", ":info, :f :drain");
    let open = unknown.replace(":info, :f :drain", ":info, :process :nemesis, :f :drain");
    let dequeues = [("3", true), ("2", true), ("1", true), ("nil", true), ("4", false)];
    for (dequeued, expected) in dequeues {
        for text in [&unknown, &open] {
            let text =
                text.replace(":f :dequeue, :value 3", &format!(":f :dequeue, :value {dequeued}"));
            for spec in ["queue", "unordered-queue"] {
                assert_eq!(holds(&text, spec, None), expected, "{spec} {dequeued}");
            }
        }
    }
    let object = Object::builtin("queue", None).expect("a queue");
    let remarks = read(&unknown, &object).expect("it can be read").remarks;
    assert_eq!(remarks, [Remark::UnknownDrain { line: 5, count: 1 }]);
}

/// Against brute force: a drain of unknown outcome is any number of dequeues without an answer.
#[test]
fn drains_of_unknown_outcome_against_the_oracle() {
    let seed = std::env::var("LINCHPIN_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    println!("LINCHPIN_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut held, mut violated) = (0, 0);
    for case in 0..600 {
        let mut lines: Vec<(u32, &str, &str, String)> = Vec::new();
        let mut open: Vec<Option<(&str, String)>> = vec![None; 3];
        for step in 0..12_u32 {
            let process = random.usize(..3);
            let number = u32::try_from(process).expect("few");
            open[process] = match open[process].take() {
                None => {
                    let adds = random.u8(..10) < 6;
                    let f = if adds { "enqueue" } else { "dequeue" };
                    let value = if adds { (step % 5).to_string() } else { "nil".to_owned() };
                    lines.push((number, "invoke", f, value.clone()));
                    Some((f, value))
                }
                Some((f, value)) => {
                    let answer = match (f, random.u8(..4)) {
                        ("dequeue", 1..) => random.u8(..5).to_string(),
                        _ => value,
                    };
                    lines.push((number, "ok", f, answer));
                    None
                }
            };
        }
        let at = random.usize(..=lines.len());
        lines.insert(at, (9, "invoke", "drain", "nil".to_owned()));
        if random.bool() {
            let end = random.usize(at + 1..=lines.len());
            lines.insert(end, (9, "info", "drain", "nil".to_owned()));
        }
        let text: Vec<(u32, &str, &str, &str)> =
            lines.iter().map(|(process, kind, f, value)| (*process, *kind, *f, &**value)).collect();
        // For the oracle the drain is as many pending dequeues as there can be values to take.
        let values = text.iter().filter(|line| line.1 == "invoke" && line.2 == "enqueue").count();
        let many: Vec<(u32, &str, &str, &str)> = (0..values)
            .map(|number| (100 + u32::try_from(number).expect("few"), "invoke", "dequeue", "nil"))
            .collect();
        let without = |line: &&(u32, &str, &str, &str)| line.2 != "drain";
        let plain =
            [text[..at].to_vec(), many, text[at..].iter().filter(without).copied().collect()];
        for spec in ["queue", "unordered-queue"] {
            let object = Object::builtin(spec, None).expect("a built-in specification");
            let history = read(&edn(&plain.concat()), &object).expect("it can be read").history;
            let judged: Vec<linchpin_oracle::Operation> = history
                .iter()
                .map(|(id, operation)| linchpin_oracle::Operation {
                    process: operation.process as usize,
                    call: history.call(id),
                    response: history.response(id),
                    invoked: operation.invoked.index(),
                    returned: operation.completed.then(|| operation.returned.index()),
                })
                .collect();
            let expected = linchpin_oracle::is_linearizable(&*object.spec, &judged);
            assert_eq!(holds(&edn(&text), spec, None), expected, "{spec}, case {case}: {text:?}");
            if expected { held += 1 } else { violated += 1 }
        }
    }
    assert!(held > 100 && violated > 100, "{held} {violated}");
}

#[test]
fn drains_that_cannot_be_judged() {
    let object = Object::builtin("queue", None).expect("a queue");
    let open = edn(&[(1, "invoke", "drain", "nil")]);
    let crash = open.clone() + "{:type :crash}\n";
    let error = read(&crash, &object).err();
    assert!(matches!(error, Some(IngestError::InterruptedDrain { line: 1 })), "{error:?}");
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

#[test]
fn unknown_reads_in_transactions() {
    let text = |read: &str| {
        edn(&[
            (0, "invoke", "txn", "[[:w :x 1] [:r :y nil]]"),
            (0, "ok", "txn", "[[:w :x 1] [:r :y nil]]"),
            (1, "invoke", "txn", "[[:r :x nil] [:w :y 2]]"),
            (1, "ok", "txn", "[[:r :x nil] [:w :y 2]]"),
            (2, "invoke", "txn", "[[:r :x nil] [:r :y nil]]"),
            (2, "ok", "txn", read),
        ])
    };
    let object = Object::builtin("multi-register", None).expect("a built-in specification");
    for (answer, unknown, expected, as_values) in [
        ("[[:r :x 1] [:r :y 2]]", 2, true, false),
        ("[[:r :x nil] [:r :y 2]]", 3, true, false),
        ("[[:r :x nil] [:r :y 3]]", 3, false, false),
        ("[[:r :x nil] [:r :y nil]]", 4, true, false),
    ] {
        let text = text(answer);
        assert_eq!(holds(&text, "multi-register", None), expected, "{answer}");
        let recording = read(&text, &object).expect("it can be read");
        assert_eq!(recording.remarks, [Remark::UnknownReads { count: unknown }], "{answer}");
        let options = ReadOptions::new("multi-register", object.spec.operations());
        let options = ReadOptions { nil_reads: Some(NilReads::Value), ..options };
        let mut history = read_bytes(text.as_bytes(), &options).expect("it can be read").history;
        let checked = check(&object, &mut history, &CheckOptions::default()).expect("no crash");
        assert_eq!(checked.judgement.is_holds(), as_values, "{answer}");
    }
    let options = ReadOptions::new("multi-register", object.spec.operations());
    let mut reader = Reader::new(Format::JepsenEdn, &options);
    let streamed: Vec<bool> = text("nil")
        .lines()
        .take(2)
        .map(|line| {
            let read = reader.push_line(line.as_bytes());
            matches!(read, Err(IngestError::StreamedNilRead { line: 2 }))
        })
        .collect();
    assert_eq!(streamed, [false, true]);
}

#[test]
fn a_guessed_specification_takes_nothing_but_echoes() {
    let object = Object::builtin("grow-set", None).expect("a built-in specification");
    let options = ReadOptions::new("grow-set", object.spec.operations());
    let guessed = ReadOptions { guessed: true, ..options };
    let text = |answer: &str| edn(&[(0, "invoke", "add", "3"), (0, "ok", "add", answer)]);
    for (answer, fits) in [("3", true), ("nil", true), ("true", false), ("4", false)] {
        assert!(read_bytes(text(answer).as_bytes(), &options).is_ok());
        assert_eq!(read_bytes(text(answer).as_bytes(), &guessed).is_ok(), fits, "{answer}");
    }
}

#[test]
fn a_key_beside_a_pair_of_the_store() {
    let object = Object::builtin("kv", None).expect("a built-in specification");
    let text = r#"{"process":0,"type":"invoke","f":"put","key":"x","value":["x","a"]}"#;
    let error = read(text, &object).expect_err("two keys");
    assert!(matches!(error, IngestError::KeyTwice { line: 1, .. }), "{error}");
    assert!(error.to_string().contains("leave out one of the two keys"), "{error}");
}
