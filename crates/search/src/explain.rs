//! What the search found, in sentences.

use linchpin_history_data::{History, OpId, Rank, Sentences};
use linchpin_spec::Signature;
use linchpin_verdict::{Inconclusive, StopReason};

/// How many states, and how many operations of each, an explanation names.
const NAMED: usize = 4;

/// A state in which the object may have been.
#[derive(Clone, Debug)]
pub(crate) struct Possible {
    /// The state.
    pub state: String,
    /// Operations that had not returned and took effect before it, as few as lead to it.
    pub in_effect: Vec<OpId>,
    /// Whether others lead to it too.
    pub has_others: bool,
}

impl Possible {
    /// The state, and which operations in progress have led to it.
    pub(crate) fn named(&self, say: &Sentences<'_>) -> String {
        let Possible { state, in_effect, has_others } = self;
        let mut names: Vec<String> =
            in_effect.iter().take(NAMED).map(|id| say.caller(*id)).collect();
        if in_effect.len() > NAMED {
            names.push(format!("{} more", in_effect.len() - NAMED));
        }
        let names = match names.split_last() {
            None => return state.clone(),
            Some((one, [])) => one.clone(),
            Some((last, names)) => format!("{} and {last}", names.join(", ")),
        };
        let or_others = if *has_others { " or others" } else { "" };
        format!("{state} (after {names}{or_others}, still in progress)")
    }
}

/// Why nothing explains the return of an operation, given the states in which the object may have
/// been before.
pub(crate) fn stuck(
    history: &History,
    signatures: &[Signature],
    culprit: OpId,
    possible: &[Possible],
) -> String {
    let say = Sentences::new(history, signatures);
    let shown: Vec<String> =
        possible.iter().take(NAMED).map(|possible| possible.named(&say)).collect();
    let states = match &shown[..] {
        [] => return first(history, signatures, culprit),
        [one] => format!("in the state {one}"),
        [few @ .., last] if possible.len() <= NAMED => {
            format!("in one of the states {} and {last}", few.join(", "))
        }
        many => format!("in one of {} states, such as {}", possible.len(), many[..2].join(" and ")),
    };
    let rest = match Taken::of(culprit, possible) {
        Taken::Always => ", where it had taken effect itself, with another answer",
        Taken::Sometimes => ", and no order of those in progress leads from there to this answer",
        Taken::Never if has_company(history, culprit) => {
            ", or in what others in progress make of that, and none of it gives this answer"
        }
        Taken::Never => ", and that does not give this answer",
    };
    format!(
        "{} cannot be explained: just before it returned, the object can only have been {states}{rest}",
        say.operation(culprit)
    )
}

/// In which of the possible states the culprit had taken effect, so with another answer than it
/// gave.
enum Taken {
    Always,
    Sometimes,
    Never,
}

impl Taken {
    fn of(culprit: OpId, possible: &[Possible]) -> Taken {
        let took = |possible: &&Possible| possible.in_effect.contains(&culprit);
        match possible.iter().filter(took).count() {
            0 => Taken::Never,
            count if count == possible.len() && possible.iter().all(|it| !it.has_others) => {
                Taken::Always
            }
            _ => Taken::Sometimes,
        }
    }
}

/// Whether other operations on the object were in progress when this one returned.
fn has_company(history: &History, culprit: OpId) -> bool {
    let (at, key) = (history[culprit].returned, history[culprit].key);
    history.iter().any(|(id, operation)| {
        let is_in_progress = operation.invoked < at && operation.returned > at;
        id != culprit && operation.key == key && is_in_progress
    })
}

/// That nothing explains the return of an operation.
pub(crate) fn first(history: &History, signatures: &[Signature], culprit: OpId) -> String {
    let culprit = Sentences::new(history, signatures).operation(culprit);
    format!(
        "{culprit} cannot be explained by any order of the operations called before it returned"
    )
}

/// What is known when the search is stopped.
pub(crate) fn stopped(by: StopReason, explained: Rank, history: &History) -> Inconclusive {
    Inconclusive::Explained { by, events: explained.number(), of: history.events.number() }
}
