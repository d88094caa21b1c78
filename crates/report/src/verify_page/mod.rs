//! The page of `linchpin verify`: what the engines say, and a run to step through.
//!
//! `engines.rs` says what each engine shows, `proof.rs` what a proof rests on, `figures.rs` the
//! abstract states; a counterexample goes to the script under `assets/verify` as data.

mod engines;
mod figures;
mod proof;
#[cfg(test)]
mod tests;

use crate::document::sentence;
use crate::interleaving::{InterleavingView, Replay};
use crate::roadmap::RoadmapView;
use crate::template::{Parts, page};
use crate::{Findings, escaped};
use linchpin_engine::Counterexample;
use maud::{Markup, PreEscaped, html};
use serde_json::json;

const STYLE: &str = include_str!("../../assets/verify/stage.css");
const STAGE: &str = include_str!("../../assets/verify/stage.html");

/// The script, in the order in which its parts build on each other.
const SCRIPT: [&str; 6] = [
    include_str!("../../assets/verify/model.js"),
    include_str!("../../assets/verify/places.js"),
    include_str!("../../assets/verify/heap.js"),
    include_str!("../../assets/verify/lanes.js"),
    include_str!("../../assets/verify/words.js"),
    include_str!("../../assets/verify/stage.js"),
];

/// The version of the data.
const VERSION: u32 = 1;

impl Findings<'_> {
    /// A self-contained page; `source` is the text of the model.
    pub fn page(&self, source: &str) -> String {
        let title = format!("linchpin verify {}", self.subject);
        let found = self.counterexample();
        let run = found.and_then(|found| self.interleaving(found));
        let body = self.body(found, run.is_some()).into_string();
        let Some(run) = run else {
            return page(&title, &Parts { body: &body, ..Parts::default() });
        };
        let data = json!({
            "version": VERSION,
            "file": escaped(self.subject),
            "source": source.lines().map(escaped).collect::<Vec<_>>(),
            "run": run.to_json(),
        });
        let (data, script) = (data.to_string(), SCRIPT.concat());
        page(&title, &Parts { style: STYLE, body: &body, script: Some((&data, &script)) })
    }

    /// The counterexample step by step, as far as it is known.
    pub(crate) fn interleaving(&self, found: &Counterexample) -> Option<InterleavingView> {
        let replayed =
            self.program.and_then(|program| Replay { program, memory: self.memory, found }.view());
        let known = || (!found.steps.is_empty()).then(|| InterleavingView::of_steps(&found.steps));
        replayed.or_else(known).filter(|view| !view.steps.is_empty())
    }

    fn body(&self, found: Option<&Counterexample>, has_run: bool) -> Markup {
        let head = html! {
            header class="top" {
                h1 class=(format!("verdict {}", self.tone().class())) { (sentence(&self.sentence())) }
                p class="about" { (sentence(&self.about(found))) }
                @if let Some(found) = found { (possible(found)) }
            }
        };
        html! {
            @if has_run { div class="screen" { (head) (PreEscaped(STAGE)) } } @else { (head) }
            article {
                @if let Some(found) = found { (trace(found, has_run)) }
                (self.taken_for_granted())
                (self.engines())
                @for shown in self.answers.iter().filter_map(|answer| answer.proof.as_deref()) {
                    (proof::markup(shown))
                }
                @for figures in self.answers.iter().filter_map(figures::figures) {
                    (part(&figures.heading, found.is_some(), &figures.markup()))
                }
                (self.roadmaps(found.is_some()))
            }
        }
    }

    /// What was verified; beside a counterexample also within which bounds.
    fn about(&self, found: Option<&Counterexample>) -> String {
        let title = format!("linchpin verify {}", self.subject);
        match (found, self.reason()) {
            (Some(found), reason) if !reason.is_empty() && found.explanation != reason => {
                format!("{title} · {reason}")
            }
            _ => title,
        }
    }

    /// What the answer that decides takes for granted.
    fn taken_for_granted(&self) -> Markup {
        let assumptions = self.deciding.map_or(&[][..], |deciding| &deciding.assumptions);
        html! {
            @if !assumptions.is_empty() {
                section id="assumed" {
                    h2 { "What is taken for granted" }
                    ul { @for assumption in assumptions { li { (sentence(&assumption.to_string())) } } }
                }
            }
        }
    }

    /// The roadmaps among the answers, as parts of a page.
    fn roadmaps(&self, folded: bool) -> Markup {
        // The counterexample is on the page already.
        let others = Findings { answers: &[], ..*self };
        let roadmaps = self.answers.iter().filter_map(|answer| answer.roadmap.as_deref());
        html! {
            @for roadmap in roadmaps {
                (part("The proof roadmap", folded, &html! {
                    h2 { "The proof roadmap" }
                    (RoadmapView { findings: others, roadmap }.markup())
                }))
            }
        }
    }
}

/// A part of the page; folded where a counterexample says all that most people want to know.
fn part(name: &str, folded: bool, inside: &Markup) -> Markup {
    html! {
        @if folded {
            details { summary { (escaped(name)) } (inside) }
        } @else {
            section { (inside) }
        }
    }
}

/// What the object could be, just before what nothing explains.
fn possible(found: &Counterexample) -> Markup {
    const SHOWN: usize = 6;
    let shown = found.possible.iter().take(SHOWN);
    let more = found.possible.len().saturating_sub(SHOWN);
    html! {
        @if !found.possible.is_empty() {
            p class="about" {
                "The object could be, before the last response: "
                @for (at, state) in shown.enumerate() {
                    @if at > 0 { "; " }
                    code { (escaped(state)) }
                }
                @if more > 0 { "; and " (more) " more" }
            }
        }
    }
}

/// The visible events where there is no run of a model, and what there is to say where there are no
/// steps.
fn trace(found: &Counterexample, has_run: bool) -> Markup {
    html! {
        @if !found.trace.is_empty() {
            section id="trace" {
                h2 { "The trace" }
                ol class="trace" { @for event in &found.trace { li { code { (escaped(event)) } } } }
            }
        }
        @if !has_run && !found.text.is_empty() {
            section {
                h2 { "What goes wrong" }
                pre { @for line in found.text.lines() { (escaped(line)) "\n" } }
            }
        }
    }
}
