//! Where something stands in a source.

use std::ops::Range;

/// A stretch of the source, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// These bytes. Positions beyond 32 bits, which no accepted source has, become the last one.
    pub fn new(range: Range<usize>) -> Span {
        let position = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span { start: position(range.start), end: position(range.end) }
    }

    /// From the start of `self` to the end of `other`.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The place right behind this one.
    pub fn after(self) -> Span {
        Span { start: self.end, end: self.end }
    }

    /// As a range of bytes.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// What stands there; nothing if the span is not one of this source.
    pub fn text(self, source: &str) -> &str {
        source.get(self.range()).unwrap_or_default()
    }
}

/// Where each line of a source starts.
#[derive(Clone, Debug)]
pub struct Lines(Vec<u32>);

impl Lines {
    /// The lines of a source.
    pub fn new(source: &str) -> Lines {
        let starts = source.match_indices('\n').map(|(at, _)| Span::new(at..at).start + 1);
        Lines(std::iter::once(0).chain(starts).collect())
    }

    /// The line on which the span starts; the first one is 1.
    pub fn line(&self, span: Span) -> u32 {
        let line = self.0.partition_point(|start| *start <= span.start);
        u32::try_from(line).unwrap_or(u32::MAX)
    }
}
