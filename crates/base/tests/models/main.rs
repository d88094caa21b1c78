//! What base point analysis says of every bundled model, with 2 calls a thread and 2 values: that
//! the conditions hold, the condition that fails and why it may, or why the method does not apply.

use expect_test::expect;
use linchpin_base::{BaseError, Options, analyse, roadmap};
use linchpin_ir::interpreter::Memory;
use linchpin_lang::{Config, compile};
use linchpin_space::Bounds;
use linchpin_verdict::{Calls, Values};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Models whose state space is too large for a test.
const LARGE: [&str; 5] =
    ["mwcas", "mwcas_late_install", "mwcas_two_cas", "snark_deque_double_pop", "snzi_tree"];

/// Models that are not pinned here, with their broken twins: `tests/base/soundness.rs` asks that
/// nothing is said of them that refinement contradicts.
const NOT_PINNED: [&str; 20] = [
    "afek_snapshot",
    "bakery_lock",
    "baskets_queue",
    "chase_lev_deque",
    "clh_lock",
    "dual_queue",
    "ellen_tree",
    "flat_combining_stack",
    "harris_list",
    "hazard_pointer_stack",
    "lazy_skip_list",
    "llsc_from_cas",
    "mcs_lock",
    "mwcas_install",
    "ms_queue_counted",
    "optimistic_queue",
    "peterson_lock",
    "seqlock",
    "sticky_register",
    "vyukov_queue",
];

fn models(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(root)
        .expect("the models")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "lin"))
        .filter(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let pinned = !NOT_PINNED.iter().any(|family| name.starts_with(family));
            pinned && !LARGE.contains(&name.as_ref())
        })
        .collect();
    files.sort();
    files
}

/// One line: the model, and what is said of it.
fn said(path: &Path, calls: u32) -> String {
    let source = std::fs::read_to_string(path).expect("a model");
    let compiled = compile(&source, &Config::default()).expect("a model");
    let bounds = Bounds {
        calls: Calls::Each(calls),
        values: Values::UpTo(2),
        objects: None,
        memory: Memory::Collected,
        crashes: 0,
        thread_crashes: 0,
    };
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let analysis = match analyse(&compiled.program, &Options::new(bounds), &|_| {}) {
        Ok(analysis) => analysis,
        Err(BaseError::NotApplicable(why)) => return format!("{name}: does not apply: {why}\n"),
        Err(other) => panic!("{name}: {other}"),
    };
    if analysis.holds() {
        return format!("{name}: holds\n");
    }
    let rules: BTreeSet<&str> =
        analysis.findings.iter().map(|finding| finding.rule.source()).collect();
    let rules: Vec<&str> = rules.into_iter().collect();
    let reach = roadmap(&analysis, &source).reach.map(|reach| reach.to_string());
    format!("{name}: fails: {}; {}\n", rules.join(", "), reach.unwrap_or_default())
}

