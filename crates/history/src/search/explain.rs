//! What the search found, in sentences.

use crate::history::{History, OpId, Rank};
use linchpin_spec::{Shape, Signature};

/// How many states an explanation names.
const NAMED: usize = 4;

/// Why nothing explains the return of an operation, given the states in which the object may have been before.
pub(crate) fn stuck(
    history: &History,
    signatures: &[Signature],
    culprit: OpId,
    at: Rank,
    possible: &[String],
) -> String {
    let states = match possible {
        [] => return first(history, signatures, culprit, at),
        [one] => format!("in the state {one}"),
        [few @ .., last] if few.len() < NAMED => {
            format!("in one of the states {} and {last}", few.join(", "))
        }
        many => format!("in one of {} states, such as {}", many.len(), many[..2].join(" and ")),
    };
    let returned = returned(history, signatures, culprit);
    format!(
        "{returned} at event {at}, which nothing explains: just before, the object can only have been {states}, and no \
         order of the operations in progress leads from there to this answer"
    )
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

/// Who called what, and what it returned.
fn returned(history: &History, signatures: &[Signature], id: OpId) -> String {
    let operation = &history.operations[id as usize];
    let process = history.processes.get(operation.process as usize).map_or("?", String::as_str);
    let signature = signatures.get(operation.operation as usize);
    let name = signature.map_or("an operation", |signature| &signature.name);
    let argument = match signature {
        Some(Signature { argument: Shape::Unit, .. }) | None => String::new(),
        Some(_) => format!(" {}", history.value(operation.argument)),
    };
    let response = match signature {
        Some(Signature { response: Shape::Unit, .. }) | None => String::new(),
        Some(_) => format!(" {}", history.value(operation.response)),
    };
    format!("`{name}{argument}` by process {process} returned{response}")
}

/// What is known when the search is stopped.
pub(crate) fn stopped(reason: &str, explained: Rank, history: &History) -> String {
    let events = history.events;
    format!(
        "{reason}; the first {explained} of {events} events can be explained, about the rest nothing is known"
    )
}
