//! Registers with `read`, `write` and `cas`, where values may be written more than once.
//!
//! That is NP-complete (Gibbons and Korach, SIAM Journal on Computing 1997), but the hard part is
//! only what is in progress at one time. This is the frontier of the general
//! [`search`](crate::search) with what is known of registers:
//!
//! - Operations that only look (`read`, a `cas` that failed, `cas [a, a]`) take effect as soon as
//!   they see their answer.
//! - A write that no operation sees needs no place of its own: it can stand just before any other
//!   write in its time. So once some write takes effect, all other writes in progress become
//!   *buried if they like*: nothing is decided until they return, and then both go on, the
//!   configuration in which the write was buried and those in which it takes effect last.
//! - A write that takes effect before it must is tried only if an operation in progress is waiting
//!   for its value.
//!
//! - With many operations in progress the walk is first tried with few configurations, those in
//!   which the most has taken effect. If one of them comes through, it explains the history,
//!   whatever was left out; only if none does, all are followed. Before there are too many of them,
//!   it is looked whether an operation found what no operation can have left there (`overwritten`).
//!
//! Start with [`check`]; `frontier` is the algorithm, `config` when a configuration can do all that
//! another can.

mod config;
mod frontier;
mod overwritten;
mod resume;

pub use overwritten::Overwritten;
pub use resume::{Begun, Known, Patience, Resumed, advance, resume};

use crate::explain::{self, Possible};
use crate::mask::with_mask;
use crate::problem::{Item, Problem, Role};
use crate::shrink::{Bound, Judge, first_violated, shrink};
use crate::{SearchOptions, Watch, explaining};
use frontier::{Breadth, Outcome, SearchEnd, Way, walk};
use linchpin_history_data::{
    Argument, History, Judgement, Monitored, NEVER, NotApplicable, OpId, Operation, Rank, ValueId,
    Violation, Witness,
};
use linchpin_spec::{CasRegister, Spec, Value};
use linchpin_verdict::Limits;
use rustc_hash::FxHashMap;
use std::time::Instant;

/// With more operations in progress at a time than this, a history is first walked through with few
/// configurations.
const MANY: usize = 24;

/// If these do not explain it, all are followed, but not more than so many before something else is
/// tried.
const FEW_WAYS: usize = 1 << 12;

/// How few.
const NARROW: [usize; 3] = [4, 32, 256];

/// What an operation does to the register. Values are ids; the initial value may have one of its
/// own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Write(u32),
    /// From one value to another.
    Swap(u32, u32),
    /// It sees this value.
    Is(u32),
    /// It sees another value.
    IsNot(u32),
}

/// Whether a history of a `register` or `cas-register` that holds `init` at the start can be
/// explained. Exact, with operations that never returned and with deadlines; exponential only in
/// what is in progress at one time.
///
/// # Errors
///
/// If an operation has an argument or an answer that no register takes or gives.
pub fn check(history: &History, init: &Value, limits: &Limits) -> Monitored {
    check_with(history, init, limits, &SearchOptions::default())
}

/// The same, with other times to look for the reasons of a violation.
///
/// # Errors
///
/// As [`check`].
pub fn check_with(
    history: &History,
    init: &Value,
    limits: &Limits,
    options: &SearchOptions,
) -> Monitored {
    let SearchOptions { core_time, event_time, .. } = *options;
    let times = SearchOptions { core_time, event_time, ..SearchOptions::default() };
    let mut register = RegisterSearch::new(history, init, limits, times)?;
    if let Some(by) = limits.exceeded(0) {
        return Ok(Judgement::Inconclusive(explain::stopped(by, Rank::FIRST, history)));
    }
    let items = register.relevant(&Item::all(history));
    if let Some(violated) = register.found_unwritten(&items) {
        return Ok(violated);
    }
    let problem = Problem::new(history, &items, &register.options);
    let outcome = match register.walk_cheaply(&problem, limits) {
        Some(outcome) => outcome,
        // why not before: the walk has more to say about what went wrong. But now it may never come
        // to an end.
        None => {
            match overwritten::sweep(&register, &items, &[register.initial], Rank::FIRST, NEVER) {
                Ok(_) => register.walk_from_start(&problem, Breadth::Full, limits),
                Err(overwritten) => return Ok(register.found_overwritten(&overwritten)),
            }
        }
    };
    match outcome.walked {
        SearchEnd::Explained(order) => {
            let order = order.into_iter().map(|op| problem.ops[op as usize].id).collect();
            Ok(Judgement::Holds(Witness { order }))
        }
        SearchEnd::Unexplained { op } => Ok(register.violated(&items, problem.ops[op as usize].id)),
        SearchEnd::Stopped { reason, event } => {
            let explained = problem.events.get(event).map_or(history.events, |event| event.rank);
            Ok(Judgement::Inconclusive(explain::stopped(reason, explained, history)))
        }
    }
}

