//! The models of the repository.

use linchpin_derive::{derive, prove};
use linchpin_lang::{Config, compile};
use linchpin_subop::parse;

/// Proved from their code alone.
const PROVED: &[&str] = &[
    "dglm_queue",
    "ms_queue",
    "pair_snapshot",
    "treiber_stack",
    "treiber_stack_reclaim",
    "two_lock_queue",
];

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

pub fn is_proved(source: &str) -> bool {
    let compiled = compile(source, &Config::default()).unwrap();
    let tries = linchpin_derive::Tries::of(2, Some(2), 2);
    let Ok(derivation) = derive(&compiled.program) else { return false };
    prove(&derivation, &compiled.program, &tries).unwrap().is_proved()
}

#[test]
fn right_models() {
    let proved: Vec<String> = models("../../models")
        .into_iter()
        .filter(|(_, source)| is_proved(source))
        .map(|(name, _)| name)
        .collect();
    assert_eq!(proved, PROVED);
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
