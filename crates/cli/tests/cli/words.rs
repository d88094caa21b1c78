//! What `linchpin check` says of histories that are wrong, word for word.

use snapbox::cmd::Command;
use snapbox::str;

/// A specification of one's own.
const CELL: &str = "spec {
    state held: int = 0;
    op set(v: int) { held = v; }
    op get() -> int { return held; }
}
";

/// Checks a history in a folder of its own.
fn check(history: &str, args: &[&str]) -> snapbox::cmd::OutputAssert {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("h.jsonl"), history).expect("written");
    std::fs::write(folder.path().join("cell.lin"), CELL).expect("written");
    Command::new(snapbox::cmd::cargo_bin!("linchpin"))
        .env("LINCHPIN_CACHE", "")
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
    check(&history, &["queue"]).stdout_eq(str![[r#"
violated: the history is not linearizable
  4 operations of h.jsonl by 3 processes, judged as queue

enqueue(1) by process 0 returned before enqueue(2) by process 0 was called, yet dequeue → 2 by process 1 returned before dequeue → 1 by process 2 was called

process 0  ├─enqueue(1)─┤ ├─enqueue(2)─┤
process 1 [..]├─dequeue() → 2─┤
process 2 [..]├─dequeue() → 1─┤

The core, which no order explains:
  lines 1-2  process 0  enqueue(1)
  lines 3-5  process 0  enqueue(2)
  lines 4-6  process 1  dequeue() → 2
  lines 7-8  process 2  dequeue() → 1
The return on line 6 is the first event that cannot be explained.

"#]]);
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
    check(&history, &["stack"]).stdout_eq(str![[r#"
violated: the history is not linearizable
  4 operations of h.jsonl by 3 processes, judged as stack

push(5) by process 1 pushed 5 on 3, for 3 was certainly in the stack from the return of push(3) by process 0 to the call of pop → 3 by process 2; yet pop → 3 by process 2 popped 3 from under 5, for 5 was certainly in the stack from the return of push(5) by process 1 to the call of pop → 5 by process 2

process 0  ├─push(3)─┤
process 1 [..]├─push(5)─┤
process 2 [..]├─pop() → 3─┤ ├─pop() → 5─┤

The core, which no order explains:
  lines 1-2  process 0  push(3)
  lines 3-4  process 1  push(5)
  lines 5-6  process 2  pop() → 3
  lines 7-8  process 2  pop() → 5
The return on line 6 is the first event that cannot be explained.

"#]]);
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
    check(&history, &["register", "--keyed", "true"]).stdout_eq(str![[r#"
violated: the history is not linearizable
  4 operations of h.jsonl by 3 processes, judged as register

key "y": read → 1 by process 1 found a value that no operation had been called to write

process 1  ├─read() → 1─┤

The core, which no order explains:
  lines 5-6  process 1  read() → 1
The return on line 6 is the first event of key "y" that cannot be explained.

2 of 3 keys are violated:
  key "x", line 8: read → 2 by process 2 found a value that no operation had been called to write
  key "y", line 6: read → 1 by process 1 found a value that no operation had been called to write

"#]]);
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
    check(&history, &["kv"]).stdout_eq(str![[r#"
violated: the history is not linearizable
  4 operations of h.jsonl by 3 processes, judged as kv

[..]get("a") → "x" by process 2[..]

...
The core, which no order explains:
...
The return on line 7 is the first event[..] that cannot be explained.
...

"#]]);
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
    check(&history, &["register", "--property", "strict"]).stdout_eq(str![[r#"
violated: the history is not strictly linearizable
  3 operations of h.jsonl by 2 processes, judged as register

the initial value was there before 1; but write(1) by process 0 was interrupted before read → null by process 1 was called, so 1 was there before the initial value

process 0  ├─write(1) (pending)─╌╌
process 1    ├─read() → null─┤ ├─read() → 1─┤

The core, which no order explains:
  line 1     process 0  write(1) (pending)
  lines 3-4  process 1  read() → null
  lines 5-6  process 1  read() → 1
The return on line 6 is the first event that cannot be explained.

"#]]);
}

/// What an operation in progress had done is part of the states that were possible.
#[test]
fn a_specification_of_ones_own() {
    let history = events(
        "0 invoke set 1
        1 invoke get
        1 ok get 1
        1 invoke get
        1 ok get 0",
    );
    check(&history, &["cell.lin"]).stdout_eq(str![[r#"
violated: the history is not linearizable
  3 operations of h.jsonl by 2 processes, judged as cell.lin

get → 0 by process 1 cannot be explained: just before it returned, the object can only have been in the state held = 1 (after set(1) by process 0, still in progress), or in what others in progress make of that, and none of it gives this answer

process 0  ├─set(1) (pending)─╌╌
process 1    ├─get() → 1─┤ ├─get() → 0─┤

The core, which no order explains:
  line 1     process 0  set(1) (pending)
  lines 2-3  process 1  get() → 1
  lines 4-5  process 1  get() → 0
The return on line 5 is the first event that cannot be explained.
Possible states just before: held = 1 (after set(1) by process 0, still in progress)

"#]]);
}
