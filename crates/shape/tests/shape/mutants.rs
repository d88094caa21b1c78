//! Mutants of the bundled stacks, queues and sets.

use crate::compare::{Compared, Effort, Tally, compare};
use crate::models::bundled;
use crate::mutate::mutant;
use fastrand::Rng;
use std::time::Duration;

/// A few mutants of every model; `examples/campaign.rs` makes ten thousand.
#[test]
fn no_mutant_is_accepted_that_refinement_refutes() {
    let seed = 13;
    let mut random = Rng::with_seed(seed);
    let effort =
        Effort { accepted: Duration::from_millis(200), refused: Duration::from_millis(200) };
    let mut tally = Tally::default();
    for (name, source) in bundled() {
        let mut of_model = 0;
        while of_model < 4 {
            let Some(mutant) = mutant(&source, &mut random) else { continue };
            let compared = compare(&mutant.source, effort);
            if let Compared::Contradiction(within, found) = compared {
                panic!(
                    "seed {seed}, {name}, {:?}: shape accepts, refinement within {within:?} says \
                     {found:?}:\n{}",
                    mutant.kinds, mutant.source
                );
            }
            of_model += usize::from(compared != Compared::NoModel);
            tally.count(compared);
        }
    }
    println!("seed {seed}: {tally}");
    assert!(tally.refuted >= 15 && tally.accepted >= 3, "{tally}");
}
