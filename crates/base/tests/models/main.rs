//! What base point analysis says of every bundled model, with 2 calls a thread and 2 values: that
//! the conditions hold, the condition that fails and why it may, or why the method does not apply.

use expect_test::expect;
use linchpin_base::{BaseError, Options, analyse, roadmap};
use linchpin_ir::interpreter::Memory;
use linchpin_lang::{Config, compile};
use linchpin_space::Bounds;
use linchpin_verdict::Calls;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Models whose state space is too large for a test.
const LARGE: [&str; 4] = ["mwcas", "mwcas_late_install", "mwcas_two_cas", "snzi_tree"];

fn models(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(root)
        .expect("the models")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "lin"))
        .filter(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            !LARGE.contains(&name.as_ref())
        })
        .collect();
    files.sort();
    files
}

/// One line: the model, and what is said of it.
fn said(path: &Path, calls: u32) -> String {
    let source = std::fs::read_to_string(path).expect("a model");
    let compiled = compile(&source, &Config::default()).expect("a model");
    let bounds =
        Bounds { calls: Calls::Each(calls), values: 2, objects: None, memory: Memory::Collected };
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let analysis = match analyse(&compiled.program, &Options::new(bounds), &|_| {}) {
        Ok(analysis) => analysis,
        Err(BaseError::NotApplicable(why)) => return format!("{name}: does not apply: {why}\n"),
        Err(other) => panic!("{name}: {other}"),
    };
    if analysis.holds() {
        return format!("{name}: holds\n");
    }
    let rules: BTreeSet<&str> =
        analysis.findings.iter().map(|finding| finding.rule.source()).collect();
    let rules: Vec<&str> = rules.into_iter().collect();
    let reach = roadmap(&analysis, &source).reach.map(|reach| reach.to_string());
    format!("{name}: fails: {}; {}\n", rules.join(", "), reach.unwrap_or_default())
}

#[test]
fn right_models() {
    let said: String = models(".").iter().map(|path| said(path, 2)).collect();
    expect![[]].assert_eq(&said);
}

#[test]
fn broken_models() {
    let said: String = models("broken").iter().map(|path| said(path, 2)).collect();
    expect![[]].assert_eq(&said);
}
