//! Random small list programs.

use crate::compare::{Compared, Effort, Tally, compare};
use crate::generator::{program, with_flaws};
use crate::judge::{Refined, Within, refine};
use fastrand::Rng;
use std::time::Duration;

/// A few programs; `examples/campaign.rs` makes thousands.
#[test]
fn no_program_is_accepted_that_refinement_refutes() {
    let seed = 17;
    let mut random = Rng::with_seed(seed);
    let effort =
        Effort { accepted: Duration::from_millis(150), refused: Duration::from_millis(100) };
    let mut tally = Tally::default();
    for _ in 0..60 {
        let source = program(&mut random);
        let compared = compare(&source, effort);
        assert_ne!(compared, Compared::NoModel, "{source}");
        if let Compared::Contradiction(within, found) = compared {
            panic!(
                "seed {seed}: shape accepts, refinement within {within:?} says {found:?}:\n{source}"
            );
        }
        tally.count(compared);
    }
    println!("seed {seed}: {tally}");
    assert!(tally.refuted >= 8 && tally.accepted >= 15, "{tally}");
}

/// Without flaws a program is right: only then is a share of accepted ones to be expected.
#[test]
fn what_has_no_flaw_is_right() {
    let seed = 19;
    let mut random = Rng::with_seed(seed);
    let within = Within { threads: 2, calls: 2, values: 2 };
    let mut at_points = 0;
    for _ in 0..60 {
        let source = with_flaws(&mut random, 0);
        let found = refine(&source, within, Duration::from_secs(60), true);
        let right = matches!(found, Refined::AtPoints | Refined::NotAtPoints | Refined::Holds);
        assert!(right, "seed {seed}: {found:?}\n{source}");
        at_points += usize::from(found == Refined::AtPoints);
    }
    println!("seed {seed}: 60 right programs, {at_points} at the claimed points");
    assert!(at_points >= 30, "{at_points}");
}
