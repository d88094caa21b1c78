//! The parser. It never fails: it returns a tree and the mistakes it found.
//!
//! Recursive descent: declarations here, then `process.rs` and `expression.rs`. After a mistake in
//! a declaration it skips to the next one.
//!
//! INVARIANT: every loop consumes a token in each round, so parsing ends on any input.

use super::ast::*;
use super::token::TokenKind;
use crate::limits;
use linchpin_syntax::{Code, Cursor, Diagnostic, Parser as _};
use std::ops::{Deref, DerefMut};

/// Parses a source.
pub(crate) fn parse(source: &str) -> (Source, Vec<Diagnostic>) {
    let mut parser = Parser(Cursor::new(source));
    let tree = parser.declarations();
    (tree, parser.0.into_mistakes())
}

pub(super) struct Parser<'s>(Cursor<'s, TokenKind>);

impl<'s> Deref for Parser<'s> {
    type Target = Cursor<'s, TokenKind>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Parser<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl Parser<'_> {
    fn declarations(&mut self) -> Source {
        let mut source = Source::default();
        let mut count = 0;
        while !self.at_end() {
            count += 1;
            if count > limits::DECLARATIONS {
                let message = format!("there are more than {} declarations", limits::DECLARATIONS);
                let mistake = Diagnostic::new(Code::TooLarge, message, self.span(), "too many");
                self.report(mistake);
                break;
            }
            let (before, reported) = (self.position(), self.mistakes());
            self.declaration(&mut source);
            if self.mistakes() > reported || self.position() == before {
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
            let items = self.listed(TokenKind::CloseBracket, |parser| {
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
            self.listed(TokenKind::CloseParen, |parser| parser.expect_name("a parameter"))
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

    /// Whether a declaration starts so many tokens from here: then a `;` before it ends one and
    /// composes nothing.
    pub(super) fn declares_after(&self, mut distance: usize) -> bool {
        use TokenKind::*;
        match self.peek_after(distance) {
            End | Define | Const | Var | Assert => true,
            Name => {
                distance += 1;
                if self.peek_after(distance) == OpenParen {
                    distance += 1;
                    while matches!(self.peek_after(distance), Name | Comma) {
                        distance += 1;
                    }
                    if self.peek_after(distance) != CloseParen {
                        return false;
                    }
                    distance += 1;
                }
                self.peek_after(distance) == Equal
            }
            _ => false,
        }
    }

    fn skip_to_declaration(&mut self, before: usize) {
        if self.position() == before {
            self.bump();
        }
        loop {
            let may_name =
                self.peek() != TokenKind::Name || self.previous() == Some(TokenKind::Semicolon);
            if may_name && self.declares_after(0) {
                return;
            }
            self.bump();
        }
    }

    /// Items separated by commas up to `close`, which is consumed; not too many of them.
    pub(super) fn listed<T>(
        &mut self,
        close: TokenKind,
        item: impl FnMut(&mut Self) -> T,
    ) -> Vec<T> {
        let span = self.span();
        let items = self.separated(close, item);
        if i64::try_from(items.len()).is_ok_and(|count| count <= limits::BRANCHES) {
            return items;
        }
        let message = format!("there are more than {} items here", limits::BRANCHES);
        self.report_previous(Diagnostic::new(Code::TooLarge, message, span, "too many"));
        Vec::new()
    }
}
