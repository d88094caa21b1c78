//! Tests of what needs no client; `crates/cli/tests/cli/lsp.rs` has a real one.

mod edits;
mod grammar;
mod models;
mod names;
mod positions;
mod serving;

use crate::document::Document;
use linchpin_engine::Language;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn lin(text: &str) -> Document {
    Document::new(text.to_owned(), Language::Lin, 0)
}

/// The bundled `.lin` models, each with its name.
fn bundled() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for folder in ["models", "models/broken", "models/guide"] {
        let entries = std::fs::read_dir(root().join(folder)).expect("the models");
        for path in entries.map(|entry| entry.expect("a file").path()) {
            if path.extension().is_some_and(|extension| extension == "lin") {
                let text = std::fs::read_to_string(&path).expect("a model");
                found.push((path.display().to_string(), text));
            }
        }
    }
    assert!(found.len() > 20, "only {} models", found.len());
    found.sort();
    found
}

/// The seed of a random test, and how many cases it has.
fn campaign(cases: u64) -> (u64, u64) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let (seed, cases) =
        (number("LINCHPIN_SEED").unwrap_or(1), number("LINCHPIN_CASES").unwrap_or(cases));
    println!("LINCHPIN_SEED={seed} LINCHPIN_CASES={cases}");
    (seed, cases)
}
