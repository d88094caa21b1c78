//! How large a model and its states may be.
//!
//! Each limit is far above what a checkable model needs and low enough that no source, however it
//! was made, exhausts the stack, the memory or the user's patience. A model beyond one is told
//! which. The limits of sources are those of [`linchpin_syntax::limits`].

/// The most declarations in one model.
pub(crate) const DECLARATIONS: usize = 1000;

/// The most parameters of a process, data of an event, bound names in one process.
pub(crate) const PARAMETERS: usize = 64;

/// The most integers and booleans that all shared variables hold together.
pub(crate) const CELLS: i64 = 4096;

/// The most branches of one indexed choice or interleaving, and rounds of one `for`.
pub(crate) const BRANCHES: i64 = 1024;

/// How deeply a process may unfold (calls, branches, operators) before it offers an event.
pub(crate) const UNFOLDING: usize = 256;

/// How many operators and calls one step may unfold.
pub(crate) const UNFOLDED: usize = 20_000;

/// How many operators the process of one state may have, so that unbounded recursion stops early
/// with a clear message.
pub(crate) const TERM: usize = 500;

/// How deeply the operators of the process of one state may be nested.
pub(crate) const TERM_DEPTH: usize = 128;

/// How many assignments one step may execute.
pub(crate) const ASSIGNMENTS: usize = 10_000;
