//! The edges: outputs over inputs, files without end, signals, no memory, names that act on the
//! terminal.

use serde_json::Value as Json;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const STACK: &str = "models/treiber_stack.lin";

/// Endless work: no limit of its own ends it.
const ENDLESS: [&str; 5] = ["run", STACK, "--tries", "1000000000000", "--json"];

fn linchpin() -> Command {
    let mut command = Command::new(snapbox::cmd::cargo_bin!("linchpin"));
    command.env("LINCHPIN_CACHE", "");
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    command
}

fn run(args: &[&str]) -> (i32, String, String) {
    told(linchpin().args(args).output().expect("linchpin runs"))
}

fn told(output: Output) -> (i32, String, String) {
    let text = |bytes| String::from_utf8(bytes).expect("output is text");
    (output.status.code().expect("it exits"), text(output.stdout), text(output.stderr))
}

fn json(text: &str) -> Json {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A folder with a model and a history in it.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = tempfile::Builder::new().prefix("edges").tempdir();
        let folder = Folder(folder.expect("a folder"));
        let stack = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(STACK);
        fs::copy(stack, folder.path("m.lin")).expect("copied");
        folder.write("h.jsonl", HISTORY);
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn name(&self, name: &str) -> String {
        self.path(name).to_str().expect("a path").to_owned()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("written");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("read")
    }

    /// The names of the files in it.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("a folder");
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        let mut names: Vec<String> = entries.map(|entry| name(entry.expect("an entry"))).collect();
        names.sort();
        names
    }
}

const HISTORY: &str = r#"{"process":0,"type":"invoke","f":"write","value":1}
{"process":0,"type":"ok","f":"write","value":1}
"#;

