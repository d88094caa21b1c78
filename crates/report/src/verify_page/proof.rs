//! What a proof rests on: the facts, the table of pairs (Figure 5), the interactions (Figure 13).

use crate::escaped;
use linchpin_engine::{FactsShown, PairRelation, PairShown, ProofShown};
use maud::{Markup, html};

/// The facts and the tables as sections of a page.
pub fn markup(proof: &ProofShown) -> Markup {
    html! {
        @if !proof.facts.is_empty() {
            section id="facts" {
                h2 { "The facts of the proof" }
                p class="soft" { "What holds at each place, whatever the other threads do." }
                div class="facts" { @for facts in &proof.facts { (facts_at(facts)) } }
            }
        }
        @if !proof.pairs.is_empty() { (pairs(proof)) }
        @if proof.interactions.iter().any(|(_, cases)| !cases.is_empty()) { (interactions(proof)) }
    }
}

fn facts_at(facts: &FactsShown) -> Markup {
    html! {
        div class="card" {
            h3 { (escaped(&facts.at)) }
            ul {
                @for fact in &facts.hold { li { code { (escaped(fact)) } } }
                @for fact in &facts.if_completed {
                    li { code { (escaped(fact)) } span class="soft" { " if it is to complete" } }
                }
                @for (fact, reason) in &facts.dropped {
                    li class="dropped" { code { (escaped(fact)) } span class="soft" { " " (escaped(reason)) } }
                }
            }
        }
    }
}

/// The sign of a relation, what the style sheet calls it, and what it means.
const fn sign(relation: PairRelation) -> (&'static str, &'static str, &'static str) {
    match relation {
        PairRelation::Reversible => {
            ("⊖", "good", "can follow it, and the other way round with the same end")
        }
        PairRelation::Ordered => ("≀", "open", "can follow it, and the order matters"),
        PairRelation::NotOrderable => ("¬", "never", "cannot follow it"),
        PairRelation::Boundary => {
            ("┆", "boundary", "the first ends its operation, the second begins one")
        }
    }
}

fn pairs(proof: &ProofShown) -> Markup {
    let names = &proof.sub_operations;
    let find = |first: usize, second: usize| {
        proof.pairs.iter().find(|pair| (pair.first, pair.second) == (first, second))
    };
    let mut conditions: Vec<String> = Vec::new();
    for pair in proof.pairs.iter().filter(|pair| tells(pair)) {
        let condition = pair.condition.join(", ");
        if !conditions.contains(&condition) {
            conditions.push(condition);
        }
    }
    let note = |pair: &PairShown| {
        let condition = pair.condition.join(", ");
        let known = conditions.iter().position(|known| *known == condition);
        known.filter(|_| tells(pair)).map(|at| at + 1)
    };
    let legend = [
        PairRelation::Reversible,
        PairRelation::Ordered,
        PairRelation::NotOrderable,
        PairRelation::Boundary,
    ];
    html! {
        section id="pairs" {
            h2 { "How sub-operations follow each other" }
            p class="soft" { "In the row what is executed first, in the column what comes after it, of another thread." }
            div class="wide" {
                table class="pairs" {
                    tr { th {} @for name in names { th scope="col" { span { (escaped(name)) } } } }
                    @for (first, name) in names.iter().enumerate() {
                        tr {
                            th scope="row" { (escaped(name)) }
                            @for second in 0..names.len() {
                                @if let Some(pair) = find(first, second) {
                                    @let (sign, class, means) = sign(pair.relation);
                                    td class=(class) title=(escaped(&format!("{}, then {}: {means}", name, names[second]))) {
                                        (sign) @if let Some(note) = note(pair) { sup { (note) } }
                                    }
                                } @else { td {} }
                            }
                        }
                    }
                }
            }
            ul class="signs" {
                @for relation in legend {
                    @let (sign, class, means) = sign(relation);
                    li { span class=(format!("sign {class}")) { (sign) } " " (means) }
                }
            }
            @if !conditions.is_empty() {
                p class="soft" { "What is true whenever one follows the other:" }
                ol class="notes" { @for condition in &conditions { li { code { (escaped(condition)) } } } }
            }
        }
    }
}

/// Whether there is a condition to tell.
fn tells(pair: &PairShown) -> bool {
    pair.relation != PairRelation::NotOrderable && !pair.condition.is_empty()
}

fn interactions(proof: &ProofShown) -> Markup {
    html! {
        section id="interactions" {
            h2 { "How operations interact" }
            p class="soft" { "The ways in which the variables of two operations, one after the other, are the same." }
            div class="facts" {
                @for (operations, cases) in proof.interactions.iter().filter(|(_, cases)| !cases.is_empty()) {
                    div class="card" {
                        h3 { (escaped(operations)) }
                        ol { @for case in cases { li { code { (escaped(case)) } } } }
                    }
                }
            }
        }
    }
}
