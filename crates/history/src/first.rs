//! The first event that nothing explains, for methods that judge histories as a whole.
//!
//! The history up to an event is what was known right after it: what returned later had not
//! returned. If nothing explains it, nothing explains what is longer, so the first such event is
//! found by halving; it is a return, as after a call nothing more is known than before.

use linchpin_history_data::{History, Judgement, NEVER, Rank, Violation};

/// So many operations are judged at most, those of all beginnings together.
const MOST: usize = 1 << 22;

/// The violation in the shortest beginning of the history that has one, with its last event, given
/// one of the whole; nothing if that takes too long or if it cannot be told of some beginning.
pub(crate) fn first(
    history: &History,
    found: Violation,
    judge: impl Fn(&History) -> Judgement,
) -> Option<Violation> {
    let completed = history.operations.iter().filter(|operation| operation.completed);
    let mut returns: Vec<Rank> = completed.map(|operation| operation.returned).collect();
    returns.sort_unstable();
    // INVARIANT: what ends before the return at `low` can be explained, and `found` is of what ends
    // with the return at `high`.
    let (mut low, mut high, mut found) = (0, returns.len().checked_sub(1)?, found);
    // Mostly it is where the last operation of the core returned, or not long before.
    let mut middle = last_of_core(history, &found, &returns).unwrap_or(high);
    let (mut step, mut judged) = (1, 0);
    while low < high {
        let beginning = up_to(history, returns[middle]);
        judged += beginning.operations.len();
        if judged > MOST {
            return None;
        }
        match judge(&beginning) {
            Judgement::Violated(violation) if violation.at.is_some() => return Some(violation),
            Judgement::Violated(violation) => (high, found) = (middle, violation),
            Judgement::Holds(_) => low = middle + 1,
            Judgement::Inconclusive(_) => return None,
        }
        middle = high.saturating_sub(step).max(usize::midpoint(low, high));
        step = step.saturating_mul(8);
    }
    Some(Violation { at: Some(returns[high]), ..found })
}

/// Which of the returns is the last of the core.
fn last_of_core(history: &History, found: &Violation, returns: &[Rank]) -> Option<usize> {
    let core = found.core.iter().map(|id| &history[*id]).filter(|operation| operation.completed);
    let last = core.map(|operation| operation.returned).max()?;
    returns.binary_search(&last).ok()
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
