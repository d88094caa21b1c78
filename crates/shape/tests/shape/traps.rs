//! Programs that must not be proved: one trap for each unsound shortcut that an engine may take.
//!
//! Each trap is a model of its own under `tests/traps`, whose header says what is wrong and which
//! shortcut would accept it. Refinement shows within the bounds of the table that it is wrong for
//! real, or that it is right and must be refused for another reason. The models that are wrong only
//! late (at the seventh call, beyond three elements, for one value) are here too: `late_*`. What the
//! traps were made of is `00_*`.

use crate::judge::{ANY, Accepts, Asked, Refined, Within, compiled, refine, shape};
use Expected::{ClaimsWrong, PointsWrong, Proved, Refused, Right, Stuck, Unreached, Unseen, Wrong};
use linchpin_lang::{Config, compile};
use linchpin_refine::has_points;
use linchpin_shape::{Found, Options, PureAnswers, Threads, analyse};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// What is known about a trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// Not linearizable, or a step fails: refinement shows it within the bounds.
    Wrong,
    /// Linearizable, but not at the points that it claims for its updates.
    PointsWrong,
    /// Linearizable, but not at the points that it claims for answers that change nothing.
    ClaimsWrong,
    /// Right, but it breaks what the soundness of a proof rests on.
    Refused,
    /// An operation never returns: nothing is known about it.
    Stuck,
    /// Wrong, but for values that no client passes within any bounds.
    Unseen,
    /// Right, with a step that is never taken: a proof must name it.
    Unreached,
    /// Right, but only an engine that looks closely may prove it.
    Right,
    /// Right, and what other traps are made of: proved.
    Proved,
}

struct Trap {
    name: &'static str,
    expected: Expected,
    within: Within,
}

const fn trap(
    name: &'static str,
    expected: Expected,
    threads: usize,
    calls: u32,
    values: i64,
) -> Trap {
    Trap { name, expected, within: Within { threads, calls, values } }
}

