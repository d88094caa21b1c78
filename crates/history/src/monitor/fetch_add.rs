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
use std::collections::{BTreeMap, VecDeque};

/// Judges the history of a counter that starts from `start`. All operations are a counter's.
pub(super) fn check(history: &History, say: &Sentences, start: i64) -> Monitored {
    if history.operations.len() >= zone::MOST {
        return not_applicable("the history is too long");
    }
    let mut pending = None;
    let mut roles = Vec::with_capacity(history.operations.len());
    let mut bridges = Bridges::default();
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
            Some((added, None)) if !operation.completed => {
                pending.get_or_insert(id as OpId);
                bridges.pending.entry(added).or_default().push_back(id as OpId);
                Role::Nothing
            }
            _ => {
                let what = say.operation(id as OpId);
                return not_applicable(format!("{what} and others add different amounts"));
            }
        });
    }
    for (id, from, to) in bridges.find(history, start) {
        if let (Some(from), Some(to)) = (number(from), number(to)) {
            roles[id as usize] = Role::Swap(from, to);
        }
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

/// Pending additions where the chain of sums is broken. An amount says where a pending addition may have been; of equal ones
/// the first to be called is the first to be used.
#[derive(Default)]
struct Bridges {
    /// By their amounts.
    pending: BTreeMap<i64, VecDeque<OpId>>,
}

impl Bridges {
    /// The pending additions that lead from a sum that was left, but not found, to one that was found, but not left. Only
    /// tried where sums grow, or shrink, all the time.
    fn find(mut self, history: &History, start: i64) -> Vec<(OpId, i64, i64)> {
        let ids = 0..history.operations.len() as OpId;
        let sign =
            match ids.clone().find_map(|id| parse(history, id).filter(|(added, _)| *added != 0)) {
                Some((added, _)) => added.signum(),
                None => return Vec::new(),
            };
        if self.pending.is_empty() {
            return Vec::new();
        }
        // Sums by how far they are from the start, in the direction of all additions.
        let distance = |sum: i64| (i128::from(sum) - i128::from(start)) * i128::from(sign);
        let (mut found, mut left) = (Vec::new(), vec![start]);
        let mut replaced = Vec::new();
        for id in ids {
            match parse(history, id) {
                Some((added, _)) if added.signum() == -sign => return Vec::new(),
                Some((added, Some(sum))) => {
                    found.push(sum);
                    if added != 0 {
                        replaced.push(sum);
                        left.push(sum.saturating_add(added));
                    }
                }
                _ => {}
            }
        }
        for sums in [&mut found, &mut left, &mut replaced] {
            sums.sort_unstable_by_key(|sum| distance(*sum));
            sums.dedup();
        }
        let has = |sums: &[i64], sum: &i64| {
            sums.binary_search_by_key(&distance(*sum), |sum| distance(*sum)).is_ok()
        };
        let ends = left.iter().filter(|sum| !has(&replaced, sum));
        let begins = found.iter().filter(|sum| !has(&left, sum));
        let mut bridges = Vec::new();
        for (end, begin) in ends.zip(begins) {
            let amount = begin.checked_sub(*end);
            let bridge = amount.and_then(|amount| self.pending.get_mut(&amount)?.pop_front());
            bridges.extend(bridge.map(|id| (id, *end, *begin)));
        }
        bridges
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
