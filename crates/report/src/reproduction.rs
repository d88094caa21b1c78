//! A paper's tables beside what was measured: as text, as Markdown, as a page.
//!
//! A table is columns in labelled groups ("paper", "ours") and rows of cells. A command fills it
//! in; how it is laid out is decided here.

use crate::html::document;
use crate::{escaped, escaped_lines};
use maud::{Markup, html};

/// What was reproduced of one paper.
#[derive(Clone, Debug)]
pub struct Reproduction {
    /// The paper and what of it, such as `Model Checking Linearizability via Refinement, Table 1`.
    pub title: String,
    /// Lines above the tables.
    pub about: Vec<String>,
    /// The tables, in order.
    pub tables: Vec<Comparison>,
    /// What was not measured, and why, if something was not.
    pub missing: Option<String>,
    /// What must be known to read them, a paragraph each.
    pub notes: Vec<String>,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Columns that belong together.
    pub groups: Vec<Group>,
    /// The rows, in order.
    pub rows: Vec<ComparisonRow>,
}

/// Columns that belong together.
#[derive(Clone, Debug)]
pub struct Group {
    /// Whose figures they are, such as `paper`; empty if that is said by the columns.
    pub label: &'static str,
    /// The columns.
    pub columns: Vec<Column>,
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// What stands in it.
    pub name: &'static str,
    /// Whether it holds figures, which are aligned at their last digit.
    pub is_figure: bool,
}

/// A row.
#[derive(Clone, Debug)]
pub struct ComparisonRow {
    /// One for each column.
    pub cells: Vec<String>,
    /// Lines below it, such as a state that refutes a claim.
    pub below: Vec<String>,
}

/// A column of words.
pub const fn words(name: &'static str) -> Column {
    Column { name, is_figure: false }
}

/// A column of figures.
pub const fn figures(name: &'static str) -> Column {
    Column { name, is_figure: true }
}

impl Comparison {
    /// A table without rows.
    pub fn new(groups: &[(&'static str, &[Column])]) -> Comparison {
        let group = |(label, columns): &(&'static str, &[Column])| Group {
            label,
            columns: columns.to_vec(),
        };
        Comparison { groups: groups.iter().map(group).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn push(&mut self, cells: Vec<String>) {
        self.rows.push(ComparisonRow { cells, below: Vec::new() });
    }

    fn columns(&self) -> impl Iterator<Item = Column> + '_ {
        self.groups.iter().flat_map(|group| group.columns.iter().copied())
    }

    fn text(&self) -> String {
        let widths = self.widths();
        let mut text = String::new();
        if self.groups.iter().any(|group| !group.label.is_empty()) {
            text += &self.labels(&widths);
        }
        text += &self.line(&widths, &self.columns().map(|of| of.name).collect::<Vec<_>>());
        for row in &self.rows {
            let cells: Vec<&str> = row.cells.iter().map(String::as_str).collect();
            text += &self.line(&widths, &cells);
            for line in &row.below {
                text += &format!("        {line}\n");
            }
        }
        text
    }

    /// How wide the columns are. Those of a group have room for its label.
    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.columns().enumerate().map(|of| self.width(of)).collect();
        let mut rest = &mut widths[..];
        for group in &self.groups {
            let (of, after) = rest.split_at_mut(group.columns.len());
            let width = of.iter().sum::<usize>() + of.len().saturating_sub(1);
            if let Some(last) = of.last_mut() {
                *last += group.label.chars().count().saturating_sub(width);
            }
            rest = after;
        }
        widths
    }

    /// How wide a column is: as its widest cell.
    fn width(&self, (at, column): (usize, Column)) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.cells.get(at));
        cells.map(|cell| cell.chars().count()).fold(column.name.chars().count(), usize::max)
    }

    /// The line above the columns: each label over its group.
    fn labels(&self, widths: &[usize]) -> String {
        let mut widths = widths.iter();
        let mut parts = Vec::new();
        for group in &self.groups {
            let of: Vec<usize> = widths.by_ref().take(group.columns.len()).copied().collect();
            let width = of.iter().sum::<usize>() + of.len().saturating_sub(1);
            parts.push(format!("{:<width$}", group.label));
        }
        format!("{}\n", parts.join(" | ").trim_end())
    }

