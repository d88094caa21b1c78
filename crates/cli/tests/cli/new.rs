//! `linchpin new`, `completions` and `man`.

use snapbox::cmd::{Command, cargo_bin};
use std::path::Path;

fn linchpin(folder: &Path, arguments: &[&str]) -> Command {
    Command::new(cargo_bin!("linchpin")).args(arguments).current_dir(folder)
}

const TEMPLATES: [&str; 4] = ["stack", "queue", "register", "lock"];

#[test]
fn every_template_verifies_and_is_laid_out() {
    let folder = tempfile::tempdir().expect("a folder");
    for like in TEMPLATES {
        linchpin(folder.path(), &["new", like, "--like", like]).assert().success().stdout_eq(
            format!("{like}.lin is written. Next:\n\n    linchpin verify {like}.lin [..]\n...\n"),
        );
        let file = format!("{like}.lin");
        let verified = linchpin(folder.path(), &["verify", &file]).assert().success();
        let text = String::from_utf8_lossy(&verified.get_output().stdout).into_owned();
        assert!(text.contains(": proved") || text.contains(": holds within bounds"), "{text}");
        linchpin(folder.path(), &["fmt", "--check", &file]).assert().success();
    }
}

#[test]
fn a_file_is_never_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("mine.lin"), "precious").expect("written");
    for name in ["mine", "mine.lin", "./mine"] {
        linchpin(folder.path(), &["new", name]).assert().code(2).stderr_eq(
            "error: `[..]mine.lin` exists and is not overwritten: choose another name\n",
        );
    }
    let kept = std::fs::read_to_string(folder.path().join("mine.lin")).expect("it is there");
    assert_eq!(kept, "precious");
    linchpin(folder.path(), &["new", "a.txt"]).assert().code(2);
    linchpin(folder.path(), &["new", ".."]).assert().code(2);
    linchpin(folder.path(), &["new", "no/such/folder/x"]).assert().code(2);
}

/// Every command of the help is in what is made from the arguments.
#[test]
fn completions_and_pages_know_every_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = |arguments: &[&str]| {
        let ended = linchpin(folder.path(), arguments).assert().success();
        String::from_utf8_lossy(&ended.get_output().stdout).into_owned()
    };
    let help = output(&["--help"]);
    let lines = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let commands: Vec<&str> = names
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(commands.len() > 12, "{commands:?}");
    let scripts = ["bash", "zsh", "fish"].map(|shell| output(&["completions", shell]));
    output(&["man", "--dir", "pages"]);
    for command in commands {
        assert!(scripts.iter().all(|script| script.contains(command)), "{command}");
        let page = folder.path().join(format!("pages/linchpin-{command}.1"));
        let page = std::fs::read_to_string(page).expect("a page");
        assert!(page.contains(".SH NAME") && page.contains(command), "{command}");
        assert!(page.contains("EXIT STATUS"), "{command}");
    }
    assert!(output(&["man"]).contains(".TH linchpin 1"));
    linchpin(folder.path(), &["completions", "cobol"]).assert().code(2);
}

/// Where a value is one of a few words, they are offered; where it is no file, no file is.
#[test]
fn completions_know_what_values_may_be() {
    let folder = tempfile::tempdir().expect("a folder");
    for shell in ["bash", "zsh", "fish"] {
        let ended = linchpin(folder.path(), &["completions", shell]).assert().success();
        let script = String::from_utf8_lossy(&ended.get_output().stdout).into_owned();
        for word in ["context-bound=", "priority-queue", "lock-free", "porcupine"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        // For fish, `clap_complete` knows no values of arguments without a flag.
        assert_eq!(script.contains("L020"), shell != "fish", "{shell}");
    }
}
