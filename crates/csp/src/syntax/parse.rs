//! The parser. It never fails: it returns a tree and the mistakes it found.
//!
//! Recursive descent: declarations here, then `process.rs` and `expression.rs`. After a mistake in a declaration it skips
//! to the next one.
//!
//! INVARIANT: every loop consumes a token in each round; nesting is limited to [`limits::DEPTH`] and the height of trees to
//! [`limits::HEIGHT`]. So parsing ends on any input, and neither it nor anything that walks the tree exhausts the stack.

use super::ast::*;
use super::token::{KEYWORDS, Token, TokenKind, tokenize};
use crate::limits;
use linchpin_lang::{Diagnostic, Span};

/// Parses a source.
pub(crate) fn parse(source: &str) -> (Source, Vec<Diagnostic>) {
    if source.len() > limits::SOURCE {
        let message = format!("this file is longer than {} KiB", limits::SOURCE >> 10);
        return (
            Source::default(),
            vec![Diagnostic::new(message, Span::default(), "too long for a model")],
        );
    }
    let mut parser = Parser {
        source,
        tokens: tokenize(source),
        at: 0,
        depth: 0,
        height: 0,
        silent_at: None,
        diagnostics: Vec::new(),
    };
    let tree = parser.declarations();
    (tree, parser.diagnostics)
}

pub(super) struct Parser<'s> {
    source: &'s str,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    /// How high the tree being parsed has grown.
    pub(super) height: usize,
    /// The token about which something has been said already.
    silent_at: Option<usize>,
    diagnostics: Vec<Diagnostic>,
}