    fn line(&self, widths: &[usize], cells: &[&str]) -> String {
        let mut places = widths.iter().zip(cells);
        let mut parts = Vec::new();
        for group in &self.groups {
            let laid_out =
                |(column, (width, cell)): (&Column, (&usize, &&str))| match column.is_figure {
                    true => format!("{cell:>width$}"),
                    false => format!("{cell:<width$}"),
                };
            let of = group.columns.iter().zip(places.by_ref());
            parts.push(of.map(laid_out).collect::<Vec<_>>().join(" "));
        }
        format!("{}\n", parts.join(" | ").trim_end())
    }

    fn markdown(&self) -> String {
        let mut names = Vec::new();
        for group in &self.groups {
            names.extend(group.columns.iter().map(|column| match group.label {
                "" => column.name.to_owned(),
                label => format!("{label}: {}", column.name),
            }));
        }
        let line = |cells: &mut dyn Iterator<Item = String>| {
            format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
        };
        let mut text = line(&mut names.into_iter());
        let rule = |column: Column| if column.is_figure { "---:" } else { "---" }.to_owned();
        text += &line(&mut self.columns().map(rule));
        for row in &self.rows {
            text += &line(&mut row.cells.iter().map(|cell| in_markdown(cell)));
        }
        let below: Vec<&String> = self.rows.iter().flat_map(|row| &row.below).collect();
        if !below.is_empty() {
            text += "\n```text\n";
            for line in below {
                text += &format!("{line}\n");
            }
            text += "```\n";
        }
        text
    }

    fn markup(&self) -> Markup {
        let has_labels = self.groups.iter().any(|group| !group.label.is_empty());
        let class = |column: Column| column.is_figure.then_some("number");
        html! {
            table class="summary" {
                thead {
                    @if has_labels {
                        tr { @for group in &self.groups { th colspan=(group.columns.len()) { (group.label) } } }
                    }
                    tr { @for column in self.columns() { th class=[class(column)] { (column.name) } } }
                }
                tbody {
                    @for row in &self.rows {
                        tr {
                            @for (column, cell) in self.columns().zip(&row.cells) {
                                td class=[class(column)] { (escaped(cell)) }
                            }
                        }
                        @if !row.below.is_empty() {
                            tr { td colspan=(row.cells.len()) { pre { (escaped_lines(&row.below.join("\n"))) } } }
                        }
                    }
                }
            }
        }
    }
}

impl Reproduction {
    /// As text.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n\n", self.title);
        for line in &self.about {
            text += &format!("{line}\n");
        }
        for table in &self.tables {
            text += &table.text();
            text += "\n";
        }
        if let Some(missing) = &self.missing {
            text += &format!("{}\n\n", wrapped(&format!("NOT MEASURED: {missing}")));
        }
        for note in &self.notes {
            text += &format!("{}\n", wrapped(note));
        }
        text += "\n";
        text
    }

    /// As a section of a Markdown document.
    fn markdown(&self) -> String {
        let mut text = format!("## {}\n\n", in_markdown(&self.title));
        for line in &self.about {
            text += &format!("{}\n\n", wrapped(&in_markdown(line)));
        }
        for table in &self.tables {
            text += &table.markdown();
            text += "\n";
        }
        if let Some(missing) = &self.missing {
            text += &format!("{}\n\n", wrapped(&in_markdown(&format!("Not measured: {missing}"))));
        }
        for note in &self.notes {
            text += &format!("{}\n\n", wrapped(&in_markdown(note)));
        }
        text
    }

    fn markup(&self) -> Markup {
        html! {
            h2 { (escaped(&self.title)) }
            @for line in &self.about { p { (escaped(line)) } }
            @for table in &self.tables { (table.markup()) }
            @if let Some(missing) = &self.missing { p { strong { "Not measured: " (escaped(missing)) } } }
            @for note in &self.notes { p { (escaped(note)) } }
        }
    }
}

