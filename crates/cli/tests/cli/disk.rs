//! `verify --disk`: a process that is killed is gone on with, and gives the same answer.

use serde_json::Value as Json;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const QUESTION: [&str; 7] =
    ["models/ms_queue.lin", "--threads", "3", "--ops", "1", "--no-points", "--json"];

fn command(folder: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(snapbox::cmd::cargo_bin!("linchpin"));
    command.env("LINCHPIN_CACHE", "");
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    command.arg("verify").args(QUESTION).arg("--disk").arg(folder).args(more);
    command
}

fn output(folder: &Path, more: &[&str]) -> Output {
    command(folder, more).output().expect("linchpin runs")
}

/// The verdict, and what the search has cost but for time and memory.
fn said(output: &Output) -> (Option<i32>, Json, Json, Json) {
    let found: Json = serde_json::from_slice(&output.stdout).expect("an object");
    let stats = &found["engines"][0]["stats"];
    let of = |name: &str| stats[name].clone();
    (output.status.code(), found["verdict"].clone(), of("states"), of("transitions"))
}

#[test]
fn a_killed_search_is_gone_on_with() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = output(&folder.path().join("whole"), &[]);
    assert_eq!(said(&whole).0, Some(0));
    let cut = folder.path().join("cut");
    let manifest = cut.join("justintime-durable/manifest");
    let mut running =
        command(&cut, &[]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
    // Killed when it has finished some levels; if it was faster, there is nothing left to do, and
    // the answer must be the same too.
    let levels = || std::fs::read_to_string(&manifest).map_or(0, |of| of.matches("level").count());
    while levels() < 6 && running.try_wait().expect("a status").is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let _ = running.kill();
    running.wait().expect("it ends");
    assert_eq!(said(&output(&cut, &["--resume"])), said(&whole));
}

#[test]
fn what_cannot_be_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let search = folder.path().join("search");
    let message = |output: &Output| {
        let found: Json = serde_json::from_slice(&output.stdout).expect("an object");
        found["error"]["message"].as_str().map(str::to_owned).unwrap_or_default()
    };
    let none = output(&search, &["--resume"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(message(&none).contains("no search"), "{}", message(&none));
    assert_eq!(output(&search, &["--time-limit", "1ms"]).status.code(), Some(3));
    let again = output(&search, &[]);
    assert_eq!(again.status.code(), Some(2));
    assert!(message(&again).contains("--resume"), "{}", message(&again));
    let other = output(&search, &["--resume", "--values", "1"]);
    assert_eq!(other.status.code(), Some(2));
    assert!(message(&other).contains("another model"), "{}", message(&other));
    // Two models, or two ways to search, are a mistake.
    assert_eq!(output(&search, &["models/treiber_stack.lin"]).status.code(), Some(2));
    assert_eq!(output(&search, &["--lossy", "1M"]).status.code(), Some(2));
    let file = folder.path().join("file");
    std::fs::write(&file, "").expect("written");
    let unwritable = output(&file.join("search"), &[]);
    assert_eq!(said(&unwritable).0, Some(3));
}