#[test]
fn right_models() {
    let said: String = models(".").iter().map(|path| said(path, 2)).collect();
    expect![[r#"
        dglm_queue: fails: Definition 6.1, Definition 6.2, proof of Theorem 2; `enqueue` takes a step that `enqueue` had still to take (line 36), as where operations help each other, and base points know no helping
        elimination_stack: does not apply: `push` makes a choice (line 64): base points are of operations that a shared state determines
        harris_michael_list: fails: Definition 6.1, Definition 6.2, Theorem 2, condition 1; `add` takes a step that `remove` had still to take (line 39), as where operations help each other, and base points know no helping
        herlihy_wing_queue: fails: Definition 6.1, Definition 6.2; `enqueue` depends on a step in the middle of the critical sequence of `enqueue`
        k_register: holds
        lazy_set: holds
        mailbox: does not apply: `seen` is a variable of each thread: base points are of operations that start from nothing
        ms_queue: fails: Definition 6.1, Definition 6.2; `enqueue` takes a step that `enqueue` had still to take (line 38), as where operations help each other, and base points know no helping
        optimistic_set: holds
        orvyy_set: holds
        pair_snapshot: holds
        pessimistic_set: holds
        rdcss: fails: Definition 6.1, Definition 6.2, proof of Theorem 2; `rdcss` takes a step that `rdcss` had still to take (line 36), as where operations help each other, and base points know no helping
        shann_huang_chen_queue_fixed: fails: Definition 6.1, Definition 6.2, Theorem 2, condition 1, proof of Theorem 2; `enqueue` takes a step that `enqueue` had still to take (line 46), as where operations help each other, and base points know no helping
        snzi: does not apply: `arrived` is a variable of each thread: base points are of operations that start from nothing
        timestamped_stack: does not apply: `pop` makes a choice (line 53): base points are of operations that a shared state determines
        treiber_stack: holds
        treiber_stack_counted: does not apply: `spare` is a variable of each thread: base points are of operations that start from nothing
        treiber_stack_reclaim: holds
        two_lock_queue: fails: Definition 6.1, proof of Theorem 2; `dequeue` depends on a step in the middle of the critical sequence of `enqueue`
        vy_cas_set: fails: Definition 6.1, Definition 6.2, proof of Theorem 2; `add` depends on a step in the middle of the critical sequence of `remove`
        vy_dcas_set: holds
    "#]].assert_eq(&said);
}

#[test]
fn broken_models() {
    let said: String = models("broken").iter().map(|path| said(path, 2)).collect();
    expect![[r#"
        dglm_queue_split_head_cas: fails: Definition 6.1, Definition 6.2, Theorem 2, condition 2, proof of Theorem 2; `enqueue` takes a step that `enqueue` had still to take (line 35), as where operations help each other, and base points know no helping
        dglm_queue_tail_first: fails: Definition 6.1, Definition 6.2; `enqueue` depends on a step in the middle of the critical sequence of `enqueue`
        elimination_stack_no_withdraw: does not apply: `push` makes a choice (line 61): base points are of operations that a shared state determines
        elimination_stack_reused_info: does not apply: `info` is a variable of each thread: base points are of operations that start from nothing
        harris_michael_list_no_mark: fails: Definition 6.2, Theorem 2, condition 2; the conditions are sufficient, not necessary
        harris_michael_list_separate_mark: fails: Definition 6.1, Definition 6.2, Theorem 2, condition 1, Theorem 2, condition 2; `add` takes a step that `remove` had still to take (line 37), as where operations help each other, and base points know no helping
        herlihy_wing_queue_split_swap: fails: Definition 6.1, Definition 6.2, Theorem 2, condition 2; `enqueue` depends on a step in the middle of the critical sequence of `enqueue`
        k_register_clears_upwards: holds
        k_register_no_down_scan: holds
        lazy_set_ignores_mark: fails: Definition 6.2, Theorem 2, condition 1, Theorem 2, condition 2, proof of Theorem 2; the conditions are sufficient, not necessary
        lazy_set_no_mark: fails: Theorem 2, condition 2; the conditions are sufficient, not necessary
        lazy_set_one_lock: fails: Definition 6.1, Definition 6.2, Theorem 2, condition 1, Theorem 2, condition 2; the conditions are sufficient, not necessary
        lazy_set_validate_before_lock: fails: Definition 6.2, Theorem 2, condition 1, Theorem 2, condition 2; the conditions are sufficient, not necessary
        mailbox_plain_write: does not apply: `seen` is a variable of each thread: base points are of operations that start from nothing
        ms_queue_blind_append: fails: Definition 6.1, Definition 6.2, Theorem 2, condition 2; `dequeue` takes a step that `enqueue` had still to take (line 47), as where operations help each other, and base points know no helping
        ms_queue_blind_empty: fails: Definition 6.1, Definition 6.2, Theorem 2, condition 1; `enqueue` takes a step that `enqueue` had still to take (line 39), as where operations help each other, and base points know no helping
        optimistic_set_no_reachability: fails: Theorem 2, condition 2; the conditions are sufficient, not necessary
        optimistic_set_no_validation: fails: Definition 6.2, Theorem 2, condition 2; the conditions are sufficient, not necessary
        orvyy_set_no_mark_test: fails: Theorem 2, condition 2; the conditions are sufficient, not necessary
        pair_snapshot_no_reread: fails: Theorem 2, condition 2; the conditions are sufficient, not necessary
        pessimistic_set_one_lock: fails: Definition 6.2, Theorem 2, condition 2; the conditions are sufficient, not necessary
        pessimistic_set_read_before_lock: fails: Definition 6.2, Theorem 2, condition 2; the conditions are sufficient, not necessary
        pessimistic_set_wrong_points: holds
        rdcss_blind_write: fails: Definition 6.1, Definition 6.2, proof of Theorem 2; `rdcss` takes a step that `rdcss` had still to take (line 35), as where operations help each other, and base points know no helping
        rdcss_early_control: fails: Definition 6.1, Definition 6.2, proof of Theorem 2; `read` takes a step that `rdcss` had still to take (line 35), as where operations help each other, and base points know no helping
        shann_huang_chen_queue: fails: Definition 6.1, Definition 6.2, proof of Theorem 2; `enqueue` takes a step that `enqueue` had still to take (line 46), as where operations help each other, and base points know no helping
        shann_huang_chen_queue_fixed_late_slot: fails: Definition 6.1, Definition 6.2, Theorem 2, condition 1, proof of Theorem 2; `enqueue` takes a step that `enqueue` had still to take (line 43), as where operations help each other, and base points know no helping
        shann_huang_chen_queue_fixed_no_count: fails: Definition 6.1, Definition 6.2, Theorem 2, condition 1, proof of Theorem 2; `enqueue` takes a step that `enqueue` had still to take (line 43), as where operations help each other, and base points know no helping
        shann_huang_chen_queue_fixed_no_validation: fails: Definition 6.1, Definition 6.2, Theorem 2, condition 1, proof of Theorem 2; `enqueue` takes a step that `enqueue` had still to take (line 42), as where operations help each other, and base points know no helping
        snark_deque: fails: Definition 6.2, Theorem 2, condition 2; the conditions are sufficient, not necessary
        snzi_no_announce: does not apply: `arrived` is a variable of each thread: base points are of operations that start from nothing
        snzi_no_version: does not apply: `arrived` is a variable of each thread: base points are of operations that start from nothing
        snzi_tree_no_half: does not apply: `at_root` is a variable of each thread: base points are of operations that start from nothing
        snzi_tree_no_undo: does not apply: `at_root` is a variable of each thread: base points are of operations that start from nothing
        timestamped_stack_unstamped_oldest: does not apply: `pop` makes a choice (line 48): base points are of operations that a shared state determines
        treiber_stack_freelist_aba: does not apply: `spare` is a variable of each thread: base points are of operations that start from nothing
        treiber_stack_pop_stale_next: fails: Definition 6.2, Theorem 2, condition 2; the conditions are sufficient, not necessary
        treiber_stack_split_pop_cas: fails: Definition 6.2, Theorem 2, condition 2; the conditions are sufficient, not necessary
        treiber_stack_split_push_cas: fails: Definition 6.2; the conditions are sufficient, not necessary
        two_lock_queue_head_lock_gap: fails: Definition 6.1, Theorem 2, condition 2, proof of Theorem 2; `dequeue` depends on a step in the middle of the critical sequence of `enqueue`
        two_lock_queue_tail_lock_gap: fails: Definition 6.1, Definition 6.2, proof of Theorem 2; `dequeue` depends on a step in the middle of the critical sequence of `enqueue`
        vy_cas_set_no_mark: fails: Definition 6.2, Theorem 2, condition 2; the conditions are sufficient, not necessary
        vy_dcas_set_single_cas: fails: Definition 6.2, Theorem 2, condition 2; the conditions are sufficient, not necessary
    "#]].assert_eq(&said);
}

/// What is wrong with these registers needs a third write.
#[test]
fn broken_registers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/broken");
    let models = ["k_register_clears_upwards", "k_register_no_down_scan"];
    let said: String =
        models.iter().map(|model| said(&root.join(format!("{model}.lin")), 3)).collect();
    expect![[r#"
        k_register_clears_upwards: fails: Theorem 2, condition 1, proof of Theorem 2; the conditions are sufficient, not necessary
        k_register_no_down_scan: fails: Theorem 2, condition 2; the conditions are sufficient, not necessary
    "#]].assert_eq(&said);
}
