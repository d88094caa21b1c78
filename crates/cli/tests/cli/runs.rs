//! `linchpin run` judges what it executes.

use serde_json::Value as Json;
use snapbox::cmd::Command;
use std::path::Path;

fn run(args: &[&str]) -> (i32, String, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let command = Command::new(snapbox::cmd::cargo_bin!("linchpin"))
        .env("LINCHPIN_CACHE", "")
        .current_dir(root);
    let output = command.arg("run").args(args).output().expect("linchpin runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is text");
    (output.status.code().expect("it exits"), text(output.stdout), text(output.stderr))
}

fn json(args: &[&str]) -> (i32, Json) {
    let (code, stdout, stderr) = run(&[args, &["--json", "--quiet"]].concat());
    (code, serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stderr}")))
}

const BROKEN: [&str; 6] = [
    "models/broken/treiber_stack_split_pop_cas.lin",
    "models/broken/ms_queue_blind_append.lin",
    "models/broken/snzi_no_announce.lin",
    "models/broken/pair_snapshot_no_reread.lin",
    "models/broken/lazy_set_no_mark.lin",
    "models/broken/dglm_queue_split_head_cas.lin",
];

const RIGHT: [&str; 6] = [
    "models/ms_queue.lin",
    "models/treiber_stack.lin",
    "models/pair_snapshot.lin",
    "models/lazy_set.lin",
    "models/dglm_queue.lin",
    "models/two_lock_queue.lin",
];

#[test]
fn random_and_pct_runs_find_bugs_and_only_bugs() {
    for schedule in ["random", "pct"] {
        for model in BROKEN {
            let (code, object) = json(&[model, "--tries", "20000", "--schedule", schedule]);
            assert_eq!(code, 1, "{model}, {schedule}");
            assert_eq!(object["verdict"], "violated");
            assert!(object["counterexample"]["explanation"].is_string(), "{object}");
            let core = object["counterexample"]["core"].as_array().expect("a core");
            assert!(!core.is_empty() || object["end"] == "fault", "{model}: {object}");
            // The seed alone makes the run again, and it is wrong again.
            let seed = object["seed"].to_string();
            let (code, again) = json(&[model, "--seed", &seed, "--schedule", schedule]);
            assert_eq!((code, &again["history"]), (1, &object["history"]));
        }
        for model in RIGHT {
            let (code, object) = json(&[model, "--tries", "500", "--schedule", schedule]);
            assert_eq!((code, &object["verdict"]), (0, &"holds".into()), "{model}, {schedule}");
            assert_eq!(object["runs"]["tried"], 500);
            assert!(object.get("counterexample").is_none());
        }
    }
}

#[test]
fn a_run_that_goes_wrong_is_explained() {
    let (code, stdout, stderr) = run(&[BROKEN[0], "--tries", "20000"]);
    assert_eq!(code, 1, "{stderr}");
    assert!(stdout.contains(r#""type":"ok""#), "the history is still written: {stdout}");
    for words in
        ["thread 0  ", "The steps that led there:", "VIOLATED with seed ", "is not linearizable: "]
    {
        assert!(stderr.contains(words), "{words}: {stderr}");
    }
    let again = stderr.lines().find_map(|line| line.strip_prefix("again: linchpin run "));
    let again: Vec<&str> = again.expect("a command").split(' ').collect();
    let (code, same, _) = run(&again);
    assert_eq!((code, same), (1, stdout));
}

#[test]
fn counterexamples_are_judged_when_they_are_replayed() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("found.json");
    let file = file.to_str().expect("a path");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let verify = Command::new(snapbox::cmd::cargo_bin!("linchpin"))
        .env("LINCHPIN_CACHE", "")
        .current_dir(root);
    let found = verify.args(["verify", BROKEN[0], "--engine", "refine", "--json"]).output();
    std::fs::write(file, found.expect("linchpin runs").stdout).expect("written");
    let (code, object) = json(&[BROKEN[0], "--replay", file]);
    assert_eq!((code, &object["verdict"]), (1, &"violated".into()), "{object}");
    assert_eq!(object["seed"], Json::Null);

    let (_, stdout, _) = run(&[RIGHT[1], "--seed", "5", "--json"]);
    std::fs::write(file, stdout).expect("written");
    let (code, object) = json(&[RIGHT[1], "--replay", file]);
    assert_eq!((code, &object["verdict"]), (0, &"holds".into()), "{object}");
}

#[test]
fn a_wait_that_a_further_call_may_end_is_no_violation() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = folder.path().join("handover.lin");
    let source = "spec { state n: int = 0; op put() { n = 1; } op take() { n = 0; } }
        shared full: bool = false;
        op put() { full = true; }
        op take() { atomic { assume(full); full = false; } }";
    std::fs::write(&model, source).expect("written");
    let model = model.to_str().expect("a path");
    let (code, _, stderr) = run(&[model, "--tries", "50"]);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("blocked, unless a further call helps: thread "), "{stderr}");
    assert!(stderr.contains("not decided: "), "{stderr}");
}

