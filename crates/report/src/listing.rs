//! A history that no clock orders, as a page: a list, for there are no intervals to draw.

use crate::Tone;
use crate::escaped;
use crate::html::{document, verdict_markup};
use maud::html;

/// A page about such a history.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The title.
    pub title: String,
    /// What it is about, in a sentence.
    pub about: String,
    /// The verdict, in a sentence.
    pub verdict: String,
    /// How it is meant.
    pub tone: Tone,
    /// What there is to say about it.
    pub sentences: Vec<String>,
    /// Names and values worth knowing.
    pub facts: Vec<(String, String)>,
    /// The operations, in the order of their numbers.
    pub operations: Vec<Listed>,
    /// The numbers of operations in the order in which they take effect, if one is known.
    pub order: Option<Vec<usize>>,
}

/// One operation of a [`Listing`].
#[derive(Clone, Debug)]
pub struct Listed {
    /// Who called it.
    pub process: String,
    /// What, and what it answered.
    pub call: String,
    /// Where it stands.
    pub place: String,
    /// The numbers of all that precedes it.
    pub after: Vec<usize>,
    /// Whether it is in the core.
    pub in_core: bool,
}

impl Listing {
    /// The page as HTML that needs nothing else.
    pub fn render(&self) -> String {
        let numbers =
            |all: &[usize]| all.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        let body = html! {
            h1 { (escaped(&self.title)) }
            (verdict_markup(self.tone, &self.verdict))
            p { (escaped(&self.about)) }
            @for sentence in &self.sentences { p { (escaped(sentence)) } }
            dl { @for (name, value) in &self.facts { dt { (escaped(name)) } dd { (escaped(value)) } } }
            h2 { "Operations" }
            p { "Listed, not drawn: precedence is a partial order, and there are no intervals." }
            table {
                tr { th { "#" } th { "process" } th { "call" } th { "after" } th { "where" } th { "core" } }
                @for (at, listed) in self.operations.iter().enumerate() {
                    tr {
                        td { (at) }
                        td { (escaped(&listed.process)) }
                        td { code { (escaped(&listed.call)) } }
                        td { (numbers(&listed.after)) }
                        td { (escaped(&listed.place)) }
                        td { @if listed.in_core { "in the core" } }
                    }
                }
            }
            @if let Some(order) = &self.order {
                h2 { "An order that explains it" }
                p { (numbers(order)) }
            }
        };
        document(&self.title, &body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_shown_is_escaped() {
        let nasty = || "<script>\u{202e}".to_owned();
        let listed = Listed {
            process: nasty(),
            call: nasty(),
            place: nasty(),
            after: vec![3, 4],
            in_core: true,
        };
        let page = Listing {
            title: nasty(),
            about: nasty(),
            verdict: nasty(),
            tone: Tone::Bad,
            sentences: vec![nasty()],
            facts: vec![(nasty(), nasty())],
            operations: vec![listed],
            order: Some(vec![0]),
        };
        let rendered = page.render();
        assert!(!rendered.contains("<script") && !rendered.contains('\u{202e}'), "{rendered}");
        assert_eq!(rendered.matches("&lt;script&gt;\\u{202e}").count(), 10);
        assert!(rendered.contains("3, 4"));
    }
}
