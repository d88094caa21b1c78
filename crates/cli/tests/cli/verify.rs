//! `linchpin verify` and `linchpin reproduce` as people and scripts meet them.

use serde_json::Value as Json;
use snapbox::cmd::Command;
use std::path::Path;

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

fn json(args: &[&str]) -> (i32, Json) {
    let mut all = vec!["verify", "--json"];
    all.extend(args);
    let (code, stdout, _) = output(&all);
    (code, serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}")))
}

#[test]
fn a_pass_says_its_bounds_assumptions_and_cost() {
    let (code, stdout, stderr) =
        output(&["verify", "models/ms_queue.lin", "--ops", "2", "--engine", "refine"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    for part in [
        "models/ms_queue.lin: holds within bounds",
        "at the claimed points, with 2 threads, 2 operations each, values 1 to 2",
        "assuming: sequential consistency",
        "states",
    ] {
        assert!(stdout.contains(part), "{part}: {stdout}");
    }
    let (code, object) =
        json(&["models/ms_queue.lin", "--ops", "2", "--no-points", "--engine", "refine"]);
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
    assert_eq!(code, 1, "a replayed counterexample is judged");
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
    let (code, stdout, _) = output(&[
        "verify",
        queue,
        "--engine",
        "refine",
        "--threads",
        "4",
        "--ops",
        "4",
        "--time-limit",
        "300ms",
    ]);
    assert_eq!(code, 3);
    assert!(stdout.contains("stopped by the time limit"), "{stdout}");
    let (code, stdout, _) = output(&[
        "verify",
        queue,
        "--engine",
        "refine",
        "--threads",
        "4",
        "--ops",
        "4",
        "--memory-limit",
        "30M",
    ]);
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
    let (code, stdout, _) = output(&["verify", "models/ms_queue.lin", "--suggest-points=0s"]);
    assert_eq!(code, 3, "{stdout}");
    assert!(stdout.contains("point of enqueue: unknown: stopped by the time limit"), "{stdout}");
    assert!(!stdout.contains("do not work together"), "{stdout}");
}

#[test]
fn runs_start_after_a_preload() {
    let stack = "models/treiber_stack.lin";
    let engine = ["--engine", "refine", "--ops", "1"];
    let preloaded =
        |calls: &str| output(&[&["verify", stack, "--preload", calls], &engine[..]].concat());
    let (code, stdout, _) = preloaded("push(2); push(1); pop()");
    assert_eq!(code, 0, "{stdout}");
    let first = "with 2 threads, 1 operation each, values 1 to 2, after the preload push(2); push(1); pop()\n";
    assert!(stdout.contains(first), "{stdout}");
    // It is no mistake of the model's text, but one all the same.
    let (code, _, stderr) = preloaded("psh(1)");
    assert_eq!(code, 2);
    assert!(stderr.contains("`--preload`: unknown operation `psh`"), "{stderr}");
    let locked = "models/guide/locked_register.lin";
    let (code, _, stderr) =
        output(&["verify", locked, "--preload", "write(1); write(1); write(2)"]);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("preload: `write(2)` waits at line "), "{stderr}");
    // Those who prove something for all runs say that they leave it out.
    let (_, stdout, _) = output(&["verify", stack, "--preload", "push(1)"]);
    assert!(stdout.contains("the preload is not looked at"), "{stdout}");
    // A run has the calls in its history.
    let (code, stdout, _) =
        output(&["run", stack, "--preload", "push(2)", "--ops", "1", "--quiet"]);
    let history = r#"{"process":0,"type":"invoke","f":"push","value":2,"time":0}"#;
    assert!(code == 0 && stdout.starts_with(history), "{stdout}");
}

#[test]
fn a_preload_that_is_wrong_is_a_violation() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stack.lin");
    let model = "spec stack; shared x: int?; preload { push(1); push(2); pop(); pop(); }
        op push(v: int) { x = v; } op pop() -> int? { return swap(x, none); }";
    std::fs::write(&file, model).unwrap();
    let (code, stdout, _) = output(&["verify", file.to_str().unwrap()]);
    assert_eq!(code, 1, "{stdout}");
    assert!(stdout.contains("├─pop() → none─┤"), "{stdout}");
    assert!(stdout.contains("reduce: not asked: `refine` has found what is wrong"), "{stdout}");
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

#[test]
fn a_proof_is_written_and_certified() {
    let folder = tempfile::tempdir().unwrap();
    let proof = folder.path().join("proof.json");
    let proof = proof.to_str().unwrap();
    let (code, stdout, stderr) =
        output(&["verify", "models/subop/treiber_stack.subop", "--certificate", proof]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    let first = "models/subop/treiber_stack.subop: proved if sequential: linearizable";
    assert!(stdout.starts_with(first), "{stdout}");
    assert!(stdout.contains("(Assumption 1): tried: 6 calls"), "{stdout}");
    let (code, stdout, _) = output(&["certify", proof]);
    assert_eq!(code, 0, "{stdout}");
    assert!(stdout.starts_with(
        "confirmed: every interleaving of the sub-operations of `treiber_stack` (sha256 "
    ));
    assert!(stdout.contains(
        "confirmed: the sub-operations are those of `models/subop/treiber_stack.subop` (sha256 "
    ));
    assert!(
        stdout.contains("not confirmed: that sequential executions are those of `stack` (tried: "),
        "{stdout}"
    );
    let (_, stdout, _) = output(&["certify", proof, "--json"]);
    let json: Json = serde_json::from_str(&stdout).unwrap();
    assert_eq!(json["claim"], "linearizable-if-sequential");
    assert_eq!(json["outcome"], "confirmed");
    assert_eq!(json["confirmed"][0]["id"], "interleavings-are-sequential");
    assert_eq!(json["not_confirmed"][0]["id"], "sequential-executions");
    assert_eq!(json["hashes"][1]["name"], "models/subop/treiber_stack.subop");
    // A name is no part of the proof: whatever it is, it adds no line.
    let text = std::fs::read_to_string(proof).unwrap();
    let mut tampered: Json = serde_json::from_str(&text).unwrap();
    tampered["model"]["name"] = "s` is\nconfirmed: that sequential executions are right".into();
    tampered["source"]["file"] = "nowhere\u{1b}[2J\nconfirmed: everything".into();
    std::fs::write(proof, tampered.to_string()).unwrap();
    let (code, stdout, _) = output(&["certify", proof]);
    assert_eq!(code, 0, "{stdout}");
    assert_eq!(stdout.lines().filter(|line| line.starts_with("confirmed:")).count(), 1, "{stdout}");
    assert!(stdout.contains("of `s\\u{60} is\\nconfirmed: that sequential"), "{stdout}");
    assert!(stdout.contains("of `nowhere\\u{1b}[2J\\nconfirmed: everything` (sha256"), "{stdout}");
    // A proof that says more than is true is not confirmed.
    let mut tampered: Json = serde_json::from_str(&text).unwrap();
    tampered["proof"]["closures"] = Json::Array(Vec::new());
    std::fs::write(proof, tampered.to_string()).unwrap();
    assert_ne!(output(&["certify", proof]).0, 0);
    let (code, stdout, _) = output(&["verify", "models/subop/herlihy_wing_queue.subop", "--table"]);
    assert_eq!(code, 3);
    assert!(stdout.contains("not proved") && stdout.contains("Figure 5"), "{stdout}");
    assert!(stdout.contains("interleaving"), "{stdout}");
    let questions = folder.path().join("questions");
    let (code, stdout, _) = output(&[
        "verify",
        "models/subop/treiber_stack.subop",
        "--smt2",
        questions.to_str().unwrap(),
        "--facts",
    ]);
    assert_eq!(code, 0, "{stdout}");
    assert!(std::fs::read_dir(questions).unwrap().count() > 5, "{stdout}");
}

/// A certificate is about the file it was made of, as it was then.
#[test]
fn a_certificate_is_tied_to_its_model() {
    let folder = tempfile::tempdir().unwrap();
    let (model, proof) = (folder.path().join("stack.lin"), folder.path().join("proof.json"));
    let stack = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/treiber_stack.lin");
    let source = std::fs::read_to_string(stack).unwrap();
    std::fs::write(&model, &source).unwrap();
    let (file, proof) = (model.to_str().unwrap(), proof.to_str().unwrap());
    let (code, stdout, stderr) =
        output(&["verify", file, "--engine", "reduce", "--certificate", proof]);
    assert_eq!(code, 0, "{stdout}{stderr}");
    let (code, stdout, _) = output(&["certify", proof]);
    assert_eq!(code, 0, "{stdout}");
    assert!(stdout.contains("not confirmed: that the sub-operations are those of "), "{stdout}");
    assert!(stdout.contains("stack.lin") && stdout.contains("which has not changed"), "{stdout}");
    std::fs::write(&model, format!("{source}// changed\n")).unwrap();
    let (code, stdout, _) = output(&["certify", proof]);
    assert_eq!(code, 1, "{stdout}");
    assert!(stdout.contains("is not the file that the certificate is about"), "{stdout}");
    std::fs::remove_file(&model).unwrap();
    let (code, stdout, _) = output(&["certify", proof]);
    assert_eq!(code, 0, "{stdout}");
    assert!(stdout.contains("stack.lin") && stdout.contains("which is not there"), "{stdout}");
}

/// Every interleaving is a sequential one, but sequential executions are wrong: there is nothing to
/// certify.
#[test]
fn no_certificate_of_what_is_violated() {
    let folder = tempfile::tempdir().unwrap();
    let (model, proof) = (folder.path().join("counter.subop"), folder.path().join("proof.json"));
    let source = "int x; Add(int v) 1 x = v; return; Get() 1 return x;
        spec counter { Add = add(v); Get = read(); }";
    std::fs::write(&model, source).unwrap();
    let (code, stdout, stderr) =
        output(&["verify", model.to_str().unwrap(), "--certificate", proof.to_str().unwrap()]);
    assert_eq!(code, 1, "{stdout}");
    assert!(stderr.contains("--certificate: not written, the model is violated"), "{stderr}");
    assert!(!proof.exists());
}

#[test]
fn processes_progress_and_formulas() {
    let (code, stdout, _) = output(&["verify", "models/csp/k_register.csp", "--set", "K=2"]);
    assert_eq!(code, 0);
    assert!(stdout.contains("refines") && stdout.contains("K = 2"), "{stdout}");
    let stack = "models/treiber_stack.lin";
    assert_eq!(output(&["verify", stack, "--progress", "lock-free", "--ops", "1"]).0, 0);
    let (code, stdout, _) =
        output(&["verify", stack, "--progress", "wait-free", "--size", "2", "--values", "1"]);
    assert_eq!(code, 1);
    assert!(stdout.contains("then, again and again:"), "{stdout}");
    let register = "models/k_register.lin";
    let formula = "always (read_inv implies eventually read_res)";
    assert_eq!(output(&["verify", register, "--ltl", formula, "--fair", "--set", "K=2"]).0, 0);
    let (code, _, stderr) = output(&["verify", register, "--ltl", "always (read_inv implies )"]);
    assert_eq!(code, 2);
    assert!(stderr.contains('^'), "{stderr}");
    assert_eq!(output(&["verify", register, "--progress", "quick"]).0, 2);
}

/// The assertions of a file are different questions: one that holds does not answer for one that
/// was given up.
#[test]
fn every_assertion_of_a_process_file_must_hold() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("endless.csp");
    let source = "var x = 0;\nSmall() = a -> Small();\nEndless() = e{x = x + 1;} -> Endless();\n\
        assert Small() deadlockfree;\nassert Endless() deadlockfree;\n";
    std::fs::write(&file, source).unwrap();
    let (code, object) = json(&[file.to_str().unwrap(), "--time-limit", "1s"]);
    assert_eq!(object["engines"][0]["verdict"], "holds-within-bounds", "{object}");
    assert_eq!(object["engines"][1]["verdict"], "inconclusive", "{object}");
    assert_eq!((code, &object["verdict"]), (3, &Json::from("inconclusive")));
}

#[test]
fn code_is_proved_through_its_sub_operations() {
    let (code, stdout, _) = output(&["verify", "models/ms_queue.lin", "--ops", "1"]);
    assert_eq!(code, 0);
    for part in [
        "models/ms_queue.lin: proved: linearizable for any number of threads, operations and heap objects;",
        "reduce: proved if sequential: linearizable for any number of threads, operations and heap objects if no step fails",
        "sub-operations derived from the code",
        "assuming: no step fails, which is not shown of line 54 (`s` is null)",
        "sequential executions are shown to be right",
    ] {
        assert!(stdout.contains(part), "{part}: {stdout}");
    }
    assert!(!stdout.contains("Assumption 1"), "{stdout}");
    // One thread of the code is shown to be right, so nothing rests on trying.
    let (code, object) = json(&["models/two_lock_queue.lin", "--engine", "reduce"]);
    assert_eq!((code, &object["verdict"]), (0, &Json::from("proved")));
    let (code, object) = json(&["models/pair_snapshot.lin", "--engine", "reduce"]);
    assert_eq!((code, &object["verdict"]), (0, &Json::from("proved")));
    let (_, stdout, _) = output(&["verify", "models/treiber_stack.lin", "--engine", "reduce"]);
    assert!(stdout.contains("no step fails: no field of null is accessed"), "{stdout}");
    assert!(!stdout.contains("assuming: no step fails"), "{stdout}");
    // An engine that is named answers alone, with all that it has to say.
    let broken = "models/broken/treiber_stack_split_pop_cas.lin";
    let (code, stdout, _) = output(&["verify", broken, "--engine", "reduce"]);
    assert_eq!(code, 3);
    assert!(stdout.contains("cannot be moved next to"), "{stdout}");
    assert!(!stdout.contains("refine"), "{stdout}");
    // It is not asked about what is known to be wrong.
    let (code, stdout, _) = output(&["verify", broken]);
    assert_eq!(code, 1);
    assert!(stdout.contains("popped twice"), "{stdout}");
    let says = |line: &str| stdout.lines().filter(|said| said.starts_with(line)).count();
    for engine in ["reduce", "shape", "base"] {
        let line = format!("  {engine}: not asked: `refine` has found what is wrong");
        assert_eq!(says(&line), 1, "{stdout}");
    }
    // Where all engines are asked, it says in one line why it proves nothing.
    let (code, stdout, _) = output(&["verify", broken, "--table"]);
    assert_eq!(code, 1);
    let says = |line: &str| stdout.lines().filter(|said| said.starts_with(line)).count();
    assert_eq!(
        says("  reduce: inconclusive: not proved: a weakness of the method, or a violation"),
        1,
        "{stdout}"
    );
    assert_eq!(says("  shape: inconclusive: not proved: `pop`, line "), 1, "{stdout}");
    let (code, stdout, _) = output(&[
        "verify",
        "models/treiber_stack_reclaim.lin",
        "--engine",
        "reduce",
        "--memory",
        "reuse",
    ]);
    assert_eq!(code, 3);
    assert!(stdout.contains("for collected memory only"), "{stdout}");
}

#[test]
fn bounds_that_mean_nothing_are_said_to_be_ignored() {
    let (code, stdout, _) =
        output(&["verify", "models/subop/treiber_stack.subop", "--threads", "3", "--ops", "2"]);
    assert_eq!(code, 0);
    assert!(stdout.contains("--threads: means nothing for this file, ignored"), "{stdout}");
    assert!(stdout.contains("tried: 2 calls"), "{stdout}");
}

#[test]
fn sub_operations_are_printed_with_reasons() {
    let (code, stdout, _) = output(&["subops", "models/ms_queue.lin"]);
    assert_eq!(code, 0);
    for part in [
        "* <tail == t;> tail = x; return;",
        "// line 29: `tail == t` is still true at line 30, while t.next == NULL",
        "done on behalf of the operation whose step it is",
        "spec queue {",
    ] {
        assert!(stdout.contains(part), "{part}: {stdout}");
    }
    // What is printed is a model that is proved.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("queue.subop");
    let file = file.to_str().unwrap();
    assert_eq!(output(&["subops", "models/ms_queue.lin", "--output", file]).0, 0);
    assert_eq!(output(&["verify", file]).0, 0);
    let (code, stdout, _) = output(&["subops", "models/lazy_set.lin"]);
    assert_eq!(code, 3);
    assert!(
        stdout.contains("line 51: the loop changes `n1`, which may hold a new object"),
        "{stdout}"
    );
    let (code, stdout, _) = output(&["subops", "models/elimination_stack.lin", "--json"]);
    assert_eq!(code, 3);
    assert!(stdout.contains("number of threads"), "{stdout}");
    assert_eq!(output(&["subops", "models/pair_snapshot.lin", "--whole", "--json"]).0, 0);
}

#[test]
fn one_bad_file_does_not_end_a_batch() {
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("bad.lin");
    std::fs::write(&bad, "spec stack; shared x: in;").unwrap();
    let (good, broken) =
        ("models/treiber_stack.lin", "models/broken/treiber_stack_split_pop_cas.lin");
    let bad = bad.to_str().unwrap();
    let (code, stdout, stderr) = output(&["verify", good, bad, broken]);
    assert_eq!(code, 2, "{stdout}");
    assert!(stderr.contains("1 mistake"), "{stderr}");
    let (_, table) =
        stdout.split_once("3 files, 1 violated, 1 proved, 1 not verified:\n").expect("a table");
    let rows: Vec<Vec<&str>> = table.lines().map(|row| row.split_whitespace().collect()).collect();
    assert_eq!(rows[0][..2], [good, "proved"], "{table}");
    assert!(rows[0].ends_with(&["as", "expected"]), "{table}");
    assert_eq!(rows[1], [bad, "not", "verified:", "see", "the", "error"], "{table}");
    assert_eq!(rows[2][..3], [broken, "VIOLATED", "refine"], "{table}");
}

/// A folder of models: a table, pages, and the second time nothing is verified again.
#[test]
fn a_folder_is_a_table_and_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let models = folder.path().join("models");
    std::fs::create_dir_all(models.join("broken")).unwrap();
    for name in ["treiber_stack.lin", "broken/treiber_stack_split_pop_cas.lin"] {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(name);
        std::fs::copy(from, models.join(name)).unwrap();
    }
    std::fs::write(models.join("README.md"), "no model").unwrap();
    let run = |args: &[&str]| {
        let output = Command::new(snapbox::cmd::cargo_bin!("linchpin"))
            .env("LINCHPIN_CACHE", folder.path().join("cache"))
            .current_dir(folder.path())
            .arg("verify")
            .args(args)
            .output()
            .expect("linchpin runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is text");
        (output.status.code().expect("it exits"), text(output.stdout), text(output.stderr))
    };
    let (code, first, _) = run(&["models", "--report", "page.html"]);
    assert_eq!(code, 1, "{first}");
    assert!(first.starts_with("\n2 files, 1 violated, 1 proved:\n"), "{first}");
    assert_eq!(first.matches("as expected").count(), 2, "{first}");
    assert!(!first.contains("remembered"), "{first}");
    let table = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    for (_, link) in table.match_indices("href=\"").map(|(at, of)| (at, &table[at + of.len()..])) {
        let link = link.split('"').next().unwrap();
        let page = std::fs::read_to_string(folder.path().join(link)).unwrap();
        assert!(page.contains("<html"), "{link}");
    }
    let (code, second, _) = run(&["models", "--report", "page.html"]);
    assert_eq!(code, 1);
    assert_eq!(second.matches("remembered").count(), 2, "{second}");
    let (_, third, _) = run(&["models", "--report", "page.html", "--no-cache"]);
    assert!(!third.contains("remembered"), "{third}");
    // What is remembered of one model is what was printed, for each kind of output; only that it
    // is remembered is said besides.
    for flags in [&["--json"][..], &[]] {
        let mut args = vec!["models/treiber_stack.lin"];
        args.extend(flags);
        let (_, printed, said) = run(&args);
        assert!(!said.contains("remembered"), "{said}");
        let (code, again, said) = run(&args);
        let printed = printed.replace("\"remembered\":false", "\"remembered\":true");
        assert_eq!((code, again), (0, printed));
        assert!(said.contains("remembered"), "{said}");
    }
    // Another text is another model.
    let file = models.join("treiber_stack.lin");
    let changed = std::fs::read_to_string(&file).unwrap() + "// changed\n";
    std::fs::write(&file, changed).unwrap();
    assert!(!run(&["models/treiber_stack.lin"]).2.contains("remembered"));
    let (code, _, stderr) = run(&["cache"]);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("no `.lin`, `.subop` or `.csp` file is in"), "{stderr}");
}

