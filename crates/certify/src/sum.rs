//! Indicators and mailboxes: what had come and gone by some instant, and nothing else, decides how
//! many are there.
//!
//! Take an instant, and an order that explains a history. Let `n` be how many more came than went
//! among the operations that returned before the instant; all of these took effect, whatever the
//! order. Observers called before the instant can be left out of the order. Operations that were in
//! progress then and come before one of those that had returned can be moved to just after them:
//! arrivals first, then departures, which only lead to the same number in the end, and that was not
//! negative. So what was in progress and what was called later is explained from the state in which
//! `n` more are there than at the start. If it is not, neither is the history.

use crate::closure;
use crate::frontier::{Found, explain};
use crate::order::Order;
use crate::weakened;
use crate::{Budget, Operation};
use linchpin_spec::{Call, Spec, Value};

/// So many instants are tried.
const INSTANTS: usize = 64;

/// Whether, from some instant on, nothing explains the core, even if the other operations took
/// effect in their time or not. `known` are all operations as they are known by the end, and
/// whether each is in the core.
pub(crate) fn no_order<S: Spec + ?Sized>(
    spec: &S,
    spec_name: &str,
    known: &[(Operation, bool)],
    budget: &Budget,
) -> bool {
    let (up, down) = match spec_name {
        "snzi" => ("arrive", "depart"),
        "mailbox" => ("deliver", "remove"),
        _ => return false,
    };
    let (Some(up), Some(down)) = (spec.operation(up), spec.operation(down)) else { return false };
    let changes = |operation: &Operation| [up, down].contains(&operation.call.operation);
    let in_core = || known.iter().filter(|(_, in_core)| *in_core).map(|(operation, _)| operation);
    let reads = in_core().filter(|operation| !changes(operation));
    let last = reads.map(|operation| operation.invoked).min().unwrap_or(u64::MAX);
    let mut instants: Vec<u64> = in_core().map(|operation| operation.invoked).collect();
    instants.retain(|instant| *instant <= last);
    instants.sort_unstable();
    instants.into_iter().rev().take(INSTANTS).any(|instant| {
        let mut rest = Vec::new();
        let mut sum = 0i64;
        for (operation, in_core) in known {
            match (changes(operation), operation.returned < instant) {
                (true, true) if !operation.is_completed() => return false,
                (true, true) => sum += if operation.call.operation == up { 1 } else { -1 },
                (true, false) if !in_core => rest.push(weakened(operation)),
                (false, _) if !in_core => {}
                _ => rest.push(operation.clone()),
            }
        }
        let Some(start) = after(spec, up, sum) else { return false };
        let observers = closure::observers(spec, spec_name, &rest);
        let order = Order::none(rest.len());
        matches!(explain(spec, vec![start], &rest, &observers, &order, budget), Found::Nothing)
    })
}

/// The state in which so many have come.
fn after<S: Spec + ?Sized>(spec: &S, up: usize, sum: i64) -> Option<S::State> {
    let call = Call { operation: up, argument: Value::Null };
    let mut state = spec.initial();
    // INVARIANT: below zero it is not known that departures can come last.
    for _ in 0..u64::try_from(sum).ok()? {
        state = spec.apply(&state, &call, None).into_iter().next()?.state;
    }
    Some(state)
}
