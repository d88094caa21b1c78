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
