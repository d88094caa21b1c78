//! What came of one file: what is printed about it, and what a table says.

use crate::Status;
use linchpin_verdict::Verdict;
use linchpin_verify::Expectation;
use serde_json::{Map, Value as Json, json};

/// What is said of a file, as asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Shown {
    /// For people.
    Text(String),
    /// For scripts: the fields of one object.
    Json(Map<String, Json>),
}

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
    /// What goes to standard output.
    pub shown: Shown,
    /// The page, if one was asked for.
    pub page: Option<String>,
    /// What the header of the model promises.
    pub expected: Option<Expectation>,
    /// Two engines contradict each other: there is no verdict.
    pub is_contradiction: bool,
    /// Something else that was asked for was not found out in time.
    pub is_unfinished: bool,
    /// Whether it was known from an earlier run.
    pub is_remembered: bool,
}

impl FileOutcome {
    /// What goes to standard output.
    pub fn printed(&self) -> String {
        match &self.shown {
            Shown::Text(text) => text.clone(),
            Shown::Json(object) => {
                let mut object = object.clone();
                object.insert("remembered".to_owned(), json!(self.is_remembered));
                format!("{}\n", Json::Object(object))
            }
        }
    }

    /// How a command ends that found only this.
    pub fn status(&self) -> Status {
        match (self.is_contradiction, self.is_unfinished) {
            (true, _) => Status::Input,
            (false, false) => Status::from(self.verdict),
            (false, true) => Status::from(self.verdict).worse(Status::Inconclusive),
        }
    }
}
