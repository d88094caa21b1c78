//! The lines of S2's verification, by example and at random.

use crate::common::seed_and_cases;
use expect_test::{Expect, expect};
use linchpin_history::{CheckOptions, Judgement, Object, check};
use linchpin_ingest::{Format, IngestError, ReadOptions, Recording, read_bytes};

fn stream() -> Object {
    Object::builtin("s2-stream", None).unwrap()
}

fn read(text: &str) -> Result<Recording, IngestError> {
    let object = stream();
    read_bytes(text.as_bytes(), &ReadOptions::new("s2-stream", object.spec.operations()))
}

fn holds(text: &str) -> bool {
    let mut recording = read(text).unwrap();
    let checked = check(&stream(), &mut recording.history, &CheckOptions::default()).unwrap();
    match checked.judgement {
        Judgement::Holds(_) => true,
        Judgement::Violated(_) => false,
        Judgement::Inconclusive(why) => panic!("{why}\n{text}"),
    }
}

const OLD: &str = r#"{"event":{"Start":{"Append":{"num_records":2,"set_fencing_token":"a","fencing_token":null,"match_seq_num":0}}},"client_id":1,"op_id":1}
{"event":{"Start":"CheckTail"},"client_id":2,"op_id":2}
{"event":{"Start":"Read"},"client_id":2,"op_id":3}
{"event":{"Finish":{"Success":{"tail":2}}},"client_id":1,"op_id":1}
{"event":{"Finish":{"Success":{"tail":0}}},"client_id":2,"op_id":3}
{"event":{"Finish":"DefiniteFailure"},"client_id":2,"op_id":2}
"#;

const NEW: &str = r#"{"event":{"Start":{"Append":{"num_records":2,"last_record_crc32":7,"set_fencing_token":null,"fencing_token":"b","match_seq_num":null}}},"client_id":1,"op_id":1}
{"event":{"Finish":"AppendIndefiniteFailure"},"client_id":1,"op_id":1}
{"event":{"Start":"CheckTail"},"client_id":1,"op_id":2}
{"event":{"Finish":{"CheckTailSuccess":{"tail":TAIL}}},"client_id":1,"op_id":2}
"#;

#[test]
fn both_versions_of_the_lines() {
    assert_eq!(Format::detect(OLD.as_bytes()), Some(Format::S2));
    assert_eq!(read(OLD).unwrap().failed, 1);
    assert!(holds(OLD));
    assert!(holds(&NEW.replace("TAIL", "0")));
    assert!(!holds(&NEW.replace("TAIL", "2")), "the stream has not the token");
    assert!(holds(&NEW.replace("\"b\"", "null").replace("TAIL", "2")));
    assert!(holds(&NEW.replace("\"b\"", "null").replace("TAIL", "0")));
}

#[test]
fn mistakes() {
    let start = r#"{"event":{"Start":"Read"},"client_id":1,"op_id":1}"#;
    let check = |second: &str, expected: Expect| {
        let error = read(&format!("{start}\n{second}\n")).unwrap_err();
        expected.assert_eq(&error.to_string());
    };
    check(
        start,
        expect![[
            r#"line 2: expected an `op_id` that is not in progress, found `{"event":{"Start":"Read"},"client_id":1,`"#
        ]],
    );
    check(
        r#"{"event":{"Start":"Trim"},"client_id":1,"op_id":2}"#,
        expect![[
            r#"line 2: expected a start of `Append`, `Read` or `CheckTail`, found `{"event":{"Start":"Trim"},"client_id":1,`"#
        ]],
    );
    check(
        r#"{"event":{"Finish":"AppendIndefiniteFailure"},"client_id":1,"op_id":1}"#,
        expect![[
            r#"line 2: expected a finish that a started `read` can have, found `{"event":{"Finish":"AppendIndefiniteFail`"#
        ]],
    );
    check(
        r#"{"event":{"Finish":{"ReadSuccess":{"tail":1}}},"client_id":2,"op_id":1}"#,
        expect![[
            r#"line 2: expected the `op_id` of what this client started, found `{"event":{"Finish":{"ReadSuccess":{"tail`"#
        ]],
    );
    check(
        r#"{"event":{},"client_id":2,"op_id":1}"#,
        expect![[
            r#"line 2: expected an `event` that is a `Start` or a `Finish`, found `{"event":{},"client_id":2,"op_id":1}`"#
        ]],
    );
    check(
        r#"{"event":{},"op_id":1}"#,
        expect![[
            r#"line 2: expected a `client_id` and an `op_id`, found `{"event":{},"op_id":1}`"#
        ]],
    );
}

/// What was done to a stream, from and to, and what it answered.
#[derive(Clone, Debug)]
struct Done {
    from: usize,
    to: usize,
    what: What,
    /// The tail; nothing if it is not known whether it took place.
    tail: Option<i64>,
}

