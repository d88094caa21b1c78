//! A run as one self-contained page.

use crate::{Timeline, escaped};
use maud::{DOCTYPE, PreEscaped, html};

const STYLE: &str = include_str!("../assets/page.css");

/// A page about a run of a model.
#[derive(Clone, Debug)]
pub struct Page {
    /// The title, such as `linchpin run models/treiber_stack.lin`.
    pub title: String,
    /// How it ended, in a sentence.
    pub verdict: String,
    /// Whether something went wrong.
    pub is_bad: bool,
    /// Names and values worth knowing: seed, bounds, assumptions.
    pub facts: Vec<(String, String)>,
    /// The history.
    pub timeline: Timeline,
    /// The steps, in order; empty if they were not asked for.
    pub rows: Vec<Row>,
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
        let thread = self.process.map_or(String::new(), |thread| format!("thread {thread}"));
        let text = format!("{:>5}  {thread}  {line:<9} {}", self.time, escaped(&self.text));
        text.trim_end().to_owned()
    }
}

impl Page {
    /// The page as HTML that needs nothing else.
    pub fn render(&self) -> String {
        let class = if self.is_bad { "verdict bad" } else { "verdict good" };
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { (escaped(&self.title)) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    h1 { (escaped(&self.title)) }
                    p class=(class) { (escaped(&self.verdict)) }
                    dl { @for (name, value) in &self.facts { dt { (escaped(name)) } dd { (escaped(value)) } } }
                    h2 { "History" }
                    pre class="timeline" { (self.timeline.draw(usize::MAX)) }
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
                }
            }
        };
        page.into_string()
    }
}

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
            is_bad: true,
            facts: vec![(nasty.to_owned(), nasty.to_owned())],
            timeline: Timeline::new(vec![bar]),
            rows: vec![row],
        };
        let rendered = page.render();
        assert!(!rendered.contains("<script"), "{rendered}");
        assert_eq!(rendered.matches("&lt;script&gt;").count(), 8);
        assert!(!rendered.contains('\u{202e}'), "{rendered}");
        assert_eq!(rendered.matches("\\u{202e}").count(), 8);
    }
}