#[test]
#[cfg(unix)]
fn no_output_replaces_an_input_or_another_output() {
    let folder = Folder::new();
    let (model, history) = (folder.name("m.lin"), folder.name("h.jsonl"));
    std::os::unix::fs::symlink(&model, folder.path("soft.lin")).expect("a link");
    fs::hard_link(&model, folder.path("hard.lin")).expect("a link");
    fs::hard_link(&history, folder.path("hard.jsonl")).expect("a link");
    std::os::unix::fs::symlink("new", folder.path("to-new")).expect("a link");
    let (soft, hard) = (folder.name("soft.lin"), folder.name("hard.lin"));
    let (dotted, hard_history) = (folder.name("./m.lin"), folder.name("hard.jsonl"));
    let (new, to_new, schedule) = (folder.name("new"), folder.name("to-new"), folder.name("s"));
    folder.write("s", "[]");
    let (m, h) = (model.as_str(), history.as_str());
    let check =
        |more: &[&'static str], file| [&["check", h, "--spec", "register"], more, &[file]].concat();
    let before = (folder.read("m.lin"), folder.read("h.jsonl"));
    for arguments in [
        vec!["run", m, "-o", m],
        vec!["run", m, "-o", &soft],
        vec!["run", m, "--output", &hard],
        vec!["run", &soft, "-o", &dotted],
        vec!["run", m, "--report", m],
        vec!["run", m, "--replay", &schedule, "-o", &schedule],
        vec!["run", m, "-o", &new, "--report", &new],
        vec!["run", m, "-o", &new, "--report", &to_new],
        vec!["verify", m, "--report", &hard],
        vec!["verify", STACK, m, "--certificate", m],
        vec!["subops", m, "-o", m],
        check(&["--witness"], h),
        check(&["--core"], &hard_history),
        check(&["--report"], h),
        check(&["--witness", "/dev/null", "--core"], h),
        vec!["check", h, "--spec", m, "--witness", m],
        vec!["check", h, "--spec", "register", "--witness", &new, "--core", &new],
    ] {
        let (code, stdout, stderr) = run(&arguments);
        assert_eq!((code, stdout.as_str()), (2, ""), "{arguments:?}: {stderr}");
        let said = stderr.contains("would overwrite") || stderr.contains("are the same file");
        assert!(said, "{arguments:?}: {stderr}");
    }
    assert_eq!(before, (folder.read("m.lin"), folder.read("h.jsonl")));
    let names = ["h.jsonl", "hard.jsonl", "hard.lin", "m.lin", "s", "soft.lin", "to-new"];
    assert_eq!(folder.names(), names, "nothing was written");
    // Devices are no files that could be lost.
    let two = ["run", m, "-o", "/dev/null", "--report", "/dev/null"];
    assert_eq!(run(&two).0, 0);
}

#[test]
fn an_output_that_cannot_be_written_is_found_before_the_work() {
    let folder = Folder::new();
    let nowhere = folder.name("no/such/file");
    let directory = folder.0.path().to_str().expect("a path");
    let under_a_file = folder.name("m.lin/x");
    for file in [nowhere.as_str(), directory, &under_a_file, "/proc/nothing"] {
        // Without the check, this would never end.
        let mut endless = ENDLESS.to_vec();
        endless.extend(["-o", file]);
        let history = folder.name("h.jsonl");
        let check = ["check", &history, "--spec", "register", "--witness", file];
        for arguments in [&endless[..], &check] {
            let (code, stdout, stderr) = run(arguments);
            let both = format!("{stdout}{stderr}");
            assert_eq!(code, 2, "{arguments:?}: {both}");
            assert!(both.contains("cannot write"), "{both}");
            assert!(!both.contains(".tmp"), "{both}");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_verdict_is_said_though_its_file_cannot_be_written() {
    let folder = Folder::new();
    let (code, stdout, stderr) = run(&["run", &folder.name("m.lin"), "--report", "/dev/full"]);
    assert_eq!(code, 2, "{stderr}");
    assert!(stdout.contains(r#""type":"ok""#), "{stdout}");
    assert!(stderr.contains("the history is linearizable"), "{stderr}");
    assert!(stderr.ends_with("cannot write `/dev/full`: No space left on device (os error 28)\n"));
    let history = folder.name("h.jsonl");
    let check = ["check", &history, "--spec", "register", "--report", "/dev/full"];
    let (code, stdout, stderr) = run(&check);
    assert_eq!(code, 2, "{stderr}");
    assert!(stdout.starts_with("holds: "), "{stdout}");
}

#[test]
#[cfg(unix)]
fn signals_end_the_work_with_what_is_known() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let mut child =
            linchpin().args(ENDLESS).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // It takes a moment until the signal is caught.
        let caught = || {
            let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
            let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap().trim();
            u64::from_str_radix(mask, 16).unwrap() & 2 != 0
        };
        while cfg!(target_os = "linux") && !caught() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let id = child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        let mut stdout = String::new();
        child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        let (code, _, stderr) = told(child.wait_with_output().unwrap());
        assert_eq!(code, 3, "{signal}: {stderr}");
        assert_eq!(json(&stdout)["verdict"], "inconclusive", "{signal}");
        assert!(stderr.contains("stopped by Ctrl-C or a signal"), "{signal}: {stderr}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn without_memory_it_ends_with_a_sentence() {
    let linchpin = snapbox::cmd::cargo_bin!("linchpin");
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let model = models.join("ms_queue.lin");
    let large = "--without ample-steps --without doomed-attempts --without validated-reads";
    let script = format!(
        "ulimit -v 120000; exec {} verify {} --threads 3 --ops 3 {large} --engine refine \
         --workers 1 --json",
        linchpin.display(),
        model.display()
    );
    let (code, stdout, stderr) = told(Command::new("sh").args(["-c", &script]).output().unwrap());
    assert_eq!(code, 3, "{stdout}{stderr}");
    let object = json(&stdout);
    assert_eq!(
        (&object["verdict"], &object["command"]),
        (&"inconclusive".into(), &"verify".into())
    );
    assert!(stderr.contains("out of memory"), "{stderr}");
}

#[test]
fn a_table_larger_than_the_memory_is_refused_before_it_is_made() {
    for size in ["--lossy=99T", "--lossy=9999999T", "--lossy=18000000000G"] {
        let (code, _, stderr) = run(&["verify", STACK, size]);
        assert_eq!(code, 3, "{stderr}");
        assert!(stderr.contains("inconclusive: --lossy needs"), "{stderr}");
        let (code, stdout, _) = run(&["verify", STACK, size, "--json"]);
        assert_eq!((code, &json(&stdout)["verdict"]), (3, &"inconclusive".into()), "{stdout}");
    }
}

#[test]
#[cfg(unix)]
fn fmt_writes_what_a_link_points_to() {
    let folder = Folder::new();
    folder.write("real.lin", "spec counter;\nop  add( n:int ){\n}\n");
    std::os::unix::fs::symlink("real.lin", folder.path("link.lin")).expect("a link");
    assert_eq!(run(&["fmt", &folder.name("link.lin")]).0, 0);
    assert_eq!(folder.read("real.lin"), "spec counter;\nop add(n: int) {\n}\n");
    assert!(folder.path("link.lin").is_symlink());
}

#[test]
fn one_bad_file_does_not_keep_fmt_from_the_others() {
    let folder = Folder::new();
    let (untidy, tidy) =
        ("spec counter;\nop  add( n:int ){\n}\n", "spec counter;\nop add(n: int) {\n}\n");
    folder.write("a.lin", untidy);
    folder.write("b.lin", "spec counter\n");
    folder.write("c.lin", untidy);
    let names: Vec<String> =
        ["a.lin", "b.lin", "missing.lin", "c.lin"].iter().map(|name| folder.name(name)).collect();
    let arguments: Vec<&str> =
        ["fmt", "--json"].into_iter().chain(names.iter().map(String::as_str)).collect();
    let (code, stdout, stderr) = run(&arguments);
    assert_eq!((code, stderr.as_str()), (2, ""), "the worst decides");
    let object = json(&stdout);
    assert_eq!(object["changed"], serde_json::json!([names[0], names[3]]));
    assert_eq!(object["errors"][0]["mistakes"][0]["line"], 1, "{object}");
    assert_eq!(object["errors"][1]["kind"], "input");
    assert_eq!((folder.read("a.lin"), folder.read("c.lin")), (tidy.to_owned(), tidy.to_owned()));
    assert_eq!(folder.read("b.lin"), "spec counter\n");
}

#[test]
#[cfg(target_os = "linux")]
fn inputs_without_end_are_refused() {
    for arguments in [
        &["verify", "/dev/zero"][..],
        &["run", "/dev/zero"],
        &["steps", "/dev/zero"],
        &["fmt", "--check", "/dev/zero"],
        &["subops", "/dev/zero"],
        &["certify", "/dev/zero"],
        &["run", STACK, "--replay", "/dev/zero"],
    ] {
        let (code, stdout, stderr) = run(arguments);
        assert_eq!((code, stdout.as_str()), (2, ""), "{arguments:?}: {stderr}");
        assert!(stderr.contains("`/dev/zero` is larger than"), "{stderr}");
    }
    let (code, _, stderr) = run(&["check", "/dev/zero", "--spec", "queue"]);
    assert_eq!(code, 2, "{stderr}");
    let folder = Folder::new();
    let pipe = folder.name("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut writer = Command::new("sh");
    writer.args(["-c", &format!("yes > '{pipe}'")]).stderr(Stdio::null());
    let mut writer = writer.spawn().expect("a writer");
    let (code, _, stderr) = run(&["steps", &pipe]);
    writer.wait().expect("it ends with its reader");
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("is larger than 16 MB"), "{stderr}");
}

#[test]
fn a_directory_is_no_model() {
    for command in ["run", "steps", "fmt", "certify", "subops"] {
        let (code, _, stderr) = run(&[command, "models"]);
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains("`models` is a directory: name a file"), "{command}: {stderr}");
    }
}

#[test]
fn what_would_act_on_the_terminal_is_shown() {
    let folder = Folder::new();
    let nasty = r#"{"process":"a\u001b[2J\u202e","type":"invoke","f":"read","value":null}
{"process":"a\u001b[2J\u202e","type":"ok","f":"read","value":"x\u202ey\u009b\u001b"}
"#;
    folder.write("n\u{1b}[31m.jsonl", nasty);
    let (file, page) = (folder.name("n\u{1b}[31m.jsonl"), folder.name("page.html"));
    let (code, stdout, _) = run(&["check", &file, "--spec", "register", "--report", &page]);
    assert_eq!(code, 1, "{stdout}");
    assert!(stdout.contains("\\u{202e}") && stdout.contains("n\\u{1b}[31m.jsonl"), "{stdout}");
    let page = folder.read("page.html");
    assert!(page.contains("\\u{202e}"), "{page}");
    let (_, _, missing) = run(&["run", "no\u{1b}[31m\u{202e}.lin"]);
    for text in [stdout, page, missing] {
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{9b}']), "{text:?}");
    }
    // A mistake quotes the source.
    folder.write("m.lin", "spec queue;\n// \u{1b}[2J\nshared x\u{202e}: int; \u{1b}[2J\n");
    let (code, _, stderr) = run(&["steps", &folder.name("m.lin")]);
    assert_eq!(code, 2);
    assert!(!stderr.contains(['\u{1b}', '\u{202e}']), "{stderr:?}");
}

#[test]
fn colours_are_as_asked_for() {
    let verify = ["verify", STACK, "--ops", "1", "--engine", "refine"];
    let coloured = |more: &[&str], variable: Option<&str>| {
        let mut command = linchpin();
        command.args([&verify[..], more].concat()).env_remove("NO_COLOR");
        command.envs(variable.map(|name| (name, "1")));
        told(command.output().expect("linchpin runs")).1.contains('\u{1b}')
    };
    assert!(!coloured(&[], None), "this is no terminal");
    assert!(coloured(&["--color", "always"], None));
    assert!(coloured(&["--color=always"], Some("NO_COLOR")), "an argument is the last word");
    assert!(!coloured(&["--color", "never"], Some("CLICOLOR_FORCE")));
    let (code, stdout, _) = run(&["--color", "always", "run", STACK, "--quiet"]);
    assert_eq!(code, 0);
    assert!(!stdout.contains('\u{1b}'), "a history is not coloured");
    let (_, _, stderr) = run(&["run", STACK, "--color", "always"]);
    assert!(stderr.contains("\u{1b}[1m\u{1b}[32mholds\u{1b}[0m: "), "{stderr:?}");
}

#[test]
fn negative_numbers_are_values() {
    let folder = Folder::new();
    folder.write(
        "h.jsonl",
        "{\"process\":0,\"type\":\"invoke\",\"f\":\"read\",\"value\":null}\n\
         {\"process\":0,\"type\":\"ok\",\"f\":\"read\",\"value\":-3}\n",
    );
    let history = folder.name("h.jsonl");
    let (code, _, stderr) = run(&["check", &history, "--spec", "register", "--init", "-3"]);
    assert_eq!(code, 0, "{stderr}");
    folder.write(
        "k.lin",
        "param K: int = 1;\nspec counter(K);\nshared n: int = K;\nop read() -> int { return n; }\n",
    );
    let (code, stdout, stderr) = run(&["run", &folder.name("k.lin"), "--set", "K=-3", "--quiet"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains(r#""value":-3"#), "{stdout}");
}

#[test]
fn errors_are_objects_where_json_is_asked_for() {
    let (code, stdout, stderr) = run(&["verify", STACK, "--json", "--no-such-flag"]);
    assert_eq!((code, stderr.as_str()), (2, ""));
    let object = json(&stdout);
    assert_eq!(object["schema"], "linchpin/1");
    assert_eq!((&object["command"], &object["error"]["kind"]), (&"verify".into(), &"usage".into()));
    assert!(object["error"]["message"].as_str().unwrap().contains("--no-such-flag"), "{object}");
    assert_eq!(json(&run(&["--json"]).1)["command"], Json::Null);
    assert_eq!(json(&run(&["walk", "--json"]).1)["error"]["kind"], "usage");

    let (code, stdout, stderr) = run(&["run", "models/nothing.lin", "--json"]);
    assert_eq!((code, stderr.as_str()), (2, ""));
    let object = json(&stdout);
    assert_eq!(object["error"]["kind"], "input");
    assert!(object["error"]["message"].as_str().unwrap().contains("models/nothing.lin"));

    let folder = Folder::new();
    folder.write("m.lin", "spec counter;\nop add(n: int) {\n    é = nn;\n}\n");
    let (code, stdout, stderr) = run(&["steps", &folder.name("m.lin"), "--json"]);
    assert_eq!((code, stderr.as_str()), (2, ""));
    let object = json(&stdout);
    assert_eq!(
        (&object["error"]["kind"], &object["command"]),
        (&"mistakes".into(), &"steps".into())
    );
    let mistake = &object["error"]["mistakes"][0];
    assert_eq!(mistake["file"], folder.name("m.lin"));
    assert_eq!((&mistake["line"], &mistake["column"]), (&3.into(), &5.into()), "{object}");
    assert!(mistake["message"].is_string() && mistake.get("help").is_some(), "{object}");
    // Help is help.
    let (code, stdout, _) = run(&["run", "--json", "--help"]);
    assert_eq!(code, 0);
    assert!(stdout.contains("Usage: linchpin"), "{stdout}");
}

#[test]
#[cfg(unix)]
fn a_reader_that_has_gone_away_is_no_error() {
    // Both streams are closed at the other end before anything is written.
    let closed = || {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        writer
    };
    for arguments in [
        &["specs"][..],
        &["run", STACK],
        &["run", "models/nothing.lin"],
        &["fmt", "--check", "models/nothing.lin"],
    ] {
        let status = linchpin().args(arguments).stdout(closed()).stderr(closed()).status();
        let code = status.expect("linchpin runs").code();
        assert!(matches!(code, Some(0 | 2)), "{arguments:?}: {code:?}");
    }
    let mut closed = linchpin();
    closed.args(["verify", "models/broken/ms_queue_blind_append.lin"]).stdout({
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        writer
    });
    let (code, _, stderr) = told(closed.output().expect("linchpin runs"));
    assert_eq!((code, stderr.as_str()), (1, ""), "the verdict is in the exit code");
}

#[test]
fn limits_and_what_every_command_understands_are_in_every_help() {
    for command in
        ["verify", "check", "certify", "run", "reproduce", "steps", "subops", "fmt", "specs"]
    {
        let (code, help, _) = run(&[command, "--help"]);
        assert_eq!(code, 0);
        for flag in ["--json", "--quiet", "--verbose", "--color", "--time-limit", "--memory-limit"]
        {
            assert!(help.contains(flag), "{command}: {help}");
        }
        assert!(help.contains("half of the memory that is free"), "{help}");
    }
    let (_, help, _) = run(&["run", "--help"]);
    assert!(help.contains("Exit codes: 0 every run was linearizable"), "{help}");
    assert!(run(&["verify", "--help"]).1.contains("--safety-only"));
}

#[test]
fn an_endless_standard_input_is_refused() {
    let mut child = linchpin()
        .args(["steps", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("linchpin runs");
    let mut stdin = child.stdin.take().expect("its input");
    let (line, start) = ([b'/'; 1 << 16], Instant::now());
    while stdin.write_all(&line).is_ok() {
        assert!(start.elapsed() < Duration::from_secs(100), "it never stops reading");
    }
    let (code, _, stderr) = told(child.wait_with_output().expect("it ends"));
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("is larger than 16 MB"), "{stderr}");
}

#[test]
fn reproduced_tables_are_written_as_a_document_and_a_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let [markdown, page] = ["tables.md", "tables.html"].map(|name| folder.path().join(name));
    let [markdown_arg, page_arg] =
        [&markdown, &page].map(|path| path.to_str().expect("a plain path"));
    let args = ["reproduce", "000", "--quiet", "--markdown", markdown_arg, "--report", page_arg];
    let (code, text, _) = run(&args);
    assert_eq!(code, 0, "{text}");
    let written = std::fs::read_to_string(&markdown).expect("the document");
    assert!(written.contains("Machine: ") && written.contains("| Treiber's stack | 5 | 3 |"));
    let page = std::fs::read_to_string(&page).expect("the page");
    assert!(page.contains("<td>Treiber's stack</td>"), "{page}");
    // One file cannot be both.
    let same = ["reproduce", "000", "--markdown", markdown_arg, "--report", markdown_arg];
    assert_eq!(run(&same).0, 2);
}
