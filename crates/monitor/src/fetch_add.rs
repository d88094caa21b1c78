//! Counters that are changed only by `fetch-add`, by any amounts.
//!
//! Each answers the sum it found, and so says which sum it left: it replaced the one by the other,
//! as a `cas` on a register would. If no sum is left twice, the chain of sums
//! ([`chain`](super::chain)) is the only possible order. Where the chain is broken a pending
//! `fetch-add` of just the missing amount may mend it.

use super::chain::{Cell, Fault, Role, Unloaded};
use super::chain_fault::violation;
use super::counter::parse;
use super::poll::{Halt, StopPoll, StopReason};
use super::{timeline, zone};
use linchpin_history_data::{
    History, Judgement, Monitored, NEVER, OpId, Sentences, Violation, Witness, not_applicable,
};
use linchpin_spec::Value;
use std::collections::{BTreeMap, VecDeque};

/// Judges the history of a counter that starts from `start`. All operations are a counter's.
pub(super) fn check(history: &History, say: &Sentences, start: i64, poll: &StopPoll) -> Monitored {
    if history.operations.len() >= zone::MOST {
        return not_applicable("the history is too long");
    }
    let mut sums = Sums::new(history, start);
    let mut roles = Vec::with_capacity(history.operations.len());
    let mut pending = Vec::new();
    for id in history.ids() {
        if let Err(stopped) = poll.step() {
            return Ok(stopped.into());
        }
        roles.push(match parse(history, id) {
            Some((0, Some(sum))) => Role::Read(sums.number(sum.into())),
            Some((added, Some(sum))) => {
                let (found, added) = (i128::from(sum), i128::from(added));
                Role::Swap(sums.number(found), sums.number(found + added))
            }
            Some((0, None)) => Role::Nothing,
            _ if history[id].completed => {
                let what = say.operation(id);
                return not_applicable(format!("{what} and others add different amounts"));
            }
            _ => {
                pending.push(id);
                Role::Nothing
            }
        });
    }
    match (follow(history, say, &roles, &sums, poll), pending.first()) {
        (Followed::Stopped(stopped), _) => Ok(stopped.into()),
        (Followed::Explained(order), _) => Ok(Judgement::Holds(Witness { order })),
        (Followed::Repeated(left), _) => repeated(history, say, &roles, left),
        (Followed::Violated(violation), None) => Ok(Judgement::Violated(violation)),
        (Followed::Violated(_), Some(first)) => {
            mend(history, &sums, &mut roles, &pending);
            match follow(history, say, &roles, &sums, poll) {
                Followed::Stopped(stopped) => Ok(stopped.into()),
                Followed::Explained(order) => Ok(Judgement::Holds(Witness { order })),
                _ => {
                    let what = say.operation(*first);
                    not_applicable(format!("it depends on whether and when {what} took effect"))
                }
            }
        }
    }
}

/// Numbers for sums.
struct Sums<'a> {
    history: &'a History,
    /// The sum of each number that is not a value of the history. The first is the sum at the
    /// start.
    others: Vec<i128>,
}

