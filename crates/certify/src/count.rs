//! Counters and semaphores, by counting: what must have been added by some instant, and what can
//! have been.
//!
//! The operations outside the core may have taken effect in their time or not. So they are counted
//! where something *can* have happened and not where it *must* have.

use crate::Operation;
use linchpin_spec::{Call, Spec, Value};

/// After so many pairs times operations the search for two sums that contradict each other gives
/// up.
const MOST_WORK: usize = 400_000_000;

/// Whether more acquired a semaphore than can have by then: for some return, the acquires of the
/// core up to it outnumber the permits at the start and all calls of release before it.
pub(crate) fn too_many_acquired<S: Spec + ?Sized>(
    spec: &S,
    core: &[Operation],
    context: &[Operation],
) -> bool {
    let (Some(acquire), Some(release)) = (spec.operation("acquire"), spec.operation("release"))
    else {
        return false;
    };
    let of = |kind: usize| move |operation: &&Operation| operation.call.operation == kind;
    let acquired = core.iter().filter(of(acquire)).filter(|operation| operation.is_completed());
    let mut acquired: Vec<u64> = acquired.map(|operation| operation.returned).collect();
    acquired.sort_unstable();
    let released = core.iter().chain(context).filter(of(release));
    let mut released: Vec<u64> = released.map(|operation| operation.invoked).collect();
    released.sort_unstable();
    // So many permits are there at the start; more than are acquired need not be counted.
    let call = Call { operation: acquire, argument: Value::Null };
    let (mut permits, mut state) = (0, spec.initial());
    while let Some(outcome) = spec.apply(&state, &call, None).into_iter().next() {
        state = outcome.state;
        permits += 1;
        if permits >= acquired.len() {
            return false;
        }
    }
    acquired.iter().enumerate().any(|(before, returned)| {
        before + 1 > permits + released.partition_point(|called| called < returned)
    })
}

/// What is known of one operation of a counter.
struct Known {
    invoked: u64,
    returned: u64,
    amount: i128,
    completed: bool,
    /// The sum that it found.
    found: Option<i128>,
}

/// Two sums of a counter contradict each other if between them more *must* have been added than
/// their difference, or less *can* have been. All amounts have the same sign (else nothing is
/// said), so the sum never turns back: that is how a sum tells what came before what.
pub(crate) fn sums_contradict<S: Spec + ?Sized>(
    spec: &S,
    core: &[Operation],
    context: &[Operation],
) -> bool {
    let Some(read) = spec.operation("read") else { return false };
    let call = Call { operation: read, argument: Value::Null };
    let start = spec.apply(&spec.initial(), &call, None).into_iter().next();
    let Some(start) = start.and_then(|outcome| outcome.response.as_int()) else { return false };
    let mut all: Vec<Known> = Vec::new();
    for operation in core.iter().chain(context) {
        let amount = match operation.call.operation == read {
            true => 0,
            false => match operation.call.argument.as_int() {
                Some(amount) => amount,
                None => return false,
            },
        };
        let found = operation.response.as_ref().and_then(Value::as_int);
        all.push(Known {
            invoked: operation.invoked,
            returned: operation.returned,
            amount: amount.into(),
            completed: operation.is_completed(),
            found: found.map(i128::from),
        });
    }
    let mut start = i128::from(start);
    if all.iter().all(|known| known.amount <= 0) {
        // A counter that only falls is one that only rises, seen in a mirror.
        start = -start;
        for known in &mut all {
            known.amount = -known.amount;
            known.found = known.found.map(|found| -found);
        }
    }
    if all.iter().any(|known| known.amount < 0) {
        return false;
    }
    let (core, _) = all.split_at(core.len());
    // The start is like a read that returned before everything else.
    let first = Known { invoked: 0, returned: 0, amount: 0, completed: true, found: Some(start) };
    let knowing = || core.iter().filter(|known| known.found.is_some());
    let mut early: Vec<&Known> = knowing().collect();
    early.sort_by_key(|known| known.after());
    early.insert(0, &first);
    let mut late: Vec<&Known> = knowing().collect();
    late.sort_by_key(|known| std::cmp::Reverse(known.found));
    let mut work = 0;
    for one in &early {
        for other in late.iter().filter(|other| !std::ptr::eq(**other, *one)) {
            let is_first = std::ptr::eq(*one, &first);
            if contradict(one, is_first, other, core, &all) {
                return true;
            }
            work += all.len();
            if work > MOST_WORK {
                return false;
            }
        }
    }
    false
}

impl Known {
    /// The sum that it left; only asked of those that found one.
    fn after(&self) -> i128 {
        self.found.unwrap_or(0) + self.amount
    }
}

fn contradict(one: &Known, is_first: bool, other: &Known, core: &[Known], all: &[Known]) -> bool {
    let precedes = |a: &Known, b: &Known| a.returned < b.invoked;
    let one_precedes = |b: &Known| is_first || precedes(one, b);
    let difference = other.found.unwrap_or(0) - one.after();
    // If `other` came first, it would have left no more than `one` found: the sum never turns back.
    if !(one_precedes(other) || difference > 0) {
        return false;
    }
    let itself = |known: &Known| std::ptr::eq(known, one) || std::ptr::eq(known, other);
    // An operation that adds something to a sum at least as large as the one that `one` left came
    // after it; one that found less than `other` did came before that.
    let adds = |known: &Known| known.amount > 0;
    let above = |known: &Known| known.found.is_some_and(|found| found >= one.after());
    let below = |known: &Known| known.found < other.found && known.found.is_some();
    let must = core.iter().filter(|known| {
        known.completed
            && adds(known)
            && !itself(known)
            && (one_precedes(known) || above(known))
            && (precedes(known, other) || below(known))
    });
    if must.map(|known| known.amount).sum::<i128>() > difference {
        return true;
    }
    let can = all.iter().filter(|known| {
        let in_time = known.invoked < other.returned && (is_first || known.returned > one.invoked);
        // What found a sum outside was not between.
        let inside = known.found.is_none()
            || above(known) && known.found.map(|found| found + known.amount) <= other.found;
        adds(known) && !itself(known) && in_time && inside
    });
    can.map(|known| known.amount).sum::<i128>() < difference
}
