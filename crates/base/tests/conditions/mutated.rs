//! Each stated condition of the lazy set with one conjunct left out, judged by the engine and by
//! brute force on the same states.

use crate::brute;
use crate::support::{analysis, program, source};
use expect_test::expect;
use linchpin_base::condition::{
    At, Claim, Sample, Stated, Verdict, WellFormed, explored, judge, stated, well_formed,
};
use linchpin_ir::print::Names;
use linchpin_ir::program::{BinaryOp, Formula};
use linchpin_verdict::Limits;
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write;
use std::slice::from_ref;

fn conjuncts(formula: &Formula, out: &mut Vec<Formula>) {
    match formula {
        Formula::Binary(BinaryOp::And, left, right) => {
            conjuncts(left, out);
            conjuncts(right, out);
        }
        other => out.push(other.clone()),
    }
}

/// The condition itself, then without each of its conjuncts, which is printed.
fn mutants(names: Names<'_>, of: &Claim) -> Vec<(String, Claim)> {
    let mut parts = Vec::new();
    conjuncts(&of.formula, &mut parts);
    let mut all = vec![("itself".to_owned(), of.clone())];
    for left_out in 0..parts.len() {
        let kept = parts.iter().enumerate().filter(|(at, _)| *at != left_out);
        let kept = kept.map(|(_, part)| part.clone());
        let formula = kept
            .reduce(|left, right| Formula::Binary(BinaryOp::And, Box::new(left), Box::new(right)));
        let formula = formula.expect("there are several");
        let label = format!("without {}", names.formula(&parts[left_out]));
        all.push((label, Claim { formula, ..of.clone() }));
    }
    all
}

#[test]
fn the_engine_judges_every_mutant_as_brute_force_does() {
    let source = source("lazy_set");
    let (program, analysis) = (program(&source), analysis(&source, 2));
    let states = brute::shared_states(&program, 2, 2);
    let found = explored(&analysis);
    let space = &analysis.space;
    let mine: BTreeSet<Vec<i64>> =
        states.iter().map(|state| space.at_rest(state).expect("it fits").words).collect();
    assert_eq!(mine.len(), states.len());
    assert_eq!(mine.len(), found.len(), "both explore the same shared states");
    let sample = Sample { space, calls: analysis.shared.calls(), states: &found };
    let further = well_formed(&analysis, &found, 0).expect("it is a list");
    let WellFormed { space, calls, states: more, .. } = &further;
    let beyond = Sample { space, calls, states: more };
    let mut out = String::new();
    for of in stated(&program) {
        let Stated { claim: of, line, step, .. } = of;
        let code = &program.operations[of.operation];
        let _ = writeln!(out, "{} {line}: {step}", code.name);
        let names = Names { program: &program, body: &code.body };
        let At::Edges(places) = &of.at else { panic!("it is stated") };
        let places: HashSet<(u32, usize)> =
            places.iter().map(|(node, edge, _)| (*node, *edge as usize)).collect();
        for (label, mutant) in mutants(names, &of) {
            let judgement = judge(sample, from_ref(&mutant), &Limits::default()).remove(0);
            let is_base = matches!(judgement.verdict, Verdict::Holds { .. });
            let (expected, exact) =
                brute::judge(&program, &states, of.operation, &mutant.formula, &places, 2);
            assert_eq!(is_base, expected, "{label}");
            assert_eq!(judgement.exact, Some(exact), "{label}");
            let further = judge(beyond, from_ref(&mutant), &Limits::default()).remove(0);
            let verdict = match (is_base, matches!(further.verdict, Verdict::Holds { .. })) {
                (true, true) => "holds",
                (true, false) => "refuted by a well-formed state",
                (false, _) => "refuted",
            };
            let _ = writeln!(out, "  {label}: {verdict}");
        }
    }
    expect![[r#"
        contains 39: return false
          itself: holds
          without reach(head, next, c): refuted by a well-formed state
          without c.val >= e: refuted
          without c.marked || c.val != e: refuted
          without !exists n: Node { reach(head, next, n) && e <= n.val && n.val < c.val }: refuted
        contains 43: return true
          itself: holds
          without reach(head, next, c): refuted by a well-formed state
          without c.val == e: refuted
          without !c.marked: refuted
          without !exists n: Node { reach(head, next, n) && e <= n.val && n.val < c.val }: holds
        add 73: n1.next := n3
          itself: holds
          without reach(head, next, n1): refuted by a well-formed state
          without n1.next == n2: refuted
          without !n1.marked: refuted
          without !n2.marked: refuted
          without n1.val < e: refuted
          without e < n2.val: refuted
        add 84: return false
          itself: holds
          without reach(head, next, n1): refuted by a well-formed state
          without n1.next == n2: refuted
          without !n1.marked: refuted
          without !n2.marked: refuted
          without n1.val < e: holds
          without n2.val == e: refuted
        add 78: return true
          itself: holds
          without reach(head, next, n1): refuted by a well-formed state
          without n1.next == n2: refuted
          without !n1.marked: refuted
          without !n2.marked: refuted
          without n1.val < e: refuted
          without e < n2.val: refuted
        remove 95: n2.marked := true
          itself: holds
          without reach(head, next, n1): refuted by a well-formed state
          without n1.next == n2: refuted
          without !n1.marked: refuted
          without !n2.marked: refuted
          without n1.val < e: holds
          without n2.val == e: refuted
        remove 98: read n2.next
          itself: holds
          without reach(head, next, n1): refuted by a well-formed state
          without n1.next == n2: refuted
          without !n1.marked: refuted
          without !n2.marked: refuted
          without n1.val < e: holds
          without n2.val == e: refuted
        remove 109: return false
          itself: holds
          without reach(head, next, n1): refuted by a well-formed state
          without n1.next == n2: refuted
          without !n1.marked: refuted
          without !n2.marked: refuted
          without n1.val < e: refuted
          without e < n2.val: refuted
        remove 103: return true
          itself: holds
          without reach(head, next, n1): refuted by a well-formed state
          without n1.next == n2: refuted
          without !n1.marked: refuted
          without !n2.marked: refuted
          without n1.val < e: holds
          without n2.val == e: refuted
    "#]]
    .assert_eq(&out);
}
