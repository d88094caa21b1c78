//! A place among the tokens of a source, and the mistakes found so far.

use crate::limits;
use crate::{Code, Diagnostic, Kind, Mistakes, Span, Token, tokenize};

/// A name and where it stands; empty where the parser missed one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ident {
    /// The name.
    pub name: String,
    /// Where it stands.
    pub span: Span,
}

/// What a language says about itself beyond its tokens.
pub trait Language: Kind {
    /// The largest number that can be written.
    const LARGEST: i64;
    /// What to do about a number beyond it.
    const LARGEST_HELP: Option<&'static str> = None;
    /// What to do about something that is nested too deeply or is too long.
    const SPLIT: &'static str;

    /// Whether a declaration starts with this keyword; nothing else contains it.
    fn starts_item(self) -> bool;

    /// Advice for what people write who come from another language, where `expected` was expected.
    fn habit(cursor: &Cursor<'_, Self>, expected: &str) -> Option<&'static str>;
}

/// A place among the tokens of a source, without the comments.
///
/// INVARIANT: the last token is [`Kind::END`], and `at` never goes past it.
pub struct Cursor<'s, K> {
    source: &'s str,
    tokens: Vec<Token<K>>,
    at: usize,
    pub(crate) depth: usize,
    /// An upper bound on the height of the tree being parsed.
    pub(crate) height: usize,
    /// The token about which something has been said already.
    silent_at: Option<usize>,
    /// Whether the source is cut off and a mistake says why: then its end is not reported again.
    cut_off: bool,
    mistakes: Mistakes,
}

impl<'s, K: Language> Cursor<'s, K> {
    /// The start of a source. One that is too long counts as empty, with that as the mistake.
    pub fn new(source: &'s str) -> Self {
        let mut mistakes = Mistakes::default();
        let mut tokens: Vec<Token<K>> = if source.len() > limits::SOURCE {
            mistakes.push(Diagnostic::too_long());
            vec![Token { kind: K::END, span: Span::default() }]
        } else {
            tokenize(source)
        };
        tokens.retain(|token| token.kind != K::COMMENT);
        if let Some(at) = tokens.iter().position(|token| token.kind == K::UNCLOSED_COMMENT) {
            let start = tokens.remove(at).span.range().start;
            let mistake = Diagnostic::new(
                Code::Unclosed,
                "this comment does not end",
                Span::new(start..start + "/*".len()),
                "everything after this is a comment",
            );
            mistakes.push(mistake.help("close it with `*/`"));
        }
        let cut_off = !mistakes.is_empty();
        Cursor { source, tokens, at: 0, depth: 0, height: 0, silent_at: None, cut_off, mistakes }
    }

