//! Models that are not linearizable, each made so that one careless rule of derivation would prove it.

use crate::fuzz::is_refuted;
use crate::models::{is_proved, models};

#[test]
fn none_is_proved() {
    let all = models("tests/refuted");
    assert!(all.len() >= 13);
    for (name, source) in all {
        assert!(!is_proved(&source), "{name}");
        // This one takes four threads to go wrong, which is too much for a test.
        if name != "look_between_link_and_own_step" {
            assert!(is_refuted(&source, 3, 2), "{name}: not refuted");
        }
    }
}