struct RegisterSearch<'a> {
    history: &'a History,
    limits: &'a Limits,
    options: SearchOptions,
    /// For each operation what it does if it took effect; for one that did not return, only what
    /// could matter.
    kinds: Vec<Kind>,
    /// What it does, if it is not known what it answered.
    initial: u32,
    init: &'a Value,
}

impl<'a> RegisterSearch<'a> {
    fn new(
        history: &'a History,
        init: &'a Value,
        limits: &'a Limits,
        options: SearchOptions,
    ) -> Result<RegisterSearch<'a>, NotApplicable> {
        let kind = |(id, operation): (usize, &Operation)| {
            kind(operation).ok_or_else(|| {
                let call = history.call(OpId::new(id));
                let response = history.response(OpId::new(id)).unwrap_or_default();
                let process = history.processes.get(operation.process as usize);
                let process = process.map_or("?", String::as_str);
                let reason = format!(
                    "operation {} of process {process} with {} and the answer {response} is none of a register",
                    call.operation, call.argument
                );
                NotApplicable { reason }
            })
        };
        let kinds = history.operations.iter().enumerate().map(kind).collect::<Result<_, _>>()?;
        let initial = history.values.find(init).map_or(history.values.len() as u32, |id| id.0);
        Ok(RegisterSearch { history, limits, options, kinds, initial, init })
    }

    /// What an operation does in this role.
    fn kind(&self, item: Item) -> Option<Kind> {
        let operation = &self.history[item.id];
        match (item.role, self.kinds[item.id.index()]) {
            (Role::Completed, kind) => Some(kind),
            (Role::Optional(_), Kind::Write(value)) => Some(Kind::Write(value)),
            (Role::Optional(_), _) => match operation.argument {
                Argument::Two(old, new) if old != new => Some(Kind::Swap(old.0, new.0)),
                // It could only look, and it is not known what it saw.
                _ => None,
            },
        }
    }

    /// An operation that saw a value which no operation had been called to write by its return:
    /// seen at once, whatever is in progress.
    fn found_unwritten(&self, items: &[Item]) -> Option<Judgement> {
        let operations = &self.history.operations;
        let mut first_call: FxHashMap<u32, Rank> =
            FxHashMap::from_iter([(self.initial, Rank::FIRST)]);
        for item in items {
            if let Some(Kind::Write(new) | Kind::Swap(_, new)) = self.kind(*item) {
                let call = operations[item.id.index()].invoked;
                first_call.entry(new).or_insert(call);
            }
        }
        let unwritten = |item: &&Item| match self.kind(**item) {
            Some(Kind::Is(value) | Kind::Swap(value, _)) if item.role == Role::Completed => {
                let call = first_call.get(&value);
                call.is_none_or(|call| *call > operations[item.id.index()].returned)
            }
            _ => false,
        };
        let found = items.iter().find(unwritten)?.id;
        Some(self.found_overwritten(&Overwritten { found, by: None }))
    }

    /// The violation that an operation found what no operation can have left there.
    fn found_overwritten(&self, overwritten: &Overwritten) -> Judgement {
        let mut core: Vec<OpId> = overwritten.by.into_iter().chain([overwritten.found]).collect();
        core.sort_unstable();
        let explanation = overwritten.explain(self.history);
        Judgement::Violated(Violation { blamed: core.clone(), core, explanation, at: None })
    }

    /// Without operations that may have looked, which mean nothing.
    fn relevant(&self, items: &[Item]) -> Vec<Item> {
        items.iter().copied().filter(|item| self.kind(*item).is_some()).collect()
    }

    /// Walks through the events, first with few configurations, which may be all it takes to
    /// explain the history.
    fn walk(&self, problem: &Problem, limits: &Limits) -> Outcome {
        let cheap = self.walk_cheaply(problem, limits);
        cheap.unwrap_or_else(|| self.walk_from_start(problem, Breadth::Full, limits))
    }

    /// Walks through the events; if many operations are in progress, with few configurations, or
    /// all of them as long as they are not too many. Nothing if that shows nothing.
    fn walk_cheaply(&self, problem: &Problem, limits: &Limits) -> Option<Outcome> {
        if problem.width <= MANY {
            return Some(self.walk_from_start(problem, Breadth::Full, limits));
        }
        let breadths = NARROW.into_iter().map(Breadth::Narrow).chain([Breadth::AtMost(FEW_WAYS)]);
        let mut outcomes = breadths.map(|breadth| self.walk_from_start(problem, breadth, limits));
        outcomes.find(|outcome| match outcome.walked {
            SearchEnd::Explained(_) => true,
            SearchEnd::Unexplained { .. } => outcome.is_sure,
            SearchEnd::Stopped { .. } => limits.exceeded(0).is_some(),
        })
    }

    fn walk_from_start(&self, problem: &Problem, breadth: Breadth, limits: &Limits) -> Outcome {
        let from = [Way { value: self.initial, ..Way::default() }];
        self.walk_from(&from, problem, None, breadth, limits)
    }

    /// Walks through the events from where these ways lead.
    fn walk_from(
        &self,
        from: &[Way],
        problem: &Problem,
        stop: Option<Rank>,
        breadth: Breadth,
        limits: &Limits,
    ) -> Outcome {
        let kind = |op: &crate::problem::Op| {
            let role = if op.completed { Role::Completed } else { Role::Optional(op.deadline) };
            self.kind(Item { id: op.id, role }).unwrap_or(Kind::IsNot(u32::MAX))
        };
        let kinds: Vec<Kind> = problem.ops.iter().map(kind).collect();
        let watch = Watch::new(limits);
        with_mask!(problem.width, M => walk::<M>(problem, &kinds, from, stop, breadth, &watch))
    }

    fn violated(&mut self, items: &[Item], found: OpId) -> Judgement {
        let history = self.history;
        let until = self.options.event_until(self.limits);
        let first = first_violated(history, items, Bound::From(found), until, self);
        let culprit = first.unwrap_or(found);
        let at = history[culprit].returned;
        let before: Vec<Item> =
            items.iter().filter_map(|item| item.until(history, at - 1)).collect();
        let before = Problem::new(history, &self.relevant(&before), &self.options);
        let from = [Way { value: self.initial, ..Way::default() }];
        let limits = explaining(self.limits, self.options.event_until(self.limits));
        let ways = self.walk_from(&from, &before, None, Breadth::Full, &limits).ways;
        let value = |id: u32| match id as usize == history.values.len() {
            true => self.init.to_string(),
            false => history.values.get(ValueId(id)).to_string(),
        };
        let mut values: Vec<Possible> = Vec::new();
        for way in ways {
            let crashed = way.used.iter().flat_map(|(class, count)| {
                before.crashed[*class as usize].ops.iter().take(*count as usize)
            });
            let in_effect = crashed.chain(&way.done).map(|op| before.ops[*op as usize].id);
            let in_effect: Vec<OpId> = in_effect.collect();
            let state = value(way.value);
            match values.iter_mut().find(|possible| possible.state == state) {
                None => values.push(Possible { state, in_effect, has_others: false }),
                Some(known) => {
                    known.has_others = true;
                    if in_effect.len() < known.in_effect.len() {
                        known.in_effect = in_effect;
                    }
                }
            }
        }
        let until = self.options.core_until(self.limits);
        let core = shrink(history, items, first, until, self);
        let signatures = CasRegister::default();
        let explanation = explain::stuck(history, signatures.operations(), culprit, &values);
        let at = first.map(|_| at);
        Judgement::Violated(Violation { core, blamed: vec![culprit], explanation, at })
    }
}