impl<'a> Sums<'a> {
    fn new(history: &'a History, start: i64) -> Sums<'a> {
        Sums { history, others: vec![start.into()] }
    }

    fn start(&self) -> u32 {
        self.history.values.len() as u32
    }

    /// How many numbers there are.
    fn count(&self) -> usize {
        self.history.values.len() + self.others.len()
    }

    /// The number of a sum. A sum that is no value of the history, because no operation found it,
    /// gets another one each time.
    fn number(&mut self, sum: i128) -> u32 {
        if sum == self.others[0] {
            return self.start();
        }
        let known = i64::try_from(sum).ok();
        known.and_then(|sum| self.history.values.find(&Value::Int(sum))).map_or_else(
            || {
                self.others.push(sum);
                self.count() as u32 - 1
            },
            |id| id.0,
        )
    }

    fn sum(&self, number: u32) -> i128 {
        let other = (number as usize).checked_sub(self.history.values.len());
        let value =
            |number| self.history.values.get(linchpin_history_data::ValueId(number)).as_int();
        other.map_or_else(|| value(number).unwrap_or(0).into(), |other| self.others[other])
    }
}

enum Followed {
    Explained(Vec<OpId>),
    Violated(Violation),
    /// The sum with this number is left twice.
    Repeated(u32),
    Stopped(StopReason),
}

/// Follows the chain of sums.
fn follow(
    history: &History,
    say: &Sentences,
    roles: &[Role],
    sums: &Sums,
    poll: &StopPoll,
) -> Followed {
    let mut cell = Cell::new(history, |id| roles[id.index()], sums.count(), poll);
    match cell.load(history.ids(), sums.start()) {
        Ok(()) => {}
        Err(Unloaded::Repeated(left)) => return Followed::Repeated(left),
        Err(Unloaded::Stopped(stopped)) => return Followed::Stopped(stopped),
        Err(Unloaded::Fault(fault)) => return Followed::Violated(broken(&cell, say, sums, fault)),
    }
    match zone::arrange(&cell, &[], false) {
        Ok(units) => {
            let mut order = Vec::with_capacity(history.operations.len());
            match zone::push(&cell, &units, &mut order) {
                Ok(()) => with_idle(history, order, poll)
                    .map_or_else(Followed::Stopped, Followed::Explained),
                Err(stopped) => Followed::Stopped(stopped),
            }
        }
        Err(Halt::Stopped(stopped)) => Followed::Stopped(stopped),
        Err(Halt::Fault(fault)) => Followed::Violated(broken(&cell, say, sums, fault)),
    }
}

/// Why the chain of sums is broken. Where sums can return, any addition can explain any sum if its
/// answer is forgotten, so all are part of the argument. Where they cannot, this is so of a sum
/// that no operation left, and of the additions called by then.
fn broken<R: Fn(OpId) -> Role>(
    cell: &Cell<R>,
    say: &Sentences,
    sums: &Sums,
    fault: Fault,
) -> Violation {
    let mut broken = violation(cell, say, fault, false);
    let history = cell.history;
    let until = match fault {
        Fault::Unwritten(id) => {
            if let Role::Read(sum) | Role::Swap(sum, _) = (cell.role)(id) {
                broken.explanation = format!(
                    "{} found the sum {}, which no operation had left by then and which was not there at the start",
                    say.operation(id),
                    sums.sum(sum)
                );
            }
            Some(history[id].returned)
        }
        _ => None,
    };
    let until = if is_monotonic(history) { until } else { Some(NEVER) };
    if let Some(until) = until {
        let changes = |id: &OpId| matches!((cell.role)(*id), Role::Swap(..));
        let called = history.ids().take_while(|id| history[*id].invoked < until);
        broken.core.extend(called.filter(changes));
        broken.core.sort_unstable();
        broken.core.dedup();
    }
    broken
}

/// Whether all amounts have the same sign, so that no sum returns.
fn is_monotonic(history: &History) -> bool {
    let added = |id| parse(history, id).map_or(0, |(added, _)| added);
    history.ids().all(|id| added(id) >= 0) || history.ids().all(|id| added(id) <= 0)
}

/// Gives pending additions a role where the chain of sums is broken: between a sum that was left
/// and not replaced, and the next that was found and not left, if the amount is just the
/// difference. Of equal amounts the first to be called is the first to be used. Only where sums
/// grow, or shrink, all the time.
fn mend(history: &History, sums: &Sums, roles: &mut [Role], pending: &[OpId]) {
    let added = |id: OpId| parse(history, id).map_or(0, |(added, _)| added);
    if !is_monotonic(history) {
        return;
    }
    let mut by_amount: BTreeMap<i64, VecDeque<OpId>> = BTreeMap::new();
    for id in pending {
        by_amount.entry(added(*id)).or_default().push_back(*id);
    }
    let mut left = vec![false; sums.count()];
    let (mut found, mut replaced) = (left.clone(), left.clone());
    left[sums.start() as usize] = true;
    for role in roles.iter() {
        if let Role::Read(sum) | Role::Swap(sum, _) = role {
            found[*sum as usize] = true;
        }
        if let Role::Swap(from, to) = role {
            (replaced[*from as usize], left[*to as usize]) = (true, true);
        }
    }
    let start = sums.others[0];
    let ordered = |wanted: &dyn Fn(usize) -> bool| {
        let numbers = (0..sums.count()).filter(|number| wanted(*number));
        let mut ordered: Vec<u32> = numbers.map(|number| number as u32).collect();
        ordered.sort_unstable_by_key(|number| (sums.sum(*number) - start).abs());
        ordered
    };
    let ends = ordered(&|number| left[number] && !replaced[number]);
    let begins = ordered(&|number| found[number] && !left[number]);
    for (end, begin) in ends.into_iter().zip(begins) {
        let amount = i64::try_from(sums.sum(begin) - sums.sum(end)).ok();
        if let Some(id) = amount.and_then(|amount| by_amount.get_mut(&amount)?.pop_front()) {
            roles[id.index()] = Role::Swap(end, begin);
        }
    }
}

/// Two operations left the same sum, which cannot be if all amounts have the same sign.
fn repeated(history: &History, say: &Sentences, roles: &[Role], left: u32) -> Monitored {
    let changes = |id: &OpId| matches!(roles[id.index()], Role::Swap(_, to) if to == left);
    let core: Vec<OpId> = history.ids().filter(changes).take(2).collect();
    if !is_monotonic(history) {
        let both = say.operations(&core);
        return not_applicable(format!("a sum is reached more than once, by {both}"));
    }
    let explanation = match core[..] {
        [id] => format!("{} left the sum that was there at the start", say.operation(id)),
        _ => format!("{} left the same sum, but sums never return", say.operations(&core)),
    };
    Ok(Judgement::Violated(Violation { blamed: core.clone(), core, explanation, at: None }))
}

/// The order, with the completed additions of nothing: each as soon as it was called.
fn with_idle(
    history: &History,
    order: Vec<OpId>,
    poll: &StopPoll,
) -> Result<Vec<OpId>, StopReason> {
    let idle = |id: &OpId| history[*id].completed && parse(history, *id) == Some((0, None));
    let idle: Vec<OpId> = history.ids().filter(idle).collect();
    poll.ask(0)?;
    let ends = [order.len(), order.len() + idle.len()];
    timeline::interleave([order, idle].concat(), &ends, history.operations.len(), poll)
}
