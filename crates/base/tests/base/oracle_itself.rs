//! The oracle on itself: with calls and responses apart it finds what it finds with them merged.

use crate::generator;
use crate::model::compiled;
use crate::oracle::{Asked, judge};
use fastrand::Rng;
use std::collections::BTreeSet;

fn asked(merged: bool) -> Asked {
    let (calls, values, most) = (1, 1, 4_000);
    Asked { calls, values, most, read_only: BTreeSet::new(), merged, dead_locals: true }
}

#[test]
fn calls_and_responses_apart() {
    let (mut hold, mut broken) = (0, 0);
    for seed in 0..60 {
        let (name, source) = generator::model(&mut Rng::with_seed(seed));
        let program = compiled(&source, 2).program;
        let (Some(merged), Some(apart)) =
            (judge(&program, &asked(true)), judge(&program, &asked(false)))
        else {
            continue;
        };
        assert_eq!(merged.rules(), apart.rules(), "seed {seed}, {name}\n{source}");
        assert!(merged.executions <= apart.executions);
        *(if merged.broken.is_empty() { &mut hold } else { &mut broken }) += 1;
    }
    assert!(hold > 10 && broken > 10, "{hold} hold, {broken} are broken");
}
