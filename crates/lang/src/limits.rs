//! How large a model may be.
//!
//! Exhaustive engines see only small models anyway, so each limit is far above what is needed and
//! low enough that no source, however it was made, costs more than a moment and some megabytes. A
//! model beyond a limit is told which one. The limits of sources are those of
//! [`linchpin_syntax::limits`].

/// The most declarations in one model.
pub(crate) const DECLARATIONS: usize = 1000;

/// The most fields of a struct, and the most parameters of an operation or function.
pub(crate) const FIELDS: usize = 64;

/// The most words in one record, those of the records inside it included.
pub(crate) const RECORD_WORDS: usize = 16;

/// The most parts of one type, all levels together.
pub(crate) const TYPE_PARTS: usize = 64;

/// The longest array. States are copied at every step, so anything longer is a mistake.
pub(crate) const LENGTH: usize = 4096;

/// The most local variables of one operation or function, as written.
pub(crate) const LOCALS: usize = 1000;

/// The most words that all variables and array literals of a model hold together.
pub(crate) const WORDS: usize = 1 << 18;

/// More threads than this make no sense for exhaustive engines and only cost memory for the others.
pub(crate) const THREADS: usize = 256;

/// How often the system may crash: every crash multiplies the runs.
pub(crate) const CRASHES: i64 = 4;

/// How large the other bounds may be.
pub(crate) const BOUND: i64 = 1_000_000_000;

/// The most instructions of one operation after inlining.
pub(crate) const INSTRUCTIONS: usize = 10_000;

/// The most instructions of a whole model, each counted with the operators in its expressions.
pub(crate) const SIZE: usize = 500_000;

/// Functions may call functions this deep.
pub(crate) const CALLS: usize = 50;

/// How deeply calls, blocks and expressions may be nested together after inlining. More than one
/// body can be nested by the limits of a source, each level of which counts at most twice.
pub(crate) const NESTING: usize = 350;
