//! The parser. It never fails: it returns a tree and the mistakes it found. The grammar is in
//! [`item`](super::item), [`body`](super::body) and [`condition`](super::condition).
//!
//! INVARIANT: every loop consumes a token in each round, so parsing ends on any input.

use super::ast::File;
use super::token::Kind;
use linchpin_syntax::{Cursor, Diagnostic, Language};
use std::ops::{Deref, DerefMut};

/// The tree, and the mistakes found on the way.
pub(crate) fn parse(source: &str) -> (File, Vec<Diagnostic>) {
    let mut parser = Parser(Cursor::new(source));
    let file = parser.file();
    (file, parser.0.into_mistakes())
}

pub(super) struct Parser<'s>(Cursor<'s, Kind>);

impl<'s> Deref for Parser<'s> {
    type Target = Cursor<'s, Kind>;

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
    /// Skips to the next place where a statement, a sub-operation or an item may start: after a
    /// `;`, or before a brace or keyword.
    pub(super) fn skip_statement(&mut self) {
        while !self.at_end() {
            match self.peek() {
                Kind::Semicolon => return self.bump(),
                Kind::OpenBrace | Kind::CloseBrace | Kind::Either => return,
                kind if kind.starts_item() => return,
                _ => self.bump(),
            }
        }
    }

    /// Consumes the semicolon that ends something, or says that it is missing and skips to where
    /// something else may start.
    pub(super) fn semicolon(&mut self) {
        // The next line most likely starts something new; what is left of this one does not.
        if !self.expect(Kind::Semicolon) && !self.gap().contains('\n') {
            self.skip_statement();
        }
    }
}
