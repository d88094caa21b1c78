//! The proof roadmap of a model (paper 004, Section 5), for people and scripts.
//!
//! `sections.rs` says what is on it, as blocks of a document; `words.rs` says how far a claim is
//! known; `text.rs` is the short form beside a verdict, `json.rs` the one for scripts.

#[cfg(test)]
mod fixture;
mod json;
mod sections;
#[cfg(test)]
mod tests;
mod text;
mod words;

use crate::document::{markdown, markup};
use crate::html::{document, verdict_markup};
use crate::{Findings, escaped, json as objects};
use linchpin_engine::Roadmap;
use maud::{Markup, html};
use serde_json::{Value as Json, json};

pub use text::brief;
pub use words::{case_count, status_words};

/// A roadmap with the answers that it came with.
#[derive(Clone, Copy, Debug)]
pub struct RoadmapView<'a> {
    /// The answers: of the engine that made the roadmap, and of others that were asked about it.
    pub findings: Findings<'a>,
    /// The roadmap.
    pub roadmap: &'a Roadmap,
}

impl RoadmapView<'_> {
    /// The roadmap as Markdown.
    pub fn markdown(&self) -> String {
        let mut blocks = self.opening();
        blocks.extend(self.sections());
        markdown(&blocks)
    }

    /// The roadmap as a page that needs nothing else.
    pub fn page(&self) -> String {
        let title = format!("linchpin roadmap {}", self.findings.subject);
        let body = html! {
            h1 { (escaped(&title)) }
            (verdict_markup(self.findings.tone(), &self.findings.sentence()))
            (self.markup())
        };
        document(&title, &body)
    }

    /// The roadmap as part of a page.
    pub(crate) fn markup(&self) -> Markup {
        markup(&self.sections())
    }

    /// The object that scripts read.
    pub fn json(&self) -> String {
        let mut object = objects::envelope("roadmap", self.findings.subject);
        let mut insert = |key: &str, value: Json| object.insert(key.to_owned(), value);
        insert("verdict", json!(self.findings.verdict.id()));
        insert("reason", json!(self.findings.reason()));
        insert("roadmap", self.object());
        if let Some(found) = self.findings.counterexample() {
            insert("counterexample", self.findings.counterexample_json(found));
        }
        format!("{}\n", Json::Object(object))
    }
}
