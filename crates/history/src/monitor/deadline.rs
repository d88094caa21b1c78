//! Optional operations that took effect before an instant or never, for monitors that know no such thing.
//!
//! Forgetting the instants allows more, so what is violated then is violated. Forgetting the operations allows less, so what holds then
//! holds. Between the two lies what such a monitor cannot judge.

use super::pace::Pace;
use super::sentence::{Sentences, not_applicable};
use crate::history::{History, NEVER, OpId};
use crate::verdict::{Monitored, Verdict};

/// Whether an operation is optional and has a deadline.
pub(crate) fn has_deadline(history: &History, id: OpId) -> bool {
    let operation = &history.operations[id as usize];
    !operation.completed && operation.returned != NEVER
}

/// Judges by a monitor that takes an operation without an answer to have no deadline, or ignores those that have one, if it is told to.
pub(crate) fn judge(
    history: &History,
    say: &Sentences,
    pace: &Pace,
    monitor: impl Fn(bool) -> Verdict,
) -> Monitored {
    let verdict = monitor(false);
    let Verdict::Holds(witness) = &verdict else {
        return Ok(verdict);
    };
    let mut latest = 0;
    let mut late = None;
    for id in &witness.order {
        if let Err(stopped) = pace.step() {
            return Ok(stopped.into());
        }
        let operation = &history.operations[*id as usize];
        latest = operation.invoked.max(latest);
        if operation.returned < latest {
            late = Some(*id);
            break;
        }
    }
    let Some(late) = late else {
        return Ok(verdict);
    };
    match monitor(true) {
        Verdict::Violated(_) => {
            let what = say.operation(late);
            not_applicable(format!("it depends on whether {what} took effect in time"))
        }
        verdict => Ok(verdict),
    }
}
