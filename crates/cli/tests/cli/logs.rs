//! Logs as people have them: what is told from the log itself, and what comes on standard input.

use snapbox::cmd::Command;
use std::path::Path;

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn told(command: Command) -> (i32, String, String) {
    let output = command.output().expect("linchpin runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

fn check(args: &[&str]) -> (i32, String, String) {
    let command = Command::new(snapbox::cmd::cargo_bin!("linchpin"))
        .env("LINCHPIN_CACHE", "")
        .current_dir(root());
    told(command.arg("check").args(args))
}

fn check_input(text: &str, args: &[&str]) -> (i32, String, String) {
    let command = Command::new(snapbox::cmd::cargo_bin!("linchpin"))
        .env("LINCHPIN_CACHE", "")
        .current_dir(root());
    told(command.args(["check", "-"]).args(args).stdin(text.as_bytes()))
}

fn bundled(name: &str) -> String {
    std::fs::read_to_string(root().join("histories").join(name)).expect("a bundled history")
}

#[test]
fn the_workload_set_is_a_set_that_grows() {
    let (code, text, _) = check(&["histories/set.edn", "--spec", "set"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("judged by --spec grow-set, not set"), "{text}");
    let (code, text, _) = check_input(&bundled("set.edn"), &["--spec", "set"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("judged by --spec grow-set, not set"), "{text}");
    // Long answers are cut short in text.
    assert!(text.contains("… (53 values)]"), "{text}");
    let folder = tempfile::tempdir().expect("a folder");
    let core = folder.path().join("core.json");
    let name = core.display().to_string();
    check(&["histories/set.edn", "--spec", "set", "--core", &name]);
    let certify = Command::new(snapbox::cmd::cargo_bin!("linchpin"))
        .env("LINCHPIN_CACHE", "")
        .current_dir(root());
    let (code, text, _) = told(certify.args(["certify", &name]));
    assert!(code == 0 && text.contains("specification grow-set"), "{text}");
}

#[test]
fn a_set_whose_adds_answer_is_no_set_that_grows() {
    let text = "\
        {\"process\":0,\"type\":\"invoke\",\"f\":\"read\"}\n\
        {\"process\":0,\"type\":\"ok\",\"f\":\"read\",\"value\":[]}\n\
        {\"process\":0,\"type\":\"invoke\",\"f\":\"add\",\"value\":3}\n\
        {\"process\":0,\"type\":\"ok\",\"f\":\"add\",\"value\":true}\n";
    let (code, _, said) = check_input(text, &["--spec", "set"]);
    assert!(code == 2 && said.contains("line 4: `add` answers nothing"), "{said}");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("set.jsonl");
    std::fs::write(&file, text).expect("a file");
    let (code, _, said) = check(&[&file.display().to_string(), "--spec", "set"]);
    assert!(code == 2 && said.contains("there is `--spec grow-set`"), "{said}");
}

#[test]
fn what_cannot_be_judged_as_it_arrives_is_read_to_its_end() {
    let array = format!("[\n{}]", bundled("queue.jsonl").trim_end().replace('\n', ",\n"));
    let (code, text, said) = check_input(&array, &["--spec", "queue"]);
    assert!(code == 1 && text.contains("The core, which no order explains"), "{text}{said}");
    let (code, _, said) = check_input(&array, &["--spec", "queue", "--follow"]);
    assert!(code == 2 && said.contains("leave out --follow"), "{said}");
    let (code, _, said) = check_input(&array, &["--spec", "queue", "--memory-limit", "1K"]);
    assert!(code == 2 || code == 3, "{said}");
    let log = format!("[main] INFO {{:a 1}} starting\n\nHello\n{}", bundled("console.log"));
    let (code, text, said) = check_input(&log, &["--spec", "cas-register"]);
    assert!(code == 0 && text.contains(" events, "), "{text}{said}");
    let (code, text, said) =
        check_input(&bundled("queue.jsonl"), &["--spec", "queue", "--order", "time"]);
    assert!(code == 1, "{text}{said}");
    let (code, _, said) = check_input("Dear diary\n", &["--spec", "queue"]);
    assert!(code == 2 && said.contains("none of the known formats"), "{said}");
}

#[test]
fn remarks_are_said_of_many_files() {
    let (code, text, _) = check(&["histories/set.edn", "histories/set.edn", "--spec", "set"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("How they were read:\n  histories/set.edn: judged by"), "{text}");
    let (_, text, _) =
        check(&["histories/set.edn", "histories/set.edn", "--spec", "set", "--json"]);
    assert!(text.contains("\"notes\":[\"judged by --spec grow-set"), "{text}");
}

#[test]
fn the_core_of_an_etcd_report_is_certified() {
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join("report");
    let client = report.join("client-1");
    std::fs::create_dir_all(&client).expect("a folder");
    let get = r#"{"ClientId":1,"Input":{"Type":"range","Range":{"Start":"k","End":"","Limit":0,"Revision":0}},"Call":10,"Output":{"Range":{"KVs":[],"Count":0},"Revision":7,"Error":""},"Return":20}"#;
    std::fs::write(client.join("operations.json"), format!("{get}\n")).expect("a file");
    let core = folder.path().join("core.json").display().to_string();
    let report = report.display().to_string();
    let (code, text, said) = check(&[&report, "--spec", "etcd", "--core", &core]);
    assert_eq!(code, 1, "{text}{said}");
    let certify = || {
        let command = Command::new(snapbox::cmd::cargo_bin!("linchpin"))
            .env("LINCHPIN_CACHE", "")
            .current_dir(root());
        told(command.args(["certify", &core]))
    };
    let (code, text, said) = certify();
    assert_eq!(code, 0, "{text}{said}");
    let changed = get.replace("\"Revision\":7", "\"Revision\":8");
    std::fs::write(client.join("operations.json"), changed).expect("a file");
    let (code, text, said) = certify();
    assert_eq!(code, 1, "{text}{said}");
    let (code, text, said) = check_input(get, &["--spec", "etcd"]);
    assert_eq!(code, 1, "{text}{said}");
}
