//! The bundled models.

use super::{Checked, bounds, check};
use crate::concrete::Values;
use crate::concrete::models::model;
use linchpin_shape::Threads::{self, Any, Those};

const LISTS: [&str; 4] = ["treiber_stack", "two_lock_queue", "ms_queue", "dglm_queue"];

/// Lists with distinct values, sets with two keys. `LINCHPIN_CASES=100000` looks at more states,
/// of lists with two threads at all of them.
fn embedded(name: &str, threads: usize, objects: usize, cap: usize, of: Threads) -> Checked {
    let values = if LISTS.contains(&name) { Values::Distinct } else { Values::UpTo(2) };
    let cap = crate::asked("LINCHPIN_CASES").unwrap_or(cap);
    let checked = check(name, &model(name), &bounds(threads, objects, values, cap), of);
    println!("{name}, {threads} threads, {of:?}: {checked:?}");
    checked
}

#[test]
fn stacks_and_queues_with_two_threads() {
    for name in LISTS {
        // One node is the dummy of a queue.
        let objects = if name == "treiber_stack" { 4 } else { 5 };
        for of in [Any, Those] {
            let checked = embedded(name, 2, objects, 3_000, of);
            assert!(checked.kept > 30 && checked.states > 600, "{name}: {checked:?}");
        }
    }
}

#[test]
fn stacks_and_queues_with_three_threads() {
    for name in LISTS {
        embedded(name, 3, 4, 2_000, Any);
    }
    for name in ["treiber_stack", "two_lock_queue"] {
        embedded(name, 3, 4, 1_000, Those);
    }
}

#[test]
fn sets_of_any_number_of_threads() {
    embedded("orvyy_set", 2, 5, 4_000, Any);
}

#[test]
#[ignore = "a campaign"]
fn sets() {
    for name in ["orvyy_set", "pessimistic_set", "vy_dcas_set"] {
        embedded(name, 2, 5, 60_000, Any);
        embedded(name, 3, 5, 20_000, Any);
    }
    for name in ["orvyy_set", "pessimistic_set", "vy_dcas_set"] {
        embedded(name, 2, 5, 20_000, Those);
    }
}

#[test]
#[ignore = "a campaign"]
fn sets_that_take_long() {
    // Those that are proved: the optimistic set and the list of Harris and Michael are not.
    for name in ["lazy_set", "vy_cas_set"] {
        embedded(name, 2, 5, 60_000, Any);
    }
}
