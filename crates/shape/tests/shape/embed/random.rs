//! Random small list programs that the analysis proves.

use super::{bounds, check_against};
use crate::concrete::{Unsupported, Values, explore};
use crate::generator::{program, with_flaws};
use fastrand::Rng;
use linchpin_shape::{Found, Options, Threads, analyse};
use linchpin_verdict::Limits;
use std::time::{Duration, Instant};

/// How many programs there were, and how many of these could be looked at.
#[derive(Debug, Default)]
struct Tally {
    programs: usize,
    proved: usize,
    embeddings: usize,
}

/// The states of the program with this seed embed, if it is proved.
fn embedded(seed: u64, cap: usize, each: Duration, tally: &mut Tally) {
    let mut random = Rng::with_seed(seed);
    let source = match seed % 2 {
        0 => program(&mut random),
        _ => with_flaws(&mut random, 0),
    };
    tally.programs += 1;
    let compiled = linchpin_lang::compile(&source, &linchpin_lang::Config::default());
    let compiled = compiled.unwrap_or_else(|why| panic!("seed {seed}: {why:?}\n{source}")).program;
    let values = if source.contains("spec set") { Values::UpTo(2) } else { Values::Distinct };
    let config = bounds(2, 5, values, cap);
    let one = explore(&compiled, &crate::concrete::Config { cap: 1, ..config });
    if matches!(one, Err(Unsupported::NoPoints | Unsupported::Operation)) {
        return;
    }
    for threads in [Threads::Any, Threads::Those] {
        let limits = Limits { deadline: Some(Instant::now() + each), ..Limits::default() };
        let options = Options { threads, limits, ..Options::default() };
        let Ok(analysis) = analyse(&compiled, &options, &|_| {}) else { return };
        if matches!(analysis.found, Found::Proved) {
            let name = format!("seed {seed}, {threads:?}\n{source}");
            let checked = check_against(&name, &compiled, &config, threads, &analysis);
            tally.proved += 1;
            tally.embeddings += checked.embeddings;
        }
    }
}

/// With `LINCHPIN_SEED` and `LINCHPIN_CASES` a campaign: so many programs, ten times the states.
#[test]
fn random_programs() {
    let cases = crate::asked("LINCHPIN_CASES");
    let (cap, each) = match cases {
        None => (400, Duration::from_millis(500)),
        Some(_) => (4_000, Duration::from_secs(5)),
    };
    let first = crate::asked("LINCHPIN_SEED").unwrap_or(0);
    let mut tally = Tally::default();
    for seed in first..first + cases.unwrap_or(40) {
        embedded(u64::try_from(seed).expect("a seed"), cap, each, &mut tally);
    }
    println!("from seed {first}: {tally:?}");
    assert!(cases.is_some() || tally.proved > 15 && tally.embeddings > 4_000, "{tally:?}");
}
