//! `linchpin roadmap` as people and scripts meet it.

use serde_json::Value as Json;
use snapbox::cmd::Command;
use std::path::Path;

const LAZY: &str = "models/lazy_set.lin";

fn output(args: &[&str]) -> (i32, String, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(snapbox::cmd::cargo_bin!("linchpin"))
        .env("LINCHPIN_CACHE", "")
        .current_dir(root)
        .args(args)
        .output()
        .expect("linchpin runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is text");
    (output.status.code().expect("it exits"), text(output.stdout), text(output.stderr))
}

#[test]
fn the_stages_and_what_is_left_to_prove() {
    let (code, stdout, stderr) = output(&["roadmap", LAZY, "--ops", "2"]);
    assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
    let mut rest = stdout.as_str();
    for part in [
        "# The proof roadmap of `models/lazy_set.lin`\n\n**holds within bounds**",
        "with 2 threads, 2 operations each, values 1 to 2: ",
        "| `contains` | read-only |",
        "| `remove` | update | lines 95, 98 | their last read is their critical sequence",
        "## Stage I: base conditions",
        "## Stage II: update operations",
        "- Definition 6.2: `add` begins its critical sequence in a base point",
        "| `remove`, line 98: `n1.next = n2.next;` | preserved in ",
        "## Stage III: read-only operations",
        "`contains(1)` alone answers true before the step at line 95, answers false after it",
        "head → (MIN) → (1) → (MAX)",
        "head → (MIN) → (1, marked) → (MAX)",
        "## Confirmation",
        "## What is left to prove",
        "1. ",
    ] {
        let at = rest.find(part).unwrap_or_else(|| panic!("{part}: {stdout}"));
        rest = &rest[at + part.len()..];
    }
}

#[test]
fn a_violation_is_one_only_if_refinement_finds_a_run() {
    let (code, stdout, _) = output(&["roadmap", "models/broken/lazy_set_no_mark.lin"]);
    assert_eq!(code, 1, "{stdout}");
    for part in ["## A run that is wrong", "**refuted**", "A run that leads there:"] {
        assert!(stdout.contains(part), "{part}: {stdout}");
    }
    // Helping is outside of the reach of base points, and no violation.
    let (code, stdout, _) = output(&["roadmap", "models/ms_queue.lin", "--ops", "2"]);
    assert_eq!(code, 3, "{stdout}");
    assert!(stdout.contains("**refuted**") && stdout.contains("had still to take"), "{stdout}");
    assert!(!stdout.contains("A run that is wrong"), "{stdout}");
}

#[test]
fn beside_a_verdict_the_first_refuted_claim_is_shown() {
    let (code, stdout, _) =
        output(&["verify", "--engine", "base", "models/ms_queue.lin", "--ops", "2"]);
    assert_eq!(code, 3, "{stdout}");
    let shown: Vec<&str> =
        stdout.lines().skip_while(|line| !line.starts_with("    refuted: ")).collect();
    assert!(shown.len() > 3 && shown.len() <= 10, "{stdout}");
    assert!(stdout.contains(":  head → "), "{stdout}");
    let (code, stdout, _) = output(&["verify", "--engine", "base", LAZY, "--ops", "2"]);
    assert_eq!(code, 0, "{stdout}");
    assert!(stdout.contains("`linchpin roadmap` says what is left to prove"), "{stdout}");
}

#[test]
fn files_are_written_instead_of_standard_output() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("a path").to_owned();
    let (markdown, page) = (path("roadmap.md"), path("roadmap.html"));
    let all = ["roadmap", LAZY, "--ops", "1", "--out", &markdown, "--report", &page];
    let (code, stdout, stderr) = output(&all);
    assert_eq!((code, stdout.as_str(), stderr.as_str()), (0, "", ""));
    let read = |name: &str| std::fs::read_to_string(name).expect("it was written");
    assert!(read(&markdown).starts_with("# The proof roadmap of"));
    let page = read(&page);
    assert!(page.contains("<svg") && page.contains("Stage III"), "{page}");
    // With `--json`, the object is on standard output all the same.
    let (code, stdout, _) = output(&["roadmap", LAZY, "--ops", "1", "-o", &markdown, "--json"]);
    let object: Json = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!((code, &object["roadmap"]["complete"]), (0, &Json::from(true)));
}

#[test]
fn what_is_written_into_a_model_stays_a_model() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("stack.lin");
    let stack = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/treiber_stack.lin");
    std::fs::copy(stack, &file).expect("copied");
    let name = file.to_str().expect("a path");
    let (code, _, stderr) = output(&["roadmap", name, "--ops", "2", "--write"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("--write: "), "{stderr}");
    assert_eq!(output(&["fmt", "--check", name]).0, 0);
    assert_eq!(output(&["steps", name]).0, 0);
    // What is there is not written again.
    let before = std::fs::read_to_string(&file).expect("read");
    let (_, _, stderr) = output(&["roadmap", name, "--ops", "2", "--write"]);
    assert!(stderr.contains("0 base conditions added"), "{stderr}");
    assert_eq!(std::fs::read_to_string(&file).expect("read"), before);
}

#[test]
fn mistakes_and_what_it_does_not_apply_to() {
    for (args, part) in [
        (&["roadmap", "missing.lin"][..], "cannot read"),
        (&["roadmap", "models/subop/treiber_stack.subop"], "a model is a `.lin` file"),
        (&["roadmap", "-", "--write"], "--write changes a file: name one"),
        (&["roadmap", LAZY, "--values", "0"], "invalid value"),
        (&["roadmap", LAZY, "--out", LAZY], "would overwrite"),
    ] {
        let (code, stdout, stderr) = output(args);
        assert_eq!((code, stdout.as_str()), (2, ""), "{args:?}: {stderr}");
        assert!(stderr.contains(part), "{args:?}: {stderr}");
    }
    let (code, stdout, _) = output(&["roadmap", "models/mailbox.lin"]);
    assert_eq!(code, 3);
    assert!(stdout.starts_with("models/mailbox.lin: inconclusive: does not apply: "), "{stdout}");
    let (code, stdout, _) = output(&["roadmap", LAZY, "--threads", "3", "--time-limit", "1ms"]);
    assert_eq!(code, 3, "{stdout}");
}
