//! What `linchpin check` says of histories that are wrong, word for word.

use snapbox::cmd::Command;
use snapbox::str;
use std::path::Path;

/// Checks a history in a folder of its own.
fn check(history: &str, args: &[&str]) -> snapbox::cmd::OutputAssert {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("h.jsonl"), history).expect("written");
    Command::new(snapbox::cmd::cargo_bin!("linchpin"))
        .current_dir(folder.path())
        .args(["check", "h.jsonl", "--spec"])
        .args(args)
        .assert()
        .code(1)
}

/// Events as `process type f value`, one a line, as a history.
fn events(text: &str) -> String {
    let event = |line: &str| {
        let mut words = line.trim().splitn(4, ' ');
        let mut next = || words.next().unwrap_or("null");
        let (process, kind, f, value) = (next(), next(), next(), next());
        format!(r#"{{"process":{process},"type":"{kind}","f":"{f}","value":{value}}}"#) + "\n"
    };
    text.lines().filter(|line| !line.trim().is_empty()).map(event).collect()
}

#[test]
fn a_queue() {
    let history = events(
        "0 invoke enqueue 1
        0 ok enqueue 1
        0 invoke enqueue 2
        1 invoke dequeue
        0 ok enqueue 2
        1 ok dequeue 2
        2 invoke dequeue
        2 ok dequeue 1",
    );
    check(&history, &["queue"]).stdout_eq(str![[r#""#]]);
}

#[test]
fn a_stack() {
    let history = events(
        "0 invoke push 3
        0 ok push 3
        1 invoke push 5
        1 ok push 5
        2 invoke pop
        2 ok pop 3
        2 invoke pop
        2 ok pop 5",
    );
    check(&history, &["stack"]).stdout_eq(str![[r#""#]]);
}

/// Failed operations and blank lines count as lines, though not as operations.
#[test]
fn registers_of_which_two_are_wrong() {
    let history = events(
        r#"0 invoke write ["x",1]
        0 ok write ["x",1]
        1 invoke write ["y",1]
        1 fail write ["y",1]
        1 invoke read ["y",null]
        1 ok read ["y",1]
        2 invoke read ["x",null]
        2 ok read ["x",2]
        2 invoke read ["z",null]
        2 ok read ["z",null]"#,
    );
    check(&history, &["register", "--keyed", "true"]).stdout_eq(str![[r#""#]]);
}

#[test]
fn a_store() {
    let history = events(
        r#"0 invoke put ["a","x"]
        0 ok put ["a","x"]
        1 invoke append ["a","y"]
        2 invoke get "a"
        2 ok get "xy"
        2 invoke get "a"
        2 ok get "x""#,
    );
    check(&history, &["kv"]).stdout_eq(str![[r#""#]]);
}

/// The write was cut off by the crash, and is seen after it was not.
#[test]
fn a_crash() {
    let history = events(
        "0 invoke write 1
        0 crash
        1 invoke read
        1 ok read null
        1 invoke read
        1 ok read 1",
    );
    let history = history.replace(r#""type":"crash","f":"null","value":null"#, r#""type":"crash""#);
    check(&history, &["register", "--property", "strict"]).stdout_eq(str![[r#""#]]);
}

/// What an operation in progress had done is part of the states that were possible.
#[test]
fn a_specification_of_ones_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let spec = folder.path().join("cell.lin");
    let source = "spec {
        state held: int = 0;
        op set(v: int) { held = v; }
        op get() -> int { return held; }
    }";
    std::fs::write(&spec, source).expect("written");
    let history = events(
        "0 invoke set 1
        1 invoke get
        1 ok get 1
        1 invoke get
        1 ok get 0",
    );
    check(&history, &[path(&spec)]).stdout_eq(str![[r#""#]]);
}

fn path(path: &Path) -> &str {
    path.to_str().expect("a path")
}
