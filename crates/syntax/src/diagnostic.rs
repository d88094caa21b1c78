//! Mistakes in a model, and how they are shown. Every front end uses these.

use crate::{Code, Span, limits};
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use std::borrow::Cow;
use std::ops::Range;

/// One mistake: what is wrong, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Which kind of mistake it is; `linchpin explain` says more about it.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// Where, unless it is a mistake of a flag.
    pub span: Span,
    /// The flag of the command line that is mistaken, if it is one and not the text.
    pub flag: Option<&'static str>,
    /// A few words under the caret.
    pub label: String,
    /// Other places that matter, each with a few words.
    pub related: Vec<(Span, String)>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A mistake of this kind at `span`, with the words under the caret.
    pub fn new(
        code: Code,
        message: impl Into<String>,
        span: Span,
        label: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic {
            code,
            message: message.into(),
            span,
            flag: None,
            label: label.into(),
            related: Vec::new(),
            help: None,
        }
    }

    /// A mistake of this kind in what a flag of the command line says about a text.
    pub fn of_flag(code: Code, flag: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic { flag: Some(flag), ..Diagnostic::new(code, message, Span::default(), "") }
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

    /// The mistake of a source beyond [`limits::SOURCE`].
    pub fn too_long() -> Diagnostic {
        let message = format!("this file is longer than {} KiB", limits::SOURCE >> 10);
        Diagnostic::new(Code::TooLarge, message, Span::default(), "too long for a model")
    }

    /// The mistake as people see it: message, source line, caret, advice; for a flag no line.
    /// Control characters and direction marks are shown as escapes, so that nothing looks like
    /// something else.
    pub fn render(&self, file: &str, source: &str, color: bool) -> String {
        let escaped = |text: &str| Shown::new(text).text.into_owned();
        let title = Level::ERROR.primary_title(escaped(&self.message)).id(self.code.id());
        let mut group = match self.flag {
            Some(_) => Group::with_title(title),
            None => title.element(self.snippet(file, source)),
        };
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(escaped(help)));
        }
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[group])
    }

    /// The lines of the source that matter, with the words under their carets.
    fn snippet(&self, file: &str, source: &str) -> Snippet<'static, Annotation<'static>> {
        let shown = Shown::new(source);
        let escaped = |text: &str| Shown::new(text).text.into_owned();
        let primary =
            AnnotationKind::Primary.span(shown.range(self.span)).label(escaped(&self.label));
        let related = self.related.iter().map(|(span, label)| {
            AnnotationKind::Context.span(shown.range(*span)).label(escaped(label))
        });
        Snippet::source(shown.text.clone().into_owned())
            .path(escaped(file))
            .annotation(primary)
            .annotations(related)
    }
}

/// Mistakes in the order in which they were found; after [`limits::MISTAKES`] no more are kept.
#[derive(Clone, Debug, Default)]
pub struct Mistakes(Vec<Diagnostic>);

impl Mistakes {
    /// Adds a mistake, if there is room.
    pub fn push(&mut self, mistake: Diagnostic) {
        if !self.is_full() {
            self.0.push(mistake);
        }
    }

    /// Whether exactly this mistake has been found.
    pub fn contains(&self, mistake: &Diagnostic) -> bool {
        self.0.contains(mistake)
    }

    /// Whether nothing more will be kept.
    pub fn is_full(&self) -> bool {
        self.0.len() >= limits::MISTAKES
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them.
    pub fn into_vec(self) -> Vec<Diagnostic> {
        self.0
    }
}

/// A text in which what would not be seen, or would move what is seen, is written as an escape.
struct Shown<'s> {
    source: &'s str,
    text: Cow<'s, str>,
    /// For each escape, where the source goes on behind it, and how much longer the text has
    /// become.
    growth: Vec<(usize, usize)>,
}

impl<'s> Shown<'s> {
    fn new(source: &'s str) -> Shown<'s> {
        let mut shown = Shown { source, text: Cow::Borrowed(source), growth: Vec::new() };
        if !source.contains(hides) {
            return shown;
        }
        let mut text = String::with_capacity(source.len() + 16);
        for (at, c) in source.char_indices() {
            let end = at + c.len_utf8();
            let ends_line = c == '\r' && source[end..].starts_with('\n');
            let is_mark = c == '\u{feff}' && at == 0;
            if hides(c) && !ends_line && !is_mark {
                text.extend(c.escape_debug());
                shown.growth.push((end, text.len() - end));
            } else {
                text.push(c);
            }
        }
        shown.text = Cow::Owned(text);
        shown
    }

    /// Where the span stands in the text, cut to whole characters, so that no renderer stumbles.
    fn range(&self, span: Span) -> Range<usize> {
        let Range { start, end } = clamp(self.source, span);
        self.position(start)..self.position(end)
    }

    fn position(&self, at: usize) -> usize {
        let escapes = self.growth.partition_point(|(end, _)| *end <= at);
        at + escapes.checked_sub(1).map_or(0, |last| self.growth[last].1)
    }
}

/// Whether a character is not seen, or moves what is seen: control characters (except the tab and
/// the line feed), direction marks, line separators, and characters without width.
fn hides(c: char) -> bool {
    match c {
        '\t' | '\n' => false,
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' => true,
        _ => c.is_control(),
    }
}

/// The span cut to the source and to whole characters.
fn clamp(source: &str, span: Span) -> Range<usize> {
    let floor = |mut at: usize| {
        at = at.min(source.len());
        while !source.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let Range { start, end } = span.range();
    let start = floor(start);
    start..floor(end).max(start)
}

/// The candidate that `name` most likely means, if one is near enough.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).clamp(1, 3);
    let name = name.to_lowercase();
    let distance = |candidate: &str| {
        // The distance costs the product of the lengths; names that differ much in length are far.
        let near = name.len() <= limits::NAME && name.len().abs_diff(candidate.len()) <= 2 * limit;
        near.then(|| strsim::osa_distance(&name, &candidate.to_lowercase()))
    };
    let measured = candidates.into_iter().filter_map(|one| Some((distance(one)?, one)));
    let (_, nearest) = measured.filter(|(far, _)| *far <= limit).min_by_key(|(far, _)| *far)?;
    Some(nearest)
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
