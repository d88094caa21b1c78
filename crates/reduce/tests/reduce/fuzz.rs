//! Random programs, judged by the prover and by brute force: never proved where brute force finds a
//! violation. `LINCHPIN_CASES` and `LINCHPIN_SEED` make it longer or different; `cargo run
//! --release -p linchpin-reduce --example fuzz` is the long version.

use linchpin_reduce::{Options, prove};
use linchpin_subop_oracle::{Comparison, Judged, generate, generate_rich, judge_all};

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// How many of `count` programs are proved, and how many are not.
fn compared(count: u64, program: impl Fn(u64) -> String) -> (u64, u64) {
    let (first, count) = (number("LINCHPIN_SEED", 0), number("LINCHPIN_CASES", count));
    let (mut proved, mut rejected) = (0, 0);
    for seed in first..first + count {
        let source = program(seed);
        let model =
            linchpin_subop::parse(&source).unwrap_or_else(|_| panic!("seed {seed} does not parse"));
        if !prove(&model, &Options::default()).is_proved() {
            rejected += 1;
            continue;
        }
        proved += 1;
        if let Judged::Violated(found) =
            judge_all(&model, 3, &[1], Comparison::Observations, 20_000)
        {
            panic!("seed {seed}: proved, but violated\n{source}\n{}", found.render(&model));
        }
    }
    println!("seeds from {first}: {proved} proved, {rejected} not");
    (proved, rejected)
}

#[test]
fn no_random_program_is_proved_and_violated() {
    let (proved, rejected) = compared(4_000, generate);
    let count = proved + rejected;
    assert!(proved * 5 > count && rejected * 5 > count, "{proved} proved, {rejected} not");
}

/// The same for programs with more of the language in them: branches, disjunctions, objects of two
/// structs, invariants about them.
#[test]
fn no_rich_program_is_proved_and_violated() {
    let (proved, rejected) = compared(1_000, generate_rich);
    let count = proved + rejected;
    assert!(proved * 5 > count && rejected * 5 > count, "{proved} proved, {rejected} not");
}
