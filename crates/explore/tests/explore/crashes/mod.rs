//! Crashes: what the engine says may be left, beside a naive enumeration of every interleaving,
//! every crash and every image, which shares no code with it.

mod engine;
mod naive;
mod program;

use naive::{Naive, Rules};
use program::{Outcome, Program};
use std::collections::BTreeSet;

/// Of what the naive one finds, all is shown by something that the engine finds: more calls may have
/// returned there.
fn is_covered(outcome: &Outcome, engine: &BTreeSet<Outcome>) -> bool {
    engine.contains(outcome)
        || engine.iter().any(|other| {
            let threads = outcome.threads.iter().zip(&other.threads);
            let mut threads = threads.map(|(less, more)| {
                less.called == more.called && more.answers.starts_with(&less.answers)
            });
            outcome.seen == other.seen && threads.all(|covered| covered)
        })
}

fn parameter(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn a_crash_leaves_what_the_naive_enumeration_says() {
    let (seed, cases) = (parameter("LINCHPIN_SEED", 1), parameter("LINCHPIN_CASES", 600));
    println!("seed {seed}, {cases} cases");
    let broken = [
        Rules { fences: false, ..Rules::RIGHT },
        Rules { updates_fence: false, ..Rules::RIGHT },
        Rules { flush_is_late: true, ..Rules::RIGHT },
        Rules { any_subset: true, ..Rules::RIGHT },
    ];
    let mut different = [0_u64; 4];
    let (mut lossy, mut several) = (0, 0);
    for case in 0..cases {
        let program = Program::random(&mut fastrand::Rng::with_seed(seed.wrapping_add(case)));
        let engine = engine::outcomes(&program);
        let naive = Naive::new(&program, Rules::RIGHT).outcomes();
        for outcome in &engine {
            assert!(naive.contains(outcome), "case {case}: {program:?}\nnot there: {outcome:?}");
        }
        for outcome in &naive {
            let covered = is_covered(outcome, &engine);
            assert!(covered, "case {case}: {program:?}\nmissed: {outcome:?}");
        }
        several += u64::from(engine.len() > 4);
        lossy += u64::from(!program.flushes_all());
        // The naive enumeration is what takes time.
        let tried = if case % 4 == 0 { &broken[..] } else { &[] };
        for (rules, count) in tried.iter().zip(&mut different) {
            *count += u64::from(Naive::new(&program, *rules).outcomes() != naive);
        }
    }
    println!("{several} with several outcomes, {lossy} lossy, told apart by {different:?}");
    assert!(several > cases / 3, "{several}");
    assert!(different.iter().all(|count| *count > cases / 1000), "{different:?}");
}
