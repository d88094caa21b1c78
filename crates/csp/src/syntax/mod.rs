//! Text to tree: tokens, the tree, the parser.

pub(crate) mod ast;
mod expression;
mod parse;
mod process;
pub(crate) mod token;

pub(crate) use parse::parse;
