//! Scenarios from recordings.

use crate::objects::Stack;
use linchpin_harness::{Covered, Failure, Plan, Test, fresh};

fn recorded(text: &str) -> Result<Covered, Box<Failure>> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.jsonl");
    std::fs::write(&path, text).expect("a file");
    Test::new("controlled-recorded", || Stack::new(false))
        .spec("stack")
        .folder(None)
        .plan(Plan::exhaustive())
        .recorded(path)
        .op("push", (fresh,), |stack, (value,): (u64,)| stack.push(value))
        .op("pop", (), |stack, ()| stack.pop())
        .check()
}

const RUN: &str = r#"{"process":0,"type":"invoke","f":"push","value":7}
{"process":1,"type":"invoke","f":"pop","value":null}
{"process":0,"type":"ok","f":"push","value":PUSHED}
{"process":1,"type":"ok","f":"pop","value":ANSWER}
"#;

#[test]
fn what_a_model_did_the_code_can_do() {
    for (answer, can) in [("7", true), ("null", true), ("8", false)] {
        // A recording repeats the argument where nothing is answered.
        for pushed in ["7", "null"] {
            let text = RUN.replace("ANSWER", answer).replace("PUSHED", pushed);
            let covered = recorded(&text).unwrap_or_else(|it| panic!("{it}"));
            assert!(covered.complete, "{covered}");
            let can_answer = "the code can answer what was recorded";
            assert_eq!(covered.notes.iter().any(|note| note == can_answer), can, "{covered}");
        }
    }
}

#[test]
fn a_recording_of_something_else_is_refused() {
    let failure =
        recorded("{\"process\":0,\"type\":\"invoke\",\"f\":\"peek\"}").expect_err("no peek");
    assert!(failure.to_string().contains("line 1 is no event of the test"), "{failure}");
}
