//! Syntax: tokens, the tree, the parser.

pub mod ast;
mod parse;
mod token;

pub use parse::parse;
pub use token::{KEYWORDS, Token, TokenKind, tokenize};
