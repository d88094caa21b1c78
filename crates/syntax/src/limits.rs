//! How large a source may be, in every language: far above what a model needs, and low enough that
//! no source costs more than a moment. A source beyond a limit gets a mistake that names the limit.

/// The longest source in bytes. Positions are 32 bits.
pub const SOURCE: usize = 256 << 10;

/// The longest name in bytes.
pub const NAME: usize = 100;

/// How deeply anything may be nested.
pub const DEPTH: usize = 64;

/// How high one tree may grow; a chain `a + b + c + …` grows without nesting.
pub const HEIGHT: usize = 128;

/// After this many mistakes nothing more is said.
pub const MISTAKES: usize = 50;
