//! The bundled histories have the verdicts that their table says.

use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../histories")
}

/// A row of the table: the file, the options and the verdict.
fn rows() -> Vec<(String, Vec<String>, String)> {
    let table = std::fs::read_to_string(folder().join("README.md")).expect("the table");
    let rows = table.lines().filter(|line| line.starts_with("| ["));
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let name = cells[1].trim_start_matches('[').split(']').next().expect("a name");
        let options = cells[3].trim_matches('`').split(' ').map(str::to_owned);
        (name.to_owned(), options.collect(), cells[4].to_owned())
    })
    .collect()
}

#[test]
fn bundled_histories_have_the_verdicts_of_their_table() {
    let rows = rows();
    let files = std::fs::read_dir(folder()).expect("the folder").count();
    assert_eq!(rows.len(), files - 1, "one row a file");
    for (name, options, expected) in rows {
        let output = Command::new(env!("CARGO_BIN_EXE_linchpin"))
            .env("LINCHPIN_CACHE", "")
            .arg("check")
            .arg(folder().join(&name))
            .args(&options)
            .output()
            .expect("linchpin runs");
        let text = String::from_utf8_lossy(&output.stdout);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(text.starts_with(&format!("{expected}:")), "{name}: {text}{said}");
    }
}