/// Verifies again when the file changes.
#[test]
fn a_watched_file_is_verified_again() {
    use std::io::{BufRead, BufReader};
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("register.lin");
    let model = |step: &str| {
        format!(
            "spec register; shared x: int? = none; op write(v: int) {{ {step} }} \
             op read() -> int? {{ return x; }} bounds {{ threads: 2, ops: 1, values: 1 }}"
        )
    };
    std::fs::write(&file, model("")).unwrap();
    let mut child = std::process::Command::new(snapbox::cmd::cargo_bin!("linchpin"))
        .env("LINCHPIN_CACHE", "")
        .args(["verify", "--watch", "--quiet", file.to_str().unwrap()])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("linchpin runs");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut verdict = |word: &str| {
        let start = format!("{}: {word}", file.display());
        lines.by_ref().map_while(Result::ok).any(|line| line.starts_with(&start))
    };
    assert!(verdict("VIOLATED"));
    std::fs::write(&file, model("x = v;")).unwrap();
    assert!(verdict("proved"));
    child.kill().unwrap();
    child.wait().unwrap();
}

/// A run that gets stuck is not a pass, unless only safety is asked for.
#[test]
fn stuck_operations_are_violations() {
    let model = "models/guide/locked_register.lin";
    let (code, object) = json(&[model]);
    assert_eq!((code, &object["verdict"]), (1, &Json::from("violated")));
    assert_eq!(object["counterexample"]["kind"], "stuck");
    let (code, stdout, _) = output(&["verify", model, "--engine", "refine", "--safety-only"]);
    assert_eq!(code, 0);
    assert!(
        stdout
            .lines()
            .next()
            .unwrap()
            .ends_with("whether operations can get stuck was not checked"),
        "{stdout}"
    );
}

/// A proof that fails is drawn, in a page and as files; the name of a file cannot break the page.
#[test]
fn a_failed_proof_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("a<b>.lin");
    let broken = "/../../models/broken/treiber_stack_split_push_cas.lin";
    std::fs::copy(format!("{}{broken}", env!("CARGO_MANIFEST_DIR")), &model).unwrap();
    let (page, pictures) = (folder.path().join("page.html"), folder.path().join("pictures"));
    let (code, stdout, stderr) = output(&[
        "verify",
        model.to_str().unwrap(),
        "--engine",
        "shape",
        "--report",
        page.to_str().unwrap(),
        "--pictures",
        pictures.to_str().unwrap(),
    ]);
    assert_eq!(code, 3, "{stdout}{stderr}");
    assert!(stdout.contains("the abstract state before the last move"), "{stdout}");
    let page = std::fs::read_to_string(page).unwrap();
    let drawn = std::fs::read_dir(pictures).unwrap().count();
    assert!(drawn > 2, "{stderr}");
    assert_eq!(page.matches("<svg").count(), drawn);
    assert!(page.contains("the way to what could not be explained"));
    assert!(page.contains("a&lt;b&gt;.lin") && !page.contains("<b>"));
}
