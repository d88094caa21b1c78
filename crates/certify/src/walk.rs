//! All explanations at once: the events are walked in order, and after each one all ways to explain it are kept.
//!
//! A *way* is a state of the object and those of the operations in progress that have taken effect. Two rules leave out ways without losing an
//! explanation. Of operations in progress with the same call and the same answer, the one that returns first takes effect first: in
//! any explanation the two can change places. And one that only looks takes effect as soon as what it saw is there.

use crate::Operation;
use linchpin_spec::Spec;
use std::collections::{HashMap, HashSet};

/// After so many ways, counted over all events, the walk gives up.
const MOST_WAYS: usize = 3_000_000;

pub(crate) enum Found {
    /// No order explains the operations.
    Nothing,
    /// This one does.
    Order(Vec<usize>),
    /// There are too many.
    TooMuch,
}

/// Looks for an order that explains the operations, from one of these states. An operation without an answer need not take effect.
pub(crate) fn explain<S: Spec + ?Sized>(
    spec: &S,
    starts: Vec<S::State>,
    operations: &[Operation],
    only_looks: &[bool],
) -> Found {
    let mut events: Vec<(u64, bool, usize)> = Vec::new();
    for (id, operation) in operations.iter().enumerate() {
        events.push((operation.invoked, false, id));
        if operation.returned < u64::MAX {
            events.push((operation.returned, true, id));
        }
    }
    events.sort_unstable();
    let mut walk = Walk {
        spec,
        operations,
        only_looks,
        open: Vec::new(),
        ways: starts.into_iter().map(|state| ((state, Vec::new()), NOBODY)).collect(),
        log: Vec::new(),
        looked_at: 0,
    };
    for (_, returns, id) in events {
        if !returns {
            walk.open.push(id);
        } else if !walk.returns(id) {
            return Found::TooMuch;
        }
        if walk.ways.is_empty() {
            return Found::Nothing;
        }
    }
    walk.order().map_or(Found::Nothing, Found::Order)
}

const NOBODY: usize = usize::MAX;

/// A state, and which operations in progress have taken effect, in the order of their numbers.
type Way<State> = (State, Vec<usize>);

struct Walk<'a, S: Spec + ?Sized> {
    spec: &'a S,
    operations: &'a [Operation],
    only_looks: &'a [bool],
    /// What is in progress.
    open: Vec<usize>,
    /// All ways, each with the entry of the log that says how it came about.
    ways: HashMap<Way<S::State>, usize>,
    /// What took effect, and the entry of what took effect before it.
    log: Vec<(usize, usize)>,
    looked_at: usize,
}

impl<S: Spec + ?Sized> Walk<'_, S> {
    /// The operation returns: it has taken effect by now, unless it never did. False if there are too many ways.
    fn returns(&mut self, id: usize) -> bool {
        let must = self.operations[id].is_completed();
        let mut kept: HashMap<Way<S::State>, usize> = HashMap::new();
        let mut seen: HashSet<Way<S::State>> = HashSet::new();
        let mut todo: Vec<(Way<S::State>, usize)> = self.ways.drain().collect();
        while let Some((mut way, entry)) = todo.pop() {
            self.looked_at += 1;
            if self.looked_at > MOST_WAYS {
                return false;
            }
            if let Some(at) = way.1.iter().position(|done| *done == id) {
                way.1.remove(at);
                kept.entry(way).or_insert(entry);
                continue;
            }
            if !seen.insert(way.clone()) {
                continue;
            }
            if !must {
                kept.entry(way.clone()).or_insert(entry);
            }
            self.continue_with(way, entry, &mut todo);
        }
        self.ways = kept;
        self.open.retain(|open| *open != id);
        true
    }

    /// All that may take effect next.
    fn continue_with(
        &mut self,
        way: Way<S::State>,
        entry: usize,
        todo: &mut Vec<(Way<S::State>, usize)>,
    ) {
        let open: Vec<usize> = self.open.iter().copied().filter(|id| !way.1.contains(id)).collect();
        for &id in open.iter().filter(|id| self.only_looks[**id]) {
            let operation = &self.operations[id];
            let outcomes = self.spec.apply(&way.0, &operation.call, operation.response.as_ref());
            if outcomes.iter().any(|outcome| outcome.state == way.0) {
                todo.push(self.extended(&way, entry, id, way.0.clone()));
                return;
            }
        }
        for &id in &open {
            let operation = &self.operations[id];
            let first = |other: &&usize| {
                let same = &self.operations[**other];
                same.call == operation.call
                    && same.response == operation.response
                    && (same.returned, **other) < (operation.returned, id)
            };
            if open.iter().any(|other| first(&other)) {
                continue;
            }
            for outcome in self.spec.apply(&way.0, &operation.call, operation.response.as_ref()) {
                if operation.is_completed() || outcome.state != way.0 {
                    todo.push(self.extended(&way, entry, id, outcome.state));
                }
            }
        }
    }

    fn extended(
        &mut self,
        way: &Way<S::State>,
        entry: usize,
        id: usize,
        state: S::State,
    ) -> (Way<S::State>, usize) {
        self.log.push((id, entry));
        let mut done = way.1.clone();
        let at = done.partition_point(|other| *other < id);
        done.insert(at, id);
        ((state, done), self.log.len() - 1)
    }

    /// The order in which operations took effect on one of the ways.
    fn order(&self) -> Option<Vec<usize>> {
        let mut at = *self.ways.values().next()?;
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
            if seen.len() > most {
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
