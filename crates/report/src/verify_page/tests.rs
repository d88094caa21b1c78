//! What is on the pages; how they look and step is tested in a browser.

use crate::Findings;
use linchpin_engine::{
    Answer, Counterexample, FactsShown, PairRelation, PairShown, ProofShown, Step, Wrong,
};
use linchpin_ir::interpreter::Memory;
use linchpin_verdict::{Assumption, Verdict};

fn page(answer: Answer) -> String {
    let answers = [answer];
    let findings = Findings {
        subject: "model.lin",
        program: None,
        memory: Memory::Collected,
        verdict: answers[0].verdict,
        deciding: answers.first(),
        answers: &answers,
        contradiction: None,
        in_detail: false,
        columns: 100,
    };
    findings.page("line one\n<script>alert(1)</script>\n")
}

#[test]
fn the_colour_tells_how_much_was_shown() {
    let colours = [
        (Verdict::Proved, "good"),
        (Verdict::ProvedIfSequential, "within"),
        (Verdict::HoldsWithinBounds, "within"),
        (Verdict::Inconclusive, "open"),
        (Verdict::Violated, "bad"),
    ];
    for (verdict, class) in colours {
        let page = page(Answer::new("refine", verdict, "for a reason"));
        let heading = format!("<h1 class=\"verdict {class}\">");
        assert!(page.contains(&heading), "{verdict}: {page}");
        assert!(page.contains(&format!("<span class=\"tone {class}\">")), "{verdict}");
    }
}

fn shown(text: &str) -> ProofShown {
    let pair = |first, second, relation, condition: &[String]| PairShown {
        first,
        second,
        relation,
        condition: condition.to_vec(),
    };
    ProofShown {
        facts: vec![FactsShown {
            at: format!("after a {text}"),
            hold: vec![format!("x == y {text}")],
            if_completed: vec![format!("z != y {text}")],
            dropped: vec![(format!("w {text}"), format!("broken by b {text}"))],
        }],
        sub_operations: vec![format!("a {text}"), format!("b {text}")],
        pairs: vec![
            pair(0, 0, PairRelation::Reversible, &[]),
            pair(0, 1, PairRelation::Ordered, &[format!("head == tail {text}")]),
            pair(1, 0, PairRelation::NotOrderable, &[]),
            pair(1, 1, PairRelation::Boundary, &[]),
        ],
        interactions: vec![(format!("a₁ – b₂ {text}"), vec![format!("x₁ = y₂ {text}")])],
    }
}

#[test]
fn a_proof_shows_its_facts_its_pairs_and_what_it_assumes() {
    let mut answer = Answer::new("reduce", Verdict::Proved, "for any number of threads");
    answer.assumptions = vec![Assumption::SequentialConsistency];
    answer.proof = Some(Box::new(shown("")));
    let page = page(answer);
    for part in [
        "x == y",
        "z != y",
        "if it is to complete",
        "broken by b",
        "sequential consistency",
        "<td class=\"good\"",
        "≀<sup>1</sup>",
        "head == tail",
        "x₁ = y₂",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("<script"), "nothing to step through");
}

#[test]
fn processes_show_their_trace_beside_the_source() {
    let mut found = Counterexample::new(Wrong::Trace, "no such trace");
    found.trace = vec!["push_inv.0".to_owned(), "pop_res.1".to_owned()];
    let step = |text: &str, line| Step {
        thread: None,
        operation: String::new(),
        line: Some(line),
        text: text.to_owned(),
    };
    found.steps = vec![step("push_inv.0", 1), step("τ tau", 2), step("pop_res.1", 2)];
    let mut answer = Answer::new("refine", Verdict::Violated, "it does not hold");
    answer.counterexample = Some(Box::new(found));
    let page = page(answer);
    assert!(page.contains("<li><code>pop_res.1</code></li>"), "{page}");
    assert!(page.contains(r#""text":"τ tau""#) && page.contains("id=\"lines\""), "{page}");
    // The source is data, in which nothing ends the script.
    assert!(page.contains(r"\u003cscript>alert(1)\u003c/script>"), "{page}");
}

#[test]
fn everything_shown_is_escaped() {
    let nasty = "<script>alert(1)</script>\u{202e}";
    let mut found = Counterexample::new(Wrong::Trace, nasty);
    found.trace = vec![nasty.to_owned()];
    found.possible = vec![nasty.to_owned()];
    found.text = nasty.to_owned();
    let mut answer = Answer::new("refine", Verdict::Violated, nasty);
    answer.notes = vec![nasty.to_owned()];
    answer.unreached = vec![nasty.to_owned()];
    answer.assumptions = vec![Assumption::Other(nasty.to_owned())];
    answer.proof = Some(Box::new(shown(nasty)));
    answer.counterexample = Some(Box::new(found));
    let page = page(answer);
    assert!(!page.contains("<script") && !page.contains('\u{202e}'), "{page}");
    assert!(page.matches("&lt;script&gt;").count() > 15, "{page}");
}
