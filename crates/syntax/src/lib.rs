//! What the three languages have in common. Each adds its keywords, its grammar and its advice.
//!
//! [`tokens!`] makes the token kinds of a language; [`Cursor`] goes through the tokens and keeps
//! the mistakes; [`Parser`] adds what recurses: nesting, lists. [`Diagnostic`] is one mistake.
//!
//! INVARIANT: a parser built from these never fails. It returns a tree and the mistakes it found.

mod code;
mod cursor;
mod diagnostic;
pub mod limits;
mod parser;
mod span;
#[cfg(test)]
mod tests;
mod token;

pub use code::Code;
pub use cursor::{Cursor, Ident, Language};
pub use diagnostic::{Diagnostic, Mistakes, nearest};
pub use parser::Parser;
pub use span::{Lines, Span};
pub use token::{Kind, Token, tokenize};
