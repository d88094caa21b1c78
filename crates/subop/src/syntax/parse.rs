//! The parser's machinery: tokens, recovery, mistakes. The grammar is in [`item`](super::item), [`body`](super::body) and
//! [`condition`](super::condition).
//!
//! INVARIANT: every loop consumes a token in each round and nesting is limited to [`limits::DEPTH`], so parsing ends on any input.

use super::ast::{File, Ident};
use super::token::{KEYWORDS, Kind, Token, tokenize};
use crate::limits;
use linchpin_diagnostic::{Diagnostic, Span};

/// The tree, and the mistakes found on the way.
pub(crate) fn parse(source: &str) -> (File, Vec<Diagnostic>) {
    if source.len() > limits::SOURCE {
        let message = format!("this file is longer than {} KiB", limits::SOURCE >> 10);
        let mistake = Diagnostic::new(message, Span::default(), "too long for a model");
        return (File::default(), vec![mistake]);
    }
    let tokens = tokenize(source);
    let mut parser =
        Parser { source, tokens, at: 0, depth: 0, silent_at: None, diagnostics: Vec::new() };
    let file = parser.file();
    (file, parser.diagnostics)
}

pub(super) struct Parser<'s> {
    source: &'s str,
    tokens: Vec<Token>,
    pub(super) at: usize,
    depth: usize,
    /// The token about which something has been said already.
    silent_at: Option<usize>,
    diagnostics: Vec<Diagnostic>,
}

impl Parser<'_> {
    pub(super) fn peek(&self) -> Kind {
        self.tokens[self.at].kind
    }

    pub(super) fn peek_after(&self, distance: usize) -> Kind {
        self.tokens.get(self.at + distance).map_or(Kind::End, |token| token.kind)
    }

    pub(super) fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    pub(super) fn previous_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    pub(super) fn text(&self) -> &str {
        let span = self.span();
        &self.source[span.start as usize..span.end as usize]
    }

    pub(super) fn at_end(&self) -> bool {
        self.peek() == Kind::End
    }

    pub(super) fn bump(&mut self) {
        if !self.at_end() {
            self.at += 1;
        }
    }

    pub(super) fn eat(&mut self, kind: Kind) -> bool {
        let found = self.peek() == kind;
        if found {
            self.bump();
        }
        found
    }

    /// Consumes this name, a word only where it is expected.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.peek() == Kind::Name && self.text() == word;
        if found {
            self.bump();
        }
        found
    }

    /// Consumes the token or says that it is missing.
    pub(super) fn expect(&mut self, kind: Kind) -> bool {
        let found = self.eat(kind);
        if !found {
            self.expected(kind.describe());
        }
        found
    }

    pub(super) fn expect_name(&mut self, what: &str) -> Ident {
        let span = self.span();
        if self.peek() == Kind::Name {
            if self.text().len() > limits::NAME {
                let message = format!("this name is longer than {} bytes", limits::NAME);
                self.report(Diagnostic::new(message, span, "too long"));
            }
            let name = self.text().to_owned();
            self.bump();
            return Ident { name, span };
        }
        let word = self.text();
        if KEYWORDS.contains(&word) {
            let message = format!("expected {what}, found the keyword `{word}`");
            let mistake = Diagnostic::new(message, span, "a keyword cannot be a name")
                .help(format!("choose another name, such as `{word}_`"));
            self.report(mistake);
        } else {
            self.expected(what);
        }
        Ident { name: String::new(), span }
    }

    /// Says that something else was expected here.
    pub(super) fn expected(&mut self, what: &str) {
        let found = self.found();
        let message = format!("expected {what}, found {found}");
        let mut mistake = Diagnostic::new(message, self.span(), format!("expected {what}"));
        if what == "`;`" {
            // A missing semicolon is best shown where it belongs: after what came before.
            let end = self.previous_span().end;
            mistake.span = Span { start: end, end };
        }
        let help = self.habit(what);
        self.report(mistake.maybe_help(help));
    }

    /// Advice for what people write who have just come from another language.
    fn habit(&self, what: &str) -> Option<String> {
        let advice = match (self.peek(), self.text()) {
            (Kind::Assign, _) => "assignment is written `=`",
            (Kind::Dot | Kind::Arrow, _) if what != "a declaration" => {
                "only one access a term: put `x.next` into a local first, or compare it with one that is never assigned"
            }
            (Kind::Name, "if" | "while" | "loop" | "for") => {
                "an operation is a list of sub-operations: `1 <condition;> statements`; branches are `either { … } or { … }`"
            }
            (Kind::Name, "null" | "nil" | "none") => "the null reference is `NULL`",
            (Kind::Name, "read") => "write `READ`",
            (Kind::Name, "new") => "write `x = malloc node;`",
            (Kind::OpenComment, _) => "close it with `*/`",
            _ => return None,
        };
        Some(advice.to_owned())
    }

    fn found(&self) -> String {
        match self.peek() {
            Kind::Name | Kind::Int if self.text().len() <= limits::NAME => {
                format!("`{}`", self.text())
            }
            Kind::Unknown => format!("`{}`", self.text().escape_debug()),
            kind => kind.describe().to_owned(),
        }
    }

    pub(super) fn report(&mut self, mistake: Diagnostic) {
        if self.silent_at == Some(self.at) || self.diagnostics.len() >= limits::DIAGNOSTICS {
            return;
        }
        self.silent_at = Some(self.at);
        self.diagnostics.push(mistake);
    }

    /// Runs `parse` one level deeper, or says that this is too deep and gives up on the file: there is nothing to learn from
    /// the rest.
    pub(super) fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= limits::DEPTH {
            let message = format!("this is nested more than {} levels deep", limits::DEPTH);
            self.report(Diagnostic::new(message, self.span(), "too deep"));
            self.at = self.tokens.len() - 1;
            self.silent_at = Some(self.at);
            return None;
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        Some(result)
    }

    /// Skips to the next place where a statement, a sub-operation or an item may start: after a `;`, or before a brace or keyword.
    pub(super) fn skip_statement(&mut self) {
        while !self.at_end() {
            match self.peek() {
                Kind::Semicolon => return self.bump(),
                Kind::OpenBrace | Kind::CloseBrace | Kind::Struct | Kind::Initially => return,
                Kind::Invariant | Kind::Relations | Kind::Spec | Kind::Either => return,
                _ => self.bump(),
            }
        }
    }

    /// Consumes the semicolon that ends something, or says that it is missing and skips to where something else may start.
    pub(super) fn semicolon(&mut self) {
        if self.eat(Kind::Semicolon) {
            return;
        }
        self.expected("`;`");
        // The next line most likely starts something new; what is left of this one does not.
        let end = self.previous_span().end as usize;
        let same_line = !self.source[end..self.span().start as usize].contains('\n');
        if same_line {
            self.skip_statement();
        }
    }
}
