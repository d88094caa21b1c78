//! The page of the viewer for a failure: `LINCHPIN_REPORT=page.html cargo test`.
//!
//! The viewer belongs to the command `linchpin`, which is asked for the page: as a part of the
//! library it would cost every test its time to build.

use crate::failure::{Failure, Files};
use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Writes the page of a failure where the environment says, if it does; what came of it.
pub(crate) fn written(failure: &Failure, files: &Files) -> Option<String> {
    let wanted = env::var_os("LINCHPIN_REPORT")?;
    let command = env::var_os("LINCHPIN_COMMAND").unwrap_or_else(|| "linchpin".into());
    Some(write(failure, files, &place(&wanted, &files.history), &command))
}

/// A folder gets a page for each test.
fn place(wanted: &OsStr, history: &Path) -> PathBuf {
    let wanted = Path::new(wanted);
    match history.file_stem() {
        Some(stem) if wanted.is_dir() => wanted.join(stem).with_extension("html"),
        _ => wanted.to_owned(),
    }
}

fn write(failure: &Failure, files: &Files, page: &Path, command: &OsStr) -> String {
    let Some(arguments) = failure.arguments() else {
        return "no page: its specification is Rust code, which `linchpin check` lacks".to_owned();
    };
    let mut check = Command::new(command);
    check.arg("check").arg(&files.history).args(arguments).arg("--report").arg(page);
    let run = check.stdin(Stdio::null()).output();
    // That the history is violated, which is no success, is what the page is about.
    match run {
        Ok(_) if page.exists() => format!("page: {}", page.display()),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            format!("no page: `linchpin check` says: {}", said.trim())
        }
        Err(error) => format!(
            "no page: {} cannot be run ({error}); LINCHPIN_COMMAND says where the command is",
            command.to_string_lossy()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Kind;
    use crate::specification::Source;

    #[test]
    fn a_command_that_is_missing_is_said() {
        let mut failure = Failure::of("test", Kind::NotLinearizable);
        let files = Files { history: PathBuf::from("history.jsonl"), regression: None };
        let page = Path::new("nowhere/page.html");
        let said = |failure: &Failure| {
            write(failure, &files, page, OsStr::new("linchpin-that-is-missing"))
        };
        assert!(said(&failure).contains("Rust code"));
        failure.source = Source::Builtin { name: "queue".to_owned(), init: None };
        assert!(said(&failure).contains("LINCHPIN_COMMAND"), "{}", said(&failure));
    }

    #[test]
    fn a_folder_gets_a_page_for_each_test() {
        let folder = env::temp_dir();
        let history = Path::new("target/my-test.jsonl");
        assert_eq!(place(folder.as_os_str(), history), folder.join("my-test.html"));
        assert_eq!(place(OsStr::new("page.html"), history), Path::new("page.html"));
    }
}
