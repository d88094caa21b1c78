//! Why a model has no state space.

use crate::any_values::NotAlike;
use linchpin_ir::interpreter::Fault;
use linchpin_ir::run::PreloadError;
use thiserror::Error;

/// Something in a model that flat states have no room for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("not supported here: {0}")]
pub struct Unsupported(pub String);

/// Why a model has no state space.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpaceError {
    /// It uses something that flat states have no room for.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// Its `init` goes wrong.
    #[error("the model cannot start: {0}")]
    Start(#[from] Fault),
    /// The calls of its `preload` cannot be made.
    #[error(transparent)]
    Preload(#[from] PreloadError),
    /// Clients cannot make arguments for this operation, or too many.
    #[error("no finite set of arguments for `{0}`")]
    Arguments(String),
    /// Clients may pass any values, and finitely many do not stand for all.
    #[error("values are bounded here: {0}")]
    NotAnyValues(NotAlike),
    /// More threads than a packed state can name.
    #[error("{threads} threads are more than are explored (at most {most})")]
    TooManyThreads {
        /// How many there are.
        threads: usize,
        /// How many there may be.
        most: usize,
    },
}
