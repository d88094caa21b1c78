//! Reports of etcd's robustness tests.

use crate::common;

use common::shown;
use expect_test::{Expect, expect};
use linchpin_ingest::{Format, IngestError, ReadOptions, Recording, read_bytes, read_path};
use linchpin_spec::builtin;
use serde_json::{Value as Json, json};

fn read(text: &str) -> Result<Recording, IngestError> {
    let object = builtin("etcd", None).unwrap();
    read_bytes(text.as_bytes(), &ReadOptions::new("etcd", object.operations()))
}

fn operation(client: i64, call: i64, returned: i64, input: Json, output: Json) -> String {
    let operation = json!({
        "ClientId": client, "Input": input, "Call": call, "Output": output, "Return": returned,
    });
    format!("{operation}\n")
}

fn put(key: &str, value: &str, lease: i64) -> Json {
    let put = json!({ "Key": key, "Value": { "Value": value }, "LeaseID": lease });
    let part = json!({ "Type": "put-operation", "Range": {}, "Put": put, "Delete": {} });
    json!({ "Type": "txn", "Txn": { "Conditions": null, "OperationsOnSuccess": [part] } })
}

fn put_done(revision: i64) -> Json {
    let result = json!({ "KVs": null, "Count": 0, "Deleted": 0 });
    json!({ "Txn": { "Failure": false, "Results": [result] }, "Revision": revision, "Error": "" })
}

fn get(key: &str) -> Json {
    json!({ "Type": "range", "Range": { "Start": key, "End": "", "Limit": 0, "Revision": 0 } })
}

fn got(revision: i64, kvs: Json) -> Json {
    let count = kvs.as_array().map_or(0, Vec::len);
    json!({ "Range": { "KVs": kvs, "Count": count }, "Revision": revision, "Error": "" })
}

fn listed(recording: &Recording, expected: Expect) {
    expected.assert_eq(&(shown(&recording.history).join("\n") + "\n"));
}

#[test]
fn operations_are_in_the_order_of_their_times() {
    let long = "a value of twenty bytes or more";
    let kv = json!([{ "Key": "k", "Value": { "Value": "v" }, "ModRevision": 2, "Version": 1 }]);
    let text = operation(2, 30, 40, get("k"), got(2, kv))
        + &operation(1, 10, 30, put("k", "v", 0), put_done(2))
        + &operation(3, 5, 0, put("k", long, 7), json!({ "Error": "timeout" }))
        + &operation(3, 50, 60, json!({ "Type": "defragment" }), json!({ "Revision": -1 }));
    assert_eq!(Format::detect(text.as_bytes()), Some(Format::EtcdOperations));
    let recording = read(&text).unwrap();
    listed(
        &recording,
        expect![[r#"
            3 Call { operation: 1, argument: Map({Str("else"): List([]), Str("if"): List([]), Str("then"): List([List([Str("put"), Str("k"), Map({Str("hash"): Int(1082989138)}), Int(7)])])}) } None null 0 4294967295
            1 Call { operation: 1, argument: Map({Str("else"): List([]), Str("if"): List([]), Str("then"): List([List([Str("put"), Str("k"), Str("v"), Int(0)])])}) } Some(Map({Str("results"): List([Null]), Str("revision"): Int(2), Str("succeeded"): Bool(true)})) null 2 4
            2 Call { operation: 0, argument: List([Str("k"), Str(""), Int(0), Int(0)]) } Some(Map({Str("count"): Int(1), Str("kvs"): List([List([Str("k"), Str("v"), Int(2), Int(1)])]), Str("revision"): Int(2)})) null 3 5
            3.1 Call { operation: 5, argument: Null } Some(Null) null 6 7
        "#]],
    );
}

#[test]
fn what_is_not_known_is_an_error_with_its_line() {
    let first = operation(1, 10, 30, put("k", "v", 0), put_done(2));
    let check = |second: String, expected: Expect| {
        let error = read(&(first.clone() + "\n" + &second)).unwrap_err();
        expected.assert_eq(&error.to_string());
        assert_eq!(error.line(), Some(3));
    };
    check(
        operation(1, 40, 50, json!({ "Type": "watch" }), json!({})),
        expect![[
            r#"line 3: expected a request of type range, txn, leaseGrant, leaseRevoke, compact or defragment, found `{"Type":"watch"}`"#
        ]],
    );
    let part = json!({ "Type": "put", "Key": "k" });
    let txn = json!({ "Type": "txn", "Txn": { "OperationsOnSuccess": [part] } });
    check(
        operation(1, 40, 50, txn, put_done(3)),
        expect![[
            r#"line 3: expected a part of type range-operation, put-operation or delete-operation, found `{"Type":"put","Key":"k"}`"#
        ]],
    );
    check(
        operation(1, 40, 30, get("k"), got(2, json!([]))),
        expect![[
            r#"line 3: expected an operation that returns after it is called, found `{"ClientId":1,"Input":{"Type":"range","R`"#
        ]],
    );
    check(
        operation(1, 40, 50, get("k"), json!({ "ClientError": "odd" })),
        expect![[
            r#"line 3: expected a `ClientError` that says compacted or future revision, found `{"ClientError":"odd"}`"#
        ]],
    );
    check(
        operation(1, 40, 50, put("k", "v", 0), json!({ "Revision": 3 })),
        expect!["line 3: expected the response of a transaction, found `null`"],
    );
    check(
        "{\"ClientId\": 1, \"Input\"}".to_owned(),
        expect!["line 3, column 24: expected JSON, found `}` (expected `:`)"],
    );
}

#[test]
fn the_clients_of_a_report_are_one_history() {
    let folder = tempfile::tempdir().unwrap();
    let write = |client: &str, text: String| {
        let path = folder.path().join(client);
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("operations.json"), text).unwrap();
    };
    write("client-1", operation(1, 10, 30, put("k", "v", 0), put_done(2)));
    write("client-2", operation(2, 20, 40, get("k"), got(1, json!([]))));
    let object = builtin("etcd", None).unwrap();
    let options = ReadOptions::new("etcd", object.operations());
    let recording = read_path(folder.path(), &options).unwrap();
    assert_eq!(recording.history.processes.len(), 2);
    assert_eq!(recording.completed, 2);
    write("client-10", "{\n}".to_owned());
    let error = read_path(folder.path(), &options).unwrap_err();
    expect!["client-10: line 1: expected an operation with an `Input`, found `{}`"]
        .assert_eq(&error.to_string());
}