/// The traps: name, what is known, and the threads, calls of each and values that show it.
#[rustfmt::skip]
const TRAPS: &[Trap] = &[
    trap("00_cas_queue", Proved, 2, 2, 2),
    trap("00_cas_stack", Proved, 2, 2, 2),
    trap("00_locked_set", Proved, 2, 2, 2),
    trap("00_locked_stack", Proved, 2, 2, 2),
    trap("00_queue_with_gates", Right, 2, 2, 2),
    trap("00_stack_with_tags", Proved, 2, 2, 2),
    trap("00_two_lock_queue", Proved, 2, 2, 2),
    trap("00_waiting_queue", Proved, 2, 2, 2),
    trap("00_waiting_queue_cas", Proved, 2, 2, 2),
    trap("01_assertion", Wrong, 2, 2, 1),
    trap("01_dequeue_without_null_test", Wrong, 1, 1, 1),
    trap("01_foreign_unlock", Wrong, 1, 1, 1),
    trap("01_lock_of_null", Wrong, 1, 2, 1),
    trap("01_null_only_under_contention", Wrong, 2, 2, 1),
    trap("01_overflow", Wrong, 1, 2, 1),
    trap("01_overflow_of_a_counter", Wrong, 1, 2, 1),
    trap("01_pop_without_null_test", Wrong, 1, 1, 1),
    trap("01_repeated_place", Wrong, 1, 2, 1),
    trap("01_repeated_place_by_alias", Wrong, 1, 1, 1),
    trap("01_second_element_assumed", Wrong, 1, 2, 1),
    trap("01_too_many_choices", Wrong, 1, 1, 1),
    trap("01_unwrap", Wrong, 1, 1, 1),
    trap("02_pop_gives_up", Wrong, 2, 2, 1),
    trap("02_push_gives_up", Wrong, 2, 2, 1),
    trap("02_remove_without_point", Wrong, 1, 3, 1),
    trap("03_dequeue_twice", Wrong, 1, 4, 2),
    trap("03_pop_twice", Wrong, 1, 4, 2),
    trap("03_push_twice", Wrong, 1, 3, 1),
    trap("04_pop_blind_write", Wrong, 2, 2, 1),
    trap("04_stale_next_after_retry", Wrong, 2, 2, 2),
    trap("05_point_at_the_call", Wrong, 2, 2, 2),
    trap("05_point_at_the_call_of_a_right_queue", PointsWrong, 2, 2, 2),
    trap("06_tail_of_an_earlier_section", Wrong, 2, 2, 1),
    trap("06_unlock_before_head", Wrong, 2, 2, 1),
    trap("06_unlock_before_tail", Wrong, 2, 2, 1),
    trap("07_contains_ignores_mark", PointsWrong, 2, 2, 1),
    trap("07_removal_at_unlink_contains_mark", PointsWrong, 2, 2, 1),
    trap("08_free", Refused, 2, 2, 2),
    trap("08_free_list_under_lock", Refused, 2, 2, 2),
    trap("08_shared_free_list", Wrong, 2, 3, 2),
    trap("09_constant_value", Wrong, 1, 3, 2),
    trap("09_either_value", Wrong, 1, 2, 2),
    trap("09_either_value_late", Wrong, 1, 3, 2),
    trap("09_either_value_the_other_first", Wrong, 1, 2, 2),
    trap("09_last_value_in_a_shared_variable", Wrong, 1, 4, 2),
    trap("09_parameter_overwritten", Wrong, 1, 2, 2),
    trap("09_pop_clears_value", Wrong, 2, 2, 2),
    trap("09_value_after_publication", Wrong, 2, 2, 2),
    trap("09_value_of_another_node", Wrong, 1, 3, 2),
    trap("09_values_exchanged", Wrong, 1, 4, 2),
    trap("10_last_pushed_again", Wrong, 1, 4, 2),
    trap("10_pushed_again_under_contention", Wrong, 2, 2, 2),
    trap("10_recycled_node_keeps_its_value", Wrong, 1, 4, 2),
    trap("10_two_allocations_wrong_one", Wrong, 1, 2, 1),
    trap("11_answer_of_an_older_pop", Wrong, 1, 4, 2),
    trap("11_answer_of_the_last", Wrong, 1, 3, 2),
    trap("11_answer_of_the_third", Wrong, 2, 2, 2),
    trap("11_dequeue_answers_later_element", Wrong, 1, 4, 2),
    trap("12_dequeue_drops_a_later_element", Wrong, 1, 6, 2),
    trap("12_pop_drops_the_third", Wrong, 1, 7, 2),
    trap("12_pop_exchanges_two", Wrong, 1, 7, 2),
    trap("12_push_skips_the_old_top", Wrong, 1, 5, 2),
    trap("12_second_link_written", Wrong, 1, 5, 2),
    trap("13_dequeuers_in_the_same_view", Wrong, 2, 2, 1),
    trap("13_dequeuers_test_then_set", Wrong, 2, 2, 1),
    trap("13_enqueuers_in_the_same_view", Wrong, 2, 2, 1),
    trap("13_test_then_set", Wrong, 2, 2, 1),
    trap("13_test_then_set_by_pointer", Wrong, 2, 2, 1),
    trap("14_announced_before_it_is_linked", Wrong, 2, 2, 2),
    trap("14_chain_of_nodes", Wrong, 2, 2, 1),
    trap("14_chain_published_by_its_first_node", Wrong, 2, 2, 1),
    trap("14_gate_of_a_published_node", Wrong, 2, 2, 1),
    trap("14_late_write_to_own_node", Wrong, 2, 2, 1),
    trap("14_value_of_a_private_node", Wrong, 2, 2, 2),
    trap("15_interference_twice", Wrong, 2, 3, 2),
    trap("15_three_disturbances", Wrong, 2, 4, 1),
    trap("15_wrong_with_two_elements", Wrong, 2, 2, 2),
    trap("16_add_fails_at_will", Wrong, 1, 1, 1),
    trap("16_contains_false_at_will", Wrong, 1, 2, 1),
    trap("16_empty_remembered", Wrong, 1, 3, 1),
    trap("16_pop_empty_at_will", Wrong, 1, 2, 1),
    trap("16_pop_empty_under_contention", Wrong, 2, 2, 1),
    trap("16_query_kept_over_retry", ClaimsWrong, 2, 2, 1),
    trap("17_add_drops_the_next", Wrong, 1, 3, 2),
    trap("17_add_leaves_two", Wrong, 1, 4, 1),
    trap("17_add_leaves_two_behind", Wrong, 1, 4, 1),
    trap("17_add_neighbour_key", Wrong, 1, 3, 2),
    trap("17_add_out_of_order", Wrong, 1, 3, 2),
    trap("17_remove_cuts_the_list", Wrong, 1, 4, 2),
    trap("17_remove_forgets_to_unlink", Wrong, 1, 3, 1),
    trap("17_remove_takes_the_next_too", Wrong, 1, 4, 2),
    trap("18_lock_never_free", Stuck, 2, 1, 1),
    trap("18_lock_taken_twice", Stuck, 1, 2, 1),
    trap("18_reference_blocks", Wrong, 1, 1, 1),
    trap("18_reference_chooses", Wrong, 1, 2, 1),
    trap("18_reference_faults", Wrong, 1, 1, 1),
    trap("18_reference_is_not_the_specification", Wrong, 1, 3, 2),
    trap("18_reference_loops", Wrong, 1, 1, 1),
    trap("18_reference_writes_a_variable", Wrong, 1, 2, 1),
    trap("18_wait_for_ever", Stuck, 1, 2, 1),
    trap("19_unreached_step", Unreached, 2, 2, 2),
    trap("20_first_thread_is_special", Wrong, 1, 2, 1),
    trap("20_local_counter", Wrong, 2, 4, 1),
    trap("20_local_node", Wrong, 1, 3, 1),
    trap("20_number_of_threads", Wrong, 3, 2, 1),
    trap("20_own_nodes", Wrong, 1, 2, 1),
    trap("20_thread_id_written_only", Right, 2, 2, 2),
    trap("late_array_of_three", Wrong, 1, 5, 2),
    trap("late_capacity_of_three", Wrong, 1, 8, 1),
    trap("late_equal_values", Wrong, 1, 4, 1),
    trap("late_every_second_pop", Wrong, 1, 5, 2),
    trap("late_fourth_from_top", Wrong, 1, 5, 2),
    trap("late_long_walk", Wrong, 1, 10, 1),
    trap("late_negative_value", Wrong, 1, 2, 1),
    trap("late_one_constant", Wrong, 1, 2, 5),
    trap("late_one_constant_in_pop", Wrong, 1, 2, 5),
    trap("late_queue_counts_to_three", Wrong, 1, 8, 1),
    trap("late_queue_of_three", Wrong, 1, 5, 2),
    trap("late_set_key_zero", Wrong, 1, 3, 1),
    trap("late_set_of_three", Wrong, 1, 5, 3),
    trap("late_set_one_key", Wrong, 1, 2, 3),
    trap("late_set_one_key_in_contains", Wrong, 1, 2, 2),
    trap("late_seventh_call", Wrong, 1, 7, 1),
    trap("late_seventh_push_is_lost", Wrong, 1, 14, 1),
    trap("late_smaller_value_goes_below", Wrong, 1, 3, 2),
    trap("late_three_threads", Wrong, 3, 2, 1),
    trap("late_three_threads_by_pointers", Wrong, 3, 2, 1),
    trap("late_value_zero", Wrong, 1, 2, 1),
    trap("late_value_zero_not_passed", Unseen, 2, 2, 2),
];

