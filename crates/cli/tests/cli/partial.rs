//! Histories that say themselves what precedes what, from the file to the certificate.

use snapbox::cmd::Command;
use std::path::Path;

fn linchpin(args: &[&str]) -> (i32, String, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let command = Command::new(snapbox::cmd::cargo_bin!("linchpin"))
        .env("LINCHPIN_CACHE", "")
        .current_dir(root);
    let output = command.args(args).output().expect("linchpin runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is text");
    (output.status.code().expect("it exits"), text(output.stdout), text(output.stderr))
}

/// Two processes that never met, and one that has seen both enqueues.
const REORDERED: &str = r#"{"process":"a","type":"invoke","f":"enqueue","value":1,"after":[]}
{"process":"a","type":"ok","f":"enqueue"}
{"process":"a","type":"invoke","f":"enqueue","value":2,"op":"second"}
{"process":"a","type":"ok","f":"enqueue"}
{"process":"b","type":"invoke","f":"dequeue"}
{"process":"b","type":"ok","f":"dequeue","value":2}
{"process":"b","type":"invoke","f":"dequeue"}
{"process":"b","type":"ok","f":"dequeue","value":1}
"#;

struct Files(tempfile::TempDir);

impl Files {
    fn new(text: &str) -> Files {
        let files = Files(tempfile::tempdir().expect("a folder"));
        std::fs::write(files.path("history"), text).expect("written");
        files
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().expect("a path").to_owned()
    }

    fn check(&self, args: &[&str]) -> (i32, String, String) {
        let history = self.path("history");
        linchpin(&[&["check", &history, "--spec", "queue"], args].concat())
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("it was written")
    }
}

#[test]
fn a_violation_is_explained_listed_and_certified() {
    let files = Files::new(REORDERED);
    let (core, page) = (files.path("core"), files.path("page"));
    let (code, stdout, stderr) = files.check(&["--core", &core, "--report", &page, "-v"]);
    assert_eq!((code, stderr.as_str()), (1, ""), "{stdout}");
    assert!(stdout.starts_with("violated: the history is not linearizable\n"), "{stdout}");
    assert!(stdout.contains("dequeue → 2 by process b"), "{stdout}");
    assert!(stdout.contains("method: search of a partial order"), "{stdout}");
    assert!(stdout.contains("lines and times order nothing else"), "{stdout}");
    // No intervals are claimed.
    assert!(!stdout.contains('├') && !stdout.contains("first event"), "{stdout}");
    let (code, stdout, stderr) = linchpin(&["certify", &core]);
    assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
    assert!(stdout.contains("no order explains these"), "{stdout}");
    let page = files.read("page");
    assert!(page.contains("there are no intervals") && page.contains("in the core"), "{page}");
    // Fewer operations are no core.
    let claimed = files.read("core");
    let json: serde_json::Value = serde_json::from_str(&claimed).expect("JSON");
    let mut tampered = json.clone();
    tampered["core"] = serde_json::json!([0]);
    std::fs::write(&core, tampered.to_string()).expect("written");
    let (code, stdout, _) = linchpin(&["certify", &core]);
    assert_eq!(code, 1, "{stdout}");
}

#[test]
fn the_core_in_json_is_a_history_of_its_own() {
    let files = Files::new(REORDERED);
    let (code, stdout, _) = files.check(&["--json"]);
    let json: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!((code, &json["verdict"]), (1, &serde_json::json!("violated")));
    assert_eq!(json["counterexample"]["confirmed"], true, "{stdout}");
    let events = json["counterexample"]["history"].as_array().expect("events");
    assert!(events.iter().all(|event| event.get("time").is_none()), "{stdout}");
    let lines: Vec<String> = events.iter().map(ToString::to_string).collect();
    let alone = Files::new(&lines.join("\n"));
    assert_eq!(alone.check(&[]).0, 1, "{stdout}");
}

#[test]
fn a_witness_is_certified_and_an_order_beside_it_is_not() {
    // In no order the dequeues can be between the enqueues.
    let text = REORDERED
        .replace(r#""f":"dequeue","value":2"#, r#""f":"dequeue","value":0"#)
        .replace(r#""f":"dequeue","value":1"#, r#""f":"dequeue","value":2"#)
        .replace(r#""f":"dequeue","value":0"#, r#""f":"dequeue","value":1"#);
    let files = Files::new(&text);
    let (witness, page) = (files.path("witness"), files.path("page"));
    let (code, stdout, stderr) = files.check(&["--witness", &witness, "--report", &page]);
    assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
    assert!(files.read("page").contains("An order that explains it"));
    assert_eq!(linchpin(&["certify", &witness]).0, 0);
    let mut json: serde_json::Value = serde_json::from_str(&files.read("witness")).expect("JSON");
    json["witness"].as_array_mut().expect("a list").reverse();
    std::fs::write(&witness, json.to_string()).expect("written");
    let (code, stdout, stderr) = linchpin(&["certify", &witness]);
    assert_eq!(code, 1, "{stdout}{stderr}");
}

#[test]
fn what_is_about_intervals_is_refused() {
    let files = Files::new(REORDERED);
    for args in [&["--with-history", "--json"][..], &["--property", "strict"]] {
        let (code, stdout, stderr) = files.check(args);
        assert_eq!(code, 2, "{args:?}: {stdout}");
        assert!(
            format!("{stdout}{stderr}").contains("`after` says what precedes what"),
            "{stderr}"
        );
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let command = Command::new(snapbox::cmd::cargo_bin!("linchpin"))
        .env("LINCHPIN_CACHE", "")
        .current_dir(root);
    let output = command.args(["check", "-", "--spec", "queue"]).stdin(REORDERED);
    let output = output.output().expect("linchpin runs");
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8(output.stderr).expect("text");
    assert!(stderr.contains("line 1: `after` says what precedes what"), "{stderr}");
    // Several at once are judged as they are.
    let other = files.path("other");
    std::fs::write(&other, REORDERED.replace(",\"after\":[]", "")).expect("written");
    let (code, stdout, _) = files.check(&[&other]);
    assert_eq!(code, 1, "{stdout}");
    assert!(stdout.contains("2 not linearizable"), "{stdout}");
}
