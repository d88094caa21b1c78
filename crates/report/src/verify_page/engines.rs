//! What each engine says, with its bounds, its assumptions and what it cost.

use crate::document::sentence;
use crate::{Findings, Tone, escaped};
use linchpin_engine::{Answer, Stat};
use linchpin_verdict::Bound;
use maud::{Markup, html};

impl Findings<'_> {
    pub(super) fn engines(&self) -> Markup {
        html! {
            @if !self.answers.is_empty() {
                section id="engines" {
                    h2 { "What the engines say" }
                    @for answer in self.answers {
                        (engine(answer, self.deciding.is_some_and(|one| std::ptr::eq(one, answer))))
                    }
                }
            }
        }
    }
}

fn engine(answer: &Answer, decides: bool) -> Markup {
    let tone = Tone::of_verdict(answer.verdict).class();
    let word = answer.word();
    html! {
        div class=(format!("engine {tone}")) {
            h3 {
                (escaped(answer.engine)) " "
                span class=(format!("tone {tone}")) { (word) }
                @if decides { span class="soft" { " decides" } }
                @if let Some(seconds) = seconds(answer) { span class="cost" { (seconds) } }
            }
            p { (sentence(&answer.reason)) }
            (details(answer, decides))
        }
    }
}

/// Bounds, assumptions, what was never executed, and more lines for people.
fn details(answer: &Answer, decides: bool) -> Markup {
    let bounds: Vec<String> = answer.bounds.iter().map(Bound::to_string).collect();
    let list = |name: &str, values: &[String]| {
        html! {
            @if !values.is_empty() {
                dt { (name) }
                dd { @for value in values { div { (sentence(value)) } } }
            }
        }
    };
    // What the deciding answer takes for granted has a place of its own.
    let assumed: Vec<String> = match decides {
        true => Vec::new(),
        false => answer.assumptions.iter().map(ToString::to_string).collect(),
    };
    let bounds = if bounds.is_empty() { Vec::new() } else { vec![bounds.join(", ")] };
    html! {
        dl {
            (list("bounds", &bounds))
            (list("assuming", &assumed))
            (list("never executed", &answer.unreached))
            (list("more", &answer.notes))
        }
    }
}

fn seconds(answer: &Answer) -> Option<String> {
    answer.stats.iter().find_map(|(name, stat)| match (*name, stat) {
        ("seconds", Stat::Seconds(seconds)) => Some(format!("{seconds:.2} s")),
        _ => None,
    })
}
