//! Optional operations that took effect before an instant or never, for monitors that know no such
//! thing.
//!
//! Forgetting the instants allows more, so what is violated then is violated. Forgetting the
//! operations allows less, so what holds then holds. Between the two lies what such a monitor
//! cannot judge.

use super::poll::StopPoll;
use linchpin_history_data::{
    History, Judgement, Monitored, NEVER, OpId, Rank, Sentences, not_applicable,
};

/// Whether an operation is optional and has a deadline.
pub(crate) fn has_deadline(history: &History, id: OpId) -> bool {
    let operation = &history[id];
    !operation.completed && operation.returned != NEVER
}

/// Judges by a monitor that takes an operation without an answer to have no deadline, or ignores
/// those that have one, if it is told to.
pub(crate) fn judge(
    history: &History,
    say: &Sentences,
    poll: &StopPoll,
    monitor: impl Fn(bool) -> Judgement,
) -> Monitored {
    let judgement = monitor(false);
    let Judgement::Holds(witness) = &judgement else {
        return Ok(judgement);
    };
    let mut latest = Rank::FIRST;
    let mut late = None;
    for id in &witness.order {
        if let Err(stopped) = poll.step() {
            return Ok(stopped.into());
        }
        let operation = &history[*id];
        latest = operation.invoked.max(latest);
        if operation.returned < latest {
            late = Some(*id);
            break;
        }
    }
    let Some(late) = late else {
        return Ok(judgement);
    };
    match monitor(true) {
        Judgement::Violated(_) => {
            let what = say.operation(late);
            not_applicable(format!("it depends on whether {what} took effect in time"))
        }
        judgement => Ok(judgement),
    }
}
