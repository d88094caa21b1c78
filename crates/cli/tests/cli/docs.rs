//! Every console block of the README and of the guide is executed, and shows what really comes of
//! it.
//!
//! A line `$ command` is executed; the lines below it, up to the next command, must occur in its
//! output in this order. `...` alone on a line stands for any lines, `…` within a line for any
//! characters (times, sizes). A line `? 1` after the output is the exit code; without one it is 0.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Begins a command that stands for the binary.
const NAMES: [&str; 2] = ["cargo run --release -- ", "linchpin "];

/// Commands about the project as a whole, which are not executed from within its tests.
const NOT_EXECUTED: [&str; 6] = [
    "cargo test",
    "cargo install",
    "cargo run --release --manifest-path",
    "cargo add",
    "cargo new",
    ".ci/run",
];

struct Example {
    page: PathBuf,
    line: usize,
    command: String,
    output: Vec<String>,
    code: i32,
}

#[test]
fn console_blocks_do_what_they_show() {
    let root = root();
    let mut pages = vec![root.join("README.md")];
    let guide = std::fs::read_dir(root.join("docs/guide")).expect("the guide");
    let guide = guide.map(|entry| entry.expect("a page").path());
    pages.extend(guide.filter(|page| page.extension().is_some_and(|extension| extension == "md")));
    pages.sort();
    let mut executed = 0;
    let mut wrong = Vec::new();
    for page in pages {
        // Files that one command of a page writes, the next ones read.
        let folder = tempfile::tempdir().expect("a folder");
        for bundled in ["models", "histories"] {
            copy(&root.join(bundled), &folder.path().join(bundled));
        }
        for example in examples(&page) {
            executed += 1;
            wrong.extend(mistake(&example, folder.path()));
        }
    }
    assert!(executed > 10, "only {executed} commands");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).expect("a copy")),
        }
    }
}

/// The commands of a page that are to be executed.
fn examples(page: &Path) -> Vec<Example> {
    let text = std::fs::read_to_string(page).expect("a page");
    let mut examples: Vec<Example> = Vec::new();
    let mut inside = false;
    let mut skipped = false;
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            inside = line.trim() == "```console";
            continue;
        }
        if !inside {
            continue;
        }
        if let Some(command) = line.strip_prefix("$ ") {
            skipped = NOT_EXECUTED.iter().any(|name| command.starts_with(name));
            if !skipped {
                let (page, command) = (page.to_owned(), command.to_owned());
                examples.push(Example {
                    page,
                    line: number + 1,
                    command,
                    output: Vec::new(),
                    code: 0,
                });
            }
        } else if let (false, Some(example)) = (skipped, examples.last_mut()) {
            match line.strip_prefix("? ").map(str::parse) {
                Some(Ok(code)) => example.code = code,
                _ => example.output.push(line.to_owned()),
            }
        }
    }
    examples
}

/// What is wrong with an example, if something is.
fn mistake(example: &Example, folder: &Path) -> Option<String> {
    let Example { page, line, command, output, code } = example;
    let at = format!("{}:{line}: {command}", page.display());
    let mut executed = command.clone();
    if let Some(rest) = NAMES.iter().find_map(|name| command.strip_prefix(name)) {
        executed = format!("\"$LINCHPIN\" {rest}");
    }
    let ended = Command::new("sh")
        .args(["-c", &executed])
        .env("LINCHPIN", env!("CARGO_BIN_EXE_linchpin"))
        .env("LINCHPIN_CACHE", "")
        .current_dir(folder)
        .output()
        .expect("a shell");
    let real = String::from_utf8_lossy(&ended.stdout) + String::from_utf8_lossy(&ended.stderr);
    if ended.status.code() != Some(*code) {
        return Some(format!("{at}\nended with {}, not {code}:\n{real}", ended.status));
    }
    let mut rest = real.lines();
    for shown in output.iter().filter(|line| !line.trim().is_empty() && line.trim() != "...") {
        if !rest.any(|line| is_like(line.trim_end(), shown.trim_end())) {
            return Some(format!(
                "{at}\nthis line is not in the output, or not here: {shown}\n{real}"
            ));
        }
    }
    None
}

/// Whether a line is as shown, with anything where `…` stands.
fn is_like(line: &str, shown: &str) -> bool {
    let mut parts = shown.split('…');
    let Some(mut rest) = parts.next().and_then(|first| line.strip_prefix(first)) else {
        return false;
    };
    let mut ended = !shown.contains('…');
    for part in parts {
        match (part.is_empty(), rest.find(part)) {
            (true, _) => ended = true,
            (false, Some(at)) => {
                rest = &rest[at + part.len()..];
                ended = rest.is_empty();
            }
            (false, None) => return false,
        }
    }
    ended && (rest.is_empty() || shown.ends_with('…'))
}
