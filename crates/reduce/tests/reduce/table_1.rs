//! Table I: which data structures are proved, and that no small change of one is proved unless
//! brute force agrees.

use linchpin_reduce::{Options, prove};
use linchpin_subop::Model;
use linchpin_subop::execute::{Instance, Value};
use linchpin_subop_oracle::{Case, Comparison, Judged, judge, mutants};

const PROVED: [&str; 15] = [
    "ms_queue",
    "two_lock_queue",
    "dglm_queue",
    "ms_queue_free",
    "two_lock_queue_free",
    "dglm_queue_free",
    "treiber_stack",
    "elimination_stack",
    "timestamped_stack_hindsight",
    "vy_cas_set",
    "vy_dcas_set",
    "orvyy_set",
    "pair_snapshot",
    "rdcss",
    "lazy_set_hindsight",
];

/// The sequential execution that explains a concurrent one leaves another state behind, or other
/// locals: `docs/theory/reduce.md` says why.
const NOT_PROVED: [&str; 3] = ["herlihy_wing_queue", "timestamped_stack", "lazy_set"];

fn model(name: &str) -> Model {
    let path = format!("{}/../../models/subop/{name}.subop", env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(&path).expect("the model is there");
    linchpin_subop::parse(&source).expect("the model parses")
}

#[test]
fn all_but_three_are_proved_without_trusting_anything() {
    for name in PROVED {
        let report = prove(&model(name), &Options::default());
        assert!(report.is_proved(), "{name}: {}", report.obstacle_text());
        assert!(report.claims.is_empty(), "{name} makes claims");
    }
}

#[test]
fn those_that_read_something_else_are_not() {
    for name in NOT_PROVED {
        let report = prove(&model(name), &Options::default());
        assert!(!report.is_proved(), "{name}");
        assert!(!report.obstacle_text().is_empty());
    }
}

/// What is executed first, one after the other; and what then, concurrently.
type Cases = &'static [(&'static str, &'static str)];

const QUEUE: Cases = &[
    ("", "Enqueue(1) Enqueue(2) Dequeue_nonempty()"),
    ("", "Enqueue(1) Dequeue_nonempty() Dequeue_empty()"),
    ("Enqueue(3)", "Enqueue(1) Dequeue_nonempty() Dequeue_nonempty()"),
    ("Enqueue(3)", "Enqueue(1) Dequeue_nonempty() Dequeue_empty()"),
    ("Enqueue(3) Enqueue(4)", "Dequeue_nonempty() Dequeue_nonempty() Dequeue_empty()"),
];

const SET: Cases = &[
    ("", "Add_absent(1) Add_absent(2) Contains(1)"),
    ("Add_absent(1)", "Remove_present(1) Add_absent(2) Contains(2)"),
    ("Add_absent(1)", "Remove_present(1) Remove_absent(1) Contains(1)"),
    ("Add_absent(1) Add_absent(2)", "Remove_present(1) Remove_present(2) Contains(2)"),
    ("Add_absent(1) Add_absent(2)", "Remove_present(1) Add_absent(1) Contains(1)"),
    ("Add_absent(2)", "Add_absent(1) Remove_present(2) Add_present(2)"),
];

fn cases(name: &str) -> Cases {
    match name {
        "ms_queue"
        | "two_lock_queue"
        | "dglm_queue"
        | "ms_queue_free"
        | "two_lock_queue_free"
        | "dglm_queue_free" => QUEUE,
        "orvyy_set" | "vy_cas_set" | "vy_dcas_set" => SET,
        "treiber_stack" => &[
            ("", "Push(1) Push(2) Pop_nonempty()"),
            ("Push(3)", "Push(1) Pop_nonempty() Pop_nonempty()"),
            ("Push(3) Push(4)", "Pop_empty() Pop_nonempty() Pop_nonempty()"),
        ],
        "elimination_stack" => &[
            ("", "Push_eliminated(1) Pop_eliminating() Push_normal(2)"),
            ("Push_normal(3)", "Push_eliminated(1) Pop_eliminating() Pop_normal()"),
            ("Push_normal(3)", "Push_eliminating(1) Pop_eliminated() Pop_normal()"),
        ],
        "timestamped_stack_hindsight" => &[
            ("", "Push_normal(1) Push_normal(2) Pop_normal()"),
            ("Push_normal(3)", "Push_eliminated(1) Pop_normal() Pop_eliminating()"),
            ("Push_normal(3) Push_normal(4)", "Push_normal(1) Pop_normal() Pop_normal()"),
            ("Push_normal(3) Push_normal(4)", "Push_normal(1) Push_normal(2) Pop_normal()"),
        ],
        "lazy_set_hindsight" => &[
            ("", "Add(1) Add(2) Contains_present(1)"),
            ("Add(1)", "Remove(1) Add(2) Contains_absent(1)"),
            ("Add(1) Add(2)", "Remove(1) Remove(2) Contains_present(2)"),
        ],
        "pair_snapshot" => &[
            ("", "Write(0,1) Write(1,1) Read_pair()"),
            ("", "Write(0,1) Write(0,2) Read_pair()"),
            ("Write(0,3)", "Write(0,1) Write(1,2) Read_pair()"),
        ],
        _ => &[
            ("", "Rdcss(1,1,2) Cas_write(1,2) Rdcss_read()"),
            ("", "Rdcss(1,1,2) Rdcss(1,1,3) Rdcss_read()"),
            ("Cas_write(1,2)", "Rdcss(1,1,2) Cas_write(2,1) Rdcss_read()"),
        ],
    }
}

/// `Push(1) Pop()`: calls with their arguments.
fn calls(model: &Model, text: &str) -> Vec<Instance> {
    let call = |call: &str| {
        let (name, arguments) = call.trim_end_matches(')').split_once('(').expect("a call");
        let operation = model.operation(name).expect("an operation");
        let arguments = arguments.split(',').filter(|text| !text.is_empty());
        let arguments: Vec<Value> =
            arguments.map(|text| Value::Int(text.parse().expect("a number"))).collect();
        Instance::new(model, operation, &arguments)
    };
    text.split_whitespace().map(call).collect()
}

/// A comparison deleted, a step split, an assignment of a mark left out. The sequential runs of the
/// changed operations are what they are compared with, so many changes keep the operations
/// linearizable: those that are proved must pass brute force.
#[test]
fn mutants_are_proved_only_where_brute_force_agrees() {
    let (mut proved, mut rejected) = (0, 0);
    for name in PROVED {
        for mutant in mutants(&model(name)) {
            if !prove(&mutant.model, &Options::default()).is_proved() {
                rejected += 1;
                continue;
            }
            proved += 1;
            for (prologue, concurrent) in cases(name) {
                let case = Case {
                    prologue: calls(&mutant.model, prologue),
                    concurrent: calls(&mutant.model, concurrent),
                };
                if let Judged::Violated(found) =
                    judge(&mutant.model, &case, Comparison::Observations, 30_000)
                {
                    panic!(
                        "{name}, {}: proved, but violated\n{}",
                        mutant.change,
                        found.render(&mutant.model)
                    );
                }
            }
        }
    }
    println!("{proved} proved, {rejected} not");
    assert!(rejected > 50, "{proved} proved, {rejected} not");
}

/// Figure 5, as printed, between the sub-operations that it lists.
#[test]
fn figure_5() {
    let tables = prove(&model("ms_queue"), &Options::default()).tables();
    let listed = |name: &str| ["d", "e", "f", "h"].contains(&name);
    let mut text = String::new();
    for pair in tables.pairs.iter().filter(|pair| listed(&pair.first) && listed(&pair.second)) {
        let not = if pair.orderable { "" } else { "¬ " };
        let condition = if pair.orderable { pair.condition.join(", ") } else { String::new() };
        let reversible = if pair.reversible { " ⊖" } else { "" };
        let line = format!("{not}{} ≀ {}{reversible} {condition}", pair.first, pair.second);
        text += &format!("{}\n", line.trim_end());
    }
    expect_test::expect![[r#"
        ¬ d ≀ d
        ¬ d ≀ e
        d ≀ f ⊖ Q.head != Q.tail
        ¬ d ≀ h
        e ≀ d
        ¬ e ≀ e
        e ≀ f
        ¬ e ≀ h
        f ≀ d ⊖
        f ≀ e ⊖
        f ≀ f
        f ≀ h
        h ≀ d
        ¬ h ≀ e
        ¬ h ≀ f
        h ≀ h
    "#]]
    .assert_eq(&text);
}
