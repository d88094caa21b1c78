//! The campaign: thousands of random models and mutants, base points against refinement.
//!
//! `cargo run --release -p linchpin-base --example base_campaign -- --seed 1 --cases 10000`
//!
//! The case of number N is that of seed S + N, so that one seed reproduces one case. A
//! contradiction, where all conditions hold and refinement finds a violation at the same bounds,
//! is printed with its model, and the exit code is 1. `--mutants` takes mutants of the bundled
//! models instead of random ones, `--limit` is how many milliseconds each engine has for a model,
//! and `--time` for how many seconds the campaign goes on. `--show` prints the models.

#[path = "../tests/base/generator.rs"]
mod generator;
#[path = "../tests/base/mutants.rs"]
mod mutants;
#[path = "../tests/base/sound.rs"]
mod sound;
#[path = "../tests/base/support.rs"]
mod support;

use sound::{Base, Source, Tally, ask, case};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use support::Refined;

/// What was asked for.
struct Asked {
    seed: u64,
    cases: u64,
    time: Duration,
    limit: Duration,
    from: Source,
    show: bool,
}

fn main() -> ExitCode {
    let Some(asked) = asked() else {
        eprintln!(
            "usage: campaign [--seed S] [--cases N] [--time SECONDS] [--limit MS] [--mutants] [--show]"
        );
        return ExitCode::from(2);
    };
    let models = mutants::bundled();
    let mut tally = Tally::new();
    let start = Instant::now();
    for number in 0..asked.cases {
        if start.elapsed() > asked.time {
            break;
        }
        let seed = asked.seed.wrapping_add(number);
        let case = case(seed, asked.from, &models);
        if asked.show {
            println!("seed {seed}, {}, {:?}\n{}", case.name, case.within, case.source);
        }
        let Some(said) = ask(&case, asked.limit) else { continue };
        *tally.entry(said).or_default() += 1;
        if said == (Base::Holds, Refined::Violated) {
            let (name, within, source) = (&case.name, case.within, &case.source);
            println!("CONTRADICTION: seed {seed}, {name}, {within:?}\n{source}");
            show(&tally, start);
            return ExitCode::FAILURE;
        }
        if (number + 1) % 1000 == 0 {
            eprintln!("{} cases, {:.0} s", number + 1, start.elapsed().as_secs_f64());
        }
    }
    show(&tally, start);
    ExitCode::SUCCESS
}

fn show(tally: &Tally, start: Instant) {
    for ((base, refined), count) in tally {
        println!("base {base:?}, refinement {refined:?}: {count}");
    }
    let cases: usize = tally.values().sum();
    println!("{cases} models in {:.1} s", start.elapsed().as_secs_f64());
}

fn asked() -> Option<Asked> {
    let mut asked = Asked {
        seed: 1,
        cases: 10_000,
        time: Duration::from_secs(3_600),
        limit: Duration::from_secs(5),
        from: Source::Random,
        show: false,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--seed" => asked.seed = words.next()?.parse().ok()?,
            "--cases" => asked.cases = words.next()?.parse().ok()?,
            "--time" => asked.time = Duration::from_secs(words.next()?.parse().ok()?),
            "--limit" => asked.limit = Duration::from_millis(words.next()?.parse().ok()?),
            "--mutants" => asked.from = Source::Mutants,
            "--show" => asked.show = true,
            _ => return None,
        }
    }
    Some(asked)
}
