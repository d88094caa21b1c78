//! The command line as people and scripts meet it: outputs, files and exit codes.

use snapbox::cmd::Command;
use snapbox::str;
use std::path::{Path, PathBuf};

fn linchpin() -> Command {
    Command::new(snapbox::cmd::cargo_bin!("linchpin")).env("LINCHPIN_CACHE", "").current_dir(root())
}

/// The root of the workspace, where `models/` is.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn output(args: &[&str]) -> (i32, String, String) {
    let output = linchpin().args(args).output().expect("linchpin runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is text");
    (output.status.code().expect("it exits"), text(output.stdout), text(output.stderr))
}

const STACK: &str = "models/treiber_stack.lin";

#[test]
fn the_same_seed_gives_the_same_bytes() {
    for schedule in ["random", "pct"] {
        let run = |seed| output(&["run", STACK, "--seed", seed, "--schedule", schedule, "--trace"]);
        assert_eq!(run("7"), run("7"));
        assert_ne!(run("7").1, run("8").1);
    }
}

#[test]
fn a_history_is_one_event_a_line() {
    let (code, stdout, stderr) = output(&["run", STACK, "--seed", "3", "--quiet"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    let events: Vec<serde_json::Value> =
        stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(events.len(), 12, "two threads call three operations each");
    for event in events {
        let keys: Vec<&str> =
            event.as_object().expect("an object").keys().map(String::as_str).collect();
        assert_eq!(keys, ["process", "type", "f", "value", "time"]);
        assert!(["invoke", "ok"].contains(&event["type"].as_str().expect("a word")));
        assert!(["push", "pop"].contains(&event["f"].as_str().expect("a word")));
    }
}

#[test]
fn a_fault_is_shown_with_its_steps_and_exits_1() {
    linchpin()
        .args(["run", "models/treiber_stack_reclaim.lin", "--memory", "reuse", "--tries", "1000"])
        .assert()
        .code(1)
        .stderr_eq(str![[r#"

thread 0    ├─pop()─╌╌
thread 1  ├─push(1)─┤ ├─pop() → 1─┤

The steps that led there:

...
   14  thread 0  line [..] read t.next, where t is @0: use after free

VIOLATED with seed 0: use after free at line [..] in `pop` by thread 0: read t.next, where t is @0
again: linchpin run models/treiber_stack_reclaim.lin --memory reuse --seed 0

"#]]);
}

#[test]
fn a_loop_without_a_turn_is_shown_without_an_action() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = folder.path().join("loop.lin");
    let source = "spec counter; shared n: int; op read() -> int { return n; }
        op add(k: int) { let old = n; loop { if old < 0 { break; } } }";
    std::fs::write(&model, source).expect("written");
    let (code, _, stderr) = output(&["run", model.to_str().expect("a path"), "--tries", "200"]);
    assert_eq!(code, 1, "{stderr}");
    let step = "old := n = 0; this loop never gives other threads a turn";
    assert!(stderr.contains(step), "{stderr}");
}

#[test]
fn threads_that_block_each_other_are_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = folder.path().join("deadlock.lin");
    let source = "spec counter; shared a: lock; shared b: lock; shared n: int;
        op add(k: int) { lock(a); lock(b); n += k; unlock(b); unlock(a); }
        op fetch_add(k: int) -> int { lock(b); lock(a); let o = n; n = o + k; unlock(a); unlock(b); return o; }";
    std::fs::write(&model, source).expect("written");
    let (code, _, stderr) = output(&["run", model.to_str().expect("a path"), "--tries", "200"]);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("blocked for ever: thread 0"), "{stderr}");
    assert!(stderr.contains("waits for lock("), "{stderr}");
}

#[test]
fn a_run_can_be_replayed_from_its_json() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.json");
    let model = "models/treiber_stack_reclaim.lin";
    let arguments = ["run", model, "--memory", "reuse", "--seed", "428", "--json"];
    let (code, json, _) = output(&arguments);
    assert_eq!(code, 1);
    std::fs::write(&file, &json).expect("written");
    let (_, history, _) = output(&["run", model, "--memory", "reuse", "--seed", "428"]);
    let file = file.to_str().expect("a path");
    let (code, replayed, stderr) = output(&["run", model, "--memory", "reuse", "--replay", file]);
    assert_eq!((code, replayed), (1, history));
    assert!(stderr.contains("use after free"), "{stderr}");
    let (code, _, stderr) = output(&["run", STACK, "--replay", file]);
    assert_eq!(code, 2, "{stderr}");
}

#[test]
fn json_has_its_schema_and_the_schedule() {
    let (_, json, _) = output(&["run", STACK, "--seed", "1", "--json", "--quiet"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("one object");
    assert_eq!(json["schema"], "linchpin/1");
    assert_eq!(json["command"], "run");
    assert_eq!(json["end"], "completed");
    assert_eq!(json["history"].as_array().map(Vec::len), Some(12));
    assert!(json["schedule"].as_array().is_some_and(|moves| moves.len() > 12));
    for arguments in [&["specs", "--json"][..], &["steps", STACK, "--json"]] {
        let (code, json, _) = output(arguments);
        assert_eq!(code, 0);
        serde_json::from_str::<serde_json::Value>(&json).expect("one object");
    }
}

#[test]
fn steps_show_what_is_atomic() {
    linchpin().args(["steps", STACK]).assert().code(0).stdout_eq(str![[r#"
push(v: int)    line [..]
  call    [..]  x := new Node { val: v, next: null }  → 1
  1       [..]  t := top                              → 2
  2       [..]  x.next := t                           → 3
  3       [..]  cas(top, t, x)
              ├ when it succeeds                    return  #[lin]
              └ when it fails                       → 1

pop() -> int?    line [..]
  call    [..]                      → 1
  1       [..]  t := top                          #[lin(when t == null)]
          [..]  ├ when t == null    return none
              └ when t != null    → 2
  2       [..]  s := t.next         → 3
  3       [..]  cas(top, t, s)
              ├ when it succeeds  → 4           #[lin]
              └ when it fails     → 1
  4       [..]  read t.val          return t.val

"#]]);
}

#[test]
fn steps_show_the_reference_after_the_model() {
    let model = "fuzz/corpus/front_end/reference.lin";
    let (code, text, _) = output(&["steps", model]);
    let (own, reference) = text.split_once("\nreference: ").expect("a section of its own");
    assert_eq!(code, 0);
    assert!(own.contains("cas(top, t,") && !own.contains("list"), "{own}");
    assert!(reference.contains("list :=") && !reference.contains("cas(top"), "{reference}");
    let (_, json, _) = output(&["steps", model, "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("one object");
    let names = |field: &str| -> Vec<&str> {
        let operations = json[field].as_array().into_iter().flatten();
        operations.filter_map(|operation| operation["operation"].as_str()).collect()
    };
    assert_eq!(
        (names("operations"), names("reference")),
        (vec!["push", "pop"], vec!["init", "push", "pop"])
    );
}

#[test]
fn specs_lists_all_and_finds_one() {
    let (code, all, _) = output(&["specs"]);
    assert_eq!(code, 0);
    let names =
        ["register", "cas-register", "multi-register, rw-register", "priority-queue", "mwcas"];
    for name in names {
        assert!(all.contains(&format!("{name}: ")), "{all}");
    }
    linchpin().args(["specs", "priority_queue"]).assert().code(0).stdout_eq(str![[r#"
priority-queue: [..]
    insert [..]
    remove-min → [..] or null
    --init: [..]

"#]]);
    linchpin().args(["specs", "quue"]).assert().code(2).stderr_eq(str![[r#"
error: [..]`quue`[..]`queue`[..]

"#]]);
}

#[test]
fn mistakes_are_shown_where_they_are_and_exit_2() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = folder.path().join("stack.lin");
    let source = std::fs::read_to_string(root().join(STACK)).expect("the model");
    std::fs::write(&model, source.replace("x.next = t", "x.nxt = t").replace("t.val", "t.vol"))
        .expect("written");
    let (code, stdout, stderr) = output(&["steps", model.to_str().expect("a path")]);
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(stderr.contains("`Node` has no field `nxt`"), "{stderr}");
    assert!(stderr.contains("did you mean `next`?"), "{stderr}");
    assert!(stderr.contains("did you mean `val`?"), "{stderr}");
    assert!(stderr.contains("2 mistakes"), "{stderr}");
}

#[test]
fn fmt_lays_out_and_checks_and_leaves_mistaken_files_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let (good, bad) = (folder.path().join("good.lin"), folder.path().join("bad.lin"));
    std::fs::write(&good, "spec counter;\nop  add( n:int ){\n}\n").expect("written");
    std::fs::write(&bad, "spec counter\n").expect("written");
    let (good_path, bad_path) = (good.to_str().expect("a path"), bad.to_str().expect("a path"));
    assert_eq!(output(&["fmt", "--check", good_path]).0, 1);
    assert_eq!(output(&["fmt", good_path, bad_path]).0, 2);
    let read = |path: &PathBuf| std::fs::read_to_string(path).expect("read");
    assert_eq!(read(&bad), "spec counter\n");
    assert_eq!(read(&good), "spec counter;\nop add(n: int) {\n}\n");
    assert_eq!(output(&["fmt", "--check", good_path]).0, 0);
}

#[test]
fn what_cannot_be_read_or_written_exits_2_and_says_why() {
    for (arguments, message) in [
        (&["run", "models/nothing.lin"][..], "cannot read `models/nothing.lin`"),
        (&["run", "models"], "is a directory"),
        (&["run", "README.md"], "a model is a `.lin` file"),
        (&["run", STACK, "--set", "K=1"], "this model has no parameter `K`"),
        (&["run", STACK, "--set", "K"], "write NAME=VALUE"),
        (&["run", STACK, "--threads", "writer=1"], "this model has no role `writer`"),
        (&["run", STACK, "--threads", "many"], "`many` is not a number of threads"),
        (&["run", STACK, "--time-limit", "soon"], "`soon` is not a time"),
        (&["run", STACK, "--memory-limit", "0"], "`0` is not a size"),
        (&["run", STACK, "--output", "no/such/folder/file"], "cannot write `no/such/folder/file`"),
        (
            &["run", STACK, "--replay", "README.md"],
            "is not a schedule of this model: it is not JSON",
        ),
        (&["run", STACK, "--schedule", "fair"], "invalid value 'fair'"),
        (&["walk", STACK], "unrecognized subcommand 'walk'"),
    ] {
        let (code, stdout, stderr) = output(arguments);
        assert_eq!((code, stdout.as_str()), (2, ""), "{arguments:?}: {stderr}");
        assert!(stderr.contains(message), "{arguments:?}: {stderr}");
    }
}

#[test]
fn limits_hold_and_exit_3() {
    let (code, _, stderr) =
        output(&["run", STACK, "--tries", "1000000000", "--time-limit", "200ms", "--quiet"]);
    assert_eq!(code, 3, "{stderr}");
    let (code, _, stderr) = output(&["run", STACK, "--step-limit", "5"]);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("--step-limit allows more"), "{stderr}");
}

#[test]
fn a_page_is_written_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("run.html");
    let (code, ..) = output(&["run", STACK, "--report", page.to_str().expect("a path")]);
    assert_eq!(code, 0);
    let html = std::fs::read_to_string(&page).expect("written");
    assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>"), "{html}");
    let is_elsewhere = ["http:", "https:", "src="].iter().any(|part| html.contains(part));
    assert!(!is_elsewhere, "a page needs nothing from elsewhere");
}

#[test]
fn help_answers() {
    for command in ["run", "steps", "fmt", "specs"] {
        let (code, help, _) = output(&[command, "--help"]);
        assert_eq!(code, 0);
        assert!(help.contains("Usage: linchpin"), "{help}");
    }
}
