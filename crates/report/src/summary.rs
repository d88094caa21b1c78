//! Several files: a table with a link to the page of each.

use crate::document::sentence;
use crate::html::document;
use crate::{Tone, escaped};
use linchpin_verdict::{Verdict, counted};
use maud::{Markup, html};

/// A page about several files.
#[derive(Clone, Debug)]
pub struct SummaryPage {
    /// The title, such as `linchpin verify models`.
    pub title: String,
    /// The files, in order.
    pub rows: Vec<SummaryRow>,
}

/// What became of one file.
#[derive(Clone, Debug)]
pub struct SummaryRow {
    /// The file.
    pub file: String,
    /// The page about it, relative to this one.
    pub link: Option<String>,
    /// The verdict; `None` if it could not be verified.
    pub verdict: Option<Verdict>,
    /// The reason, or what is wrong with the file.
    pub reason: String,
    /// The engine that decides.
    pub engine: Option<String>,
    /// How long it took.
    pub seconds: Option<f64>,
    /// Whether it is the verdict that the file says to expect; `None` if it says nothing.
    pub expected: Option<bool>,
}

impl SummaryPage {
    /// The page as HTML that needs nothing else.
    pub fn render(&self) -> String {
        let has_expected = self.rows.iter().any(|row| row.expected.is_some());
        let body = html! {
            h1 { (escaped(&self.title)) }
            (self.counts())
            table class="summary files" {
                thead {
                    tr {
                        th { "file" } th { "verdict" }
                        @if has_expected { th { "as expected" } }
                        th { "engine" } th class="number" { "seconds" } th { "reason" }
                    }
                }
                tbody { @for row in &self.rows { (row.markup(has_expected)) } }
            }
        };
        document(&self.title, &body)
    }

    /// How many files have each verdict, the strongest first.
    fn counts(&self) -> Markup {
        let of = |verdict: Option<Verdict>| {
            self.rows.iter().filter(|row| row.verdict == verdict).count()
        };
        let verdicts = Verdict::ALL.into_iter().rev().map(Some).chain([None]);
        let counts: Vec<(Option<Verdict>, usize)> = verdicts
            .map(|verdict| (verdict, of(verdict)))
            .filter(|(_, count)| *count > 0)
            .collect();
        html! {
            p class="counts" {
                (counted(self.rows.len(), "file"))
                @for (verdict, count) in counts {
                    " " span class=(format!("tone {}", tone(verdict).class())) { (count) " " (word(verdict)) }
                }
            }
        }
    }
}

impl SummaryRow {
    fn markup(&self, has_expected: bool) -> Markup {
        let expected = self.expected.map_or("", |expected| if expected { "✓" } else { "✕ no" });
        html! {
            tr {
                td {
                    @match &self.link {
                        Some(link) => a href=(address(link)) { (escaped(&self.file)) },
                        None => (escaped(&self.file)),
                    }
                }
                td { span class=(format!("tone {}", tone(self.verdict).class())) { (word(self.verdict)) } }
                @if has_expected {
                    td class=[(self.expected == Some(false)).then_some("bad")] { (expected) }
                }
                td { @if let Some(engine) = &self.engine { (escaped(engine)) } }
                td class="number" { @if let Some(seconds) = self.seconds { (format!("{seconds:.2}")) } }
                td { (sentence(&self.reason)) }
            }
        }
    }
}

fn tone(verdict: Option<Verdict>) -> Tone {
    verdict.map_or(Tone::Open, Tone::of_verdict)
}

fn word(verdict: Option<Verdict>) -> String {
    verdict.map_or("not verified".to_owned(), |verdict| verdict.to_string().to_lowercase())
}

/// A relative path as an address: no part of it is taken for a scheme, a query or a fragment.
fn address(path: &str) -> String {
    let mut address = "./".to_owned();
    for byte in path.bytes() {
        let is_plain = byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
        match is_plain {
            true => address.push(char::from(byte)),
            false => address += &format!("%{byte:02X}"),
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(file: &str, verdict: Option<Verdict>) -> SummaryRow {
        SummaryRow {
            file: file.to_owned(),
            link: Some(format!("{file}.html")),
            verdict,
            reason: "the reason".to_owned(),
            engine: Some("refine".to_owned()),
            seconds: Some(1.234),
            expected: None,
        }
    }

    #[test]
    fn every_file_has_a_row_with_a_link_and_a_colour() {
        let rows = vec![
            row("a.lin", Some(Verdict::Proved)),
            row("b.lin", Some(Verdict::Violated)),
            row("c.lin", Some(Verdict::Violated)),
            row("d.lin", Some(Verdict::Inconclusive)),
            SummaryRow { link: None, ..row("e.lin", None) },
            SummaryRow { expected: Some(false), ..row("f.lin", Some(Verdict::HoldsWithinBounds)) },
        ];
        let page = SummaryPage { title: "linchpin verify models".to_owned(), rows }.render();
        for expected in [
            "<a href=\"./a.lin.html\">a.lin</a>",
            "<span class=\"tone bad\">2 violated</span>",
            "<span class=\"tone good\">proved</span>",
            "<span class=\"tone open\">inconclusive</span>",
            "<span class=\"tone open\">not verified</span>",
            "<span class=\"tone within\">holds within bounds</span>",
            "<td>e.lin</td>",
            "<td class=\"bad\">✕ no</td>",
            "<td class=\"number\">1.23</td>",
        ] {
            assert!(page.contains(expected), "{expected}: {page}");
        }
    }

    #[test]
    fn everything_shown_is_escaped() {
        let nasty = "javascript:<script>\"?#\u{202e}";
        let mut nasty_row = row(nasty, Some(Verdict::Proved));
        nasty_row.reason = nasty.to_owned();
        nasty_row.engine = Some(nasty.to_owned());
        let page = SummaryPage { title: nasty.to_owned(), rows: vec![nasty_row] }.render();
        assert!(!page.contains("<script") && !page.contains('\u{202e}'), "{page}");
        assert!(page.contains("href=\"./javascript%3A%3Cscript%3E%22%3F%23"), "{page}");
    }
}
