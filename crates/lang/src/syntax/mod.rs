//! Syntax: tokens, the tree, the parser.

pub mod ast;
mod parse;
mod token;

pub use parse::parse;
pub(crate) use parse::{parse_all, parse_calls};
pub use token::{Token, TokenKind, tokenize};