/// All that was reproduced in a run.
#[derive(Clone, Debug)]
pub struct Reproductions {
    /// The command that was run.
    pub command: String,
    /// The machine it ran on.
    pub machine: String,
    /// Paper by paper.
    pub papers: Vec<Reproduction>,
}

const TITLE: &str = "The papers' tables, measured again";

impl Reproductions {
    /// A Markdown document.
    pub fn markdown(&self) -> String {
        let machine = wrapped(&in_markdown(&format!("Machine: {}.", self.machine)));
        let mut text = format!("# {TITLE}\n\n```sh\n{}\n```\n\n{machine}\n\n", self.command);
        for paper in &self.papers {
            text += &paper.markdown();
        }
        format!("{}\n", text.trim_end())
    }

    /// A page that needs nothing else.
    pub fn page(&self) -> String {
        let body = html! {
            h1 { (TITLE) }
            p { code { (escaped(&self.command)) } }
            p { "Machine: " (escaped(&self.machine)) "." }
            @for paper in &self.papers { (paper.markup()) }
        };
        document(TITLE, &body)
    }
}

/// Text that Markdown shows as it is.
fn in_markdown(text: &str) -> String {
    let mut shown = String::new();
    for character in escaped(text.trim()).chars() {
        if "\\|<>*_`[]#".contains(character) {
            shown.push('\\');
        }
        shown.push(character);
    }
    shown
}

/// Lines of at most 120 characters.
fn wrapped(text: &str) -> String {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= 120 => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn sample() -> Reproduction {
        let mut table = Comparison::new(&[
            ("", &[words("algorithm")]),
            ("paper", &[figures("s"), figures("states")]),
            ("ours", &[figures("s"), words("verdict")]),
        ]);
        let row = |of: [&str; 5]| of.map(str::to_owned).to_vec();
        table.push(row(["stack", "138.00", "540,769", "0.1", "holds"]));
        table.push(row(["a | <b>", "-", "-", ">20.0", "unknown"]));
        table.rows[1].below.push("head → (MIN)".to_owned());
        Reproduction {
            title: "A Paper, Table 1".to_owned(),
            about: vec!["two threads".to_owned()],
            tables: vec![table],
            missing: None,
            notes: vec!["paper: an old machine.".to_owned()],
        }
    }

    #[test]
    fn text_has_labels_above_columns() {
        expect![[r#"
            A Paper, Table 1

            two threads
                      | paper          | ours
            algorithm |      s  states |     s verdict
            stack     | 138.00 540,769 |   0.1 holds
            a | <b>   |      -       - | >20.0 unknown
                    head → (MIN)

            paper: an old machine.

        "#]]
        .assert_eq(&sample().text());
    }

    /// A label that is wider than its columns moves nothing out of line.
    #[test]
    fn columns_have_room_for_their_label() {
        let mut table = Comparison::new(&[
            ("", &[words("object")]),
            ("this machine", &[figures("s")]),
            ("ours", &[figures("s")]),
        ]);
        table.push(["stack", "1.0", "0.1"].map(str::to_owned).to_vec());
        expect![[r#"
                   | this machine | ours
            object |            s |    s
            stack  |          1.0 |  0.1
        "#]]
        .assert_eq(&table.text());
    }

    #[test]
    fn markdown_is_a_document_that_shows_what_is_there() {
        let all = Reproductions {
            command: "linchpin reproduce".to_owned(),
            machine: "a computer, 2 cores".to_owned(),
            papers: vec![sample()],
        };
        expect![[r#"
            # The papers' tables, measured again

            ```sh
            linchpin reproduce
            ```

            Machine: a computer, 2 cores.

            ## A Paper, Table 1

            two threads

            | algorithm | paper: s | paper: states | ours: s | ours: verdict |
            | --- | ---: | ---: | ---: | --- |
            | stack | 138.00 | 540,769 | 0.1 | holds |
            | a \| \<b\> | - | - | \>20.0 | unknown |

            ```text
            head → (MIN)
            ```

            paper: an old machine.
        "#]]
        .assert_eq(&all.markdown());
        let page = all.page();
        assert!(page.contains("<td>a | &lt;b&gt;</td>") && page.contains("colspan=\"2\""));
    }
}
