//! All explanations at once: the events are taken in order, and after each one the frontier is
//! kept: all configurations that explain it.
//!
//! A *configuration* is a state of the object and those of the operations in progress that have
//! taken effect. Two rules leave out configurations without losing an explanation. Of operations in
//! progress with the same call and the same answer, the one that returns first takes effect first:
//! in any explanation the two can change places. And an observer, which changes nothing, takes
//! effect as soon as what it saw is there. Neither goes for operations that come before others of
//! their process by an [`Order`].

use crate::order::Order;
use crate::{Budget, Operation};
use linchpin_spec::Spec;
use std::collections::{HashMap, HashSet};

/// The clock is looked at after so many configurations.
const AT_ONCE: usize = 1 << 8;

pub(crate) enum Found {
    /// No order explains the operations.
    Nothing,
    /// This one does.
    Order(Vec<usize>),
    /// There are too many.
    TooMuch,
}

/// Looks for an order that explains the operations, from one of these states. An operation without
/// an answer need not take effect.
pub(crate) fn explain<S: Spec + ?Sized>(
    spec: &S,
    starts: Vec<S::State>,
    operations: &[Operation],
    observers: &[bool],
    order: &Order,
    budget: &Budget,
) -> Found {
    let mut events: Vec<(u64, bool, usize)> = Vec::new();
    for (id, operation) in operations.iter().enumerate() {
        events.push((operation.invoked, false, id));
        if operation.returned < u64::MAX {
            events.push((operation.returned, true, id));
        }
    }
    events.sort_unstable();
    let mut frontier = Frontier {
        spec,
        operations,
        observers,
        order,
        budget,
        open: Vec::new(),
        configurations: starts
            .into_iter()
            .map(|state| ((state, Vec::new()), NOTHING_BEFORE))
            .collect(),
        log: Vec::new(),
        visited: 0,
    };
    for (_, returns, id) in events {
        if !returns {
            frontier.open.push(id);
        } else if !frontier.returns(id) {
            return Found::TooMuch;
        }
        if frontier.configurations.is_empty() {
            return Found::Nothing;
        }
    }
    frontier.order().map_or(Found::Nothing, Found::Order)
}

const NOTHING_BEFORE: usize = usize::MAX;

/// A state, and which operations in progress have taken effect, in the order of their numbers.
type Configuration<State> = (State, Vec<usize>);

struct Frontier<'a, S: Spec + ?Sized> {
    spec: &'a S,
    operations: &'a [Operation],
    observers: &'a [bool],
    order: &'a Order,
    budget: &'a Budget,
    /// What is in progress.
    open: Vec<usize>,
    /// All configurations, each with the entry of the log that says how it came about.
    configurations: HashMap<Configuration<S::State>, usize>,
    /// What took effect, and the entry of what took effect before it.
    log: Vec<(usize, usize)>,
    visited: usize,
}

impl<S: Spec + ?Sized> Frontier<'_, S> {
    /// The operation returns: it has taken effect by now, unless it never did. False if there are
    /// too many configurations.
    fn returns(&mut self, id: usize) -> bool {
        let must = self.operations[id].is_completed();
        let mut kept: HashMap<Configuration<S::State>, usize> = HashMap::new();
        let mut seen: HashSet<Configuration<S::State>> = HashSet::new();
        let mut todo: Vec<(Configuration<S::State>, usize)> = self.configurations.drain().collect();
        while let Some((mut configuration, entry)) = todo.pop() {
            self.visited += 1;
            let is_over = self.visited.is_multiple_of(AT_ONCE) && self.budget.is_over();
            if is_over || self.visited > self.budget.configurations {
                return false;
            }
            if let Some(at) = configuration.1.iter().position(|done| *done == id) {
                configuration.1.remove(at);
                kept.entry(configuration).or_insert(entry);
                continue;
            }
            if !seen.insert(configuration.clone()) {
                continue;
            }
            if !must {
                kept.entry(configuration.clone()).or_insert(entry);
            }
            self.continue_with(configuration, entry, &mut todo);
        }
        self.configurations = kept;
        self.open.retain(|open| *open != id);
        true
    }

    /// All that may take effect next.
    fn continue_with(
        &mut self,
        configuration: Configuration<S::State>,
        entry: usize,
        todo: &mut Vec<(Configuration<S::State>, usize)>,
    ) {
        let open: Vec<usize> =
            self.open.iter().copied().filter(|id| !configuration.1.contains(id)).collect();
        let may_go_first = |id: &&usize| self.observers[**id] && !self.order.concerns(**id);
        for &id in open.iter().filter(may_go_first) {
            let operation = &self.operations[id];
            let outcomes =
                self.spec.apply(&configuration.0, &operation.call, operation.response.as_ref());
            if outcomes.iter().any(|outcome| outcome.state == configuration.0) {
                todo.push(self.extended(&configuration, entry, id, configuration.0.clone()));
                return;
            }
        }
        for &id in &open {
            let operation = &self.operations[id];
            let first = |other: &&usize| {
                let same = &self.operations[**other];
                !self.order.concerns(id)
                    && !self.order.concerns(**other)
                    && same.call == operation.call
                    && same.response == operation.response
                    && (same.returned, **other) < (operation.returned, id)
            };
            if open.iter().any(|other| first(&other)) {
                continue;
            }
            for outcome in
                self.spec.apply(&configuration.0, &operation.call, operation.response.as_ref())
            {
                if operation.is_completed() || outcome.state != configuration.0 {
                    todo.push(self.extended(&configuration, entry, id, outcome.state));
                }
            }
        }
    }

    fn extended(
        &mut self,
        configuration: &Configuration<S::State>,
        entry: usize,
        id: usize,
        state: S::State,
    ) -> (Configuration<S::State>, usize) {
        self.log.push((id, entry));
        let mut done = configuration.1.clone();
        // What can take effect no more is as good as done.
        for &id in std::iter::once(&id).chain(self.order.ended_by(id)) {
            if let Err(at) = done.binary_search(&id) {
                done.insert(at, id);
            }
        }
        ((state, done), self.log.len() - 1)
    }

    /// The order in which operations took effect in one of the configurations.
    fn order(&self) -> Option<Vec<usize>> {
        let mut at = *self.configurations.values().next()?;
        let mut order = Vec::new();
        while let Some((id, before)) = self.log.get(at) {
            order.push(*id);
            at = *before;
        }
        order.reverse();
        Some(order)
    }
}

/// All states that these operations can lead to, in any order and in any time, if there are few.
pub(crate) fn all_states<S: Spec + ?Sized>(
    spec: &S,
    operations: &[Operation],
    most: usize,
    budget: &Budget,
) -> Option<Vec<S::State>> {
    let mut calls: Vec<_> = operations.iter().map(|operation| &operation.call).collect();
    calls.sort_unstable();
    calls.dedup();
    let mut seen = HashSet::from([spec.initial()]);
    let mut last = vec![spec.initial()];
    // No more steps than there are operations lead to a state.
    for _ in 0..operations.len() {
        let mut next = Vec::new();
        for (state, call) in
            last.iter().flat_map(|state| calls.iter().map(move |call| (state, call)))
        {
            for outcome in spec.apply(state, call, None) {
                if !seen.contains(&outcome.state) {
                    seen.insert(outcome.state.clone());
                    next.push(outcome.state);
                }
            }
            if seen.len() > most || budget.is_over() {
                return None;
            }
        }
        if next.is_empty() {
            break;
        }
        last = next;
    }
    Some(seen.into_iter().collect())
}