/// Traps 4 to 8 among the bundled broken twins.
const BUNDLED: [&str; 13] = [
    "treiber_stack_split_push_cas",
    "treiber_stack_split_pop_cas",
    "treiber_stack_pop_stale_next",
    "ms_queue_blind_append",
    "ms_queue_blind_empty",
    "two_lock_queue_head_lock_gap",
    "two_lock_queue_tail_lock_gap",
    "lazy_set_ignores_mark",
    "lazy_set_no_mark",
    "lazy_set_one_lock",
    "lazy_set_validate_before_lock",
    "pessimistic_set_one_lock",
    "treiber_stack_freelist_aba",
];

/// Longer than any check of a trap takes, so that a slow machine changes no verdict.
const LONG: Duration = Duration::from_secs(120);
/// What the engine does not prove in this time it does not prove here.
const SHORT: Duration = Duration::from_secs(3);

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/traps")
}

fn source(trap: &Trap) -> String {
    std::fs::read_to_string(folder().join(format!("{}.lin", trap.name))).unwrap()
}

fn broken() -> Vec<(String, String)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/broken");
    let entries = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|found| found == "lin")).collect();
    files.sort();
    let name = |path: &PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
    files.iter().map(|path| (name(path), std::fs::read_to_string(path).unwrap())).collect()
}

/// The folder and the table name the same traps, and each model asks for the bounds of the table.
#[test]
fn the_table_is_the_folder() {
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let files: BTreeSet<String> =
        entries.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    let table: BTreeSet<String> = TRAPS.iter().map(|trap| trap.name.to_owned()).collect();
    assert_eq!(files, table);
    for trap in TRAPS {
        let Within { threads, calls, values } = trap.within;
        let bounds = format!("bounds {{ threads: {threads}, ops: {calls}, values: {values} }}");
        assert!(source(trap).contains(&bounds), "{}", trap.name);
    }
    assert!(TRAPS.iter().filter(|trap| trap.name.starts_with("late_")).count() >= 12);
}

