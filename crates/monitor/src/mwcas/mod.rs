//! Multi-word compare-and-swap: after Cepeda et al., *Toward Linearizability Testing for Multi-Word
//! Persistent Synchronization Primitives* (OPODIS 2019).
//!
//! Every value is written to a location at most once (assumption 1) and mostly expected only after
//! it was there (assumption 2), so the answers say who wrote what everyone saw and who replaced it.
//! What remains is whether these relations and time fit together. [`check`] reads a history into
//! arrays (`facts`), chooses which unfinished swaps took effect where that matters (`pending`), and
//! puts everything into an order (`order`) or finds a cycle (`cycle`). [`published`] is the
//! construction as it was published.
//!
//! Where this monitor does more than the publication:
//! - no happens-before edges are made, so the time does not depend on how many operations run at
//!   once;
//! - a swap that fails with just `false` waits for the first of the replacements that explain it;
//! - a swap that expected what no operation had shown to be there, against assumption 2, comes
//!   before it was written or after it was replaced, and which is decided without trying
//!   (`forced`);
//! - unfinished swaps that no operation saw are taken into account where a failure needs them;
//! - a word whose new value is the expected one is a read of it.

mod clauses;
mod cycle;
mod explain;
mod facts;
mod forced;
mod names;
mod order;
mod pending;
pub mod published;
mod uses;
mod versions;

use super::poll::{StopPoll, StopReason};
use facts::Facts;
use linchpin_history_data::crash::Interrupted;
use linchpin_history_data::{
    History, Judgement, Monitored, NotApplicable, OpId, Violation, Witness,
};
use linchpin_spec::Value;
use linchpin_verdict::{Inconclusive, Limits};

/// Judges a history of [`Mwcas`](linchpin_spec::Mwcas) operations.
///
/// `init` is the initial value of all locations, or a map from address to value; locations for
/// which nothing is given hold one unknown value each.
///
/// Exact, in time proportional to the words of the history, for completed and pending operations
/// with any deadlines; only the choice among several unfinished swaps that no operation saw may
/// need a search, which may be inconclusive. Not applicable if assumption 1 does not hold, or if
/// assumption 2 does not for a swap that failed and also answered what it read, or does not say
/// where it failed; the reason names the operation.
///
/// ```
/// use linchpin_history_data::{Builder, Judgement};
/// use linchpin_monitor::mwcas;
/// use linchpin_verdict::Limits;
/// use linchpin_spec::{Mwcas, Spec, Value};
///
/// let word = |location: &str, expected: i64, new: i64| Value::list([location.into(), expected.into(), new.into()]);
/// let mut builder = Builder::new(Mwcas::default().operations());
/// builder.invoke("a", "mwcas", Value::list([word("x", 0, 1), word("y", 0, 1)]))?;
/// builder.ok("a", true.into())?;
/// builder.invoke("b", "mwcas", Value::list([word("y", 0, 2)]))?;
/// builder.ok("b", true.into())?;
/// let judgement = mwcas::check(&builder.finish(), Some(&0.into()), &Limits::default());
/// let Ok(Judgement::Violated(violation)) = judgement else { panic!("{judgement:?}") };
/// assert_eq!(
///     violation.explanation,
///     "the mwcas(x: 0→1, y: 0→1) by process a and the mwcas(y: 0→2) by process b both replaced y = 0, \
///      but 0 was there only once",
/// );
/// # Ok::<(), linchpin_history_data::HistoryError>(())
/// ```
pub fn check(history: &History, init: Option<&Value>, limits: &Limits) -> Monitored {
    check_interrupted(history, &[], init, limits)
}

/// Like [`check`], where moreover each interrupted operation takes effect, if it does, before what
/// its process did next: recoverable linearizability. `interrupted` is what
/// [`crash::apply`](crate::crash::apply) returned, in its order.
pub fn check_interrupted(
    history: &History,
    interrupted: &[Interrupted],
    init: Option<&Value>,
    limits: &Limits,
) -> Monitored {
    let poll = StopPoll::new(limits);
    let asked = poll.ask(40 * history.words.len()).map_err(Stop::from);
    let order = asked
        .and_then(|()| Facts::new(history, interrupted, init, &poll))
        .and_then(|mut facts| pending::order_with_pending(&mut facts, &poll));
    match order {
        Ok(order) => Ok(Judgement::Holds(Witness { order })),
        Err(Stop::Violated(violation)) => Ok(Judgement::Violated(violation)),
        Err(Stop::Inconclusive(reason)) => Ok(Judgement::Inconclusive(reason)),
        Err(Stop::NotApplicable(reason)) => Err(reason),
    }
}

/// Why there is no order.
enum Stop {
    Violated(Violation),
    Inconclusive(Inconclusive),
    NotApplicable(NotApplicable),
}

impl From<StopReason> for Stop {
    fn from(by: StopReason) -> Stop {
        Stop::Inconclusive(by.into())
    }
}

impl Stop {
    fn violated(mut core: Vec<OpId>, explanation: String) -> Stop {
        core.sort_unstable();
        Stop::Violated(Violation { blamed: core.clone(), core, explanation, at: None })
    }

    fn not_applicable(reason: String) -> Stop {
        Stop::NotApplicable(NotApplicable { reason })
    }
}
