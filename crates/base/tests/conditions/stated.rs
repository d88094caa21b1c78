//! The conditions that models state.

use crate::support::{analysis, lazy_with, source};
use expect_test::{Expect, expect};
use linchpin_base::Analysis;
use linchpin_base::condition::{CheckedConditions, Verdict, check_stated};
use linchpin_engine::Status;
use linchpin_verdict::Limits;
use std::fmt::Write;

fn checked(source: &str) -> (Analysis, CheckedConditions) {
    let analysis = analysis(source, 2);
    let checked = check_stated(&analysis, &Limits::default());
    (analysis, checked)
}

fn verdict(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Holds { cases } => format!("holds ({cases})"),
        Verdict::Refuted(_) => "refuted".to_owned(),
        Verdict::NeverMet => "never met".to_owned(),
        Verdict::NotChecked(why) => format!("not checked: {why}"),
    }
}

fn summary(source: &str) -> String {
    let (analysis, checked) = checked(source);
    let mut out = String::new();
    for condition in &checked.conditions {
        let operation = &analysis.space.program().operations[condition.stated.claim.operation].name;
        let _ = write!(out, "{operation} {}: {}: ", condition.stated.line, condition.stated.step);
        for judgement in [Some(&condition.explored), condition.well_formed.as_ref()] {
            let Some(judgement) = judgement else { continue };
            let exact = match judgement.exact {
                Some(true) => ", exact",
                Some(false) => ", not exact",
                None => ", never reached",
            };
            let _ = write!(out, "{}{exact}; ", verdict(&judgement.verdict));
        }
        out.push('\n');
    }
    out
}

/// The refutations of a source, drawn.
fn refutations(source: &str) -> String {
    let (analysis, checked) = checked(source);
    let mut out = String::new();
    for condition in &checked.conditions {
        let shown = condition.to_roadmap(&analysis.space, source);
        let Status::Refuted(witness) = shown.status else { continue };
        let _ = writeln!(out, "line {} `{}`: {}", shown.line, shown.step, witness.text);
        for state in &witness.states {
            let _ = writeln!(out, "  {}", state.caption);
            state.lines().iter().for_each(|line| {
                let _ = writeln!(out, "    {line}");
            });
        }
    }
    out
}

fn check(actual: String, expected: Expect) {
    expected.assert_eq(&actual);
}

#[test]
fn the_conditions_of_the_lazy_set_hold() {
    check(
        summary(&source("lazy_set")),
        expect![[r#"
            contains 39: return false: holds (10), exact; holds (11752), exact; 
            contains 43: return true: holds (6), exact; holds (5164), exact; 
            add 73: n1.next := n3: holds (4), exact; holds (2832), exact; 
            add 84: return false: holds (5), exact; holds (3630), exact; 
            add 78: return true: holds (4), exact; holds (2832), exact; 
            remove 95: n2.marked := true: holds (5), exact; holds (3630), exact; 
            remove 98: read n2.next: holds (5), exact; holds (3630), exact; 
            remove 109: return false: holds (4), exact; holds (2832), exact; 
            remove 103: return true: holds (5), exact; holds (3630), exact; 
        "#]],
    );
}

#[test]
fn what_well_formed_means_for_the_lazy_set() {
    let (_, checked) = checked(&source("lazy_set"));
    let facts = checked.well_formed.expect("it is a list");
    check(
        facts.join("\n"),
        expect![[r#"
            Following `next` from `head` comes to every shared object once and then to null.
            `head` is not null.
            The first node has `val` MIN.
            The last node has `val` MAX.
            `val` grows from node to node.
            The first node has `marked` false.
            The last node has `marked` false."#]],
    );
}

#[test]
fn a_marked_node_refutes_the_printed_condition_of_return_true() {
    let source = lazy_with("c.val == e && !c.marked", "c.val == e");
    check(
        refutations(&source),
        expect![[r#"
            line 43 `return true`: The condition holds in this state, which an execution reaches; but from it `contains(1)` alone returns false and never comes to line 43.
              the condition of line 43 holds here for `contains(1)`
                head → (MIN) → c: (1, marked) → (MAX)
                e = 1
        "#]],
    );
}

#[test]
fn a_later_node_refutes_the_printed_condition_with_less_than() {
    let source = lazy_with("e <= n.val && n.val < c.val", "e < n.val && n.val < c.val");
    check(
        refutations(&source),
        expect![[r#"
            line 39 `return false`: The condition holds in this state, which an execution reaches; but from it `contains(1)` alone returns true and never comes to line 39.
              the condition of line 39 holds here for `contains(1)`
                head → (MIN) → (1) → c: (MAX)
                e = 1
        "#]],
    );
}

#[test]
fn a_condition_that_never_holds_is_said_never_to_be_met() {
    let source = lazy_with("c.val == e && !c.marked", "c == null && !c.marked");
    let (analysis, checked) = checked(&source);
    let conditions = checked.conditions.iter().map(|of| of.to_roadmap(&analysis.space, &source));
    let never = conditions.filter(|of| matches!(of.status, Status::NeverMet));
    assert_eq!(never.count(), 1);
}