impl Parser<'_> {
    fn declarations(&mut self) -> Source {
        let mut source = Source::default();
        let mut count = 0;
        while self.peek() != TokenKind::End {
            count += 1;
            if count > limits::DECLARATIONS {
                let message = format!("there are more than {} declarations", limits::DECLARATIONS);
                self.report(Diagnostic::new(message, self.span(), "too many"));
                break;
            }
            let (before, reported) = (self.at, self.diagnostics.len());
            self.declaration(&mut source);
            if self.diagnostics.len() > reported || self.at == before {
                self.skip_to_declaration(before);
            }
        }
        source
    }

    fn declaration(&mut self, source: &mut Source) {
        match self.peek() {
            TokenKind::Define => {
                self.bump();
                let name = self.expect_name("the name of a constant");
                let value = self.expression();
                self.eat(TokenKind::Semicolon);
                source.constants.push((name, value));
            }
            TokenKind::Const => {
                self.bump();
                let name = self.expect_name("the name of a constant");
                self.expect(TokenKind::Equal);
                let value = self.expression();
                self.expect(TokenKind::Semicolon);
                source.constants.push((name, value));
            }
            TokenKind::Var => {
                let variable = self.variable();
                source.variables.push(variable);
            }
            TokenKind::Assert => {
                let assertion = self.assertion();
                source.assertions.push(assertion);
            }
            TokenKind::Name => {
                let definition = self.definition();
                source.processes.push(definition);
            }
            _ => {
                self.expected("a declaration");
                self.bump();
            }
        }
    }

    fn variable(&mut self) -> Variable {
        self.bump();
        let name = self.expect_name("the name of a variable");
        let size = self.eat(TokenKind::OpenBracket).then(|| {
            let size = self.expression();
            self.expect(TokenKind::CloseBracket);
            size
        });
        let range = self.eat(TokenKind::Colon).then(|| {
            self.expect(TokenKind::OpenBrace);
            let from = self.expression();
            self.expect(TokenKind::DotDot);
            let to = self.expression();
            self.expect(TokenKind::CloseBrace);
            (from, to)
        });
        let initial = self.eat(TokenKind::Equal).then(|| {
            let start = self.span();
            if !self.eat(TokenKind::OpenBracket) {
                return Initial::Value(self.expression());
            }
            let items = self.separated(TokenKind::CloseBracket, |parser| {
                let item = parser.expression();
                let times = parser.eat(TokenKind::OpenParen).then(|| {
                    let times = parser.expression();
                    parser.expect(TokenKind::CloseParen);
                    times
                });
                (item, times)
            });
            Initial::List(items, start.to(self.previous_span()))
        });
        self.expect(TokenKind::Semicolon);
        Variable { name, size, range, initial }
    }

    fn assertion(&mut self) -> Assertion {
        let start = self.span();
        self.bump();
        let process = self.process();
        let specification = match self.peek() {
            TokenKind::Refines => {
                self.bump();
                Some(self.process())
            }
            TokenKind::Deadlockfree => {
                self.bump();
                None
            }
            _ => {
                self.expected("`refines` or `deadlockfree`");
                None
            }
        };
        let span = start.to(self.previous_span());
        self.expect(TokenKind::Semicolon);
        Assertion { process, specification, span }
    }

    fn definition(&mut self) -> Definition {
        let name = self.expect_name("the name of a process");
        let parameters = if self.eat(TokenKind::OpenParen) {
            self.separated(TokenKind::CloseParen, |parser| parser.expect_name("a parameter"))
        } else {
            Vec::new()
        };
        if !self.expect(TokenKind::Equal) {
            let body = self.missing_process();
            return Definition { name, parameters, body };
        }
        let body = self.process();
        self.expect(TokenKind::Semicolon);
        Definition { name, parameters, body }
    }

    /// Whether a declaration starts here: then a `;` before it ends one and composes nothing.
    fn at_declaration(&self) -> bool {
        self.declares(self.at)
    }

    /// The same of the place behind the `;` here.
    pub(super) fn declaration_after_semicolon(&self) -> bool {
        self.declares(self.at + 1)
    }

    fn declares(&self, at: usize) -> bool {
        use TokenKind::*;
        match self.kind(at) {
            End | Define | Const | Var | Assert => true,
            Name => {
                let mut at = at + 1;
                if self.kind(at) == OpenParen {
                    at += 1;
                    while matches!(self.kind(at), Name | Comma) {
                        at += 1;
                    }
                    if self.kind(at) != CloseParen {
                        return false;
                    }
                    at += 1;
                }
                self.kind(at) == Equal
            }
            _ => false,
        }
    }

    fn skip_to_declaration(&mut self, before: usize) {
        if self.at == before {
            self.bump();
        }
        loop {
            let after_end =
                self.at > 0 && matches!(self.tokens[self.at - 1].kind, TokenKind::Semicolon);
            let at_keyword = self.peek() != TokenKind::Name && self.at_declaration();
            if at_keyword || (after_end && self.at_declaration()) {
                return;
            }
            self.bump();
        }
    }

    fn kind(&self, at: usize) -> TokenKind {
        self.tokens.get(at).map_or(TokenKind::End, |token| token.kind)
    }

    pub(super) fn peek(&self) -> TokenKind {
        self.kind(self.at)
    }

    pub(super) fn peek_after(&self, distance: usize) -> TokenKind {
        self.kind(self.at + distance)
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

    pub(super) fn bump(&mut self) {
        if self.peek() != TokenKind::End {
            self.at += 1;
        }
    }

    pub(super) fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.peek() == kind && kind != TokenKind::End;
        if found {
            self.bump();
        }
        found
    }

    pub(super) fn expect(&mut self, kind: TokenKind) -> bool {
        let found = self.eat(kind);
        if !found {
            self.expected(kind.describe());
        }
        found
    }

    pub(super) fn expect_name(&mut self, what: &str) -> Ident {
        let span = self.span();
        if self.peek() == TokenKind::Name {
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
            let help = format!("choose another name, such as `{word}_`");
            self.report(Diagnostic::new(message, span, "a keyword cannot be a name").help(help));
        } else {
            self.expected(what);
        }
        Ident { name: String::new(), span }
    }

    /// Says that something else was expected here.
    pub(super) fn expected(&mut self, what: &str) {
        let found = match self.peek() {
            TokenKind::Name | TokenKind::Int if self.text().len() <= limits::NAME => {
                format!("`{}`", self.text())
            }
            TokenKind::Unknown => format!("`{}`", self.text().escape_debug()),
            kind => kind.describe().to_owned(),
        };
        let mut mistake = Diagnostic::new(
            format!("expected {what}, found {found}"),
            self.span(),
            format!("expected {what}"),
        );
        if what == "`;`" {
            // A missing semicolon is best shown where it belongs: after what came before.
            let end = self.previous_span().end;
            mistake.span = Span { start: end, end };
        }
        let help = self.habit(what);
        self.report(mistake.maybe_help(help.map(str::to_owned)));
    }

    /// Advice for what people write who come from the paper or from another tool.
    fn habit(&self, what: &str) -> Option<&'static str> {
        match (self.peek(), self.text()) {
            (TokenKind::Equal, _) if what != "`;`" => Some("compare with `==`"),
            (TokenKind::OrOr, _) if what == "`;`" => Some(
                "there is no synchronising `||`: processes meet through shared variables, `|||` interleaves them",
            ),
            (_, "|" | "~") => Some("there is no internal choice: write `(tau -> P) [] (tau -> Q)`"),
            (_, "?") | (TokenKind::Bang, _) => {
                Some("there are no channels: write events with data, `e.v -> P`")
            }
            (TokenKind::Refines, _) if what == "`;`" => {
                Some("`refines` stands between two processes, after `assert`")
            }
            _ => None,
        }
    }

    pub(super) fn report(&mut self, mistake: Diagnostic) {
        if self.silent_at == Some(self.at) || self.diagnostics.len() >= limits::DIAGNOSTICS {
            return;
        }
        self.silent_at = Some(self.at);
        self.diagnostics.push(mistake);
    }

    /// Runs `parse` one level deeper, or says that this is too deep and answers nothing.
    pub(super) fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= limits::DEPTH {
            let message = format!("this is nested more than {} levels deep", limits::DEPTH);
            let help = "give the inner part a name of its own";
            self.report(Diagnostic::new(message, self.span(), "too deep").help(help));
            self.give_up();
            return None;
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        Some(result)
    }

    /// Counts one more level of the tree; says so and answers true if that is too high.
    pub(super) fn grows_too_high(&mut self, span: Span) -> bool {
        self.height += 1;
        let too_high = self.height > limits::HEIGHT;
        if too_high {
            let help = "give a part of it a name of its own";
            self.report(Diagnostic::new("this is too long", span, "too long").help(help));
            self.give_up();
        }
        too_high
    }

    /// Nothing sensible can be said about the rest of this declaration.
    fn give_up(&mut self) {
        let at_end_of_one = |parser: &Self| {
            parser.peek() == TokenKind::End
                || (parser.peek() != TokenKind::Name && parser.at_declaration())
        };
        while !at_end_of_one(self) {
            self.bump();
        }
        self.silent_at = Some(self.at);
    }

    /// Items separated by commas up to `close`, which is consumed.
    pub(super) fn separated<T>(
        &mut self,
        close: TokenKind,
        mut item: impl FnMut(&mut Self) -> T,
    ) -> Vec<T> {
        let mut items = Vec::new();
        if self.eat(close) {
            return items;
        }
        loop {
            let before = self.at;
            items.push(item(self));
            if items.len() > limits::BRANCHES as usize {
                let message = format!("there are more than {} items here", limits::BRANCHES);
                self.report(Diagnostic::new(message, self.span(), "too many"));
                self.give_up();
                return items;
            }
            if self.eat(close) {
                return items;
            }
            if !self.eat(TokenKind::Comma) || self.at == before {
                self.expected(&format!("`,` or {}", close.describe()));
                return items;
            }
        }
    }
}
