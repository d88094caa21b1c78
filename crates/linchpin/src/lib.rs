#![doc = include_str!("../README.md")]

mod error;
mod history;
#[cfg(feature = "models")]
mod model;

pub use error::Error;
#[cfg(feature = "recordings")]
pub use history::read_history;
pub use history::{check, check_partial};
#[cfg(feature = "harness")]
pub use linchpin_harness::{self as harness, Process, Recorder, assert_linearizable, test};
pub use linchpin_history::{
    Builder, CheckOptions, History, Object, PartialBuilder, PartialError, PartialHistory,
    PartialJudge, Violation, Witness,
};
pub use linchpin_spec::{Spec, Value};
#[cfg(feature = "harness")]
pub use linchpin_sync::{
    alloc, cell, future, hint, lazy_static, persistent, sync, thread, thread_local,
};
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
