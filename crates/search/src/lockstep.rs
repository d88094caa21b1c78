//! Queues whose values repeat: the order of the enqueues and that of the dequeues, found in
//! lockstep.
//!
//! A frontier in the order of time has to remember what the queue contains, in every order in which
//! it may have been enqueued: exponentially many, although only the next value to be dequeued
//! matters. So this one goes in the order of the queue. Its configurations are *which* enqueues
//! come first and *which* dequeues come first, as many of both, and a step adds the next of each,
//! with the same value. What was enqueued and dequeued in between is of no concern, and a
//! configuration is described by what is concurrent in either order, however long the queue and the
//! history are.
//!
//! Start with [`queue`]; `lists` has the operations by kind, `walk` is the algorithm and why it is
//! exact.

mod levels;
mod lists;

use super::mask::with_mask;
use super::problem::{Item, Role};
use super::relevance::Relevance;
use super::shrink::{Bound, Judge, first_violated, shrink};
use super::{SearchOptions, Watch, explain, explaining};
use levels::{Levels, SearchEnd};
use linchpin_history_data::{
    Argument, History, Judgement, Monitored, NEVER, NotApplicable, Rank, ValueId, Violation,
    Witness,
};
use linchpin_spec::{Queue, Spec, Value};
use linchpin_verdict::{Inconclusive, Limits};
use lists::Lists;
use std::time::Instant;

/// Whether a history of a queue that holds `init` at the start can be explained, where values may
/// be enqueued more than once. Exact, with operations that never returned; exponential only in how
/// many operations overlap.
///
/// # Errors
///
/// If there are `peek`s that returned, deadlines of operations that did not, or if `null` is
/// enqueued.
pub fn queue(history: &History, init: &[Value], limits: &Limits) -> Monitored {
    queue_with(history, init, limits, &SearchOptions::default())
}

/// The same, with other times to look for the reasons of a violation.
///
/// # Errors
///
/// As [`queue`].
pub fn queue_with(
    history: &History,
    init: &[Value],
    limits: &Limits,
    options: &SearchOptions,
) -> Monitored {
    let items = Item::all(history);
    for (id, operation) in history.operations.iter().enumerate() {
        let process = history.processes.get(operation.process as usize).map_or("?", String::as_str);
        let name =
            Queue::default().operations()[usize::from(operation.operation.min(2))].name.clone();
        let reason = match (usize::from(operation.operation), operation.completed) {
            (Queue::PEEK, true) => Some("looks into the queue"),
            (_, false) if operation.returned != NEVER => Some("has a deadline, but did not return"),
            (Queue::ENQUEUE, _) if !matches!(operation.argument, Argument::One(_)) => {
                Some("enqueues nothing")
            }
            (Queue::ENQUEUE, _) if operation.argument == Argument::One(ValueId::NULL) => {
                Some("enqueues null, which a dequeue from an empty queue answers too")
            }
            _ => None,
        };
        if let Some(reason) = reason {
            let reason = format!("`{name}` by process {process} (operation {id}) {reason}");
            return Err(NotApplicable { reason });
        }
    }
    if init.contains(&Value::Null) {
        let reason =
            "the queue contains null, which a dequeue from an empty queue answers too".to_owned();
        return Err(NotApplicable { reason });
    }
    if let Some(by) = limits.exceeded(0) {
        return Ok(Judgement::Inconclusive(explain::stopped(by, Rank::FIRST, history)));
    }
    let mut search = QueueSearch { history, init, limits, options };
    match search.walk(&items, limits) {
        SearchEnd::Explained(order) => Ok(Judgement::Holds(Witness { order })),
        SearchEnd::Unexplained { last } => Ok(search.violated(&items, last)),
        SearchEnd::Stopped(by) => {
            let so_far = "this search knows nothing about prefixes of the history".to_owned();
            Ok(Judgement::Inconclusive(Inconclusive::Stopped { by, so_far: Some(so_far) }))
        }
    }
}

struct QueueSearch<'a> {
    history: &'a History,
    init: &'a [Value],
    limits: &'a Limits,
    options: &'a SearchOptions,
}

impl QueueSearch<'_> {
    fn walk(&self, items: &[Item], limits: &Limits) -> SearchEnd {
        let lists = Lists::new(self.history, items, self.init);
        let width = lists.enqueues.width.max(lists.dequeues.width);
        with_mask!(width, M => Levels::<M>::new(&lists, &Watch::new(limits)).run())
    }

    fn violated(&mut self, items: &[Item], last: Rank) -> Judgement {
        let history = self.history;
        let until = self.options.event_until(self.limits);
        let first = first_violated(history, items, Bound::To(last), until, self);
        let until = self.options.core_until(self.limits);
        let core = shrink(history, items, first, until, self);
        let at = first.map(|first| history[first].returned);
        let explanation = match first {
            Some(first) => explain::first(history, Queue::default().operations(), first),
            None => "no order of these operations explains what they answered".to_owned(),
        };
        Judgement::Violated(Violation {
            core,
            blamed: first.into_iter().collect(),
            explanation,
            at,
        })
    }
}

impl Judge for QueueSearch<'_> {
    fn is_violated(&mut self, items: &[Item], until: Instant) -> Option<bool> {
        let limits = explaining(self.limits, until);
        let is_finite = |item: &Item| matches!(item.role, Role::Optional(by) if by != NEVER);
        match self.walk(items, &limits) {
            // Deadlines are ignored here, so that more can be explained.
            SearchEnd::Explained(_) => (!items.iter().any(is_finite)).then_some(false),
            SearchEnd::Unexplained { .. } => Some(true),
            SearchEnd::Stopped(_) => None,
        }
    }

    fn relevant(&self, gone: Vec<Item>, rest: &[Item]) -> Vec<Item> {
        Relevance::SharedValues.relevant(self.history, gone, rest)
    }
}
