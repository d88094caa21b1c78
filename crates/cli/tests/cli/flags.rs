//! Flags: what is wrong with them is said, and none does nothing without a word.

use std::path::Path;
use std::process::Command;

/// The exit code, standard output and standard error.
fn output(args: &[&str]) -> (i32, String, String) {
    let output = Command::new(snapbox::cmd::cargo_bin!("linchpin"))
        .env("LINCHPIN_CACHE", "")
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .args(args)
        .output()
        .expect("linchpin runs");
    let text = |bytes| String::from_utf8(bytes).expect("output is text");
    (output.status.code().expect("it exits"), text(output.stdout), text(output.stderr))
}

/// A folder with one model in it, and the name of the model.
fn model(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("m.lin");
    std::fs::write(&file, text).expect("written");
    let name = file.to_str().expect("a path").to_owned();
    (folder, name)
}

/// `--quiet` leaves out remarks, never what is wrong.
#[test]
fn mistakes_are_said_though_quiet() {
    let (_folder, file) = model("spec register; op read( {");
    for command in ["verify", "run", "steps", "fmt", "mutate", "subops", "roadmap"] {
        let (code, stdout, stderr) = output(&[command, &file, "--quiet"]);
        assert_eq!((code, stdout.as_str()), (2, ""), "{command}: {stderr}");
        assert!(stderr.contains("m.lin:1:"), "{command}: {stderr}");
    }
}

/// What is wrong with a flag is said of the flag, not of the first line of the model.
#[test]
fn mistakes_of_flags_are_no_mistakes_of_the_model() {
    let (_folder, file) = model(
        "spec register; shared x: int? = none; op write(v: int in 0..2) { x = v; } \
         op read() -> int? { return x; }",
    );
    for (flag, value, said) in [
        ("--threads", "0", "`--threads`: this model has 0 threads"),
        ("--threads", "writer=1", "`--threads writer=1`: this model has no role `writer`"),
        ("--set", "K=1", "`--set K=…`: this model has no parameter `K`"),
        ("--preload", "write(5)", "`--preload`: clients do not pass 5 to `write`"),
    ] {
        let (code, _, stderr) = output(&["verify", &file, flag, value]);
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains(said), "{stderr}");
        assert!(!stderr.contains("m.lin:1:1"), "{stderr}");
    }
    let (_, stdout, _) = output(&["verify", &file, "--preload", "write(5)", "--json"]);
    assert!(stdout.contains(r#""flag":"--preload""#), "{stdout}");
    assert!(stdout.contains("write a value from 0 to 1"), "{stdout}");
}

/// A flag that would do nothing is refused, and says what it belongs to.
#[test]
fn flags_that_would_do_nothing_are_refused() {
    let stack = "models/treiber_stack.lin";
    for (args, said) in [
        ("--engine base --search random", "--search is for `refine`, and only `base` is asked"),
        ("--engine shape --search pct", "--search is for `refine`, and only `shape` is asked"),
        ("--engine reduce --disk nowhere", "--disk is for `refine`"),
        ("--engine refine --table", "--table is for `reduce`, and only `refine` is asked"),
        ("--engine refine --domain kleene", "--domain is for `shape`"),
        ("--engine refine --answers seen", "--answers is for `shape`"),
        ("--engine refine --reference own", "--reference is for `shape`"),
        ("--search random --facts", "--facts is for `reduce`, and only `refine` is asked"),
        ("--progress lock-free --property strict", "--property is for `refine`: --progress does"),
        ("--progress lock-free --crashes 1", "--progress is about runs without crashes"),
        ("--progress lock-free --engine base", "--engine: --progress asks an engine of its own"),
        ("--superfluous", "--superfluous: nothing is persistent in this model"),
        ("--property strict", "--property: nothing is persistent in this model"),
        ("--crashes 1", "--crashes: nothing is persistent in this model"),
    ] {
        let args: Vec<&str> = ["verify", stack].into_iter().chain(args.split(' ')).collect();
        let (code, stdout, stderr) = output(&args);
        assert_eq!((code, stdout.as_str()), (2, ""), "{args:?}: {stderr}");
        assert!(stderr.contains(said), "{args:?}: {stderr}");
    }
    let durable = "models/persistent/durable_queue.lin";
    let (code, _, stderr) = output(&["verify", durable, "--crashes", "0", "--superfluous"]);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("there are none: say --crashes 1"), "{stderr}");
}

