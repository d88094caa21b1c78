//! `fuzz SEED COUNT EVERY [rich]`: random programs, judged by the prover and by brute force. Never
//! `Proved` where brute force finds a violation.

use linchpin_reduce::{Options, prove};
use linchpin_subop_oracle::{Comparison, Judged, generate, generate_rich, judge_all};

fn main() {
    let number = |at: usize, default: u64| {
        std::env::args().nth(at).and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let (seed, count, every) = (number(1, 0), number(2, 10_000), number(3, 10).max(1));
    let rich = std::env::args().any(|argument| argument == "rich");
    let mut confirmed = 0u64;
    let start = std::time::Instant::now();
    let (mut proved, mut linearizable, mut strict, mut large, mut wrong) =
        (0u64, 0u64, 0u64, 0u64, 0u64);
    let mut proving = 0.0;
    for seed in seed..seed + count {
        let source = if rich { generate_rich(seed) } else { generate(seed) };
        let Ok(model) = linchpin_subop::parse(&source) else { continue };
        let report = prove(&model, &Options::default());
        proving += report.seconds;
        // Brute force is slow: programs that are not proved only matter for the share of those that
        // are.
        if !report.is_proved() && seed % every != 0 {
            continue;
        }
        let judged = judge_all(&model, 3, &[1], Comparison::Observations, 20_000);
        match judged {
            Judged::Linearizable => {
                linearizable += u64::from(seed % every == 0);
                proved += u64::from(report.is_proved() && seed % every == 0);
                confirmed += u64::from(report.is_proved());
                if std::env::var("STRICT").is_ok() {
                    let same = judge_all(&model, 3, &[1], Comparison::States, 20_000)
                        == Judged::Linearizable;
                    strict += u64::from(same);
                    if same && !report.is_proved() && std::env::var("SHOW").is_ok() {
                        println!("seed {seed}: not proved\n{source}\n{}", report.obstacle_text());
                    }
                }
            }
            Judged::TooLarge => large += 1,
            Judged::Violated(counterexample) if report.is_proved() => {
                wrong += 1;
                println!(
                    "seed {seed}: proved, but violated\n{source}\n{}",
                    counterexample.render(&model)
                );
            }
            Judged::Violated(_) => {}
        }
    }
    println!(
        "{count} programs, {confirmed} proved and confirmed, {wrong} wrong, {large} too large for brute force"
    );
    println!(
        "one in {every}: {linearizable} linearizable ({strict} with equal states), {proved} of them proved"
    );
    println!("{:.1} s, {proving:.1} s of it proving", start.elapsed().as_secs_f64());
    std::process::exit(i32::from(wrong > 0));
}
