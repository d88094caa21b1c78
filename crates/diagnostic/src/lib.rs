//! Mistakes in a model, and how they are shown. Every front end uses these.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

/// Longer names are not compared with others.
const LONGEST_NAME: usize = 100;

/// A stretch of the source, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// From the start of `self` to the end of `other`.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// One mistake: what is wrong, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong.
    pub message: String,
    /// Where.
    pub span: Span,
    /// A few words under the caret.
    pub label: String,
    /// Other places that matter, each with a few words.
    pub related: Vec<(Span, String)>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A mistake at `span`, with the words under the caret.
    pub fn new(message: impl Into<String>, span: Span, label: impl Into<String>) -> Diagnostic {
        Diagnostic {
            message: message.into(),
            span,
            label: label.into(),
            related: Vec::new(),
            help: None,
        }
    }

    /// Adds advice.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Adds advice if there is any.
    pub fn maybe_help(mut self, help: Option<String>) -> Diagnostic {
        self.help = self.help.or(help);
        self
    }

    /// Adds another place.
    pub fn related(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.related.push((span, label.into()));
        self
    }

    /// The mistake as people see it: message, source line, caret, advice.
    pub fn render(&self, file: &str, source: &str, color: bool) -> String {
        let range = |span: Span| clamp(source, span);
        let mut snippet = Snippet::source(source)
            .path(file)
            .annotation(AnnotationKind::Primary.span(range(self.span)).label(&self.label));
        for (span, label) in &self.related {
            snippet = snippet.annotation(AnnotationKind::Context.span(range(*span)).label(label));
        }
        let mut group = Level::ERROR.primary_title(&self.message).element(snippet);
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help));
        }
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[group])
    }
}

/// The span cut to the source and to whole characters, so that no renderer can stumble over it.
fn clamp(source: &str, span: Span) -> std::ops::Range<usize> {
    let floor = |mut at: usize| {
        at = at.min(source.len());
        while !source.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = floor(span.start as usize);
    start..floor(span.end as usize).max(start)
}

/// The candidate that `name` most likely means, if one is near enough.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .map(|candidate| (distance(name, candidate, limit), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Levenshtein distance without regard to case, or more than `limit` if it is more. A transposition counts as one.
fn distance(a: &str, b: &str, limit: usize) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    if a.len().abs_diff(b.len()) > limit || a.len() > LONGEST_NAME {
        return limit + 1;
    }
    let mut before_last = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let substitute = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = substitute.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before_last[j - 2] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_finds_typing_mistakes_and_nothing_else() {
        let fields = ["next", "val", "marked"];
        assert_eq!(nearest("nxt", fields), Some("next"));
        assert_eq!(nearest("nexT", fields), Some("next"));
        assert_eq!(nearest("makred", fields), Some("marked"));
        assert_eq!(nearest("top", fields), None);
    }

    #[test]
    fn spans_beyond_the_source_or_inside_characters_are_cut() {
        assert_eq!(clamp("aé", Span { start: 2, end: 99 }), 1..3);
        assert_eq!(clamp("", Span { start: 7, end: 3 }), 0..0);
    }
}