    /// The whole source.
    pub fn source(&self) -> &'s str {
        self.source
    }

    /// The mistakes found.
    pub fn into_mistakes(self) -> Vec<Diagnostic> {
        self.mistakes.into_vec()
    }

    /// How many mistakes have been found.
    pub fn mistakes(&self) -> usize {
        self.mistakes.len()
    }

    /// Which token is next, as a number that only grows.
    pub fn position(&self) -> usize {
        self.at
    }

    /// What the next token is.
    pub fn peek(&self) -> K {
        self.peek_after(0)
    }

    /// What the token `distance` behind the next one is.
    pub fn peek_after(&self, distance: usize) -> K {
        self.tokens.get(self.at + distance).map_or(K::END, |token| token.kind)
    }

    /// What the token before the next one was; none at the start.
    pub fn previous(&self) -> Option<K> {
        Some(self.tokens[self.at.checked_sub(1)?].kind)
    }

    /// What the token before that was.
    pub fn second_to_last(&self) -> Option<K> {
        Some(self.tokens[self.at.checked_sub(2)?].kind)
    }

    /// Where the next token stands.
    pub fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// Where the token before it stands.
    pub fn previous_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    /// How the next token is written.
    pub fn text(&self) -> &'s str {
        self.span().text(self.source)
    }

    /// How the token `distance` behind the next one is written.
    pub fn text_after(&self, distance: usize) -> &'s str {
        self.tokens.get(self.at + distance).map_or("", |token| token.span.text(self.source))
    }

    /// What stands between the last token and the next one: white space and comments.
    pub fn gap(&self) -> &'s str {
        let gap = self.previous_span().range().end..self.span().range().start;
        self.source.get(gap).unwrap_or_default()
    }

    /// Whether no token is left.
    pub fn at_end(&self) -> bool {
        self.peek() == K::END
    }

    /// Goes on to the next token, if there is one.
    pub fn bump(&mut self) {
        if !self.at_end() {
            self.at += 1;
        }
    }

    /// Consumes the token if it is next.
    pub fn eat(&mut self, kind: K) -> bool {
        let found = self.peek() == kind;
        if found {
            self.bump();
        }
        found
    }

    /// Whether the next token is this name; some names are words only where they are expected.
    pub fn at_word(&self, word: &str) -> bool {
        self.peek() == K::NAME && self.text() == word
    }

    /// Consumes this name if it is next.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.bump();
        }
        found
    }

    /// Consumes the token or says that it is missing.
    pub fn expect(&mut self, kind: K) -> bool {
        let found = self.eat(kind);
        if !found {
            self.expected(&kind.describe());
        }
        found
    }

    /// Consumes a name or says that `what` is missing; then the name is empty.
    pub fn expect_name(&mut self, what: &str) -> Ident {
        let (span, word) = (self.span(), self.text());
        let name = |name: &str| Ident { name: name.to_owned(), span };
        if self.peek() == K::NAME {
            if word.len() > limits::NAME {
                let message = format!("this name is longer than {} bytes", limits::NAME);
                self.report(Diagnostic::new(Code::TooLarge, message, span, "too long"));
            }
            self.bump();
            return name(word);
        }
        if !K::KEYWORDS.iter().any(|(keyword, _)| *keyword == word) {
            self.expected(what);
            return name("");
        }
        let message = format!("expected {what}, found the keyword `{word}`");
        let mistake = Diagnostic::new(Code::Keyword, message, span, "a keyword cannot be a name")
            .help(format!("choose another name, such as `{word}_`"));
        self.report(mistake);
        // Most likely it was meant as a name: go on as if it were one.
        if matches!(self.text_after(1), ":" | "," | "=" | ";" | "(" | ")" | "{" | ".") {
            self.bump();
            return name(word);
        }
        name("")
    }

    /// Consumes the number that is next. One that is none, or too large, is reported and counts as
    /// 0.
    pub fn number(&mut self) -> i64 {
        let digits = self.text().replace('_', "");
        let value = digits.parse::<i64>().ok().filter(|value| *value <= K::LARGEST);
        if value.is_none() {
            let mistake = if digits.bytes().all(|byte| byte.is_ascii_digit()) {
                let message = format!("numbers go up to {}", K::LARGEST);
                Diagnostic::new(Code::Number, message, self.span(), "too large")
                    .maybe_help(K::LARGEST_HELP.map(str::to_owned))
            } else {
                let message = format!("{} is not written in decimal digits", self.found());
                Diagnostic::new(Code::Number, message, self.span(), "not a number")
            };
            self.report(mistake);
        }
        self.bump();
        value.unwrap_or(0)
    }

    /// Says that something else was expected here.
    pub fn expected(&mut self, what: &str) {
        let message = format!("expected {what}, found {}", self.found());
        // A missing semicolon is best shown where it belongs: after what came before.
        let span = if what == "`;`" { self.previous_span().after() } else { self.span() };
        let mistake = Diagnostic::new(Code::Unexpected, message, span, format!("expected {what}"));
        let help = match self.text() {
            "\"" | "'" => Some("there are no strings and characters: use numbers"),
            _ => K::habit(self, what),
        };
        self.report(mistake.maybe_help(help.map(str::to_owned)));
    }

    /// The next token as messages show it.
    pub fn found(&self) -> String {
        let (kind, text) = (self.peek(), self.text());
        let short = (kind == K::NAME || kind == K::INT) && text.len() <= limits::NAME;
        if short || matches!(text, "\"" | "'" | "\\") {
            format!("`{text}`")
        } else if kind == K::UNKNOWN {
            format!("`{}`", text.escape_debug())
        } else {
            kind.describe()
        }
    }

    /// Reports a mistake, unless something has been said about the next token already.
    pub fn report(&mut self, mistake: Diagnostic) {
        if self.silent_at == Some(self.at) || (self.cut_off && self.at_end()) {
            return;
        }
        self.silent_at = Some(self.at);
        self.mistakes.push(mistake);
    }

    /// Reports a mistake about what has just been consumed.
    pub fn report_previous(&mut self, mistake: Diagnostic) {
        self.silent_at = None;
        self.report(mistake);
        self.silent_at = None;
    }

    /// Reports that something is too much, and skips the rest of the declaration: there would be
    /// too much to say about it.
    pub(crate) fn report_excess(&mut self, message: String, span: Span, label: &str) {
        self.report(Diagnostic::new(Code::TooLarge, message, span, label).help(K::SPLIT));
        while !self.at_end() && !self.peek().starts_item() {
            self.bump();
        }
        self.silent_at = Some(self.at);
    }

    /// Counts one more level of the tree; says so and answers true if that is too high.
    pub fn grows_too_high(&mut self, span: Span) -> bool {
        self.height += 1;
        let too_high = self.height > limits::HEIGHT;
        if too_high {
            self.report_excess("this is too long".to_owned(), span, "too long");
        }
        too_high
    }

    /// Skips tokens until one satisfies `stop`, stepping over bracketed groups, but never out of
    /// the enclosing braces.
    pub fn skip_until(&mut self, stop: impl Fn(K) -> bool) {
        let mut open = 0usize;
        while !self.at_end() {
            let text = self.peek().spelling().unwrap_or_default();
            if open == 0 && (stop(self.peek()) || matches!(text, "{" | "}")) {
                return;
            }
            match text {
                "(" | "[" | "#[" | "{" => open += 1,
                ")" | "]" | "}" => open = open.saturating_sub(1),
                _ => {}
            }
            self.bump();
        }
    }
}
