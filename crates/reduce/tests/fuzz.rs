//! Random programs, judged by the prover and by brute force: never proved where brute force finds a violation.
//! `LINCHPIN_CASES` and `LINCHPIN_SEED` make it longer or different; `cargo run --release -p linchpin-reduce --example fuzz` is the long version.

use linchpin_reduce::{Options, prove};
use linchpin_subop_oracle::{Comparison, Verdict, generate, judge_all};

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn no_random_program_is_proved_and_violated() {
    let (first, count) = (number("LINCHPIN_SEED", 0), number("LINCHPIN_CASES", 4_000));
    let (mut proved, mut rejected) = (0, 0);
    for seed in first..first + count {
        let source = generate(seed);
        let model =
            linchpin_subop::parse(&source).unwrap_or_else(|_| panic!("seed {seed} does not parse"));
        if !prove(&model, &Options::default()).is_proved() {
            rejected += 1;
            continue;
        }
        proved += 1;
        if let Verdict::Violated(found) =
            judge_all(&model, 3, &[1], Comparison::Observations, 20_000)
        {
            panic!("seed {seed}: proved, but violated\n{source}\n{}", found.render(&model));
        }
    }
    assert!(proved * 5 > count && rejected * 5 > count, "{proved} proved, {rejected} not");
}
