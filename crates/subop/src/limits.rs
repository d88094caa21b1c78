//! How large a model may be: each limit is far above what is needed and low enough that no input
//! costs more than a moment. The limits of sources are those of [`linchpin_syntax::limits`].

/// The most structs, the most globals, and the most operations.
pub(crate) const DECLARATIONS: usize = 500;
/// The most fields of a struct, and the most arguments and locals of an operation.
pub(crate) const VARIABLES: usize = 200;
/// The most locals that one sub-operation guesses: each has many values, and all are tried
/// together.
pub(crate) const GUESSES: usize = 6;
/// The most sub-operations of an operation.
pub(crate) const SUB_OPERATIONS: usize = 200;
