//! No proof beside a counterexample: random models are derived and proved, and those that are
//! proved are executed in every order within bounds.

use crate::generator;
use fastrand::Rng;
use linchpin_ir::interpreter::Memory;
use linchpin_lang::{Config, Threads, compile};
use linchpin_refine::{Failure, VerifyOptions, verify};
use linchpin_space::{Bounds, Calls};
use linchpin_verdict::{Outcome, Values};

pub fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Whether refinement finds a history that is not linearizable; a fault is not one.
pub fn is_refuted(source: &str, threads: usize, calls: u32) -> bool {
    matches!(wrong(source, threads, calls), Some(Failure::Unexplained { .. }))
}

/// What refinement finds to be wrong.
pub fn wrong(source: &str, threads: usize, calls: u32) -> Option<Failure> {
    let config = Config { threads: Threads::Count(threads), ..Config::default() };
    let compiled = compile(source, &config).ok()?;
    let bounds = Bounds {
        calls: Calls::Each(calls),
        values: Values::UpTo(2),
        objects: None,
        memory: Memory::Collected,
        crashes: 0,
        thread_crashes: 0,
    };
    let mut options = VerifyOptions::new(bounds);
    options.search.limits.memory = Some(100 << 20);
    options.shortest_budget = 0;
    options.stuck = false;
    match verify(&compiled.program, &options, &|_| {}).ok()?.outcome {
        Outcome::Violated(found) => Some(found.failure),
        Outcome::Holds(()) | Outcome::Inconclusive(_) => None,
    }
}

#[test]
fn no_proof_beside_a_counterexample() {
    let seed = number("LINCHPIN_SEED", 7);
    let cases = number("LINCHPIN_CASES", 400);
    println!("seed {seed}, {cases} cases");
    let (mut models, mut derived, mut proved, mut refuted) = (0, 0, 0, 0);
    let mut tries = linchpin_derive::Tries::of(2, Some(2), 2);
    tries.bounds.steps = 60_000;
    for case in 0..cases {
        let mut random = Rng::with_seed(seed.wrapping_mul(1_000_003).wrapping_add(case));
        let source = generator::model(&mut random);
        let Ok(compiled) = compile(&source, &Config::default()) else { continue };
        models += 1;
        let Ok(derivation) = linchpin_derive::derive(&compiled.program) else { continue };
        derived += 1;
        let Ok(attempt) = linchpin_derive::prove(&derivation, &compiled.program, &tries) else {
            continue;
        };
        let bad = is_refuted(&source, 2, 2);
        refuted += u32::from(bad);
        if attempt.verdict().is_proof() {
            proved += 1;
            assert!(
                !bad && !is_refuted(&source, 3, 1) && !is_refuted(&source, 2, 3),
                "seed {seed}, case {case}: proved, but refuted\n{source}\n{}",
                attempt.form.text()
            );
        }
    }
    println!("{models} models, {derived} derived, {proved} proved, {refuted} refuted");
    assert!(
        proved * 20 > cases as u32 && refuted * 20 > cases as u32,
        "both verdicts should occur"
    );
}
