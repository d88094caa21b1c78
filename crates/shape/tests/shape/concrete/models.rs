//! The explorer on the bundled models: right ones stay right, broken ones go wrong.

use super::{Config, Correlated, Exploration, Order, Unsupported, Values, explore};
use linchpin_ir::program::Program;
use std::path::PathBuf;

/// A bundled model.
pub fn model(name: &str) -> Program {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../models/{name}.lin"));
    let source = std::fs::read_to_string(&path).unwrap();
    linchpin_lang::compile(&source, &linchpin_lang::Config::default()).unwrap().program
}

/// Two threads, lists with distinct values, sets with the keys 1 and 2.
pub fn config(name: &str, cap: usize) -> Config {
    let is_set = name.contains("_set") || name.contains("harris");
    let values = if is_set { Values::UpTo(2) } else { Values::Distinct };
    Config { threads: 2, objects: 5, values, cap, order: Order::BreadthFirst }
}

/// The bundled stacks and queues.
pub const LISTS: [&str; 4] = ["treiber_stack", "two_lock_queue", "ms_queue", "dglm_queue"];

/// The bundled sets.
pub const SETS: [&str; 7] = [
    "pessimistic_set",
    "lazy_set",
    "optimistic_set",
    "orvyy_set",
    "vy_cas_set",
    "vy_dcas_set",
    "harris_michael_list",
];

fn right(name: &str, config: &Config) -> Exploration {
    let found = explore(&model(name), config).unwrap();
    if let Some(trace) = &found.wrong {
        panic!("{name}: {:?}\n{:#?}", trace.wrong, trace.moves);
    }
    found
}

#[test]
fn lists_are_right_and_every_answer_comes_from_the_correlated_node() {
    for name in LISTS {
        let found = right(name, &config(name, 40_000));
        assert!(found.complete, "{name}");
        let origin = |state: &Correlated| {
            (0..2).filter_map(|thread| state.origin_corresponds(thread)).collect::<Vec<_>>()
        };
        let origins: Vec<bool> = found.states.iter().flat_map(|state| origin(state)).collect();
        assert!(origins.len() > 100 && origins.iter().all(|same| *same), "{name}");
    }
}

#[test]
fn lists_are_right_with_values_that_come_again() {
    for name in LISTS {
        right(name, &Config { values: Values::UpTo(2), objects: 4, ..config(name, 20_000) });
    }
}

#[test]
fn sets_are_right() {
    for name in SETS {
        right(name, &config(name, 6_000));
        right(name, &Config { order: Order::Random(1), ..config(name, 6_000) });
    }
}

#[test]
fn three_threads_are_right() {
    for name in LISTS.into_iter().chain(["pessimistic_set", "orvyy_set"]) {
        right(name, &Config { threads: 3, ..config(name, 5_000) });
    }
}

/// The broken stacks and queues that claim points for their updates.
const BROKEN_LISTS: [&str; 10] = [
    "dglm_queue_split_head_cas",
    "dglm_queue_tail_first",
    "ms_queue_blind_append",
    "ms_queue_blind_empty",
    "treiber_stack_freelist_aba",
    "treiber_stack_pop_stale_next",
    "treiber_stack_split_pop_cas",
    "treiber_stack_split_push_cas",
    "two_lock_queue_head_lock_gap",
    "two_lock_queue_tail_lock_gap",
];

/// The broken sets that claim points for their updates.
const BROKEN_SETS: [&str; 14] = [
    "harris_michael_list_no_mark",
    "harris_michael_list_separate_mark",
    "lazy_set_ignores_mark",
    "lazy_set_no_mark",
    "lazy_set_one_lock",
    "lazy_set_validate_before_lock",
    "optimistic_set_no_reachability",
    "optimistic_set_no_validation",
    "orvyy_set_no_mark_test",
    "pessimistic_set_one_lock",
    "pessimistic_set_read_before_lock",
    "pessimistic_set_wrong_points",
    "vy_cas_set_no_mark",
    "vy_dcas_set_single_cas",
];

#[test]
fn broken_lists_go_wrong() {
    for name in BROKEN_LISTS {
        let found = explore(&model(&format!("broken/{name}")), &config(name, 20_000)).unwrap();
        assert!(found.wrong.is_some(), "{name}: {} states", found.states.len());
    }
}

/// In random order: breadth first takes two or three times as many states.
#[test]
fn broken_sets_go_wrong() {
    for name in BROKEN_SETS {
        let config = Config { objects: 4, order: Order::Random(1), ..config(name, 60_000) };
        let found = explore(&model(&format!("broken/{name}")), &config).unwrap();
        assert!(found.wrong.is_some(), "{name}: {} states", found.states.len());
    }
}

#[test]
fn models_without_points_or_without_a_reference_are_left_alone() {
    let refused = |name| explore(&model(name), &config(name, 10)).err();
    assert_eq!(refused("elimination_stack"), Some(Unsupported::NoPoints));
    assert_eq!(refused("herlihy_wing_queue"), Some(Unsupported::NoPoints));
    assert_eq!(refused("snzi"), Some(Unsupported::Specification));
}

/// States with two threads and five nodes, for sets with two keys: the first ones, or with
/// `LINCHPIN_CASES=300000` all of them (half a minute, 1 GB).
#[test]
fn every_state_within_bounds_is_right() {
    let most = crate::asked("LINCHPIN_CASES");
    for name in LISTS.into_iter().chain(SETS) {
        let found = right(name, &config(name, most.unwrap_or(2_000)));
        println!("{name}: {} states", found.states.len());
        assert!(found.complete || most.is_none_or(|most| most < 300_000), "{name}");
    }
}
