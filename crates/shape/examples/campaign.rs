//! The campaign: thousands of mutants and random programs, shape against refinement.
//!
//! `cargo run --release -p linchpin-shape --example campaign -- --seed 1 --cases 10000`
//!
//! Half of the cases are mutants of the bundled stacks, queues and sets, half are random list
//! programs. A contradiction, accepted by shape and refuted by refinement, is printed with its
//! model, and the exit code is 1. `--show N` prints the first N models that shape refuses though
//! refinement finds nothing wrong, `--mutants` and `--random` make all cases of one sort. `--time`
//! is how many milliseconds shape has for a model, and refinement for each of its bounds.

#[path = "../tests/shape/compare.rs"]
mod compare;
#[path = "../tests/shape/generator.rs"]
mod generator;
#[path = "../tests/shape/judge.rs"]
mod judge;
#[path = "../tests/shape/models.rs"]
mod models;
#[path = "../tests/shape/mutate.rs"]
mod mutate;
#[path = "../tests/shape/random_queues.rs"]
mod random_queues;
#[path = "../tests/shape/random_sets.rs"]
mod random_sets;

use compare::{Compared, Effort, Tally, compare};
use fastrand::Rng;
use std::collections::{BTreeMap, HashSet};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// What was asked for.
struct Asked {
    seed: u64,
    cases: usize,
    show: usize,
    time: Duration,
    mutants: bool,
    random: bool,
}

fn main() -> ExitCode {
    let Some(asked) = asked() else {
        eprintln!(
            "usage: campaign [--seed S] [--cases N] [--time MS] [--show N] [--mutants | --random]"
        );
        return ExitCode::from(2);
    };
    let tallies = run(&asked);
    let mut contradictions = 0;
    for (name, tally) in &tallies {
        println!("{name}: {tally}");
        contradictions += tally.contradictions;
    }
    if contradictions == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn asked() -> Option<Asked> {
    let mut asked = Asked {
        seed: 1,
        cases: 10_000,
        show: 0,
        time: Duration::from_millis(400),
        mutants: true,
        random: true,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--seed" => asked.seed = words.next()?.parse().ok()?,
            "--cases" => asked.cases = words.next()?.parse().ok()?,
            "--time" => asked.time = Duration::from_millis(words.next()?.parse().ok()?),
            "--show" => asked.show = words.next()?.parse().ok()?,
            "--mutants" => asked.random = false,
            "--random" => asked.mutants = false,
            _ => return None,
        }
    }
    (asked.mutants || asked.random).then_some(asked)
}

/// Compares until there are enough different models; how they ended, for each kind of case.
fn run(asked: &Asked) -> BTreeMap<String, Tally> {
    let effort = Effort { accepted: asked.time, refused: asked.time / 4 };
    let mut random = Rng::with_seed(asked.seed);
    let models = models::bundled();
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let mut seen = HashSet::new();
    let (mut cases, mut shown, start) = (0, 0, Instant::now());
    while cases < asked.cases {
        let Some((name, source)) = case(asked, &models, &mut random) else { continue };
        if !seen.insert(source.clone()) {
            continue;
        }
        let compared = compare(&source, effort);
        if compared == Compared::NoModel {
            continue;
        }
        cases += 1;
        tallies.entry(name.clone()).or_default().count(compared);
        tallies.entry("total".to_owned()).or_default().count(compared);
        if let Compared::Contradiction(within, found) = compared {
            println!(
                "CONTRADICTION: {name}, seed {}, within {within:?}: {found:?}\n{source}",
                asked.seed
            );
        }
        if compared == Compared::Refused && shown < asked.show {
            shown += 1;
            println!("refused, nothing wrong found: {name}\n{source}");
        }
        if cases % 500 == 0 {
            eprintln!(
                "{cases} cases, {:.0} s: {}",
                start.elapsed().as_secs_f64(),
                tallies["total"]
            );
        }
    }
    tallies
}

/// A random case: where it comes from, and its text.
fn case(asked: &Asked, models: &[(String, String)], random: &mut Rng) -> Option<(String, String)> {
    if asked.random && (!asked.mutants || random.bool()) {
        let source = generator::program(random);
        let spec = source.lines().next()?.to_owned();
        return Some((format!("random, {spec}"), source));
    }
    let (name, source) = models.get(random.usize(..models.len().max(1)))?;
    Some((format!("mutants of {name}"), mutate::mutant(source, random)?.source))
}
