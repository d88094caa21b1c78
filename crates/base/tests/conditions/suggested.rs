//! The conditions that are found.

use crate::support::{analysis, source};
use expect_test::{Expect, expect};
use linchpin_base::condition::{
    At, SuggestedCondition, Suggestions, Verdict, check_stated, suggest,
};
use linchpin_verdict::Limits;
use std::fmt::Write;

fn shown(source: &str, calls: u32) -> String {
    let analysis = analysis(source, calls);
    let Suggestions { conditions, .. } = suggest(&analysis, &Limits::default());
    paste(source, calls, &conditions);
    let mut out = String::new();
    for condition in &conditions {
        let operation = &analysis.space.program().operations[condition.operation].name;
        let step = match (&condition.step, &condition.at) {
            (Some(step), _) => step.as_str(),
            (None, At::Return(..)) => "return",
            (None, _) => "update",
        };
        let _ = write!(out, "{operation} {} {step}: ", condition.line);
        let found = match &condition.found {
            Ok(found) => found,
            Err(why) => {
                let _ = writeln!(out, "{why}");
                continue;
            }
        };
        let beyond = found.larger.as_ref().map(|of| &of.verdict);
        assert!(!matches!(beyond, Some(Verdict::Refuted(_))));
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

/// Writes the conditions into the model where they belong: it must still be a model, and all must
/// be found to hold there.
fn paste(source: &str, calls: u32, conditions: &[SuggestedCondition]) {
    let mut lines: Vec<String> = source.lines().map(str::to_owned).collect();
    let mut texts = Vec::new();
    let mut last_first: Vec<&SuggestedCondition> = conditions.iter().collect();
    last_first.sort_by_key(|of| std::cmp::Reverse((of.line, matches!(of.at, At::Return(..)))));
    for condition in last_first {
        let Ok(found) = &condition.found else { continue };
        let at = condition.line as usize - 1;
        let annotation = format!("#[base({})]", found.text);
        match condition.at {
            // The return at the end of the code has no statement.
            At::Return(..) if !lines[at].contains("return") => continue,
            At::Return(..) => {
                lines[at] = lines[at].replacen("return", &format!("{annotation} return"), 1);
            }
            _ => lines.insert(at, annotation),
        }
        texts.push(found.text.as_str());
    }
    let pasted = lines.join("\n");
    let checked = check_stated(&analysis(&pasted, calls), &Limits::default());
    for text in texts {
        assert!(checked.conditions.iter().any(|of| of.text == text), "{text} in\n{pasted}");
    }
    for of in &checked.conditions {
        let text = &of.text;
        assert!(matches!(of.explored.verdict, Verdict::Holds { .. }), "{text}");
        let further = of.well_formed.as_ref().map(|of| &of.verdict);
        assert!(matches!(further, None | Some(Verdict::Holds { .. })), "{text}");
    }
}

fn check(name: &str, expected: Expect) {
    expected.assert_eq(&shown(&source(name), 2));
}

#[test]
fn of_the_lazy_set() {
    check(
        "lazy_set",
        expect![[r#"
            contains 39 return false: !exists n: Node { reach(head, next, n) && n.val == e && !n.marked } (exact)
            contains 43 return true: exists n: Node { reach(head, next, n) && n.val == e && !n.marked } (exact)
            add 73 update: reach(head, next, n1) && n1.next == n2 && !n1.marked && !n2.marked && n1.val < e && n2.val > e (exact)
            add 78 return true: reach(head, next, n1) && n1.next == n2 && !n1.marked && !n2.marked && n1.val < e && n2.val > e (exact)
            add 84 return false: reach(head, next, n1) && n1.next == n2 && !n1.marked && !n2.marked && n2.val == e (exact)
            remove 95 update: reach(head, next, n1) && n1.next == n2 && !n1.marked && !n2.marked && n2.val == e (exact)
            remove 98 update: reach(head, next, n1) && n1.next == n2 && !n1.marked && !n2.marked && n2.val == e (exact)
            remove 103 return true: reach(head, next, n1) && n1.next == n2 && !n1.marked && !n2.marked && n2.val == e (exact)
            remove 109 return false: reach(head, next, n1) && n1.next == n2 && !n1.marked && !n2.marked && n1.val < e && n2.val > e (exact)
        "#]],
    );
}

#[test]
fn of_the_optimistic_set() {
    check(
        "optimistic_set",
        expect![[r#"
        add 53 return false: exists n: Node { reach(head, next, n) && n.key == v } (exact)
        add 57 update: reach(head, next, pred) && pred.next == curr && pred.key < v && curr.key > v (exact)
        add 60 return true: !exists n: Node { reach(head, next, n) && n.key == v } (exact)
        remove 77 return false: !exists n: Node { reach(head, next, n) && n.key == v } (exact)
        remove 80 update: reach(head, next, pred) && pred.next == curr && curr.next == next && curr.key == v (exact)
        remove 83 return true: exists n: Node { reach(head, next, n) && n.key == v } (exact)
        contains 99 return false: !exists n: Node { reach(head, next, n) && n.key == v } (exact)
        contains 99 return true: exists n: Node { reach(head, next, n) && n.key == v } (exact)
    "#]],
    );
}

#[test]
fn of_the_pessimistic_set() {
    check(
        "pessimistic_set",
        expect![[r#"
        add 39 update: reach(head, n, pred) && pred.n == curr && pred.d < v && curr.d > v (exact)
        add 44 return false: exists n: Node { reach(head, n, n) && n.d == v } (exact)
        add 44 return true: !exists n: Node { reach(head, n, n) && n.d == v } (exact)
        remove 61 update: reach(head, n, pred) && pred.n == curr && curr.n == s && curr.d == v (exact)
        remove 66 return false: !exists n: Node { reach(head, n, n) && n.d == v } (exact)
        remove 66 return true: exists n: Node { reach(head, n, n) && n.d == v } (exact)
    "#]],
    );
}

#[test]
fn of_the_set_with_short_transactions() {
    check(
        "orvyy_set",
        expect![[r#"
        contains 34 return false: !exists n: E { reach(h, next, n) && n.key == k } (exact)
        contains 34 return true: exists n: E { reach(h, next, n) && n.key == k } (exact)
        remove 46 update: reach(h, next, c) && c.key == k (exact)
        remove 55 return false: !exists n: E { reach(h, next, n) && n.key == k } (exact)
        remove 55 return true: exists n: E { reach(h, next, n) && n.key == k } (exact)
        add 68 update: reach(h, next, c) && c.key > k && !exists n: E { reach(h, next, n) && k <= n.key && n.key < c.key } (exact)
        add 77 return false: exists n: E { reach(h, next, n) && n.key == k } (exact)
        add 77 return true: !exists n: E { reach(h, next, n) && n.key == k } (exact)
    "#]],
    );
}

#[test]
fn of_the_set_with_double_cas() {
    check(
        "vy_dcas_set",
        expect![[r#"
        add 41 return false: exists n: Entry { reach(head, next, n) && n.key == key } (exact)
        add 44 update: reach(head, next, pred) && pred.next == curr && pred.key < key && curr.key > key (exact)
        add 44 return true: !exists n: Entry { reach(head, next, n) && n.key == key } (exact)
        remove 51 return false: !exists n: Entry { reach(head, next, n) && n.key == key } (exact)
        remove 53 update: reach(head, next, pred) && pred.next == curr && curr.next == r && curr.key == key (exact)
        remove 53 return true: exists n: Entry { reach(head, next, n) && n.key == key } (exact)
        contains 66 return false: !exists n: Entry { reach(head, next, n) && n.key == key } (exact)
        contains 66 return true: exists n: Entry { reach(head, next, n) && n.key == key } (exact)
    "#]],
    );
}

#[test]
fn of_the_stack() {
    check(
        "treiber_stack",
        expect![[r#"
            push 23 update: top == t (exact)
            push 23 return: true (exact)
            pop 30 return none: top == null (exact)
            pop 32 update: top == t && t.next == s (exact)
            pop 32 return: top != null (exact)
        "#]],
    );
}

#[test]
fn of_the_register() {
    check(
        "k_register",
        expect![[r#"
            write 21 return: true (exact in explored states)
            write 22 update: !b[v] (exact in explored states)
            write 25 update: b[i] && v > i (exact in explored states)
            read 39 return v: not expressible in the grammar
        "#]],
    );
}
