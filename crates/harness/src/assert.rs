//! Judging a recorded history in a test.

use crate::failure::{Failure, Kind};
use crate::specification::Specification;
use linchpin_history::{CheckOptions, check};
use linchpin_history_data::{History, HistoryError, Judgement};
use linchpin_record::Recorder;

/// What has a history.
pub trait Recorded {
    /// The history.
    ///
    /// # Errors
    ///
    /// If what was recorded is none.
    fn recorded(self) -> Result<History, HistoryError>;
}

impl Recorded for History {
    fn recorded(self) -> Result<History, HistoryError> {
        Ok(self)
    }
}

impl Recorded for &History {
    fn recorded(self) -> Result<History, HistoryError> {
        Ok(self.clone())
    }
}

impl Recorded for Recorder {
    fn recorded(self) -> Result<History, HistoryError> {
        self.finish()
    }
}

impl Recorded for &Recorder {
    fn recorded(self) -> Result<History, HistoryError> {
        self.finish()
    }
}

/// Fails the test if a history is not linearizable: see
/// [`assert_linearizable!`](crate::assert_linearizable).
///
/// # Panics
///
/// If it is not, or cannot be judged.
#[track_caller]
pub fn assert_linearizable(recorded: impl Recorded, specification: impl Into<Specification>) {
    let mut history = recorded.recorded().unwrap_or_else(|error| panic!("no history: {error}"));
    let found = specification.into().find();
    let (object, source) = found.unwrap_or_else(|error| panic!("no specification: {error}"));
    let checked = check(&object, &mut history, &CheckOptions::default());
    let checked = checked.unwrap_or_else(|error| panic!("the history cannot be judged: {error}"));
    match checked.judgement {
        Judgement::Holds(_) => {}
        Judgement::Violated(violation) => {
            let mut failure = Failure::of("the recorded history", Kind::NotLinearizable);
            failure.signatures = object.spec.operations().to_vec();
            failure.source = source;
            failure.history = history;
            failure.violation = Some(violation);
            failure.possible = checked.possible;
            panic!("{failure}")
        }
        Judgement::Inconclusive(reason) => panic!("the history could not be judged: {reason}"),
    }
}
