//! Folders as people have them.

use super::*;

const EVENT: &str = "{\"process\":0,\"type\":\"invoke\",\"f\":\"read\"}\n";
const MAP: &str = "{:process 0, :type :invoke, :f :read, :value nil}\n";

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn listed(folder: &Path) -> Vec<String> {
    let show = |found: Found| {
        let path = found.path.strip_prefix(folder).unwrap().display().to_string();
        match found.skipped {
            None => path,
            Some(why) => format!("{path}: {why}"),
        }
    };
    histories(folder).unwrap().into_iter().map(show).collect()
}

#[test]
fn every_history_is_found_and_what_is_none_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, "b.jsonl", EVENT);
    write(at, "a/z.edn", MAP);
    write(at, "a/package.json", "{\"name\": \"type\"}");
    write(at, "notes.txt", "Dear diary");
    write(at, "nothing", " \n");
    #[cfg(unix)]
    std::os::unix::fs::symlink(at, at.join("loop")).unwrap();
    let expected = [
        "a/package.json: not a history in a known format",
        "a/z.edn",
        "b.jsonl",
        "loop: a symbolic link",
        "notes.txt: not a history in a known format",
        "nothing: empty",
    ];
    assert_eq!(listed(at), expected);
}

#[test]
fn a_run_is_one_history() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for name in ["history.edn", "history.txt", "results.edn", "jepsen.log", "other.edn"] {
        write(at, name, MAP);
    }
    let expected = [
        "history.edn",
        "history.txt: of the same run as history.edn",
        "jepsen.log: of the same run as history.edn",
        "other.edn",
        "results.edn: no history, but another file of a Jepsen run",
    ];
    assert_eq!(listed(at), expected);
    assert_eq!(whole(at).unwrap(), Some(at.join("history.edn")));
    fs::remove_file(at.join("history.edn")).unwrap();
    assert_eq!(whole(at).unwrap(), Some(at.join("history.txt")));
}

#[test]
fn a_store_has_a_latest_run() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    assert!(matches!(latest_run(at), Err(IngestError::NoRun { .. })));
    write(at, "b/20240101T000000.000Z/history.edn", MAP);
    write(at, "a/20240102T000000.000Z/history.txt", MAP);
    write(at, "a/20240103T000000.000Z/results.edn", MAP);
    let newest = at.join("a/20240102T000000.000Z/history.txt");
    assert_eq!(latest_run(at).unwrap(), newest);
    assert_eq!(latest_run(&at.join("a")).unwrap(), newest);
    assert_eq!(latest_run(newest.parent().unwrap()).unwrap(), newest);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("b/20240101T000000.000Z", at.join("latest")).unwrap();
        assert_eq!(latest_run(at).unwrap(), at.join("latest/history.edn"));
    }
}

#[test]
fn a_report_is_one_history() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, "one/client-1/operations.json", "{}");
    write(at, "one/client-2/operations.json", "{}");
    write(at, "one/client-2/watch.json", "{}");
    assert_eq!(listed(at), ["one"]);
    assert_eq!(whole(&at.join("one")).unwrap(), Some(at.join("one")));
}
