//! The data structures of Table I: brute force over two and three instances, sequential executions
//! against their specification, and the number of sub-operations that each file states.

use linchpin_subop::execute::{Instance, Value};
use linchpin_subop::sequential::{self, Bounds};
use linchpin_subop::{Model, parse, print};
use linchpin_subop_oracle::{Case, Comparison, Judged, explore, mutants};
use std::collections::BTreeSet;

/// The most states of a case.
const LIMIT: usize = 400_000;

fn model(name: &str) -> Model {
    let path = format!("{}/../../models/subop/{name}.subop", env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(&path).expect("the model is there");
    let model = parse(&source).unwrap_or_else(|mistakes| {
        let shown: Vec<_> = mistakes.iter().map(|m| m.render(name, &source, false)).collect();
        panic!("{}", shown.join("\n"))
    });
    let count = model.sub_operations().count();
    let stated = format!("Sub-operations: {count}");
    let followed = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_digit());
    assert!(
        source.split_once(&stated).is_some_and(|(_, rest)| followed(rest)),
        "{name} has {count} sub-operations"
    );
    let printed = print(&model);
    assert_eq!(print(&parse(&printed).expect("what is printed parses")), printed);
    model
}

/// `Push(1) Pop()`: calls with their arguments.
fn calls(model: &Model, text: &str) -> Vec<Instance> {
    let call = |call: &str| {
        let (name, arguments) = call.trim_end_matches(')').split_once('(').expect("a call");
        let operation = model.operation(name).unwrap_or_else(|| panic!("no {name}"));
        let arguments = arguments.split(',').filter(|text| !text.is_empty());
        let arguments: Vec<Value> =
            arguments.map(|text| Value::Int(text.parse().expect("a number"))).collect();
        assert_eq!(arguments.len(), model.operations[operation.0].arguments, "{call}");
        Instance::new(model, operation, &arguments)
    };
    text.split_whitespace().map(call).collect()
}

/// Every case is linearizable, and together they execute every sub-operation. Compared as
/// `preserved` says they are linearizable too; compared more strictly, one is not: in every
/// sequential execution some operation reads something else, or leaves something else behind.
fn linearizable(name: &str, preserved: Comparison, cases: &[(&str, &str)]) {
    let model = model(name);
    let mut executed = BTreeSet::new();
    let mut stricter = false;
    for (prologue, concurrent) in cases {
        let case =
            Case { prologue: calls(&model, prologue), concurrent: calls(&model, concurrent) };
        for comparison in [Comparison::Observations, Comparison::Effects, Comparison::States] {
            let report = explore(&model, &case, comparison, LIMIT);
            executed.extend(report.executed);
            match report.verdict {
                Judged::Linearizable => {}
                Judged::TooLarge => panic!("{name}: {prologue} | {concurrent}: too large"),
                Judged::Violated(_) if comparison > preserved => stricter = true,
                Judged::Violated(found) => {
                    let shown = found.render(&model);
                    panic!("{name}: {prologue} | {concurrent}, {comparison:?}\n{shown}")
                }
            }
        }
    }
    assert_eq!(stricter, preserved != Comparison::States, "{name} preserves {preserved:?}");
    let unreached: Vec<&str> = model
        .sub_operations()
        .filter(|id| !executed.contains(id))
        .map(|id| model.sub_operation(id).name.as_str())
        .collect();
    assert!(unreached.is_empty(), "{name}: never executed: {unreached:?}");
}

/// Tries sequential executions; `values` are the integers that brute force passes too.
fn sequential(name: &str, values: &[i64], calls: usize) {
    let last = values.iter().copied().max().unwrap_or(1);
    let bounds = Bounds { calls, values: last, steps: 3_000_000, ..Bounds::default() };
    let known = sequential::check(&model(name), &bounds);
    let verdict = known.verdict();
    assert!(verdict.is_proof(), "{name}: {known:?}");
    let Some(tried) = known.tried() else { panic!("{name}: {known:?}") };
    assert!(tried.calls() >= calls, "{name}: {tried:?}");
    assert!(tried.executions > 20, "{name}: {tried:?}");
}

const QUEUE: &[(&str, &str)] = &[
    ("", "Enqueue(1) Enqueue(2) Dequeue_nonempty()"),
    ("", "Enqueue(1) Enqueue(2) Dequeue_empty()"),
    ("", "Enqueue(1) Dequeue_nonempty() Dequeue_empty()"),
    ("", "Enqueue(1) Dequeue_nonempty() Dequeue_nonempty()"),
    ("Enqueue(3)", "Enqueue(1) Dequeue_nonempty() Dequeue_nonempty()"),
    ("Enqueue(3)", "Enqueue(1) Dequeue_nonempty() Dequeue_empty()"),
    ("Enqueue(3) Enqueue(4)", "Dequeue_nonempty() Dequeue_nonempty() Dequeue_empty()"),
];

#[test]
fn ms_queue() {
    linearizable("ms_queue", Comparison::States, QUEUE);
    sequential("ms_queue", &[1, 2], 5);
}