/// Crashes of a model with nothing persistent are none, and more threads than one engine explores
/// are no reason not to ask the others.
#[test]
fn bounds_that_one_engine_cannot_take_leave_the_others() {
    let register = "spec register(0); shared x: int = 0; op write(v: int) { x = v; } \
                    op read() -> int { return x; }";
    let (_folder, file) = model(&format!("{register} bounds {{ crashes: 1 }}"));
    let (code, stdout, stderr) = output(&["verify", &file]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("m.lin: proved"), "{stdout}");
    assert!(stdout.contains("nothing is persistent, so there are none"), "{stdout}");
    let (_folder, file) = model(&format!("{register} bounds {{ threads: 256 }}"));
    let (code, stdout, stderr) = output(&["verify", &file]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("m.lin: proved"), "{stdout}");
    let (code, stdout, _) = output(&["verify", &file, "--engine", "refine"]);
    assert_eq!(code, 3, "{stdout}");
    assert!(stdout.contains("does not apply: 256 threads are more than"), "{stdout}");
}

/// What is found wrong is told in the words of the model, and by what it needs.
#[test]
fn what_is_wrong_without_crashes_is_told_so() {
    let counter = "spec counter; persistent shared x: int; op add(k: int) { x = k; persist(x); } \
                   op read() -> int { return x; } bounds { crashes: 1 }";
    let (_folder, file) = model(counter);
    let (code, stdout, _) = output(&["verify", &file, "--engine", "refine"]);
    assert_eq!(code, 1, "{stdout}");
    assert!(stdout.contains("a run without any crash is not linearizable"), "{stdout}");
    // Sub-operations have names of their own, such as `put_true`.
    let mailbox = "spec { state n: int; op put(v: int) -> bool { if n != 0 { return false; } \
                   n = v; return true; } op take() -> int { let r = n; n = 0; return r; } } \
                   shared x: int; op put(v: int) -> bool { return cas(x, 0, v); } \
                   op take() -> int { return x; }";
    let (_folder, file) = model(mailbox);
    let (code, stdout, _) = output(&["verify", &file, "--engine", "reduce"]);
    assert_eq!(code, 1, "{stdout}");
    assert!(stdout.contains("\n  put(") && stdout.contains("\n  take() → "), "{stdout}");
}

/// A repair may be missing where something is read, or flushed and not fenced.
#[test]
fn repairs_are_tried_after_flushes_and_reads() {
    let counter = "spec { state n: int; op add() { n = n + 1; } op read() -> int { return n; } }\n\
                   persistent shared x: int; persistent shared y: int;\n";
    let bounds = "\nbounds { threads: 2, ops: 2, crashes: 1 }";
    for (operations, said) in [
        (
            "op add() { faa(x, 1); persist(x); }\nop read() -> int { return x; }",
            "right after the read, this repairs it (tried): `persist(x)` in read, line 4",
        ),
        (
            "op add() { atomic { x = x + 1; y = y + 1; } flush(x); flush(y); }\n\
             op read() -> int { atomic { let r = x; let s = y; persist(x); persist(y); \
             if s < r { return s; } return r; } }",
            "right after the flush, this repairs it (tried): `fence` in add, line 3",
        ),
    ] {
        let (_folder, file) = model(&format!("{counter}{operations}{bounds}"));
        let (code, stdout, _) = output(&["verify", &file, "--engine", "refine"]);
        assert_eq!(code, 1, "{stdout}");
        assert!(stdout.contains(said), "{stdout}");
    }
}

/// What only `recover(t)` needs is not superfluous.
#[test]
fn what_detectability_needs_is_not_superfluous() {
    let (_folder, file) = model(
        "spec { state n: int; op start() {} op inc() -> bool { n = n + 1; return true; } \
         op get() -> int { return n; } }
         persistent shared cell: [int; threads]; persistent shared seqn: [int; threads];
         local ready: bool;
         op start() { let c = cell[me]; seqn[me] = c + 1; persist(seqn[me]); ready = true; }
         op inc() -> bool requires ready { ready = false; let n = seqn[me]; cell[me] = n; \
         persist(cell[me]); return true; }
         op get() -> int { atomic { let s = 0; for i in 0..threads { s = s + cell[i]; } \
         for i in 0..threads { persist(cell[i]); } return s; } }
         recover(t: tid) -> bool? { if cell[t] == seqn[t] { return true; } return none; }
         bounds { threads: 2, ops: 2, crashes: 1 }",
    );
    let (code, stdout, _) = output(&["verify", &file, "--engine", "refine", "--superfluous"]);
    assert_eq!(code, 0, "{stdout}");
    assert!(stdout.contains("no flush, fence or persist is superfluous"), "{stdout}");
}
