//! What the search found, in sentences.

use linchpin_history_data::{History, OpId, Rank};
use linchpin_spec::{Shape, Signature};
use linchpin_verdict::{Inconclusive, StopReason};

/// How many states an explanation names.
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

/// Why nothing explains the return of an operation, given the states in which the object may have
/// been before.
pub(crate) fn stuck(
    history: &History,
    signatures: &[Signature],
    culprit: OpId,
    at: Rank,
    possible: &[Possible],
) -> String {
    let shown = possible.iter().take(NAMED).map(|possible| named(history, signatures, possible));
    let shown: Vec<String> = shown.collect();
    let states = match &shown[..] {
        [] => return first(history, signatures, culprit, at),
        [one] => format!("in the state {one}"),
        [few @ .., last] if possible.len() <= NAMED => {
            format!("in one of the states {} and {last}", few.join(", "))
        }
        many => format!("in one of {} states, such as {}", possible.len(), many[..2].join(" and ")),
    };
    let returned = returned(history, signatures, culprit);
    format!(
        "{returned} at event {at}, which nothing explains: just before, the object can only have been {states}, and no \
         order of the operations in progress leads from there to this answer"
    )
}

/// A state, and which operations in progress have led to it.
fn named(history: &History, signatures: &[Signature], possible: &Possible) -> String {
    let Possible { state, in_effect, has_others } = possible;
    let mut names: Vec<String> =
        in_effect.iter().take(NAMED).map(|id| called(history, signatures, *id)).collect();
    if in_effect.len() > NAMED {
        names.push(format!("{} more", in_effect.len() - NAMED));
    }
    let or_others = if *has_others { ", or others in progress" } else { "" };
    match names.split_last() {
        None => state.clone(),
        Some((one, [])) => {
            format!("{state} (where {one}, which had not returned, had taken effect{or_others})")
        }
        Some((last, names)) => format!(
            "{state} (where {} and {last}, which had not returned, had taken effect{or_others})",
            names.join(", ")
        ),
    }
}

/// That nothing explains the return of an operation.
pub(crate) fn first(
    history: &History,
    signatures: &[Signature],
    culprit: OpId,
    at: Rank,
) -> String {
    let returned = returned(history, signatures, culprit);
    format!("{returned} at event {at}, and no order of the operations called before explains that")
}

/// Who called what.
fn called(history: &History, signatures: &[Signature], id: OpId) -> String {
    let operation = &history[id];
    let process = history.processes.get(operation.process as usize).map_or("?", String::as_str);
    let signature = signatures.get(usize::from(operation.operation));
    let name = signature.map_or("an operation", |signature| &signature.name);
    let argument = match signature {
        Some(Signature { argument: Shape::Unit, .. }) | None => String::new(),
        Some(_) => format!(" {}", history.value(operation.argument)),
    };
    format!("`{name}{argument}` by process {process}")
}

/// Who called what, and what it returned.
fn returned(history: &History, signatures: &[Signature], id: OpId) -> String {
    let operation = &history[id];
    let response = match signatures.get(usize::from(operation.operation)) {
        Some(Signature { response: Shape::Unit, .. }) | None => String::new(),
        Some(_) => format!(" {}", history.value(operation.response)),
    };
    format!("{} returned{response}", called(history, signatures, id))
}

/// What is known when the search is stopped.
pub(crate) fn stopped(by: StopReason, explained: Rank, history: &History) -> Inconclusive {
    let events = history.events;
    let so_far = format!(
        "the first {explained} of {events} events can be explained, about the rest nothing is known"
    );
    Inconclusive::Stopped { by, so_far: Some(so_far) }
}