#[test]
fn two_lock_queue() {
    linearizable("two_lock_queue", Comparison::States, QUEUE);
    sequential("two_lock_queue", &[1, 2], 5);
}

#[test]
fn dglm_queue() {
    linearizable("dglm_queue", Comparison::States, QUEUE);
    sequential("dglm_queue", &[1, 2], 5);
}

/// Freed nodes are poison, so that an access to one would be seen.
#[test]
fn queues_that_free() {
    for name in ["ms_queue_free", "two_lock_queue_free", "dglm_queue_free"] {
        linearizable(name, Comparison::States, QUEUE);
        sequential(name, &[1, 2], 5);
    }
}

/// Section VIII: the sequential execution leaves the items elsewhere.
#[test]
fn herlihy_wing_queue() {
    let cases = [
        ("", "Enqueue(1) Enqueue(2) Dequeue()"),
        ("", "Enqueue(1) Enqueue(2) Enqueue(3)"),
        ("", "Enqueue(1) Enqueue(2) Dequeue() Dequeue()"),
        ("Enqueue(3)", "Enqueue(1) Dequeue() Dequeue()"),
        ("Enqueue(3) Enqueue(4)", "Dequeue() Dequeue() Enqueue(1)"),
    ];
    linearizable("herlihy_wing_queue", Comparison::Observations, &cases);
    sequential("herlihy_wing_queue", &[1, 2], 5);
}

#[test]
fn treiber_stack() {
    let cases = [
        ("", "Push(1) Push(2) Pop_nonempty()"),
        ("", "Push(1) Pop_nonempty() Pop_empty()"),
        ("Push(3)", "Push(1) Pop_nonempty() Pop_nonempty()"),
        ("Push(3) Push(4)", "Pop_empty() Pop_nonempty() Pop_nonempty()"),
    ];
    linearizable("treiber_stack", Comparison::States, &cases);
    sequential("treiber_stack", &[1, 2], 5);
}

#[test]
fn elimination_stack() {
    let cases = [
        ("", "Push_eliminated(1) Pop_eliminating()"),
        ("", "Push_normal(1) Pop_normal() Pop_normal()"),
        ("", "Push_eliminating(1) Pop_eliminated()"),
        ("", "Push_eliminated(1) Pop_eliminating() Push_normal(2)"),
        ("Push_normal(3)", "Push_eliminated(1) Pop_eliminating() Pop_normal()"),
        ("Push_normal(3)", "Push_eliminating(1) Pop_eliminated() Pop_normal()"),
        ("", "Push_eliminating(1) Pop_eliminated() Push_eliminated(2)"),
    ];
    linearizable("elimination_stack", Comparison::States, &cases);
    sequential("elimination_stack", &[1, 2], 4);
}

/// What a pop has seen of the pool that it does not take from may change until it takes; in the
/// sequential execution it sees something else there.
#[test]
fn timestamped_stack() {
    let cases = [
        ("", "Push_normal(1,1) Push_normal(2,2) Pop_normal()"),
        ("", "Push_eliminated(1,1) Pop_eliminating() Push_normal(2,2)"),
        ("Push_normal(3,1)", "Push_eliminated(1,1) Pop_normal() Pop_eliminating()"),
        (
            "Push_normal(3,1) Push_normal(4,1)",
            "Push_eliminated(1,2) Pop_normal() Pop_eliminating()",
        ),
        ("Push_normal(3,1) Push_normal(4,2)", "Push_normal(1,1) Pop_normal() Pop_normal()"),
        ("Push_normal(3,1) Push_normal(4,2)", "Push_normal(1,2) Pop_normal() Pop_normal()"),
        ("Push_normal(3,1)", "Push_normal(1,1) Push_normal(2,2) Pop_normal() Pop_normal()"),
    ];
    linearizable("timestamped_stack", Comparison::Effects, &cases);
    sequential("timestamped_stack", &[1, 2], 4);
}

/// What a pop reads of its neighbours when it takes a node differs; what is left behind does not.
#[test]
fn timestamped_stack_hindsight() {
    let cases = [
        ("", "Push_normal(1) Push_normal(2) Pop_normal()"),
        ("", "Push_eliminated(1) Pop_eliminating() Push_normal(2)"),
        ("Push_normal(3)", "Push_eliminated(1) Pop_normal() Pop_eliminating()"),
        ("Push_normal(3)", "Push_normal(1) Pop_normal() Pop_normal()"),
        ("Push_normal(3) Push_normal(4)", "Push_normal(1) Pop_normal() Pop_normal()"),
        ("Push_normal(3) Push_normal(4)", "Push_normal(1) Push_normal(2) Pop_normal()"),
    ];
    linearizable("timestamped_stack_hindsight", Comparison::Effects, &cases);
    sequential("timestamped_stack_hindsight", &[1, 2], 4);
}

