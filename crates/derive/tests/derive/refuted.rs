//! Models that are not linearizable, each made so that one careless rule of derivation would prove
//! it.

use crate::fuzz::is_refuted;
use crate::models::{is_proved, models};

/// These go wrong with more threads, calls or integers than a test has time for, or an index that
/// is out of range may be found first.
const HARD: &[&str] = &[
    "guess_of_a_round",
    "guess_of_a_round_replaced",
    "look_between_link_and_own_step",
    "look_left_out_far_away",
    "loop_head_inside_a_step_2",
    "optional_record_unwrapped",
    "optional_truth_unwrapped",
    "out_of_range_in_sequence",
    "pinned_behind_a_reference",
    "pinned_by_itself",
    "pinned_by_what_it_reads",
    "tested_beside_helping",
    "tested_for_none_in_sequence",
    "unwrapped_in_sequence",
    "wrong_at_a_constant",
    "wrong_at_a_constant_of_the_spec",
    "wrong_at_a_distance",
    "wrong_at_the_seventh_call",
];

#[test]
fn none_is_proved() {
    let all = models("tests/refuted");
    assert!(all.len() >= 58);
    for (name, source) in all {
        assert!(!is_proved(&source), "{name}");
        if !HARD.contains(&name.as_str()) {
            assert!(is_refuted(&source, 3, 2), "{name}: not refuted");
        }
    }
}