impl Judge for RegisterSearch<'_> {
    fn is_violated(&mut self, items: &[Item], until: Instant) -> Option<bool> {
        let limits = explaining(self.limits, until);
        let problem = Problem::new(self.history, &self.relevant(items), &self.options);
        match self.walk(&problem, &limits).walked {
            SearchEnd::Explained(_) => Some(false),
            SearchEnd::Unexplained { .. } => Some(true),
            SearchEnd::Stopped { .. } => None,
        }
    }

    fn relevant(&self, mut gone: Vec<Item>, _: &[Item]) -> Vec<Item> {
        gone.retain(|item| !matches!(self.kinds[item.id.index()], Kind::Is(_) | Kind::IsNot(_)));
        gone
    }
}

/// What an operation does, given what it answered if it did.
fn kind(operation: &Operation) -> Option<Kind> {
    let response = match operation.response {
        _ if !operation.completed => None,
        Argument::One(id) => Some(id),
        // A recorder that leaves `null` out.
        _ => Some(ValueId::NULL),
    };
    match (usize::from(operation.operation), operation.argument, response) {
        (CasRegister::WRITE, Argument::One(value), _) => Some(Kind::Write(value.0)),
        (CasRegister::READ, _, response) => Some(Kind::Is(response.unwrap_or(ValueId::NULL).0)),
        (CasRegister::CAS, Argument::Two(old, _), Some(ValueId::FALSE)) => Some(Kind::IsNot(old.0)),
        (CasRegister::CAS, Argument::Two(old, new), Some(ValueId::TRUE) | None) => {
            Some(if old == new { Kind::Is(old.0) } else { Kind::Swap(old.0, new.0) })
        }
        _ => None,
    }
}
