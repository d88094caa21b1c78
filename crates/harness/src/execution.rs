//! What one run of a scenario did: when each call was made, when it returned, what it answered.

use crate::definition::Subject;
use crate::scenario::{Call, Scenario};
use linchpin_history_data::{History, HistoryError};
use linchpin_record::{Entry, Log, history};
use linchpin_spec::Value;

/// A run of a scenario.
#[derive(Clone, Debug, Default)]
pub struct Execution {
    /// The answers of what was called before the threads started.
    pub before: Vec<Value>,
    /// What each thread did, in its order. It may have stopped before its last call.
    pub threads: Vec<Vec<Timed>>,
}

/// A call with its times, which are numbers of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timed {
    /// When it was made. Of a call that did not return it may be earlier than it was.
    pub invoked: u64,
    /// When it returned, and what it answered; `None` if it did not return.
    pub answer: Option<(u64, Value)>,
    /// Whether its future was dropped: it may have taken effect, and does not return.
    pub dropped: bool,
}

/// The name of the process that makes the calls before the threads start.
pub const BEFORE: &str = "before";

/// The name of the process that makes the calls when the threads have ended.
pub const AFTER: &str = "after";

impl Execution {
    /// The calls that were made and may still return, with their threads.
    pub fn pending<'a>(&'a self, scenario: &'a Scenario) -> Vec<(usize, &'a Call)> {
        let mut pending = Vec::new();
        for (thread, (timed, calls)) in self.threads.iter().zip(&scenario.threads).enumerate() {
            let open = timed
                .iter()
                .zip(calls)
                .filter(|(timed, _)| timed.answer.is_none() && !timed.dropped);
            pending.extend(open.map(|(_, call)| (thread, call)));
        }
        pending
    }

    /// As a history.
    ///
    /// # Errors
    ///
    /// If it is too long for one.
    pub fn history(&self, subject: &Subject, scenario: &Scenario) -> Result<History, HistoryError> {
        let entry = |call: &Call, invoked: u64, answer: Option<(u64, Value)>| {
            let operation = subject.operations[call.operation].spec;
            Entry { operation, argument: call.argument(), invoked, answer }
        };
        // What came before gets the first stamps.
        let first = 2 * self.before.len() as u64;
        let mut logs = Vec::with_capacity(self.threads.len() + 1);
        for (thread, (timed, calls)) in self.threads.iter().zip(&scenario.threads).enumerate() {
            let entries = timed.iter().zip(calls).map(|(timed, call)| {
                let answer = timed.answer.as_ref().map(|(at, value)| (first + at, value.clone()));
                entry(call, first + timed.invoked, answer)
            });
            logs.push(Log { process: thread.to_string(), entries: entries.collect() });
        }
        if !self.before.is_empty() {
            let entries = self.before.iter().zip(&scenario.before).zip(0..);
            let entries = entries.map(|((answer, call), at)| {
                entry(call, 2 * at, Some((2 * at + 1, answer.clone())))
            });
            logs.push(Log { process: BEFORE.to_owned(), entries: entries.collect() });
        }
        history(subject.object.spec.operations(), &logs)
    }
}
