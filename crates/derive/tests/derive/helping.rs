//! Steps that are done for others: each of the three conditions is needed, and each is checked.

use linchpin_derive::derive;
use linchpin_lang::{Config, compile};

/// The Michael–Scott queue with these changes.
fn queue(changes: &[(&str, &str)], more: &str) -> String {
    let source = include_str!("../../../../models/ms_queue.lin");
    let mut source: String =
        source.lines().filter(|line| !line.starts_with("//!")).collect::<Vec<_>>().join("\n");
    source = source.replace("spec queue;", "spec { state n: int; op enqueue(v: int) { n = v; } op dequeue() -> int? { return none; } op extra() { n = 0; } }");
    for (from, to) in changes {
        assert!(source.contains(from), "{from}");
        source = source.replacen(from, to, 1);
    }
    format!("{source}\nop extra() {{ {more} }}\n")
}

#[track_caller]
fn refuses(source: &str, reason: &str) {
    let compiled = compile(source, &Config::default()).unwrap_or_else(|mistakes| {
        panic!("{source}\n{mistakes:?}");
    });
    match derive(&compiled.program) {
        Err(refusal) => assert!(refusal.to_string().contains(reason), "{refusal}"),
        Ok(derivation) => panic!("derived: {}", derivation.whole().text()),
    }
}

const NOBODY_WAITS: &str =
    "it is not shown that this `cas` does a step for an operation that waits for it";

#[test]
fn the_queue_itself_is_derived() {
    let source = queue(&[], "let t = tail;");
    let compiled = compile(&source, &Config::default()).unwrap();
    assert!(derive(&compiled.program).is_ok());
}

#[test]
fn nobody_waits_at_the_start() {
    // The tail lags behind from the beginning: a thread that moves it does so for none.
    refuses(
        &queue(
            &[(
                "head = dummy;",
                "let other = new Node {};\n    dummy.next = other;\n    head = dummy;",
            )],
            "let t = tail;",
        ),
        NOBODY_WAITS,
    );
}

#[test]
fn whoever_links_a_node_must_wait() {
    // `extra` links a node and leaves: the tail is then moved for none.
    refuses(
        &queue(
            &[],
            "let x = new Node {}; loop { let t = tail; if cas(t.next, null, x) { return; } }",
        ),
        NOBODY_WAITS,
    );
}

#[test]
fn the_values_must_be_those_of_the_one_who_waits() {
    refuses(
        &queue(
            &[("cas(tail, t, s);", "let z = head;\n                cas(tail, t, z);")],
            "let t = tail;",
        ),
        NOBODY_WAITS,
    );
}

#[test]
fn the_own_step_fails_only_if_somebody_helped() {
    refuses(
        &queue(&[], "tail = head;"),
        "it is not shown that the `cas` succeeds unless another operation has done so",
    );
}

#[test]
fn the_own_step_is_not_done_again_after_help() {
    // Nothing happens while a thread waits; but afterwards the tail may come back to where it was.
    let change = ("cas(t.next, s, x)", "cas([t.next, tail], [null, t], [x, t])");
    refuses(
        &queue(&[change], "atomic { let t = tail; if t.next == null { tail = head; } }"),
        "it is not shown that it is not done twice",
    );
}

#[test]
fn nothing_comes_between_the_visible_step_and_the_one_that_others_do() {
    refuses(
        &queue(
            &[(
                "                    cas(tail, t, x);",
                "                    head = t;\n                    if v == 1 { return; }\n                    cas(tail, t, x);",
            )],
            "let t = tail;",
        ),
        "it is not shown that",
    );
}
