//! Several models in one table: what came of each, by which engine, and whether that was expected.

use crate::html::document;
use crate::{SummaryPage, SummaryRow, escaped, escaped_lines};
use linchpin_verdict::{Verdict, counted};
use maud::html;

/// Text as it is, as a self-contained page.
pub fn plain_page(title: &str, text: &str) -> String {
    document(title, &html! { h1 { (escaped(title)) } pre { (escaped_lines(text)) } })
}

/// What came of one model.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchRow {
    /// The file.
    pub file: String,
    /// The verdict; `None` if there is none.
    pub verdict: Option<Verdict>,
    /// Whether two engines contradict each other.
    pub is_contradiction: bool,
    /// Its reason.
    pub reason: String,
    /// The engine that decides.
    pub by: Option<String>,
    /// How long it took.
    pub seconds: Option<f64>,
    /// Whether the verdict is the one that the model's header promises; `None` if it promises none.
    pub as_expected: Option<bool>,
    /// Whether it was known from an earlier run.
    pub is_remembered: bool,
    /// Where the page about it is, as seen from that of the table.
    pub link: Option<String>,
}

impl BatchRow {
    /// A file of which nothing is known: it could not be read.
    pub fn new(file: String) -> BatchRow {
        BatchRow {
            file,
            verdict: None,
            is_contradiction: false,
            reason: String::new(),
            by: None,
            seconds: None,
            as_expected: None,
            is_remembered: false,
            link: None,
        }
    }

    /// The verdict, or why there is none.
    fn word(&self, word: &dyn Fn(Verdict) -> String) -> String {
        match self.verdict {
            Some(verdict) => word(verdict),
            None if self.is_contradiction => "INTERNAL ERROR".to_owned(),
            None => "not verified: see the error".to_owned(),
        }
    }

    fn seconds_words(&self) -> String {
        match self.seconds {
            Some(_) if self.is_remembered => "remembered".to_owned(),
            Some(seconds) => format!("{seconds:.2} s"),
            None => String::new(),
        }
    }

    fn expected_words(&self) -> &'static str {
        match self.as_expected {
            Some(true) => "as expected",
            Some(false) => "NOT AS EXPECTED",
            None => "",
        }
    }
}

/// Several models.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// The table.
    pub rows: Vec<BatchRow>,
}

impl Batch {
    /// The table as people read it; `word` shows a verdict, perhaps coloured.
    pub fn text(&self, word: &dyn Fn(Verdict) -> String) -> String {
        let files: Vec<String> =
            self.rows.iter().map(|row| escaped(&row.file).to_string()).collect();
        let plain = |verdict: Verdict| verdict.to_string();
        let width = |of: &dyn Fn(&BatchRow) -> usize| self.rows.iter().map(of).max().unwrap_or(0);
        let file_width = files.iter().map(|file| file.chars().count()).max().unwrap_or(0);
        let word_width = width(&|row| row.word(&plain).chars().count());
        let by_width = width(&|row| row.by.as_ref().map_or(0, |by| by.chars().count()));
        let seconds_width = width(&|row| row.seconds_words().chars().count());
        let mut text = format!("\n{}:\n", self.headline());
        for (row, file) in self.rows.iter().zip(&files) {
            // Colours take no room: they are added after the width is known.
            let gap = word_width - row.word(&plain).chars().count();
            let line = format!(
                "  {file:<file_width$}  {}{:gap$}  {:<by_width$}  {:>seconds_width$}  {}",
                row.word(word),
                "",
                row.by.as_deref().unwrap_or_default(),
                row.seconds_words(),
                row.expected_words(),
            );
            text += line.trim_end();
            text.push('\n');
        }
        text
    }

    /// How many there are of which kind.
    fn headline(&self) -> String {
        let mut parts = vec![counted(self.rows.len(), "file")];
        let mut add = |count: usize, words: &str| {
            if count > 0 {
                parts.push(format!("{count} {words}"));
            }
        };
        for verdict in Verdict::ALL.into_iter().rev() {
            let count = self.rows.iter().filter(|row| row.verdict == Some(verdict)).count();
            add(count, &verdict.to_string().to_lowercase());
        }
        let count =
            |of: &dyn Fn(&&BatchRow) -> bool| self.rows.iter().filter(|row| of(row)).count();
        add(count(&|row| row.verdict.is_none()), "not verified");
        add(count(&|row| row.as_expected == Some(false)), "NOT AS EXPECTED");
        parts.join(", ")
    }

    /// The table as a self-contained page, with links to the pages of the models.
    pub fn page(&self) -> String {
        let row = |row: &BatchRow| SummaryRow {
            file: row.file.clone(),
            link: row.link.clone(),
            verdict: row.verdict,
            reason: match row.verdict {
                Some(_) => row.reason.clone(),
                None => row.word(&|verdict| verdict.to_string()),
            },
            engine: row.by.clone(),
            seconds: row.seconds,
            expected: row.as_expected,
        };
        let rows = self.rows.iter().map(row).collect();
        SummaryPage { title: "linchpin verify".to_owned(), rows }.render()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch() -> Batch {
        let mut good = BatchRow::new("a.lin".to_owned());
        good.verdict = Some(Verdict::Proved);
        good.by = Some("shape".to_owned());
        good.seconds = Some(1.5);
        good.as_expected = Some(true);
        good.link = Some("page_files/a.lin.html".to_owned());
        let mut bad = BatchRow::new("<b>.lin".to_owned());
        bad.verdict = Some(Verdict::Violated);
        bad.by = Some("refine".to_owned());
        bad.seconds = Some(0.25);
        bad.as_expected = Some(false);
        bad.is_remembered = true;
        let mut clash = BatchRow::new("c.lin".to_owned());
        clash.is_contradiction = true;
        Batch { rows: vec![good, bad, clash, BatchRow::new("d.lin".to_owned())] }
    }

    #[test]
    fn the_columns_line_up() {
        let text = batch().text(&|verdict| verdict.to_string());
        let expected = "
4 files, 1 violated, 1 proved, 2 not verified, 1 NOT AS EXPECTED:
  a.lin    proved                       shape       1.50 s  as expected
  <b>.lin  VIOLATED                     refine  remembered  NOT AS EXPECTED
  c.lin    INTERNAL ERROR
  d.lin    not verified: see the error
";
        assert_eq!(text, expected);
    }

    #[test]
    fn the_page_links_and_escapes() {
        let page = batch().page();
        assert!(page.contains("<a href=\"./page_files/a.lin.html\">a.lin</a>"), "{page}");
        assert!(page.contains("&lt;b&gt;.lin") && !page.contains("<b>"), "{page}");
    }
}
