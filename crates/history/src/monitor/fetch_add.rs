//! Counters that are changed only by `fetch-add`, by any amounts.
//!
//! Each answers the sum it found, and so says which sum it left: it replaced the one by the other, as a `cas` on a register
//! would. If no sum is left twice, the chain of sums ([`chain`](super::chain)) is the only possible order.

use super::chain::{Cell, Role, Unloaded};
use super::chain_fault::violation;
use super::counter::parse;
use super::sentence::{Sentences, not_applicable};
use super::{timeline, zone};
use crate::history::{History, OpId};
use crate::verdict::{Monitored, Verdict, Violation, Witness};
use linchpin_spec::Value;

/// Judges the history of a counter that starts from `start`. All operations are a counter's.
pub(super) fn check(history: &History, say: &Sentences, start: i64) -> Monitored {
    if history.operations.len() >= zone::MOST {
        return not_applicable("the history is too long");
    }
    let mut pending = None;
    let mut roles = Vec::with_capacity(history.operations.len());
    // INVARIANT: a sum that somebody found is in the table of values; others get new numbers.
    let known = history.values.len() as u32;
    let mut next = known + 1;
    let number = |sum: i64| match history.values.find(&Value::Int(sum)) {
        _ if sum == start => Some(known),
        found => found.map(|id| id.0),
    };
    for (id, operation) in history.operations.iter().enumerate() {
        roles.push(match parse(history, id as OpId) {
            Some((0, Some(sum))) => Role::Read(number(sum).unwrap_or(known)),
            Some((added, Some(sum))) => {
                let Some(left) = sum.checked_add(added) else {
                    return not_applicable(format!("{} overflows", say.operation(id as OpId)));
                };
                let left = number(left).unwrap_or_else(|| {
                    next += 1;
                    next - 1
                });
                Role::Swap(number(sum).unwrap_or(known), left)
            }
            Some((0, None)) => Role::Nothing,
            _ if !operation.completed => {
                pending.get_or_insert(id as OpId);
                Role::Nothing
            }
            _ => {
                let what = say.operation(id as OpId);
                return not_applicable(format!("{what} and others add different amounts"));
            }
        });
    }
    let mut cell = Cell::new(history, |id| roles[id as usize], next as usize);
    let mut order = Vec::with_capacity(history.operations.len());
    let fault = match cell.load(0..history.operations.len() as OpId, known) {
        Ok(()) => match zone::arrange(&cell, &[], false) {
            Ok(units) => {
                zone::push(&cell, &units, &mut order);
                None
            }
            Err(fault) => Some(fault),
        },
        Err(Unloaded::Fault(fault)) => Some(fault),
        Err(Unloaded::Repeated(left)) => return repeated(history, say, &roles, left),
    };
    match (fault, pending) {
        (None, _) => Ok(Verdict::Holds(Witness { order: with_idle(history, order) })),
        (Some(fault), None) => Ok(Verdict::Violated(violation(&cell, say, fault, false))),
        (Some(_), Some(pending)) => {
            let what = say.operation(pending);
            not_applicable(format!("it depends on whether and when {what} took effect"))
        }
    }
}

/// Two operations left the same sum, which cannot be if all amounts have the same sign.
fn repeated(history: &History, say: &Sentences, roles: &[Role], left: u32) -> Monitored {
    let ids = 0..history.operations.len() as OpId;
    let added = |id| parse(history, id).map_or(0, |(added, _)| added);
    let changes = |id: &OpId| matches!(roles[*id as usize], Role::Swap(_, to) if to == left);
    let core: Vec<OpId> = ids.clone().filter(changes).take(2).collect();
    if !(ids.clone().all(|id| added(id) >= 0) || ids.clone().all(|id| added(id) <= 0)) {
        let both = say.operations(&core);
        return not_applicable(format!("a sum is reached more than once, by {both}"));
    }
    let explanation = match core[..] {
        [id] => format!("{} left the sum that was there at the start", say.operation(id)),
        _ => format!("{} left the same sum, but sums never return", say.operations(&core)),
    };
    Ok(Verdict::Violated(Violation { core, explanation, at: None }))
}

/// The order, with the completed additions of nothing: each as soon as it was called.
fn with_idle(history: &History, order: Vec<OpId>) -> Vec<OpId> {
    let idle = |id: &OpId| {
        history.operations[*id as usize].completed && parse(history, *id) == Some((0, None))
    };
    let idle: Vec<OpId> = (0..history.operations.len() as OpId).filter(idle).collect();
    let ends = [order.len(), order.len() + idle.len()];
    timeline::interleave([order, idle].concat(), &ends, history.operations.len())
}
