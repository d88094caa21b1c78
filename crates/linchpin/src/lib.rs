#![doc = include_str!("../README.md")]

mod error;
mod history;
#[cfg(feature = "models")]
mod model;

pub use error::Error;
pub use history::check;
#[cfg(feature = "recordings")]
pub use history::read_history;
pub use linchpin_history::{
    Builder as Recorder, CheckOptions, History, Object, Violation, Witness,
};
pub use linchpin_spec::{Spec, Value};
pub use linchpin_verdict::{
    Assumption, Bound, Calls, Inconclusive, Limits, Outcome, Sequential, StopFlag, StopReason,
    Verdict,
};
#[cfg(feature = "models")]
pub use model::{Verified, Verifier, verify};

/// The parts for those who put their own tool together: engines, their answers, reports.
#[cfg(feature = "models")]
pub mod parts {
    pub use linchpin_engine as engine;
    pub use linchpin_report as report;
    pub use linchpin_verify as verify;
}