/// Each trap is what its header says, so that a refusal is a merit.
#[test]
fn refinement_knows_the_traps() {
    for trap in TRAPS {
        let name = trap.name;
        let found = refine(&source(trap), trap.within, LONG, true);
        match trap.expected {
            Wrong => assert!(found.refutes(), "{name}: {found:?}"),
            PointsWrong | ClaimsWrong => assert_eq!(found, Refined::NotAtPoints, "{name}"),
            Refused | Unseen | Unreached | Right | Proved => {
                assert_eq!(found, Refined::AtPoints, "{name}")
            }
            Stuck => assert_eq!(found, Refined::Stuck, "{name}"),
        }
    }
}

/// What is wrong only with three threads holds with two: a proof for two would be no news.
#[test]
fn three_threads_are_needed() {
    for name in ["late_three_threads", "late_three_threads_by_pointers", "20_number_of_threads"] {
        let trap = TRAPS.iter().find(|trap| trap.name == name).unwrap();
        let fewer = Within { threads: 2, ..trap.within };
        assert_eq!(refine(&source(trap), fewer, LONG, true), Refined::AtPoints, "{name}");
    }
}

/// The engine proves no trap, for any number of threads or for as many as show it.
#[test]
fn no_trap_is_proved() {
    let mut proved = Vec::new();
    let may_be = |trap: &&Trap| matches!(trap.expected, Unreached | Right | Proved | Stuck);
    for trap in TRAPS.iter().filter(|trap| !may_be(trap)) {
        let compiled = compiled(&source(trap), trap.within.threads.max(2)).unwrap();
        // Without points everything may be refused for that alone.
        assert!(has_points(&compiled.program), "{}", trap.name);
        for threads in [Threads::Any, Threads::Those] {
            let pure = match trap.expected {
                // Only then are these claims used at all.
                ClaimsWrong => PureAnswers::Claimed,
                _ => PureAnswers::Seen,
            };
            match shape(&compiled.program, Asked { threads, pure }, SHORT) {
                Accepts::Yes => proved.push((trap.name, threads)),
                Accepts::No(why) => println!("{} {threads:?}: {why}", trap.name),
            }
        }
    }
    assert!(proved.is_empty(), "{proved:?}");
}

/// Where an operation never returns, there is nothing that a proof would be about.
#[test]
fn what_never_returns_is_not_proved() {
    for trap in TRAPS.iter().filter(|trap| trap.expected == Stuck) {
        let compiled = compiled(&source(trap), 2).unwrap();
        assert_ne!(shape(&compiled.program, ANY, SHORT), Accepts::Yes, "{}", trap.name);
    }
}

/// A step that is never taken is named.
#[test]
fn unreached_steps_are_named() {
    for trap in TRAPS.iter().filter(|trap| trap.expected == Unreached) {
        let compiled = compiled(&source(trap), 2).unwrap();
        let found = analyse(&compiled.program, &Options::default(), &|_| {}).unwrap();
        assert!(matches!(found.found, Found::Proved), "{}", trap.name);
        assert!(!found.unreached.is_empty(), "{}", trap.name);
    }
}

/// The traps are changes of these, and these are proved: so a trap is refused for what is wrong
/// with it.
#[test]
fn what_the_traps_are_made_of_is_proved() {
    for trap in TRAPS.iter().filter(|trap| trap.expected == Proved) {
        let compiled = compiled(&source(trap), 2).unwrap();
        for threads in [Threads::Any, Threads::Those] {
            let asked = Asked { threads, ..ANY };
            assert_eq!(shape(&compiled.program, asked, LONG), Accepts::Yes, "{}", trap.name);
        }
    }
}

/// The engine proves no broken twin; `ms_queue_blind_empty` is right, at other points.
#[test]
fn no_broken_twin_is_proved() {
    let all = broken();
    for name in BUNDLED {
        assert!(all.iter().any(|(found, _)| found == name), "{name} is gone");
    }
    for (name, source) in all {
        let compiled = compile(&source, &Config::default()).unwrap();
        assert_ne!(shape(&compiled.program, ANY, SHORT), Accepts::Yes, "{name} is proved");
    }
}
