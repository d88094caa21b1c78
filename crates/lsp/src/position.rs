//! Bytes of a text as the protocol counts: lines from 0, columns in UTF-16 code units.

use linchpin_syntax::Span;
use lsp_types::{Position, Range};

/// Where each line of a text starts and ends, without what ends it.
#[derive(Clone, Debug)]
pub struct LineIndex {
    /// INVARIANT: never empty; starts and ends are boundaries of characters.
    lines: Vec<(usize, usize)>,
}

impl LineIndex {
    /// The lines of a text. As the protocol says, `\n`, `\r\n` and `\r` end a line.
    pub fn new(text: &str) -> LineIndex {
        let (bytes, mut lines, mut start, mut at) = (text.as_bytes(), Vec::new(), 0, 0);
        while at < bytes.len() {
            let ending = match bytes[at] {
                b'\n' => 1,
                b'\r' => 1 + usize::from(bytes.get(at + 1) == Some(&b'\n')),
                _ => {
                    at += 1;
                    continue;
                }
            };
            lines.push((start, at));
            at += ending;
            start = at;
        }
        lines.push((start, bytes.len()));
        LineIndex { lines }
    }

    /// The byte at a position; one beyond its line, or inside a character, counts as the nearest
    /// one before.
    pub fn offset(&self, text: &str, position: Position) -> usize {
        let line = usize::try_from(position.line).unwrap_or(usize::MAX);
        let Some((start, end)) = self.lines.get(line).copied() else { return text.len() };
        let mut units = usize::try_from(position.character).unwrap_or(usize::MAX);
        for (at, c) in text[start..end].char_indices() {
            let Some(left) = units.checked_sub(c.len_utf16()) else { return start + at };
            units = left;
        }
        end
    }

    /// The position of a byte; one inside a character counts as its start.
    pub fn position(&self, text: &str, offset: usize) -> Position {
        let line = self.lines.partition_point(|(start, _)| *start <= offset).saturating_sub(1);
        let (start, end) = self.lines[line];
        let mut at = offset.clamp(start, end);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let units: usize = text[start..at].chars().map(char::len_utf16).sum();
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Position { line: number(line), character: number(units) }
    }

    /// The positions of a span.
    pub fn range(&self, text: &str, span: Span) -> Range {
        let bytes = span.range();
        let end = bytes.end.max(bytes.start);
        Range { start: self.position(text, bytes.start), end: self.position(text, end) }
    }

    /// The bytes of a range; an end before its start counts as the start.
    pub fn bytes(&self, text: &str, range: Range) -> std::ops::Range<usize> {
        let start = self.offset(text, range.start);
        start..self.offset(text, range.end).max(start)
    }
}
