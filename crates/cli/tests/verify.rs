//! `linchpin verify` and `linchpin reproduce` as people and scripts meet them.

use serde_json::Value as Json;
use snapbox::cmd::Command;
use std::path::Path;

fn output(args: &[&str]) -> (i32, String, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(snapbox::cmd::cargo_bin!("linchpin"))
        .current_dir(root)
        .args(args)
        .output()
        .expect("linchpin runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is text");
    (output.status.code().expect("it exits"), text(output.stdout), text(output.stderr))
}

fn json(args: &[&str]) -> (i32, Json) {
    let mut all = vec!["verify", "--json"];
    all.extend(args);
    let (code, stdout, _) = output(&all);
    (code, serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}")))
}

#[test]
fn a_pass_says_its_bounds_assumptions_and_cost() {
    let (code, stdout, stderr) = output(&["verify", "models/ms_queue.lin", "--ops", "2"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    for part in [
        "models/ms_queue.lin: holds within bounds",
        "at the claimed points, with 2 threads, 2 operations each, values 1 to 2",
        "assuming: sequential consistency",
        "states",
    ] {
        assert!(stdout.contains(part), "{part}: {stdout}");
    }
    let (code, object) = json(&["models/ms_queue.lin", "--ops", "2", "--no-points"]);
    assert_eq!((code, &object["schema"]), (0, &Json::from("linchpin/1")));
    assert_eq!(object["verdict"], "holds-within-bounds");
    assert_eq!(object["engines"][0]["bounds"]["ops"], 2);
    assert_eq!(object["engines"][0]["stats"]["points"], "not-used");
    assert!(object["engines"][0]["stats"]["states"].as_u64().unwrap() > 100);
}

#[test]
fn a_violation_is_drawn_explained_and_can_be_replayed() {
    let model = "models/broken/treiber_stack_split_pop_cas.lin";
    let (code, stdout, _) = output(&["verify", model]);
    assert_eq!(code, 1);
    for part in [
        "VIOLATED",
        "├─pop() → 1",
        "1 was pushed once but popped twice",
        "The steps, with 2 context switches",
        "→ top = null",
    ] {
        assert!(stdout.contains(part), "{part}: {stdout}");
    }
    let (code, object) = json(&[model]);
    assert_eq!((code, &object["verdict"]), (1, &Json::from("violated")));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("found.json");
    std::fs::write(&file, object.to_string()).unwrap();
    let file = file.to_str().unwrap();
    let (code, replayed, _) = output(&["run", model, "--replay", file, "--quiet"]);
    assert_eq!(code, 0);
    let events: Vec<Json> =
        replayed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(Json::from(events), object["counterexample"]["history"]);
    // The history engine, which knows nothing of the model, says the same of that history.
    let history = folder.path().join("history.jsonl");
    std::fs::write(&history, replayed).unwrap();
    assert_eq!(output(&["check", history.to_str().unwrap(), "--spec", "stack"]).0, 1);
}

#[test]
fn the_worst_verdict_of_several_files_decides_the_exit_code() {
    let broken = "models/broken/treiber_stack_split_pop_cas.lin";
    let (code, stdout, _) = output(&["verify", "models/snzi.lin", broken, "models/k_register.lin"]);
    assert_eq!(code, 1);
    assert_eq!(stdout.lines().filter(|line| line.starts_with("models/")).count(), 3);
}

#[test]
fn limits_lossy_searches_and_mistakes_have_their_exit_codes() {
    let queue = "models/ms_queue.lin";
    let (code, stdout, _) =
        output(&["verify", queue, "--threads", "4", "--ops", "4", "--time-limit", "300ms"]);
    assert_eq!(code, 3);
    assert!(stdout.contains("stopped by --time-limit"), "{stdout}");
    let (code, stdout, _) =
        output(&["verify", queue, "--threads", "4", "--ops", "4", "--memory-limit", "30M"]);
    assert_eq!(code, 3, "{stdout}");
    let (code, stdout, _) = output(&["verify", queue, "--ops", "1", "--lossy", "1M"]);
    assert_eq!(code, 3);
    assert!(stdout.contains("no violation found"), "{stdout}");
    let broken = "models/broken/treiber_stack_split_pop_cas.lin";
    assert_eq!(output(&["verify", broken, "--lossy", "1M"]).0, 1);
    assert_eq!(output(&["verify", "models/nothing.lin"]).0, 2);
    assert_eq!(output(&["verify", queue, "--ops", "0"]).0, 2);
}

#[test]
fn reuse_finds_the_use_after_free_and_points_are_suggested() {
    let reclaim = "models/treiber_stack_reclaim.lin";
    let (code, stdout, _) = output(&["verify", reclaim, "--memory", "reuse"]);
    assert_eq!(code, 1);
    assert!(stdout.contains("use after free at line 32"), "{stdout}");
    let (code, stdout, _) =
        output(&["verify", "models/treiber_stack.lin", "--ops", "2", "--suggest-points"]);
    assert_eq!(code, 0);
    assert!(stdout.contains("point of push: fixed, at line 23"), "{stdout}");
    assert!(stdout.contains("these points explain every run within the bounds"), "{stdout}");
}

#[test]
fn a_report_is_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let model = "models/broken/treiber_stack_split_pop_cas.lin";
    let (code, ..) = output(&["verify", model, "--report", page.to_str().unwrap()]);
    assert_eq!(code, 1);
    let text = std::fs::read_to_string(page).unwrap();
    assert!(text.contains("popped twice") && text.contains("<html"), "{text}");
}
