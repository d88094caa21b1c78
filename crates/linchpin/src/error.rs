//! The one error type: something is wrong with the input. A verdict is a value, never an error.

use thiserror::Error;

/// What is wrong with the input.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The model has mistakes.
    #[cfg(feature = "models")]
    #[error(transparent)]
    Model(#[from] Box<linchpin_verify::LoadError>),
    /// The model cannot be verified as asked.
    #[cfg(feature = "models")]
    #[error(transparent)]
    Verify(#[from] linchpin_verify::VerifyError),
    /// There is no such specification, or its initial value is none.
    #[error(transparent)]
    Object(#[from] linchpin_spec::BuiltinError),
    /// The events are no history.
    #[error(transparent)]
    History(#[from] linchpin_history::HistoryError),
    /// The history cannot be judged as asked.
    #[error(transparent)]
    Check(#[from] linchpin_history::crash::CrashError),
    /// The recording cannot be read.
    #[cfg(feature = "recordings")]
    #[error(transparent)]
    Recording(#[from] linchpin_ingest::IngestError),
}
