//! No proof beside a counterexample: random models, mutants, and the bundled models.

use crate::model::number;
use crate::mutants::bundled;
use crate::sound::{Base, Case, Source, Tally, ask, case};
use crate::support::{Refined, Within};
use std::time::Duration;

/// Asks about many cases; the first contradiction is a panic with its text.
fn many(seeds: std::ops::Range<u64>, from: Source, time: Duration) -> Tally {
    let models = bundled();
    let mut tally = Tally::new();
    for seed in seeds {
        let case = case(seed, from, &models);
        let Some(said) = ask(&case, time) else { continue };
        assert_ne!(
            said,
            (Base::Holds, Refined::Violated),
            "seed {seed}, {}, {:?}\n{}",
            case.name,
            case.within,
            case.source
        );
        *tally.entry(said).or_default() += 1;
    }
    tally
}

#[test]
fn random_models() {
    // For a long run, the example `campaign`.
    let (seed, cases) = (number("LINCHPIN_SEED", 1), number("LINCHPIN_CASES", 1_500));
    let seeds = (seed << 32)..(seed << 32) + cases;
    let tally = many(seeds, Source::Random, Duration::from_secs(5));
    println!("{tally:?}");
    let count = |base, refined| tally.get(&(base, refined)).copied().unwrap_or(0) as u64;
    assert!(count(Base::Holds, Refined::Holds) * 100 >= cases * 15, "{tally:?}");
    assert!(count(Base::Fails, Refined::Holds) * 100 >= cases * 5, "{tally:?}");
    assert!(count(Base::Fails, Refined::Violated) * 100 >= cases * 15, "{tally:?}");
}

#[test]
fn mutants() {
    let (seed, cases) = (number("LINCHPIN_SEED", 1), number("LINCHPIN_MUTANTS", 100));
    let seeds = (seed << 32)..(seed << 32) + cases;
    let tally = many(seeds, Source::Mutants, Duration::from_millis(100));
    println!("{tally:?}");
}

#[test]
fn bundled_models() {
    let bounds = [(2, 1, 1), (2, 2, 1), (3, 1, 1)];
    for (name, source) in bundled() {
        for (threads, calls, values) in bounds {
            let within = Within { threads, calls, values };
            let case = Case { name: name.clone(), source: source.clone(), within };
            let said = ask(&case, Duration::from_millis(100));
            println!("{name}, {within:?}: {said:?}");
            assert_ne!(said, Some((Base::Holds, Refined::Violated)), "{name}, {within:?}");
        }
    }
}
