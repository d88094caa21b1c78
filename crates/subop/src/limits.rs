//! How large a file may be: each limit is far above what anybody needs and low enough that no input costs more than a moment.

/// The longest source in bytes.
pub(crate) const SOURCE: usize = 256 << 10;
/// The longest name in bytes.
pub(crate) const NAME: usize = 100;
/// How deeply conditions and choices may be nested.
pub(crate) const DEPTH: usize = 32;
/// After this many mistakes nothing more is said.
pub(crate) const DIAGNOSTICS: usize = 50;
/// The most structs, the most globals, and the most operations.
pub(crate) const DECLARATIONS: usize = 500;
/// The most fields of a struct, and the most arguments and locals of an operation.
pub(crate) const VARIABLES: usize = 200;
/// The most locals that one sub-operation guesses: each has many values, and all are tried together.
pub(crate) const GUESSES: usize = 6;
/// The most sub-operations of an operation.
pub(crate) const SUB_OPERATIONS: usize = 200;
