//! Syntax: tokens, the tree, the parser.

pub(crate) mod ast;
mod body;
mod condition;
mod item;
mod parse;
mod token;

pub(crate) use parse::parse;
pub(crate) use token::Kind;
