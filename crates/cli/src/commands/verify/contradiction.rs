//! Two engines that contradict each other: a mistake of this program. What is needed to see it
//! again is saved, and a report is asked for.

use crate::args::VerifyArgs;
use crate::output;
use linchpin_report::Findings;
use linchpin_verify::Contradiction;
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Saves a reproducer in the first of these folders in which that can be done, and says what
/// happened and where it is.
pub fn report(
    args: &VerifyArgs,
    contradiction: Contradiction,
    text: &str,
    findings: &Findings<'_>,
    folders: &[PathBuf],
) -> String {
    let saved = reproducer(args, contradiction, text, findings).to_string();
    let hash = Sha256::digest(&saved);
    let name: String = hash.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    let name = format!("linchpin-contradiction-{name}.json");
    let write = |folder: &PathBuf| {
        let file = folder.join(&name);
        output::write_file(&file, saved.as_bytes()).ok().map(|()| file)
    };
    match folders.iter().find_map(write) {
        Some(file) => format!("{contradiction}, with the file `{}`", file.display()),
        None => format!("{contradiction}; the file that shows it could not be written"),
    }
}

/// Where reproducers go: here, or where temporary files are.
pub fn folders() -> Vec<PathBuf> {
    vec![Path::new(".").to_owned(), std::env::temp_dir()]
}

/// The model, the flags and all answers.
fn reproducer(
    args: &VerifyArgs,
    contradiction: Contradiction,
    text: &str,
    findings: &Findings<'_>,
) -> Json {
    json!({
        "program": format!("linchpin {}", env!("CARGO_PKG_VERSION")),
        "shows": contradiction.shows,
        "refutes": contradiction.refutes,
        "subject": findings.subject,
        "model": text,
        "command_line": std::env::args().collect::<Vec<_>>(),
        "flags": format!("{args:?}"),
        "answers": findings.json(),
    })
}
