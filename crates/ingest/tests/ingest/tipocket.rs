//! TiPocket's `history.log`.

use expect_test::{Expect, expect};
use linchpin_history::{CheckOptions, Judgement, Object, check};
use linchpin_ingest::{Format, IngestError, ReadOptions, Recording, read_bytes};

fn register() -> Object {
    Object::builtin("register", None).unwrap()
}

fn read(text: &str) -> Result<Recording, IngestError> {
    let object = register();
    read_bytes(text.as_bytes(), &ReadOptions::new("register", object.spec.operations()))
}

/// The dump, a fault, and a get, a put and a delete of two keys.
const LOG: &str = r#"{"action":"dump","proc":0,"time":"2020-05-01T10:00:00.1Z","data":[{"K":1,"V":5}]}
{"action":"call","proc":1,"time":"2020-05-01T10:00:01Z","data":{"Op":0,"Key":1,"Val":0}}
{"action":"call","proc":2,"time":"2020-05-01T10:00:02Z","data":{"Op":1,"Key":2,"Val":9}}
{"action":"invoke_nemesis","proc":-1,"time":"2020-05-01T10:00:02Z","data":{"Name":"partition"}}
{"action":"return","proc":1,"time":"2020-05-01T10:00:03Z","data":{"Val":5,"Unknown":false}}
{"action":"return","proc":2,"time":"2020-05-01T10:00:03Z","data":{"Val":0,"Unknown":false}}
{"action":"call","proc":1,"time":"2020-05-01T10:00:04Z","data":{"Op":2,"Key":2,"Val":0}}
{"action":"return","proc":1,"time":"2020-05-01T10:00:05Z","data":{"Val":0,"Unknown":true,"Error":"timeout"}}
{"action":"call","proc":3,"time":"2020-05-01T10:00:06Z","data":{"Op":0,"Key":2,"Val":0}}
{"action":"return","proc":3,"time":"2020-05-01T10:00:07Z","data":{"Val":READ,"Unknown":false}}
"#;

fn holds(text: &str) -> bool {
    let mut recording = read(text).unwrap();
    assert!(recording.has_keys);
    let checked = check(&register(), &mut recording.history, &CheckOptions::default()).unwrap();
    matches!(checked.judgement, Judgement::Holds(_))
}

#[test]
fn raw_keys_are_registers() {
    assert_eq!(Format::detect(LOG.as_bytes()), Some(Format::Tipocket));
    assert!(holds(&LOG.replace("READ", "9")), "the delete may not have happened");
    assert!(holds(&LOG.replace("READ", "0")), "or it has");
    assert!(!holds(&LOG.replace("READ", "5")), "that is the other key's");
    let read_of_another = LOG.replace("READ", "0").replace("\"Val\":5,\"U", "\"Val\":6,\"U");
    assert!(!holds(&read_of_another), "the dump says 5");
}

#[test]
fn mistakes() {
    let check = |text: &str, expected: Expect| {
        expected.assert_eq(&read(text).unwrap_err().to_string());
    };
    check(
        r#"{"action":"call","proc":1,"data":{"From":1,"To":2,"Amount":3}}"#,
        expect![[
            r#"line 1: this is no event of TiPocket's `rawkv-linearizability` (`Op`, `Key` and `Val` in `data`), the only one of its cases that is read, but `{"action":"call","proc":1,"data":{"From"`; write other cases as JSON lines"#
        ]],
    );
    check(
        r#"{"action":"return","proc":1,"data":{"Val":3}}"#,
        expect![[
            r#"line 1: expected a `call` of this `proc` before, found `{"action":"return","proc":1,"data":{"Val`"#
        ]],
    );
    check(
        r#"{"action":"leave","proc":1,"data":{}}"#,
        expect![[
            r#"line 1: expected an `action` that is `call`, `return` or `dump`, found `{"action":"leave","proc":1,"data":{}}`"#
        ]],
    );
}
