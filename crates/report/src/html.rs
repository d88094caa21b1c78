//! A run as one self-contained page.

use crate::document::sentence;
use crate::picture::svg;
use crate::template::{self, Parts};
use crate::{Timeline, escaped};
use linchpin_engine::Picture;
use linchpin_verdict::Verdict;
use maud::{Markup, PreEscaped, html};

/// A page about a run of a model.
#[derive(Clone, Debug)]
pub struct Page {
    /// The title, such as `linchpin run models/treiber_stack.lin`.
    pub title: String,
    /// How it ended, in a sentence.
    pub verdict: String,
    /// How it is meant.
    pub tone: Tone,
    /// Names and values worth knowing: seed, bounds, assumptions.
    pub facts: Vec<(String, String)>,
    /// The history.
    pub timeline: Timeline,
    /// The steps, in order; empty if they were not asked for.
    pub rows: Vec<Row>,
    /// Pictures, each group under a heading of its own.
    pub figures: Vec<Figures>,
}

/// Pictures under one heading.
#[derive(Clone, Debug)]
pub struct Figures {
    /// The heading.
    pub heading: String,
    /// What there is to say about all of them.
    pub about: String,
    /// The pictures, in order.
    pub all: Vec<Figure>,
    /// What they end with, if they end with something that went wrong.
    pub end: Option<String>,
}

/// A picture and what is said about it.
#[derive(Clone, Debug)]
pub struct Figure {
    /// What is said about it.
    pub caption: String,
    /// The picture.
    pub picture: Picture,
}

/// How a verdict is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Nothing is wrong, and that rests on nothing that was only tried.
    Good,
    /// Nothing is wrong as far as was looked: within bounds, or if sequential executions are right.
    Within,
    /// Something went wrong.
    Bad,
    /// Nothing was decided.
    Open,
}

impl Tone {
    /// That of a verdict.
    pub const fn of_verdict(verdict: Verdict) -> Tone {
        match verdict {
            Verdict::Proved | Verdict::Holds => Tone::Good,
            Verdict::ProvedIfSequential | Verdict::HoldsWithinBounds => Tone::Within,
            Verdict::Violated => Tone::Bad,
            Verdict::Inconclusive => Tone::Open,
        }
    }

    /// What the style sheet calls it.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Tone::Good => "good",
            Tone::Within => "within",
            Tone::Bad => "bad",
            Tone::Open => "open",
        }
    }
}

/// One move of the run.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its number.
    pub time: u64,
    /// The thread that moved; `None` if none can.
    pub process: Option<usize>,
    /// The operation.
    pub operation: String,
    /// The source line, if one is involved.
    pub line: Option<u32>,
    /// What happened.
    pub text: String,
}

impl Row {
    /// The move as a line of text: its number, the thread, the source line, what happened.
    pub fn text(&self) -> String {
        let line = self.line.map_or(String::new(), |line| format!("line {line}"));
        let thread = match self.process {
            Some(thread) => format!("thread {thread}"),
            // A crash has no line, and `recover` no thread.
            None if self.line.is_some() => self.operation.clone(),
            None => String::new(),
        };
        let text = format!("{:>5}  {thread}  {line:<9} {}", self.time, escaped(&self.text));
        text.trim_end().to_owned()
    }
}

impl Page {
    /// The page as HTML that needs nothing else.
    pub fn render(&self) -> String {
        let has_history = !self.timeline.is_empty() || self.figures.is_empty();
        let body = html! {
            h1 { (escaped(&self.title)) }
            (verdict_markup(self.tone, &self.verdict))
            dl { @for (name, value) in &self.facts { dt { (escaped(name)) } dd { (escaped(value)) } } }
            @if has_history {
                h2 { "History" }
                pre class="timeline" { (self.timeline.draw(usize::MAX)) }
            }
            @for figures in &self.figures { (figures.markup()) }
            @if !self.rows.is_empty() {
                h2 { "Steps" }
                table {
                    tr { th { "#" } th { "thread" } th { "operation" } th { "line" } th { "what happened" } }
                    @for row in &self.rows {
                        tr class=(format!("p{}", row.process.unwrap_or(0) % 6)) {
                            td { (row.time) }
                            td { @if let Some(process) = row.process { (process) } }
                            td { (escaped(&row.operation)) }
                            td { @if let Some(line) = row.line { (line) } }
                            td { code { (escaped(&row.text)) } }
                        }
                    }
                }
            }
        };
        document(&self.title, &body)
    }
}

/// A whole page with this body.
pub(crate) fn document(title: &str, body: &Markup) -> String {
    let body = html! { article { (body) } };
    template::page(title, &Parts { body: &body.into_string(), ..Parts::default() })
}

/// The verdict, in its colour.
pub(crate) fn verdict_markup(tone: Tone, verdict: &str) -> Markup {
    html! { p class=(format!("verdict {}", tone.class())) { (sentence(verdict)) } }
}

impl Figures {
    pub(crate) fn markup(&self) -> Markup {
        html! {
            h2 { (escaped(&self.heading)) }
            p { (escaped(&self.about)) }
            p class="legend" { (LEGEND) }
            ol class="figures" {
                @for figure in &self.all {
                    li {
                        figure {
                            figcaption { (escaped(&figure.caption)) }
                            div class="picture" { (PreEscaped(svg(&figure.picture))) }
                        }
                    }
                }
            }
            @if let Some(end) = &self.end { p class="verdict bad" { (escaped(end)) } }
        }
    }
}

/// How pictures are read.
const LEGEND: &str = "A box is a node; a box with two halves is a duo-object: a node of the \
    candidate and, shaded, the node of the reference correlated with it; ~ says that their links \
    agree. A double frame stands for any number of nodes. Dotted: may go there. ∅: null; ∅?: may \
    be null. Names with ʳ are those of the reference.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bar;

    #[test]
    fn everything_shown_is_escaped() {
        let nasty = "<script>alert('x')</script>\u{202e}";
        let bar = Bar { process: 0, label: nasty.to_owned(), from: 0, to: Some(1) };
        let row = Row {
            time: 0,
            process: Some(0),
            operation: nasty.to_owned(),
            line: Some(3),
            text: nasty.to_owned(),
        };
        let page = Page {
            title: nasty.to_owned(),
            verdict: nasty.to_owned(),
            tone: Tone::Bad,
            facts: vec![(nasty.to_owned(), nasty.to_owned())],
            timeline: Timeline::new(vec![bar]),
            rows: vec![row],
            figures: vec![Figures {
                heading: nasty.to_owned(),
                about: nasty.to_owned(),
                all: vec![Figure { caption: nasty.to_owned(), picture: Picture::default() }],
                end: Some(nasty.to_owned()),
            }],
        };
        let rendered = page.render();
        assert!(!rendered.contains("<script"), "{rendered}");
        assert_eq!(rendered.matches("&lt;script&gt;").count(), 12);
        assert!(!rendered.contains('\u{202e}'), "{rendered}");
        assert_eq!(rendered.matches("\\u{202e}").count(), 12);
    }
}
