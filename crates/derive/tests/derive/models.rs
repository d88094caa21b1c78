//! The models of the repository.

use linchpin_derive::{derive, prove};
use linchpin_lang::{Config, compile};
use linchpin_subop::parse;
use linchpin_verdict::Verdict;

/// Proved from their code alone, sequential executions included.
const PROVED: &[&str] = &["pair_snapshot"];

/// Proved from their code alone, as far as sequential executions are right, which is tried.
const PROVED_IF_SEQUENTIAL: &[&str] =
    &["dglm_queue", "ms_queue", "treiber_stack", "treiber_stack_reclaim", "two_lock_queue"];

pub fn models(folder: &str) -> Vec<(String, String)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut found: Vec<(String, String)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "lin"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    found.sort();
    found
}

pub fn verdict(source: &str) -> Verdict {
    let compiled = compile(source, &Config::default()).unwrap();
    let tries = linchpin_derive::Tries::of(2, Some(2), 2);
    let Ok(derivation) = derive(&compiled.program) else { return Verdict::Inconclusive };
    prove(&derivation, &compiled.program, &tries).unwrap().verdict()
}

/// Whether it is proved, if only as far as sequential executions are right.
pub fn is_proved(source: &str) -> bool {
    verdict(source).is_proof()
}

#[test]
fn right_models() {
    let (mut proved, mut if_sequential) = (Vec::new(), Vec::new());
    for (name, source) in models("../../models") {
        match verdict(&source) {
            Verdict::Proved => proved.push(name),
            Verdict::ProvedIfSequential => if_sequential.push(name),
            Verdict::Violated => panic!("{name}"),
            _ => {}
        }
    }
    assert_eq!(proved, PROVED);
    assert_eq!(if_sequential, PROVED_IF_SEQUENTIAL);
}

#[test]
fn broken_models_are_never_proved() {
    for (name, source) in models("../../models/broken") {
        assert!(!is_proved(&source), "{name}");
    }
}

#[test]
fn what_is_printed_parses_to_the_same_model() {
    for (name, source) in models("../../models") {
        let compiled = compile(&source, &Config::default()).unwrap();
        let Ok(derivation) = derive(&compiled.program) else { continue };
        for form in derivation.forms() {
            let again = parse(&form.text())
                .unwrap_or_else(|mistakes| panic!("{name}: {mistakes:?}\n{}", form.text()));
            assert_eq!(linchpin_subop::print(&again), linchpin_subop::print(&form.model), "{name}");
        }
    }
}
