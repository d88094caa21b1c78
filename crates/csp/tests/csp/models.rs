//! Every file in `models/csp`, and every broken twin, gets the verdict that its header expects,
//! with every reduction.

use linchpin_csp::{Failure, Options, parse, verify};
use linchpin_verdict::Outcome;
use std::path::{Path, PathBuf};

fn files() -> Vec<PathBuf> {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/csp");
    let mut files: Vec<PathBuf> = [models.clone(), models.join("broken")]
        .iter()
        .flat_map(|directory| std::fs::read_dir(directory).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "csp"))
        .collect();
    files.sort();
    files
}

/// What the header says.
fn expected(source: &str) -> &str {
    source.lines().find_map(|line| line.strip_prefix("//! Expected: ")).unwrap_or("nothing")
}

#[test]
fn every_model_has_the_verdict_of_its_header() {
    let files = files();
    assert!(files.len() >= 9, "{files:?}");
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let source = std::fs::read_to_string(&file).unwrap();
        // Smaller than the defaults where those take more than a moment.
        let constants =
            if source.contains("#define N 3;") { vec![("N".to_owned(), 2)] } else { vec![] };
        let model = parse(&source, &constants).unwrap_or_else(|mistakes| {
            panic!("{}", mistakes[0].render(&name, &source, false));
        });
        assert_eq!(
            file.parent().unwrap().ends_with("broken"),
            expected(&source) != "holds",
            "{name}"
        );
        for (reduce, antichain) in [(true, true), (true, false), (false, true), (false, false)] {
            let mut options = Options { reduce, ..Options::default() };
            options.search.antichain = antichain;
            for report in verify(&model, &options, &|_| {}) {
                let found = match &report.outcome {
                    Outcome::Holds(()) => "holds",
                    Outcome::Violated(Failure::Run(_)) => "violated",
                    Outcome::Violated(Failure::Fault { .. }) => "goes wrong",
                    Outcome::Inconclusive(_) => "undecided",
                };
                assert_eq!(found, expected(&source), "{name}\n{report}");
                if found == "holds" {
                    assert!(report.unreached.is_empty(), "{name}\n{report}");
                }
            }
        }
    }
}

#[test]
fn the_register_without_down_scan_is_caught_by_nine_events() {
    let file = files().into_iter().find(|file| file.ends_with("k_register_no_down_scan.csp"));
    let source = std::fs::read_to_string(file.unwrap()).unwrap();
    let model = parse(&source, &[]).unwrap();
    let reports = verify(&model, &Options::default(), &|_| {});
    let Outcome::Violated(Failure::Run(counterexample)) = &reports[0].outcome else {
        panic!("{}", reports[0]);
    };
    let trace = counterexample.trace();
    assert_eq!(trace.first(), Some(&"write_inv.2"));
    assert_eq!(trace.last(), Some(&"read_res.0"));
    assert_eq!(trace.len(), 9, "{trace:?}");
    assert!(counterexample.shortest);
}

#[test]
fn constants_can_be_given() {
    let file = files().into_iter().find(|file| file.ends_with("k_register.csp")).unwrap();
    let source = std::fs::read_to_string(file).unwrap();
    let states = |k: i64| {
        let model = parse(&source, &[("K".to_owned(), k)]).unwrap();
        verify(&model, &Options::default(), &|_| {})[0].stats.states
    };
    assert!(states(2) < states(3));
    let mistakes = parse(&source, &[("L".to_owned(), 2)]).unwrap_err();
    assert_eq!(mistakes[0].message, "a value was given for `L`, but there is no such constant");
}
