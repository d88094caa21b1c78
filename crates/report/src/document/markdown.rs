//! A document as Markdown.

use super::{Block, Span, Text};
use crate::escaped;
use std::iter::repeat_n;

/// The document as Markdown.
pub fn markdown(blocks: &[Block]) -> String {
    let blocks: Vec<String> = blocks.iter().map(block).filter(|block| !block.is_empty()).collect();
    blocks.join("\n")
}

/// A block, with the end of its last line.
fn block(block: &Block) -> String {
    match block {
        Block::Heading(level, text) => {
            format!("{} {}\n", "#".repeat(usize::from(*level)), inline(text))
        }
        Block::Paragraph(text) => format!("{}\n", inline(text)),
        Block::Items(items) => items.iter().map(|item| format!("- {}\n", inline(item))).collect(),
        Block::Numbered(items) => {
            (1..).zip(items).map(|(at, item)| format!("{at}. {}\n", inline(item))).collect()
        }
        Block::Table(head, rows) => table(head, rows),
        Block::Lines(lines) => fenced(lines),
        Block::States(states) => {
            let states: Vec<Vec<String>> = states
                .iter()
                .map(|state| {
                    let lines = state.lines().into_iter().map(|line| format!("  {line}"));
                    [format!("{}:", state.caption)].into_iter().chain(lines).collect()
                })
                .collect();
            fenced(&states.concat())
        }
    }
}

fn table(head: &[Text], rows: &[Vec<Text>]) -> String {
    let row = |cells: &[Text]| {
        let cells: Vec<String> =
            cells.iter().map(|text| inline(text).replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule = format!("|{}\n", " --- |".repeat(head.len()));
    row(head) + &rule + &rows.iter().map(|cells| row(cells)).collect::<String>()
}

/// A block of text whose fence is longer than any in it.
fn fenced(lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let longest = lines.iter().map(|line| longest_run(line)).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    let lines: String =
        lines.iter().map(|line| format!("{}\n", escaped(line).trim_end())).collect();
    format!("{fence}text\n{lines}{fence}\n")
}

fn inline(text: &Text) -> String {
    let span = |span: &Span| match span {
        Span::Words(words) => plain(words),
        Span::Code(code) => code_span(code),
        Span::Toned(_, words) => format!("**{}**", plain(words)),
    };
    text.0.iter().map(span).collect()
}

/// Words with the characters written out that would be markup.
fn plain(words: &str) -> String {
    let mut out = String::new();
    for c in escaped(words).chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn code_span(code: &str) -> String {
    let code = escaped(code);
    let fence: String = repeat_n('`', longest_run(&code) + 1).collect();
    match fence.len() {
        1 => format!("`{code}`"),
        _ => format!("{fence} {code} {fence}"),
    }
}

/// How many backticks follow each other at most.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tone;

    #[test]
    fn markup_in_words_is_written_out() {
        let text = Text::from("a *b* <c> `x || y` [d](e)\u{202e}").toned(Tone::Bad, "no_w");
        let shown = "a \\*b\\* \\<c\\> `x || y` \\[d\\](e)\\u{202e}**no\\_w**\n";
        // The backslash of what is escaped is one of the words, too.
        assert_eq!(markdown(&[Block::Paragraph(text.clone())]), shown.replace("\\u", "\\\\u"));
        let table = markdown(&[Block::Table(vec!["h".into()], vec![vec![text]])]);
        assert!(table.starts_with("| h |\n| --- |\n| a "), "{table}");
        assert!(table.contains("`x \\|\\| y`"), "{table}");
    }

    #[test]
    fn fences_are_longer_than_what_they_hold() {
        let lines = Block::Lines(vec!["a ```` b".to_owned(), "c\u{1b}".to_owned()]);
        assert_eq!(markdown(&[lines]), "`````text\na ```` b\nc\\u{1b}\n`````\n");
        assert_eq!(code_span("a ` b"), "`` a ` b ``");
        assert_eq!(markdown(&[Block::paragraph("one ` only")]), "one \\` only\n");
    }
}
