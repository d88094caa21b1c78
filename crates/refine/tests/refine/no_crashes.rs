//! Without crashes persistence means nothing: a model of persistent memory has the verdict of the
//! same model without its flushes, fences, persists and recovery.

use crate::support::{bounds, compiled};
use linchpin_refine::{VerifyOptions, verify};
use linchpin_verdict::Outcome;
use std::path::PathBuf;

/// The model without its persistence. What is left out stands on lines of its own.
fn stripped(source: &str) -> String {
    let mut text = String::new();
    let mut recovers = false;
    for line in source.lines() {
        recovers |= line.starts_with("recover");
        let code = line.trim_start();
        let persists = ["persist(", "flush(", "fence;"].iter().any(|word| code.starts_with(word));
        if !recovers && !persists {
            text.push_str(&line.replace("persistent s", "s").replace(", crashes: 1", ""));
            text.push('\n');
        }
        recovers &= line != "}";
    }
    text
}

fn verdict(source: &str) -> (&'static str, usize) {
    // Where a call must come first, one says nothing.
    let calls = if source.contains("requires") { 2 } else { 1 };
    let mut options = VerifyOptions::new(bounds(calls, 2));
    options.search.workers = 1;
    options.stuck = false;
    let report = verify(&compiled(source).program, &options, &|_| {}).expect("a report");
    let verdict = match report.outcome {
        Outcome::Holds(()) => "holds",
        Outcome::Violated(_) => "violated",
        Outcome::Inconclusive(why) => panic!("{why}"),
    };
    (verdict, report.stats.states)
}

#[test]
fn without_crashes_persistence_means_nothing() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/persistent");
    let (mut holding, mut violated) = (0, 0);
    for folder in [root.clone(), root.join("broken")] {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_none_or(|extension| extension != "lin") {
                continue;
            }
            let source = std::fs::read_to_string(&path).expect("a model");
            let without = stripped(&source);
            assert!(!without.contains("persist("), "{without}");
            assert!(compiled(&without).program.persistence.is_none(), "{}", path.display());
            let ((verdict, states), (plain, fewer)) = (verdict(&source), verdict(&without));
            println!("{}: {verdict}, {states} and {fewer} states", path.display());
            assert_eq!(verdict, plain, "{}", path.display());
            *if verdict == "holds" { &mut holding } else { &mut violated } += 1;
        }
    }
    assert!(holding >= 15 && violated >= 1, "{holding} hold, {violated} do not");
}
