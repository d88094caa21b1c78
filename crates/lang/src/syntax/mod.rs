//! Syntax: tokens, the tree, the parser.

pub mod ast;
mod parse;
mod token;

pub use parse::parse;
pub(crate) use parse::{parse_all, too_long};
pub use token::{KEYWORDS, Token, TokenKind, tokenize};