#[test]
fn a_lock_that_is_never_released_is_a_violation() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = folder.path().join("forgotten.lin");
    let source = "spec counter; shared l: lock; shared n: int;
        op add(k: int) { lock(l); n += k; if n != 3 { unlock(l); } }
        op read() -> int { lock(l); let o = n; unlock(l); return o; }";
    std::fs::write(&model, source).expect("written");
    let (code, _, stderr) = run(&[model.to_str().expect("a path"), "--tries", "200"]);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("blocked for ever: thread "), "{stderr}");
}

#[test]
fn a_limit_ends_the_search_with_what_is_known() {
    let many = ["--tries", "1000000000000", "--time-limit", "300ms"];
    let (code, _, stderr) = run(&[&[RIGHT[0]], &many[..]].concat());
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("inconclusive: "), "{stderr}");
    assert!(stderr.contains("; not every seed was tried: stopped by --time-limit"), "{stderr}");
}

/// The history that a run wrote, as `check` judges it: its exit code and what it says.
fn checked(history: &str, model: &str, property: &str) -> (i32, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.jsonl");
    std::fs::write(&file, history).expect("written");
    let command = Command::new(snapbox::cmd::cargo_bin!("linchpin")).current_dir(root);
    let command = command.arg("check").arg(&file).args(["--spec", model, "--property", property]);
    let output = command.output().expect("linchpin checks");
    (output.status.code().expect("it exits"), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What `certify` says of the core of a history, by its exit code.
fn confirmed(history: &str, model: &str) -> i32 {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(model);
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("run.jsonl"), history).expect("written");
    let linchpin = || Command::new(snapbox::cmd::cargo_bin!("linchpin")).current_dir(folder.path());
    let check = linchpin().args(["check", "run.jsonl", "--property", "detectable", "--spec"]);
    let check = check.arg(model).args(["--core", "core.json"]).output().expect("it checks");
    assert_eq!(check.status.code(), Some(1));
    let certify = linchpin().args(["certify", "core.json"]).output().expect("it certifies");
    certify.status.code().expect("it exits")
}

/// What `recover(t)` answers is part of the history, so a run and the check of its history agree.
#[test]
fn what_recovery_answers_is_judged_in_the_history_too() {
    let right = "models/persistent/detectable_cas.lin";
    let broken = "models/persistent/broken/detectable_cas_not_written_down.lin";
    let (mut recovered, mut violated) = (0, 0);
    for seed in 0..8 {
        // The next seed whose run goes wrong, or else the last that was tried.
        for (model, tries) in [(right, "1"), (broken, "1"), (broken, "20000")] {
            let seed = (seed * 20_000).to_string();
            let args = [model, "--crashes", "1", "--schedule", "pct", "--ops", "3"];
            let (code, history, said) =
                run(&[&args[..], &["--seed", &seed, "--tries", tries]].concat());
            let (judged, answer) = checked(&history, model, "detectable");
            assert_eq!(judged, code, "{model}, seed {seed}: {said}\n{history}\n{answer}");
            recovered += usize::from(history.contains("recovered-"));
            violated += usize::from(code == 1);
            if code == 1 && history.contains("recovered-") {
                assert!(said.contains("not detectably linearizable"), "{said}");
                assert_eq!(confirmed(&history, model), 0, "{history}");
                // Without these answers nothing is wrong with it, and that is said.
                let (ignored, answer) = checked(&history, model, "durable");
                assert_eq!(ignored, 0, "{answer}");
                assert!(answer.contains("`detectable` looks at it"), "{answer}");
            }
        }
    }
    println!("{recovered} histories with answers of recovery, {violated} violated");
    assert!(recovered >= 5 && violated >= 2, "{recovered}, {violated}");
}