#[derive(Clone, Debug)]
enum What {
    Append { records: i64, set: Option<&'static str>, token: Option<&'static str>, at: Option<i64> },
    Look,
}

type Stream = (i64, Option<&'static str>);

/// The streams that there may be after it.
fn after(stream: Stream, done: &Done) -> Vec<Stream> {
    let What::Append { records, set, token, at } = &done.what else {
        return if done.tail == Some(stream.0) { vec![stream] } else { vec![] };
    };
    let refused = (token.is_some() && *token != stream.1) || at.is_some_and(|at| at != stream.0);
    let appended = (stream.0 + records, set.or(stream.1));
    match done.tail {
        None if refused => vec![stream],
        None => vec![stream, appended],
        Some(tail) if !refused && tail == appended.0 => vec![appended],
        Some(_) => vec![],
    }
}

fn explained(stream: Stream, rest: &[Done]) -> bool {
    rest.is_empty()
        || (0..rest.len()).any(|next| {
            let is_next = rest.iter().all(|other| other.to > rest[next].from);
            let mut without = rest.to_vec();
            let done = without.remove(next);
            is_next && after(stream, &done).into_iter().any(|stream| explained(stream, &without))
        })
}

fn line(done: &Done, id: usize, is_start: bool) -> String {
    let text = |text: Option<&str>| text.map_or("null".to_owned(), |text| format!("{text:?}"));
    let event = match (&done.what, is_start, done.tail) {
        (What::Append { records, set, token, at }, true, _) => format!(
            r#"{{"Start":{{"Append":{{"num_records":{records},"set_fencing_token":{},"fencing_token":{},"match_seq_num":{}}}}}}}"#,
            text(*set),
            text(*token),
            at.map_or("null".to_owned(), |at| at.to_string()),
        ),
        (What::Look, true, _) => r#"{"Start":"CheckTail"}"#.to_owned(),
        (What::Append { .. }, false, Some(tail)) => {
            format!(r#"{{"Finish":{{"AppendSuccess":{{"tail":{tail}}}}}}}"#)
        }
        (What::Append { .. }, false, None) => r#"{"Finish":"AppendIndefiniteFailure"}"#.to_owned(),
        (What::Look, false, tail) => {
            format!(r#"{{"Finish":{{"CheckTailSuccess":{{"tail":{}}}}}}}"#, tail.unwrap_or(0))
        }
    };
    format!("{{\"event\":{event},\"client_id\":{},\"op_id\":{id}}}\n", id % 2)
}

#[test]
fn the_verdict_is_that_of_every_order_tried() {
    let (seed, cases) = seed_and_cases(4_000);
    let mut rng = fastrand::Rng::with_seed(seed);
    let (mut held, mut violated) = (0, 0);
    for case in 0..cases {
        let count = rng.usize(1..6);
        let mut places: Vec<usize> = (0..2 * count).collect();
        // Mostly short operations, so that many come after each other.
        for _ in 0..count {
            let at = rng.usize(..2 * count - 1);
            places.swap(at, at + 1);
        }
        let mut stream: Stream = (0, None);
        let mut run = Vec::new();
        for place in places.chunks(2) {
            let (from, to) = (place[0].min(place[1]), place[0].max(place[1]));
            let token =
                |rng: &mut fastrand::Rng| rng.choice([None, None, Some("a"), Some("b")]).flatten();
            let what = match rng.u8(0..3) {
                0 => What::Look,
                _ => What::Append {
                    records: rng.i64(1..3),
                    set: token(&mut rng),
                    token: token(&mut rng),
                    at: rng.bool().then_some(stream.0),
                },
            };
            let lost = matches!(what, What::Append { .. }) && rng.u8(0..4) == 0;
            let mut done = Done { from, to, what, tail: None };
            if let What::Append { .. } = done.what {
                stream = *rng.choice(&after(stream, &done)).unwrap();
            }
            done.tail = (!lost).then_some(stream.0 + i64::from(rng.u8(0..8) == 0));
            run.push(done);
        }
        let expected = explained((0, None), &run);
        let mut lines: Vec<(usize, String)> = Vec::new();
        for (id, done) in run.iter().enumerate() {
            lines.push((done.from, line(done, id, true)));
            lines.push((done.to, line(done, id, false)));
        }
        lines.sort();
        let text: String = lines.into_iter().map(|(_, line)| line).collect();
        assert_eq!(holds(&text), expected, "case {case}\n{text}");
        *(if expected { &mut held } else { &mut violated }) += 1;
    }
    assert!(held * 10 > cases && violated * 10 > cases, "{held} hold, {violated} are violated");
}
