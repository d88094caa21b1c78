//! What a run shows about the object.

use crate::limits::{self, Stop};
use linchpin_history::{Judgement, Violation};
use linchpin_ir::interpreter::Wait;
use linchpin_ir::run::{End, EventKind, Run};
use linchpin_verdict::{CrashProperty, Inconclusive, Limits, Verdict};
use linchpin_verify::Judge;
use std::time::{Duration, Instant};

/// How long one history is judged.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the history of a run is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JudgedBy {
    /// There was no crash.
    Linearizability,
    /// There was one.
    Durability,
    /// There was one, and `recover(t)` said what became of the operation that it interrupted.
    Detectability,
}

impl JudgedBy {
    /// What this run is judged by: without its crashes, a durably linearizable history is
    /// linearizable; what `recover(t)` answers, if it does, is the answer of a call.
    pub fn of(run: &Run) -> JudgedBy {
        let recovered = [EventKind::RecoveredOk, EventKind::RecoveredFail];
        if run.crashes.is_empty() {
            JudgedBy::Linearizability
        } else if run.events.iter().any(|event| recovered.contains(&event.kind)) {
            JudgedBy::Detectability
        } else {
            JudgedBy::Durability
        }
    }

    /// What a history is that passes.
    pub const fn words(self) -> &'static str {
        match self {
            JudgedBy::Linearizability => "linearizable",
            JudgedBy::Durability => CrashProperty::Durable.adverb(),
            JudgedBy::Detectability => CrashProperty::Detectable.adverb(),
        }
    }
}

/// What a run shows.
#[derive(Debug)]
pub enum Finding {
    /// Every operation returned, and an order explains the history.
    Linearizable,
    /// No order explains the history.
    NotLinearizable(Violation),
    /// A step failed: the end of the run says which.
    Fault,
    /// Threads wait for each other's locks: no further call can help.
    Deadlock,
    /// Nothing is wrong so far, but the run did not come to its end: `run.end` says why.
    Unfinished,
    /// The history could not be judged, for this reason.
    NotJudged(String),
}

impl Finding {
    /// What this run shows.
    pub fn of(run: &Run, judge: Option<&Judge<'_>>, stop: &Stop) -> Finding {
        if let End::Faulted(_) = run.end {
            return Finding::Fault;
        }
        let judged = judge.and_then(|judge| judge.judge(run, judging(stop)));
        match (judged, &run.end) {
            (Some(Judgement::Violated(violation)), _) => Finding::NotLinearizable(violation),
            (_, End::Blocked { threads }) if is_deadlock(threads) && !has_crashed_thread(run) => {
                Finding::Deadlock
            }
            (_, End::Blocked { .. } | End::StepLimit) => Finding::Unfinished,
            (Some(Judgement::Inconclusive(reason)), _) => Finding::NotJudged(said(&reason)),
            (None, _) => {
                Finding::NotJudged("the specification says nothing about such histories".to_owned())
            }
            (Some(Judgement::Holds(_)), _) => Finding::Linearizable,
        }
    }

    /// The word for it.
    pub const fn verdict(&self) -> Verdict {
        match self {
            Finding::Linearizable => Verdict::Holds,
            Finding::NotLinearizable(_) | Finding::Fault | Finding::Deadlock => Verdict::Violated,
            Finding::Unfinished | Finding::NotJudged(_) => Verdict::Inconclusive,
        }
    }
}

/// Why a history was not judged, in the words of the command line.
fn said(reason: &Inconclusive) -> String {
    reason.stopped_by().map_or_else(|| reason.to_string(), limits::describe)
}

/// How long a history may be judged.
fn judging(stop: &Stop) -> Limits {
    Limits { deadline: Some(Instant::now() + PATIENCE), memory: None, ..stop.limits() }
}

/// Whether a thread crashed by itself: its locks stay taken, so others may well wait for ever.
pub fn has_crashed_thread(run: &Run) -> bool {
    run.crashes.iter().any(|crash| crash.process.is_some())
}

/// Whether a thread waits for a lock whose holder waits for a lock, and so on in a circle. A thread
/// that waits for something else, or for a lock that an idle thread holds, may be helped by a
/// further call.
fn is_deadlock(waits: &[Wait]) -> bool {
    let holder = |wait: &Wait| waits.iter().find(|other| Some(other.thread) == wait.held_by);
    let is_in_circle = |start: &Wait| {
        let mut at = holder(start);
        // A path over more locks than there are threads is a circle.
        for _ in waits {
            match at {
                Some(wait) => at = holder(wait),
                None => return false,
            }
        }
        true
    };
    waits.iter().any(is_in_circle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(thread: usize, held_by: Option<usize>) -> Wait {
        Wait { thread, operation: 0, line: 1, reason: String::new(), held_by }
    }

    #[test]
    fn only_a_circle_of_locks_is_a_deadlock() {
        assert!(is_deadlock(&[wait(0, Some(1)), wait(1, Some(0))]));
        assert!(is_deadlock(&[wait(3, Some(3))]), "a lock that was never released");
        assert!(is_deadlock(&[wait(2, None), wait(0, Some(1)), wait(1, Some(0))]));
        assert!(!is_deadlock(&[wait(0, Some(1))]), "thread 1 is idle and may release it");
        assert!(!is_deadlock(&[wait(0, Some(1)), wait(1, None)]), "thread 1 waits for a value");
        assert!(!is_deadlock(&[]));
    }
}
