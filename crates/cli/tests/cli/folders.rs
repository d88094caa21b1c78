//! `linchpin check` of folders, of several files, of stores, and of compressed standard input.

use snapbox::cmd::Command;
use std::io::Write;
use std::path::Path;

const LOST: &str = r#"{"process":0,"type":"invoke","f":"enqueue","value":7}
{"process":0,"type":"ok","f":"enqueue","value":7}
{"process":1,"type":"invoke","f":"dequeue","value":null}
{"process":1,"type":"ok","f":"dequeue","value":null}
"#;

const EDN: &str = "{:process 0, :type :invoke, :f :enqueue, :value 7}\n\
    {:process 0, :type :ok, :f :enqueue, :value 7}\n\
    {:process 1, :type :invoke, :f :dequeue, :value nil}\n\
    {:process 1, :type :ok, :f :dequeue, :value 7}\n";

fn linchpin() -> Command {
    Command::new(snapbox::cmd::cargo_bin!("linchpin")).env("LINCHPIN_CACHE", "")
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }
    folder
}

fn check(at: &Path, args: &[&str]) -> (i32, String, String) {
    let command = linchpin().current_dir(at).arg("check").args(args).args(["--spec", "queue"]);
    let output = command.output().expect("linchpin runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is text");
    (output.status.code().expect("it exits"), text(output.stdout), text(output.stderr))
}

#[test]
fn a_folder_is_a_table_and_the_worst_decides() {
    let at = folder(&[("a/good.edn", EDN), ("lost.jsonl", LOST), ("notes.txt", "Dear diary")]);
    let (code, stdout, stderr) = check(at.path(), &["."]);
    assert_eq!((code, stderr.as_str()), (1, ""), "{stdout}");
    let mut lines = stdout.lines();
    let headline = "violated: 1 not linearizable, 1 linearizable, 1 skipped";
    assert_eq!(lines.next(), Some(headline));
    let words: Vec<Vec<&str>> =
        lines.skip(1).map(|line| line.split_whitespace().take(3).collect()).collect();
    assert_eq!(words[0], ["file", "operations", "verdict"]);
    assert_eq!(words[1], ["./a/good.edn", "2", "holds"]);
    assert_eq!(words[2], ["./lost.jsonl", "2", "violated"]);
    assert_eq!(words[3], ["./notes.txt", "skipped", "not"]);

    let (code, stdout, _) = check(at.path(), &["a/good.edn", "missing"]);
    assert_eq!(code, 2, "{stdout}");
    let (code, stdout, _) = check(at.path(), &["a/good.edn", "a"]);
    assert_eq!(code, 0, "{stdout}");
    let (code, _, stderr) = check(at.path(), &["notes.txt", "-"]);
    assert_eq!(code, 2, "{stderr}");
    let (code, _, stderr) = check(at.path(), &["a", "lost.jsonl", "--core", "core.json"]);
    assert_eq!(code, 2, "{stderr}");
}

#[test]
fn scripts_get_one_object_with_all_of_them() {
    let at = folder(&[("good.edn", EDN), ("lost.jsonl", LOST), ("notes.txt", "Dear diary")]);
    let (code, stdout, _) = check(at.path(), &[".", "--json"]);
    assert_eq!(code, 1);
    let json: serde_json::Value = serde_json::from_str(&stdout).expect("one object");
    assert_eq!(json["verdict"], "violated");
    assert_eq!(json["histories"][0]["verdict"], "holds");
    assert_eq!(json["histories"][0]["stats"]["format"], "jepsen-edn");
    assert_eq!(json["histories"][1]["file"], "./lost.jsonl");
    assert_eq!(json["skipped"][0]["file"], "./notes.txt");
}

#[test]
fn a_run_is_found_in_a_store() {
    let at = folder(&[
        ("store/queue/20240101T000000/history.edn", EDN),
        ("store/queue/20240101T000000/results.edn", "{:valid? true}"),
        ("store/queue/20240101T000000/history.txt", "0\t:invoke\t:dequeue\tnil\n"),
    ]);
    let (code, stdout, stderr) = check(at.path(), &["--store", "store"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert!(stdout.contains("store/queue/20240101T000000/history.edn"), "{stdout}");
    let (code, stdout, _) = check(at.path(), &["store/queue/20240101T000000"]);
    assert_eq!(code, 0);
    assert!(stdout.starts_with("holds: the history is linearizable"), "{stdout}");
    let (code, _, stderr) = check(at.path(), &["--store", "."]);
    assert_eq!(code, 2, "{stderr}");
    let (code, _, stderr) = check(at.path(), &[]);
    assert_eq!(code, 2, "{stderr}");
}

#[test]
fn standard_input_may_be_compressed() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(LOST.as_bytes()).expect("written");
    let zstandard = ruzstd::encoding::compress_to_vec(
        LOST.as_bytes(),
        ruzstd::encoding::CompressionLevel::Fastest,
    );
    for bytes in [gzip.finish().expect("written"), zstandard] {
        let command = linchpin().args(["check", "-", "--spec", "queue"]).stdin(bytes);
        let output = command.output().expect("linchpin runs");
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(1), "{stdout}");
        assert!(stdout.starts_with("violated: line 4: "), "{stdout}");
    }
}
