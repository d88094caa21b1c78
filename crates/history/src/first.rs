//! The first event that nothing explains, for methods that judge histories as a whole.
//!
//! The history up to an event is what was known right after it: what returned later had not
//! returned. If nothing explains it, nothing explains what is longer, so the first such event is
//! found by halving; it is a return, as after a call nothing more is known than before.

use linchpin_history_data::{History, Judgement, NEVER, Rank, Violation};

/// Longer histories are not searched.
const CHEAP: usize = 1 << 15;

/// The violation in the shortest beginning of the history that has one, with its last event;
/// nothing if that takes too long or the method cannot tell.
pub(crate) fn first(
    history: &History,
    judge: impl Fn(&History) -> Option<Judgement>,
) -> Option<Violation> {
    if history.operations.len() > CHEAP {
        return None;
    }
    let completed = history.operations.iter().filter(|operation| operation.completed);
    let mut returns: Vec<Rank> = completed.map(|operation| operation.returned).collect();
    returns.sort_unstable();
    let violated = |at: Rank| match judge(&up_to(history, at))? {
        Judgement::Violated(violation) => Some(Some(violation)),
        Judgement::Holds(_) => Some(None),
        Judgement::Inconclusive(_) => None,
    };
    // INVARIANT: what ends before the return at `low` can be explained, and `found` is of what ends
    // with the return at `high`.
    let (mut low, mut high) = (0, returns.len().checked_sub(1)?);
    let mut found = violated(returns[high])??;
    while low < high {
        let middle = low + (high - low) / 2;
        match violated(returns[middle])? {
            Some(violation) => (high, found) = (middle, violation),
            None => low = middle + 1,
        }
    }
    Some(Violation { at: Some(returns[high]), ..found })
}

/// What was known right after an event.
fn up_to(history: &History, at: Rank) -> History {
    let mut known = history.clone();
    // INVARIANT: operations are in the order of their calls.
    known.operations.truncate(known.operations.partition_point(|known| known.invoked <= at));
    for operation in known.operations.iter_mut().filter(|known| known.returned > at) {
        (operation.completed, operation.returned) = (false, NEVER);
    }
    known.events = at + 1;
    known
}
