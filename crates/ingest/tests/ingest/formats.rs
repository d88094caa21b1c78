//! What each format says, by example, and what is said about recordings that are wrong.

use crate::common;

use common::shown;
use expect_test::{Expect, expect};
use linchpin_history::ValueId;
use linchpin_ingest::{FailedCas, Format, IngestError, ReadOptions, Recording, read_bytes};
use linchpin_spec::builtin;

fn read_as(
    spec: &str,
    text: &str,
    change: impl FnOnce(&mut ReadOptions<'_>),
) -> Result<Recording, IngestError> {
    let object = builtin(spec, None).unwrap();
    let mut options = ReadOptions::new(spec, object.operations());
    change(&mut options);
    read_bytes(text.as_bytes(), &options)
}

fn read(spec: &str, text: &str) -> Result<Recording, IngestError> {
    read_as(spec, text, |_| {})
}

/// `process operation(argument) -> response [invoked, returned]`, with the key before it.
fn check(recording: &Recording, spec: &str, expected: Expect) {
    let object = builtin(spec, None).unwrap();
    let history = &recording.history;
    let mut text = String::new();
    for (id, op) in history.iter() {
        let call = history.call(id);
        let answer = history.response(id).map_or("?".to_owned(), |answer| answer.to_string());
        let key = match op.key {
            ValueId::NULL => String::new(),
            key => format!("{}: ", history.values.get(key)),
        };
        let end = if op.completed { op.returned.to_string() } else { String::new() };
        text += &format!(
            "{key}{} {}({}) -> {answer} [{}, {end}]\n",
            history.processes[op.process as usize],
            object.operations()[call.operation].name,
            call.argument,
            op.invoked,
        );
    }
    expected.assert_eq(&text);
}

fn check_error(spec: &str, text: &str, expected: Expect) {
    expected.assert_eq(&read(spec, text).expect_err("a mistake").to_string());
}

#[test]
fn json_lines() {
    let text = r#"
{"process":0,"type":"invoke","f":"enqueue","value":7,"time":12}
{"time":1.5,"value":null,"f":"dequeue","type":"invoke","process":"p \u0041"}
{"process":0,"type":"step","f":"enqueue","line":3,"actions":["top := x"],"time":2}
{"process":"nemesis","type":"info","f":"partition"}
{"process":0,"type":"ok"}
{"type":"crash","process":"p A"}
{"process":"p A","type":"invoke","f":"dequeue"}
{"process":"p A","type":"ok","f":"dequeue","value":null}
{"process":5,"type":"invoke","f":"peek"}
{"type":"crash"}
"#;
    let recording = read("queue", text).unwrap();
    check(
        &recording,
        "queue",
        expect![[r#"
        0 enqueue(7) -> null [0, 2]
        p A dequeue(null) -> ? [1, ]
        p A dequeue(null) -> null [4, 5]
        5 peek(null) -> ? [6, ]
    "#]],
    );
    assert_eq!(recording.skipped_lines, 2);
    assert_eq!(recording.history.crashes.len(), 2);
    assert_eq!(recording.history.crashes[0].process, Some(1));
    assert_eq!(recording.history.crashes[1].process, None);
    assert!(!recording.is_vacuous());
}

#[test]
fn keys_of_json_lines() {
    let text = r#"
{"process":0,"type":"invoke","f":"write","key":"x","value":1}
{"process":1,"type":"invoke","f":"read","key":"y"}
{"process":0,"type":"ok","f":"write","key":"x","value":1}
{"process":1,"type":"ok","f":"read","value":3}
"#;
    let recording = read("register", text).unwrap();
    assert!(recording.has_keys);
    check(
        &recording,
        "register",
        expect![[r#"
        "x": 0 write(1) -> null [0, 2]
        "y": 1 read(null) -> 3 [1, 3]
    "#]],
    );
}

#[test]
fn jepsen_edn_with_tuples_of_keys_that_show_late() {
    let text = "
; values are [key value]
{:process 0, :type :invoke, :f :write, :value [:x 1]}
{:process 1, :type :invoke, :f :cas, :value [:y [1 2]]}
{:process 0, :type :ok, :f :write, :value [:x 1]}
{:process 0, :type :invoke, :f :read, :value [:x nil]}
{:process 0, :type :ok, :f :read, :value [:x 1]}
{:process 1, :type :ok, :f :cas, :value [:y [1 2]]}
";
    let recording = read("cas-register", text).unwrap();
    check(
        &recording,
        "cas-register",
        expect![[r#"
        "x": 0 write(1) -> null [0, 2]
        "y": 1 cas([1, 2]) -> true [1, 5]
        "x": 0 read(null) -> 1 [3, 4]
    "#]],
    );
    let plain = read_as("cas-register", text, |options| options.keyed = Some(false)).unwrap();
    assert!(!plain.has_keys);
}

#[test]
fn edn_has_more_than_json() {
    let text = r##"(
  #jepsen.history.Op{:index 0, :process 0 :type :invoke :f :write :value #{3 1 2}}
  {:process 0 :type :ok :f :write :value nil, :error ["x" {:y \] :z ##NaN}] :at #inst "2020-01-01"}
  #_{:process 9 :type :invoke :f :read} {"process" :b "type" "invoke" "f" "write" :value (1 2N "\u00e9" \a)}
  {:process :nemesis, :type :info, :f :start, :value {:n1 #{:n2}}}
  {:process 7 :type :invoke
   :f :write, ; over lines
   :value
   [+1 -2]} {:type :info, :process 7}
)"##;
    let recording = read("register", text).unwrap();
    check(
        &recording,
        "register",
        expect![[r#"
        0 write([1, 2, 3]) -> null [0, 1]
        b write([1, 2, "é", "a"]) -> ? [2, ]
        7 write([1, -2]) -> ? [3, ]
    "#]],
    );
    assert_eq!(recording.skipped_lines, 1);
}

#[test]
fn jepsen_log() {
    let text = "starting\n\
        INFO  jepsen.util - 0\t:invoke\t:read\tnil\n\
        2020-01-01 10:00:00,123{GMT}\tINFO\t[jepsen worker 1] jepsen.util: 1\t:invoke\t:cas\t[1 2]\n\
        INFO  jepsen.util - 0\t:ok\t:read\tnil\n\
        INFO  jepsen.util - 1\t:fail\t:cas\t[1 2]\n\
        :nemesis\t:info\t:start\tnil\n\
        0 \t:invoke\t:write\t3\n\
        0 \t:info\t:write\t:timed-out\tsome error text\n";
    let recording = read("cas-register", text).unwrap();
    assert_eq!((recording.format, recording.skipped_lines), (Format::JepsenLog, 2));
    assert_eq!(recording.failed, 1);
    check(
        &recording,
        "cas-register",
        expect![[r#"
        0 read(null) -> null [0, 2]
        0 write(3) -> ? [4, ]
    "#]],
    );
    let recording = read_as("cas-register", text, |options| {
        options.failed_cas = FailedCas::ReturnedFalse;
    });
    let recording = recording.unwrap();
    assert_eq!(recording.failed, 0);
    check(
        &recording,
        "cas-register",
        expect![[r#"
        0 read(null) -> null [0, 2]
        1 cas([1, 2]) -> false [1, 3]
        0 write(3) -> ? [4, ]
    "#]],
    );
}

#[test]
fn porcupine_kv() {
    let text = r#"{:process 0, :type :invoke, :f :append, :key "k", :value "x 0 y"}
{:process 1, :type :invoke, :f :get, :key "j", :value nil}
{:process 0, :type :ok, :f :append, :key "k", :value "x 0 y"}
{:process 1, :type :ok, :f :get, :key "j", :value ""}
"#;
    let recording = read("kv", text).unwrap();
    assert_eq!(recording.format, Format::PorcupineKv);
    check(
        &recording,
        "kv",
        expect![[r#"
        "k": 0 append(["k", "x 0 y"]) -> null [0, 2]
        "j": 1 get("j") -> "" [1, 3]
    "#]],
    );
    let combined = r#"
{"process":0,"type":"invoke","f":"put","value":["k","v"]}
{"process":0,"type":"ok","f":"put"}
{"process":0,"type":"invoke","f":"get","value":"k"}
{"process":0,"type":"ok","f":"get","value":"v"}"#;
    check(
        &read("kv", combined).unwrap(),
        "kv",
        expect![[r#"
        "k": 0 put(["k", "v"]) -> null [0, 1]
        "k": 0 get("k") -> "v" [2, 3]
    "#]],
    );
}

#[test]
fn fastlin() {
    // The first two touch: concurrent. Lines are in any order.
    let text = "# queue\ndeq -1 9 9\nenq 1 1 4\nenq 2 4 5\ndeq 1 5 6\n";
    check(
        &read("queue", text).unwrap(),
        "queue",
        expect![[r#"
        0 enqueue(1) -> null [0, 2]
        1 enqueue(2) -> null [1, 4]
        0 dequeue(null) -> 1 [3, 5]
        0 dequeue(null) -> null [6, 7]
    "#]],
    );
    let text = "# set\ninsert 1 1 2\ncontains_false 2 3 4\nremove 1 5 6\n";
    check(
        &read("set", text).unwrap(),
        "set",
        expect![[r#"
        0 add(1) -> true [0, 1]
        0 contains(2) -> false [2, 3]
        0 remove(1) -> true [4, 5]
    "#]],
    );
    // There the largest comes first.
    let text = "# priorityqueue\ninsert 5 1 2\ninsert 6 3 4\npoll 6 5 6\npoll -1 7 8\n";
    let recording = read("priority-queue", text).unwrap();
    check(
        &recording,
        "priority-queue",
        expect![[r#"
        0 insert(-5) -> null [0, 1]
        0 insert(-6) -> null [2, 3]
        0 remove-min(null) -> -6 [4, 5]
        0 remove-min(null) -> null [6, 7]
    "#]],
    );
    assert_eq!(recording.notes.len(), 1);
}

#[test]
fn limo() {
    let text = "# @object atomic-stack\n[1] call push(a)\n[2] call pop\n[1] return\n[2] return a\n\
        [1] call rem\n[1] return empty\n[1] call pop(7)\ncrash\n[1] call pop(8)\n[1] return\n\
        [3] call push 9\n";
    let recording = read("stack", text).unwrap();
    assert!(recording.notes.is_empty());
    assert_eq!(recording.history.crashes.len(), 1);
    check(
        &recording,
        "stack",
        expect![[r#"
        1 push("a") -> null [0, 2]
        2 pop(null) -> "a" [1, 3]
        1 pop(null) -> null [4, 5]
        1 pop(null) -> ? [6, ]
        1 pop(null) -> 8 [8, 9]
        3 push(9) -> ? [10, ]
    "#]],
    );
    let other = read("queue", "# @object atomic-stack\n[1] call add(1)\n").unwrap();
    expect!["the recording says that it is of an atomic-stack, and is read as one of a queue"]
        .assert_eq(&other.notes[0]);
}

#[test]
fn multi_word_operations() {
    let text = r#"
{"process":0,"type":"invoke","f":"mwread","value":[["x",null],["y",5]]}
{"process":0,"type":"ok","f":"mwread","value":[["x",1],["y",2]]}
{"process":0,"type":"invoke","f":"mwcas","value":[["x",1,3]]}
{"process":0,"type":"ok","f":"mwcas","value":{"failed":"x"}}
{"process":0,"type":"invoke","f":"mwcas","value":[["x",1,3]]}
{"process":0,"type":"ok","f":"mwcas","value":{"read":[["x",2]]}}
{"process":0,"type":"invoke","f":"mwcas","value":[["x",1,3]]}
{"process":0,"type":"ok","f":"mwcas","value":[["x",1,3]]}
{"process":0,"type":"invoke","f":"mwcas","value":[]}
{"process":0,"type":"ok","f":"mwcas","value":false}
"#;
    check(
        &read("mwcas", text).unwrap(),
        "mwcas",
        expect![[r#"
        0 mwread([["x", null], ["y", null]]) -> [["x", 1], ["y", 2]] [0, 1]
        0 mwcas([["x", 1, 3]]) -> {"failed": "x"} [2, 3]
        0 mwcas([["x", 1, 3]]) -> {"read": [["x", 2]]} [4, 5]
        0 mwcas([["x", 1, 3]]) -> true [6, 7]
        0 mwcas([]) -> false [8, 9]
    "#]],
    );
    let text = "[{:process 0 :type :invoke :f :txn :value [[:r :x nil] [:w :y 2]]}
        {:process 0 :type :ok :f :txn :value [[:r :x 1] [:w :y 2]]}]";
    check(
        &read("multi-register", text).unwrap(),
        "multi-register",
        expect![[r#"
        0 txn([["r", "x", null], ["w", "y", 2]]) -> [["r", "x", 1], ["w", "y", 2]] [0, 1]
    "#]],
    );
}

#[test]
fn vacuous_histories_are_told() {
    let vacuous = |spec: &str, text: &str| read(spec, text).unwrap().is_vacuous();
    assert!(vacuous("queue", ""));
    let write = r#"{"process":0,"type":"invoke","f":"write","value":1}
        {"process":0,"type":"ok","f":"write"}"#;
    assert!(vacuous("register", write));
    let read = "\n{\"process\":0,\"type\":\"invoke\",\"f\":\"read\"}";
    assert!(vacuous("register", &format!("{write}{read}")));
    let answer = "\n{\"process\":0,\"type\":\"ok\",\"f\":\"read\",\"value\":1}";
    assert!(!vacuous("register", &format!("{write}{read}{answer}")));
    // A mutex answers nothing; that it was acquired says something.
    let acquire = r#"{"process":0,"type":"invoke","f":"acquire"}
        {"process":0,"type":"ok","f":"acquire"}"#;
    assert!(!vacuous("mutex", acquire));
}

#[test]
fn mistakes_in_texts() {
    check_error(
        "queue",
        "hello\n",
        expect![
            "this is in none of the known formats (json-lines, jepsen-edn, jepsen-log, porcupine-kv, fastlin, limo, test-jepsen, etcd-operations, tipocket, s2)"
        ],
    );
    check_error(
        "queue",
        "\n{\"process\":0,\"type\":\"invoke\",\"f\":}",
        expect!["line 2, column 34: expected JSON, found `}` (expected value)"],
    );
    check_error(
        "queue",
        "{\"process\":0,\"f\":\"dequeue\"}",
        expect![
            "line 1: expected a `type` of `invoke`, `ok`, `fail`, `info`, `crash`, `recovered-ok` or `recovered-fail`, found none"
        ],
    );
    check_error(
        "queue",
        "{\"process\":0,\"type\":\"invoked\"}",
        expect![[
            r#"line 1: expected a `type` of `invoke`, `ok`, `fail`, `info`, `crash`, `recovered-ok` or `recovered-fail`, found "invoked""#
        ]],
    );
    check_error(
        "queue",
        "{\"type\":\"invoke\",\"f\":\"dequeue\"}",
        expect!["line 1: expected a `process`, found none"],
    );
    check_error(
        "queue",
        "{\"type\":\"invoke\",\"process\":[],\"f\":\"peek\"}",
        expect!["line 1: expected a process that is a number or a name, found []"],
    );
    check_error(
        "queue",
        "{\"type\":\"invoke\",\"process\":1}",
        expect!["line 1: expected an operation name in `f`, found none"],
    );
    check_error(
        "queue",
        "[{\"type\":\"crash\"}\n{\"type\":\"crash\"}]",
        expect!["line 2, column 1: expected `,` or `]`, found `{`"],
    );
    check_error(
        "queue",
        "{:process 0, :type :invoke,\n :f :enqueue, :value [1 }",
        expect!["line 2, column 25: expected a form, found `}`"],
    );
    check_error(
        "queue",
        "[{:process 0, :type :invoke",
        expect!["line 1, column 2: expected a map with its end, found the end of the text"],
    );
    check_error(
        "queue",
        "INFO jepsen.util - 1\t:invoke\t:enqueue\t[1",
        expect!["line 1, column 41: expected a closing bracket, found nothing"],
    );
    check_error(
        "queue",
        "# queue\nenq 1 5 4",
        expect!["line 2, column 1: expected a start that is not after the end, found `enq 1 5 4`"],
    );
    check_error(
        "queue",
        "# queue\nenq 1 5",
        expect!["line 2, column 1: expected `method value start end`, found `enq 1 5`"],
    );
    check_error(
        "queue",
        "# @object atomic-queue\n[1] calls enq",
        expect![
            "line 2, column 1: expected `[thread] call name(value)` or `[thread] return value`, found `[1] calls enq`"
        ],
    );
    check_error(
        "queue",
        "# @object atomic-queue\n[1] call deq\n[1] return",
        expect!["line 3, column 1: expected what `dequeue` returned, or `empty`, found `return`"],
    );
}

#[test]
fn histories_that_are_not_well_formed() {
    let call = r#"{"process":3,"type":"invoke","f":"write","value":1}"#;
    let ok = r#"{"process":3,"type":"ok","f":"write"}"#;
    let info = r#"{"process":3,"type":"info","f":"write"}"#;
    check_error(
        "register",
        &format!("{call}\n\n{call}"),
        expect!["line 3: process 3 calls `write`, but its `write` of line 1 has not returned"],
    );
    check_error(
        "register",
        &format!("{call}\n{ok}\n{ok}"),
        expect!["line 3: process 3 gets an answer, but has called nothing"],
    );
    check_error(
        "register",
        &format!("{call}\n{info}\n{call}"),
        expect![
            "line 3: process 3 goes on, although the outcome of its last operation is unknown since line 2"
        ],
    );
    check_error(
        "register",
        &format!("{call}\n{{\"process\":3,\"type\":\"ok\",\"f\":\"read\"}}"),
        expect!["line 2: process 3 gets an answer to `read`, but at line 1 it called `write`"],
    );
    check_error(
        "register",
        &call.replace("write", "cas"),
        expect!["line 1: the specification has no operation `cas`; it has write, read"],
    );
    check_error(
        "register",
        &format!(
            "{}\n{}",
            call.replace("1}", "1,\"key\":\"x\"}"),
            ok.replace("}", ",\"key\":\"y\"}")
        ),
        expect![[
            r#"line 2: process 3 gets an answer about the key "y", but at line 1 it called with the key "x""#
        ]],
    );
}

#[test]
fn values_of_the_wrong_shape() {
    let call = |f: &str, value: &str| {
        format!("{{\"process\":0,\"type\":\"invoke\",\"f\":\"{f}\",\"value\":{value}}}")
    };
    let ok = |value: &str| format!("\n{{\"process\":0,\"type\":\"ok\",\"value\":{value}}}");
    check_error(
        "cas-register",
        &call("cas", "[1]"),
        expect!["line 1: `cas` takes [value, value], but here it is [1]"],
    );
    check_error(
        "cas-register",
        &(call("cas", "[1,2]") + &ok("[1,3]")),
        expect!["line 2: `cas` answers bool, but here it is [1, 3]"],
    );
    check_error(
        "set",
        &(call("add", "1") + &ok("1")),
        expect![
            "line 2: `add` answers bool, but here it is 1; for a set that is only added to and read as a whole there is `--spec grow-set`"
        ],
    );
    check_error(
        "counter",
        &call("add", "1.5"),
        expect!["line 1: `add` takes int, but here it is 1.5"],
    );
    check_error(
        "register",
        &call("write", "[1, 1e300000]"),
        expect![
            "line 1: `write` takes value, but here it is a value with a number that cannot be read"
        ],
    );
    check_error(
        "kv",
        &call("put", "7"),
        expect!["line 1: `put` takes [value, string], but here it is 7"],
    );
    check_error(
        "kv",
        &call("put", "7,\"key\":1"),
        expect!["line 1: `put` takes [value, string], but here it is 7 with the key 1"],
    );
    check_error(
        "mwcas",
        &(call("mwcas", "[[1,2,3]]") + &ok("3")),
        expect![[
            r#"line 2: `mwcas` answers true, false, {"failed": address} or {"read": …}, but here it is 3"#
        ]],
    );
    check_error(
        "mwcas",
        &call("mwcas", "[[1,2]]"),
        expect!["line 1: `mwcas` takes [[value, value, value], …], but here it is [[1, 2]]"],
    );
}

#[test]
fn names_of_formats() {
    for format in Format::ALL {
        assert_eq!(format.to_string().parse(), Ok(format));
    }
    assert_eq!("jsonl".parse(), Ok(Format::JsonLines));
    expect!["there is no format `xml`; there are json-lines, jepsen-edn, jepsen-log, porcupine-kv, fastlin, limo, test-jepsen, etcd-operations, tipocket, s2"]
        .assert_eq(&"xml".parse::<Format>().unwrap_err().to_string());
}

#[test]
fn recordings_that_were_cut_short() {
    let cut = read("register", "[{:process 0, :type :invoke, :f :read}\n").unwrap();
    assert_eq!((shown(&cut.history).len(), cut.notes.len()), (1, 1));
    let cut = read("register", "[{\"process\":0, \"type\":\"invoke\", \"f\":\"read\"},\n").unwrap();
    assert_eq!((shown(&cut.history).len(), cut.notes.len()), (1, 1));
}
