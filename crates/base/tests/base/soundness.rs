//! No proof beside a counterexample.

use crate::sound::{Base, Source, many};
use crate::support::Refined;
use std::time::Duration;

#[test]
fn random_models() {
    let cases = std::env::var("CASES").ok().and_then(|x| x.parse().ok()).unwrap_or(1500);
    let tally = many(0..cases, Source::Random, Duration::from_secs(5));
    println!("{tally:?}");
    let hold = tally.get(&(Base::Holds, Refined::Holds)).copied().unwrap_or(0);
    assert!(hold as u64 * 100 >= cases * 15, "{tally:?}");
}

#[test]
fn mutants() {
    let cases = std::env::var("CASES").ok().and_then(|x| x.parse().ok()).unwrap_or(300);
    let tally = many(0..cases, Source::Mutants, Duration::from_millis(500));
    println!("{tally:?}");
}
