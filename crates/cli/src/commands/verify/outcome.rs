//! What came of one file: what is printed about it, and what a table says.

use crate::Status;
use linchpin_verdict::Verdict;
use linchpin_verify::Expectation;

/// What came of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileOutcome {
    /// The verdict.
    pub verdict: Verdict,
    /// Its reason, for people.
    pub reason: String,
    /// The engine that decides.
    pub by: Option<String>,
    /// How long it took.
    pub seconds: f64,
    /// What goes to standard output: text or JSON, as asked.
    pub shown: String,
    /// The page, if one was asked for.
    pub page: Option<String>,
    /// What the header of the model promises.
    pub expected: Option<Expectation>,
    /// Two engines contradict each other: there is no verdict.
    pub is_contradiction: bool,
    /// Whether it was known from an earlier run.
    pub is_remembered: bool,
}

impl FileOutcome {
    /// How a command ends that found only this.
    pub fn status(&self) -> Status {
        match self.is_contradiction {
            true => Status::Input,
            false => Status::from(self.verdict),
        }
    }
}
