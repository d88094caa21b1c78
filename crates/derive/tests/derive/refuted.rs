//! Models that are not linearizable, each made so that one careless rule of derivation would prove it.

use crate::fuzz::is_refuted;
use crate::models::{is_proved, models};

/// One takes four threads to go wrong, which is too much for a test; in the others an index that is out of range may be found first.
const HARD: &[&str] = &[
    "look_between_link_and_own_step",
    "pinned_behind_a_reference",
    "pinned_by_itself",
    "pinned_by_what_it_reads",
];

#[test]
fn none_is_proved() {
    let all = models("tests/refuted");
    assert!(all.len() >= 29);
    for (name, source) in all {
        assert!(!is_proved(&source), "{name}");
        if !HARD.contains(&name.as_str()) {
            assert!(is_refuted(&source, 3, 2), "{name}: not refuted");
        }
    }
}
