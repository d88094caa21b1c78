//! A new user: an empty package, the guide from its first line to the last, and the examples, with
//! nothing but cargo.
//!
//! In the guide a comment before a block of code says what becomes of it: `file:` makes a file,
//! `change:` puts the block where the text of the next comment, `instead of`, stands, and `append:`
//! adds it at the end. Console blocks are executed as in `crates/cli/tests/cli/docs.rs`.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("the crate is two folders deep").to_owned()
}

/// Cargo in a folder, with its output; what it builds is kept between runs of this test, and what
/// fails is written where nothing is kept.
fn cargo(folder: &Path, failures: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let target = root().join("target/new-user");
    let ended = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", target)
        .env_remove("RUST_BACKTRACE")
        .env("LINCHPIN_OUT", failures)
        .output()
        .expect("cargo runs");
    let text = String::from_utf8_lossy(&ended.stdout) + String::from_utf8_lossy(&ended.stderr);
    (ended.status.code(), text.into_owned())
}

/// A part of the guide that does something.
enum Part {
    File { name: String, text: String },
    Change { name: String, text: String, instead: String },
    Append { name: String, text: String },
    Command { line: usize, command: String, output: Vec<String>, code: i32 },
}

/// The parts of a page, in order.
fn parts(page: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut lines = page.lines().enumerate();
    let mut what: Option<(String, String)> = None;
    while let Some((number, line)) = lines.next() {
        if let Some(comment) = line.strip_prefix("<!-- ") {
            if comment == "instead of" {
                let text = until(&mut lines, "-->");
                let Some(Part::Change { instead, .. }) = parts.last_mut() else {
                    panic!("line {number}: nothing is changed")
                };
                *instead = text;
            } else if let Some((verb, name)) = comment.trim_end_matches(" -->").split_once(": ") {
                what = Some((verb.to_owned(), name.to_owned()));
            }
        } else if line == "```rust" {
            let text = until(&mut lines, "```");
            let Some((verb, name)) = what.take() else { continue };
            parts.push(match verb.as_str() {
                "file" => Part::File { name, text },
                "change" => Part::Change { name, text, instead: String::new() },
                "append" => Part::Append { name, text },
                _ => panic!("line {number}: {verb}"),
            });
        } else if line == "```console" {
            for (number, line) in lines.by_ref().take_while(|(_, line)| *line != "```") {
                if let Some(command) = line.strip_prefix("$ ") {
                    let (command, line) = (command.to_owned(), number + 1);
                    parts.push(Part::Command { line, command, output: Vec::new(), code: 0 });
                } else if let Some(Part::Command { output, code, .. }) = parts.last_mut() {
                    match line.strip_prefix("? ").map(str::parse) {
                        Some(Ok(number)) => *code = number,
                        _ => output.push(line.to_owned()),
                    }
                }
            }
        }
    }
    parts
}

fn until<'a>(lines: &mut impl Iterator<Item = (usize, &'a str)>, end: &str) -> String {
    lines.take_while(|(_, line)| *line != end).map(|(_, line)| format!("{line}\n")).collect()
}

/// Whether a line is as shown, with anything where `…` stands.
fn is_like(line: &str, shown: &str) -> bool {
    let parts: Vec<&str> = shown.split('…').collect();
    let [first, middle @ .., last] = &parts[..] else { return line == shown };
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

fn edit(file: &Path, change: impl FnOnce(String) -> String) {
    let text = std::fs::read_to_string(file).expect("the file is there");
    std::fs::write(file, change(text)).expect("the file can be written");
}

#[test]
fn the_guide_does_what_it_shows() {
    follow("docs/guide/lock-free.md", "my-stack", 6);
}

#[test]
fn the_guide_to_persistent_memory_does_what_it_shows() {
    follow("docs/guide/persistent-code.md", "my-durable-stack", 6);
}

/// Does what a page says, from its first line to the last.
fn follow(page: &str, package: &str, least: usize) {
    let page = std::fs::read_to_string(root().join(page)).expect("the page");
    let folder = tempfile::tempdir().expect("a folder");
    let package = folder.path().join(package);
    let mut commands = 0;
    for part in parts(&page) {
        match part {
            Part::File { name, text } => {
                std::fs::write(package.join(name), text).expect("the file can be written");
            }
            Part::Append { name, text } => edit(&package.join(name), |old| old + "\n" + &text),
            Part::Change { name, text, instead } => edit(&package.join(name), |old| {
                assert_eq!(old.matches(&instead).count(), 1, "{instead}");
                old.replace(&instead, &text)
            }),
            Part::Command { line, command, output, code } => {
                commands += 1;
                let command = command.replace("…/linchpin", &root().display().to_string());
                let words: Vec<&str> = command.split(' ').skip(1).collect();
                let here = if words[0] == "new" { folder.path() } else { &package };
                let (ended, text) = cargo(here, &folder.path().join("failures"), &words);
                assert_eq!(ended, Some(code), "line {line}: {command}\n{text}");
                let mut rest = text.lines();
                for shown in output.iter().filter(|line| !line.is_empty() && *line != "...") {
                    assert!(
                        rest.any(|line| is_like(line.trim_end(), shown.trim_end())),
                        "line {line}: {command}\nthis is not in the output, or not here: {shown}\n\
                         {text}",
                    );
                }
            }
        }
    }
    assert!(commands >= least, "only {commands} commands");
}

#[test]
fn the_examples_pass() {
    let failures = tempfile::tempdir().expect("a folder");
    let (code, text) = cargo(&root().join("examples"), failures.path(), &["test"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("test treiber::tests::a_pop_that_checks_and_stores_is_found"), "{text}");
    assert!(text.contains("test durable_queue::tests::"), "{text}");
}
