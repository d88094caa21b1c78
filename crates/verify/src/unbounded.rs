//! Bounds that turn out to be none: any number of operations, and any values, where a search
//! without them ends.
//!
//! Where the heap grows with every operation it does not. So it may visit about as many states as
//! the search within bounds did, and a few more; they are counted, not timed, so that the answer is
//! the same on every machine.

use crate::Loaded;
use crate::deeper::{Bounds, Deeper, Tried, bounds_of, said, states};
use linchpin_engine::{Answer, EngineError};
use linchpin_ir::run::{EventKind, Run};
use linchpin_verdict::{Calls, Values, Verdict};
use std::time::Instant;

/// So many states more than within bounds.
const MORE: u64 = 10_000;

/// The strongest answer without bounds that `first` has, if there is one.
pub(crate) fn unbounded(
    deeper: &Deeper<'_>,
    loaded: &Loaded,
    first: &Answer,
) -> Result<Option<Answer>, EngineError> {
    let Some(bounds) = bounds_of(first) else { return Ok(None) };
    if first.verdict != Verdict::HoldsWithinBounds || loaded.has_crashes(deeper.request) {
        return Ok(None);
    }
    let budget = states(first).unwrap_or(0).saturating_mul(2).saturating_add(MORE);
    let start = Instant::now();
    let mut lifted: Option<(Answer, Bounds)> = None;
    for lift in [any_calls, any_values] {
        let from = lifted.as_ref().map_or(&bounds, |(_, bounds)| bounds);
        let Some(to) = lift(deeper, from) else { continue };
        match deeper.search(loaded, &to, None, Some(budget))? {
            Tried::Wrong(answer) => {
                let mut answer = within_few(deeper, loaded, &to, answer)?;
                answer.notes.push(format!("every run is right with {}", said(&first.bounds)));
                return Ok(Some(deeper.timed(answer, first, start)));
            }
            // Less would be known of its operations.
            Tried::Right(answer) if answer.stuck < first.stuck => {}
            Tried::Right(answer) => {
                let reached = bounds_of(&answer).unwrap_or(to);
                lifted = Some((answer, reached));
            }
            Tried::Nothing(_) => {}
        }
    }
    Ok(lifted.map(|(answer, _)| deeper.timed(answer, first, start)))
}

/// What is wrong with any number of operations, told within as many as it takes.
fn within_few(
    deeper: &Deeper<'_>,
    loaded: &Loaded,
    bounds: &Bounds,
    found: Answer,
) -> Result<Answer, EngineError> {
    let run = found.counterexample.as_ref().and_then(|found| found.run.as_ref());
    let (Calls::Unlimited, Some(run)) = (bounds.calls, run) else { return Ok(found) };
    let calls = Calls::Each(most_calls(run));
    let bounds = Bounds { calls, ..bounds.clone() };
    Ok(match deeper.search(loaded, &bounds, None, None)? {
        Tried::Wrong(answer) => answer,
        Tried::Right(_) | Tried::Nothing(_) => found,
    })
}

/// The most operations that a thread calls in a run.
fn most_calls(run: &Run) -> u32 {
    let calls = || run.events.iter().filter(|event| event.kind == EventKind::Invoke);
    let of = |thread: usize| calls().filter(|event| event.process == thread).count();
    let most = calls().map(|event| of(event.process)).max().unwrap_or(0);
    u32::try_from(most).unwrap_or(u32::MAX)
}

/// The same bounds with any number of operations, if they are bounded and may be raised.
fn any_calls(deeper: &Deeper<'_>, bounds: &Bounds) -> Option<Bounds> {
    let is_bounded = matches!(bounds.calls, Calls::Each(_));
    (is_bounded && deeper.free.calls).then(|| Bounds { calls: Calls::Unlimited, ..bounds.clone() })
}

/// The same bounds with any values, if they are bounded and finitely many may stand for all.
fn any_values(deeper: &Deeper<'_>, bounds: &Bounds) -> Option<Bounds> {
    let is_bounded = matches!(bounds.values, Some(Values::UpTo(_)));
    (is_bounded && deeper.alike).then(|| Bounds { values: Some(Values::Any), ..bounds.clone() })
}
