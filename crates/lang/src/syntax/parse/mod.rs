//! The parser. It never fails: it returns a tree and the mistakes it found.
//!
//! Recursive descent, one file per level of the grammar: [`item`], [`statement`], [`expression`];
//! [`reference`](mod@reference) is an item that has items inside; [`foreign`] knows what people
//! write who come from C, Java or Rust. After a mistake it skips to the next place where something
//! can start, and says nothing more about the same token.
//!
//! INVARIANT: every loop consumes a token in each round, so parsing ends on any input.

mod expression;
mod foreign;
mod item;
mod persistence;
mod preload;
mod reference;
mod statement;
#[cfg(test)]
mod tests;

pub(crate) use preload::parse_calls;

use super::ast::Model;
use super::token::TokenKind;
use linchpin_syntax::{Cursor, Diagnostic, Span, nearest};
use std::ops::{Deref, DerefMut};

/// Parses a model.
///
/// ```
/// let (model, mistakes) = linchpin_lang::syntax::parse("spec stack; op push(v: int { }");
/// assert_eq!(model.items.len(), 2);
/// assert_eq!(mistakes[0].message, "expected `,` or `)`, found `{`");
/// ```
pub fn parse(source: &str) -> (Model, Vec<Diagnostic>) {
    let Parsed { model, mistakes, .. } = parse_all(source);
    (model, mistakes)
}

/// What the parser knows in the end.
pub(crate) struct Parsed {
    pub(crate) model: Model,
    pub(crate) mistakes: Vec<Diagnostic>,
    /// Where the `<` and `>` stand that belong to types.
    pub(crate) type_brackets: Vec<u32>,
    /// Where the second `>` of each `>>` stands.
    pub(crate) shifts: Vec<u32>,
}

pub(crate) fn parse_all(source: &str) -> Parsed {
    let cursor = Cursor::new(source);
    let mut parser =
        Parser { cursor, type_brackets: Vec::new(), shifts: Vec::new(), misaligned: None };
    let model = parser.model();
    let mistakes = parser.cursor.into_mistakes();
    Parsed { model, mistakes, type_brackets: parser.type_brackets, shifts: parser.shifts }
}

struct Parser<'s> {
    cursor: Cursor<'s, TokenKind>,
    type_brackets: Vec<u32>,
    shifts: Vec<u32>,
    /// The first `{` whose `}` stands too far left to be meant for it.
    misaligned: Option<Span>,
}

impl<'s> Deref for Parser<'s> {
    type Target = Cursor<'s, TokenKind>;

    fn deref(&self) -> &Self::Target {
        &self.cursor
    }
}

impl DerefMut for Parser<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.cursor
    }
}

/// The most likely spelling of `word` among `known`, as advice.
fn did_you_mean(word: &str, known: &[&str]) -> Option<String> {
    nearest(word, known.iter().copied()).map(|near| format!("did you mean `{near}`?"))
}
