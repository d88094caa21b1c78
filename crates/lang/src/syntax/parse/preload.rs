//! `preload { push(1); pop(); }`: calls that are made before all others. The word is a name
//! elsewhere.

use super::Parser;
use crate::syntax::ast::{PreloadBlock, PreloadCall};
use crate::syntax::token::TokenKind;
use linchpin_syntax::{Cursor, Diagnostic, Language as _, Parser as _, Span};

impl Parser<'_> {
    /// Whether a `preload { }` block is next.
    pub(super) fn at_preload(&self) -> bool {
        self.at_word("preload") && self.peek_after(1) == TokenKind::OpenBrace
    }

    /// The block, of which the word has been read.
    pub(super) fn preload(&mut self, span: Span) -> PreloadBlock {
        self.expect(TokenKind::OpenBrace);
        let mut calls = Vec::new();
        while !matches!(self.peek(), TokenKind::CloseBrace | TokenKind::End)
            && !self.peek().starts_item()
        {
            match self.preload_call() {
                Some(call) => calls.push(call),
                None => self.skip_until(|kind| kind == TokenKind::Semicolon || kind.starts_item()),
            }
            if self.peek() != TokenKind::CloseBrace {
                self.expect(TokenKind::Semicolon);
            }
        }
        self.expect(TokenKind::CloseBrace);
        PreloadBlock { calls, span }
    }

    fn preload_call(&mut self) -> Option<PreloadCall> {
        if self.peek() != TokenKind::Name {
            self.expected("a call of an operation");
            self.bump();
            return None;
        }
        let operation = self.expect_name("a call of an operation");
        let opened = self.expect(TokenKind::OpenParen);
        let arguments = match opened {
            true => self.separated(TokenKind::CloseParen, Self::expression),
            false => Vec::new(),
        };
        opened.then_some(PreloadCall { operation, arguments })
    }
}

/// Calls as they stand in a block, without its braces: `push(1); pop()`.
pub(crate) fn parse_calls(text: &str) -> (Vec<PreloadCall>, Vec<Diagnostic>) {
    let source = format!("{{ {text} }}");
    let mut parser = Parser {
        cursor: Cursor::new(&source),
        type_brackets: Vec::new(),
        shifts: Vec::new(),
        misaligned: None,
    };
    let block = parser.preload(Span::default());
    if !parser.at_end() {
        parser.expected("a call of an operation");
    }
    (block.calls, parser.cursor.into_mistakes())
}
