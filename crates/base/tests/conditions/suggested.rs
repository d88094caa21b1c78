//! The conditions that are found.

use crate::support::{analysis, source};
use expect_test::{Expect, expect};
use linchpin_base::condition::{Suggestions, Verdict, suggest};
use linchpin_verdict::Limits;
use std::fmt::Write;

fn shown(source: &str, calls: u32) -> String {
    let analysis = analysis(source, calls);
    let Suggestions { conditions, .. } = suggest(&analysis, &Limits::default());
    let mut out = String::new();
    for condition in &conditions {
        let operation = &analysis.space.program().operations[condition.operation].name;
        let step = condition.step.clone().unwrap_or("update".to_owned());
        let _ = write!(out, "{operation} {} {step}: ", condition.line);
        let Some(found) = &condition.found else {
            let _ = writeln!(out, "not expressible in the grammar");
            continue;
        };
        assert!(matches!(found.explored.verdict, Verdict::Holds { .. }));
        let exact = match (found.explored.exact, found.well_formed.as_ref().map(|of| of.exact)) {
            (Some(true), Some(Some(true))) => "exact",
            (Some(true), None) => "exact in explored states",
            _ => "not exact",
        };
        let _ = writeln!(out, "{} ({exact})", found.text);
    }
    out
}

fn check(name: &str, expected: Expect) {
    expected.assert_eq(&shown(&source(name), 2));
}

#[test]
fn of_the_lazy_set() {
    check("lazy_set", expect![[""]]);
}

#[test]
fn of_the_optimistic_set() {
    check("optimistic_set", expect![[""]]);
}

#[test]
fn of_the_pessimistic_set() {
    check("pessimistic_set", expect![[""]]);
}

#[test]
fn of_the_set_with_short_transactions() {
    check("orvyy_set", expect![[""]]);
}

#[test]
fn of_the_set_with_double_cas() {
    check("vy_dcas_set", expect![[""]]);
}

#[test]
fn of_the_stack() {
    check("treiber_stack", expect![[""]]);
}

#[test]
fn of_the_register() {
    check("k_register", expect![[""]]);
}