const SET: &[(&str, &str)] = &[
    ("", "Add_absent(1) Add_absent(2) Contains(1)"),
    ("", "Add_absent(1) Add_absent(1) Add_present(1)"),
    ("Add_absent(1)", "Remove_present(1) Add_absent(2) Contains(2)"),
    ("Add_absent(1)", "Remove_present(1) Remove_absent(1) Contains(1)"),
    ("Add_absent(1) Add_absent(2)", "Remove_present(1) Remove_present(2) Contains(2)"),
    ("Add_absent(1) Add_absent(2)", "Remove_present(1) Add_absent(1) Contains(1)"),
    ("Add_absent(2)", "Add_absent(1) Remove_present(2) Add_present(2)"),
];

#[test]
fn orvyy_set() {
    linearizable("orvyy_set", Comparison::States, SET);
    sequential("orvyy_set", &[1, 2], 4);
}

#[test]
fn vy_cas_set() {
    linearizable("vy_cas_set", Comparison::States, SET);
    sequential("vy_cas_set", &[1, 2], 4);
}

#[test]
fn vy_dcas_set() {
    linearizable("vy_dcas_set", Comparison::States, SET);
    sequential("vy_dcas_set", &[1, 2], 4);
}

/// A `Contains` may stand on a node that is removed before it looks at the mark; in the sequential
/// execution it stands elsewhere.
#[test]
fn lazy_set() {
    let cases = [
        ("", "Add(1) Add(2) Contains(1)"),
        ("", "Add(1) Add(1)"),
        ("Add(1)", "Remove(1) Add(2) Contains(2)"),
        ("Add(1) Add(2)", "Remove(1) Remove(2) Contains(2)"),
        ("Add(1) Add(2)", "Remove(1) Add(1) Contains(1)"),
        ("Add(2)", "Remove(2) Add(1) Contains(2)"),
    ];
    linearizable("lazy_set", Comparison::Effects, &cases);
    sequential("lazy_set", &[1, 2], 4);
}

#[test]
fn lazy_set_hindsight() {
    let cases = [
        ("", "Add(1) Add(2) Contains_absent(1)"),
        ("", "Add(1) Add(1) Contains_present(1)"),
        ("Add(1)", "Remove(1) Add(2) Contains_present(2)"),
        ("Add(1) Add(2)", "Remove(1) Remove(2) Contains_absent(2)"),
        ("Add(1) Add(2)", "Remove(1) Add(1) Contains_absent(1)"),
        ("Add(2)", "Remove(2) Add(1) Contains_present(2)"),
    ];
    linearizable("lazy_set_hindsight", Comparison::States, &cases);
    sequential("lazy_set_hindsight", &[1, 2], 4);
}

#[test]
fn pair_snapshot() {
    let cases = [
        ("", "Write(0,1) Write(1,1) Read_pair()"),
        ("", "Write(0,1) Write(0,2) Read_pair()"),
        ("", "Write(1,1) Write(1,2) Read_pair()"),
        ("Write(0,3)", "Write(0,1) Write(1,2) Read_pair() Read_pair()"),
    ];
    linearizable("pair_snapshot", Comparison::States, &cases);
    sequential("pair_snapshot", &[0, 1], 4);
}

#[test]
fn rdcss() {
    let cases = [
        ("", "Rdcss(1,1,2) Cas_write(1,2) Rdcss_read()"),
        ("", "Rdcss(1,1,2) Rdcss(1,1,3) Rdcss_read()"),
        ("", "Rdcss(1,1,2) Rdcss(1,2,3) Cas_write(1,2)"),
        ("Cas_write(1,2)", "Rdcss(1,1,2) Cas_write(2,1) Rdcss_read()"),
        ("", "Rdcss(1,1,2) Cas_write(1,2) Cas_write(2,1) Rdcss_read()"),
    ];
    linearizable("rdcss", Comparison::States, &cases);
    sequential("rdcss", &[1, 2], 4);
}

/// Which changes of a file the brute force sees, over these cases.
fn broken(name: &str, cases: &[(&str, &str)]) -> Vec<String> {
    let original = model(name);
    let mut seen = Vec::new();
    for mutant in mutants(&original) {
        let violated = cases.iter().any(|(prologue, concurrent)| {
            let prologue = calls(&mutant.model, prologue);
            let concurrent = calls(&mutant.model, concurrent);
            let case = Case { prologue, concurrent };
            let report = explore(&mutant.model, &case, Comparison::Observations, LIMIT);
            matches!(report.verdict, Judged::Violated(_))
        });
        if violated {
            seen.push(mutant.change);
        }
    }
    seen
}

/// The oracle can tell: small changes break what is linearizable. (None of the two-lock queue does:
/// where one test of a lock is missing, the next one stops who should not be there.)
#[test]
fn changed_files_are_violated() {
    let expected = [
        ("ms_queue", QUEUE, "f split before statement 1"),
        ("dglm_queue", QUEUE, "f split before statement 1"),
        ("orvyy_set", SET, "Add_absent_3 without condition 2"),
        ("vy_cas_set", SET, "Remove_present_6 without condition 1"),
        ("vy_dcas_set", SET, "Remove_present_5 without condition 2"),
    ];
    for (name, cases, change) in expected {
        let seen = broken(name, cases);
        assert!(seen.iter().any(|seen| seen == change), "{name}: {seen:?}");
    }
}
