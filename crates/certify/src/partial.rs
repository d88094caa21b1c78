//! Claims about histories whose precedence is a partial order.
//!
//! Precedence is closed here once more, from pairs. An order of intervals is given ranks, and its
//! core is confirmed like others; any other core by trying all orders: no order explains it, even
//! if the operations outside it took effect with any answer or not at all. Nothing is split by
//! object: two that are linearizable each need not be so together.

use crate::{Budget, CoreError, Operation, WitnessError, confirm_core_within};
use linchpin_spec::{Call, Spec, Value};
use std::collections::{BTreeSet, HashMap, HashSet};

/// An operation of a history without times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartialOperation {
    /// What was called.
    pub call: Call,
    /// What it answered; `None` if it did not return.
    pub response: Option<Value>,
    /// On which of many objects it was called.
    pub object: usize,
    /// Operations that precede it, by their places. What follows from these need not be here.
    pub after: Vec<usize>,
}

/// All that precedes each operation; or one that precedes itself, or is not there.
fn closed(history: &[PartialOperation]) -> Result<Vec<BTreeSet<usize>>, Broken> {
    let mut before: Vec<BTreeSet<usize>> = Vec::with_capacity(history.len());
    for operation in history {
        if let Some(missing) = operation.after.iter().find(|at| **at >= history.len()) {
            return Err(Broken::Missing(*missing));
        }
        before.push(operation.after.iter().copied().collect());
    }
    loop {
        let mut grew = false;
        for at in 0..before.len() {
            let more: BTreeSet<usize> =
                before[at].iter().flat_map(|first| before[*first].iter().copied()).collect();
            let known = before[at].len();
            before[at].extend(more);
            grew |= before[at].len() > known;
        }
        if !grew {
            break;
        }
    }
    match (0..before.len()).find(|at| before[*at].contains(at)) {
        Some(at) => Err(Broken::Cyclic(at)),
        None => Ok(before),
    }
}

/// Why a precedence is none.
enum Broken {
    Missing(usize),
    Cyclic(usize),
}

/// Confirms that the operations, taking effect in this order, explain the history.
pub fn confirm_partial_witness<S: Spec + ?Sized>(
    spec: &S,
    history: &[PartialOperation],
    order: &[usize],
) -> Result<(), WitnessError> {
    let before = closed(history).map_err(|broken| match broken {
        Broken::Missing(at) => WitnessError::NoSuchOperation(at),
        Broken::Cyclic(at) => WitnessError::Cyclic(at),
    })?;
    let mut done: BTreeSet<usize> = BTreeSet::new();
    // A nondeterministic object may be in one of several states.
    let mut states: HashMap<usize, HashSet<S::State>> = HashMap::new();
    for &id in order {
        let operation = history.get(id).ok_or(WitnessError::NoSuchOperation(id))?;
        if let Some(late) = done.iter().find(|late| before[**late].contains(&id)) {
            return Err(WitnessError::Precedes { early: id, late: *late });
        }
        if !done.insert(id) {
            return Err(WitnessError::Twice(id));
        }
        let now = states.entry(operation.object).or_insert_with(|| HashSet::from([spec.initial()]));
        let apply = |state| spec.apply(state, &operation.call, operation.response.as_ref());
        *now = now.iter().flat_map(apply).map(|outcome| outcome.state).collect();
        if now.is_empty() {
            return Err(WitnessError::WrongAnswer(id));
        }
    }
    match (0..history.len()).find(|id| history[*id].response.is_some() && !done.contains(id)) {
        Some(missing) => Err(WitnessError::Missing(missing)),
        None => Ok(()),
    }
}

/// Confirms that no order of the operations in `core` explains them, and that therefore none
/// explains the history. `spec_name` is as for [`confirm_core`](crate::confirm_core).
pub fn confirm_partial_core<S: Spec + ?Sized>(
    spec: &S,
    spec_name: &str,
    history: &[PartialOperation],
    core: &[usize],
    budget: &Budget,
) -> Result<(), CoreError> {
    let before = closed(history).map_err(|broken| match broken {
        Broken::Missing(at) => CoreError::NoSuchOperation(at),
        Broken::Cyclic(at) => CoreError::Cyclic(at),
    })?;
    let mut ids = BTreeSet::new();
    for &id in core {
        if id >= history.len() {
            return Err(CoreError::NoSuchOperation(id));
        }
        if !ids.insert(id) {
            return Err(CoreError::Twice(id));
        }
    }
    let objects: BTreeSet<usize> = ids.iter().map(|id| history[*id].object).collect();
    if let (Some(intervals), Some(object), 1) =
        (intervals(history, &before), objects.first(), objects.len())
    {
        // Of intervals one object alone is enough.
        let alone: Vec<usize> =
            (0..history.len()).filter(|id| history[*id].object == *object).collect();
        let operations: Vec<Operation> = alone.iter().map(|id| intervals[*id].clone()).collect();
        let places = alone.iter().enumerate().filter(|(_, id)| ids.contains(id));
        let places: Vec<usize> = places.map(|(place, _)| place).collect();
        let confirmed = confirm_core_within(spec, spec_name, &operations, &places, None, budget);
        return confirmed.map_err(|error| match error {
            CoreError::Explained(order) => {
                CoreError::Explained(order.into_iter().map(|place| alone[place]).collect())
            }
            error => error,
        });
    }
    Orders { spec, history, before: &before, core: &ids, budget }.none()
}

/// The operations with ranks, if sets of predecessors form a chain.
fn intervals(history: &[PartialOperation], before: &[BTreeSet<usize>]) -> Option<Vec<Operation>> {
    let mut chain: Vec<&BTreeSet<usize>> = before.iter().collect();
    chain.sort_by_key(|set| set.len());
    chain.dedup();
    if !chain.windows(2).all(|pair| pair[0].is_subset(pair[1])) {
        return None;
    }
    // Calls of one set at an even time; returns before the next one. Each event then gets a rank of
    // its own.
    let called = |at: usize| chain.iter().position(|set| **set == before[at]).map(|at| 2 * at);
    let returned = |at: usize| {
        chain.iter().position(|set| set.contains(&at)).map(|at| (2 * at).saturating_sub(1))
    };
    let mut events: Vec<(usize, bool, usize)> = Vec::new();
    for (at, operation) in history.iter().enumerate() {
        events.push((called(at)?, false, at));
        match returned(at) {
            Some(time) => events.push((time, true, at)),
            None if operation.response.is_some() => events.push((2 * chain.len(), true, at)),
            None => {}
        }
    }
    events.sort_unstable();
    let mut ranked: Vec<Operation> = history
        .iter()
        .map(|operation| Operation {
            call: operation.call.clone(),
            response: operation.response.clone(),
            invoked: 0,
            returned: u64::MAX,
        })
        .collect();
    for (rank, (_, returns, at)) in events.into_iter().enumerate() {
        match returns {
            true => ranked[at].returned = rank as u64,
            false => ranked[at].invoked = rank as u64,
        }
    }
    Some(ranked)
}

/// All orders that keep to the precedence.
struct Orders<'a, S: Spec + ?Sized> {
    spec: &'a S,
    history: &'a [PartialOperation],
    before: &'a [BTreeSet<usize>],
    core: &'a BTreeSet<usize>,
    budget: &'a Budget,
}

/// The states of the objects, and what took effect, in the order of numbers.
type Configuration<State> = (Vec<State>, Vec<usize>);

impl<S: Spec + ?Sized> Orders<'_, S> {
    /// That none explains the core. What is not in it may take effect or not, with any answer.
    fn none(&self) -> Result<(), CoreError> {
        let is_known = |id: &usize| self.history[*id].response.is_some();
        let must: BTreeSet<usize> = self.core.iter().copied().filter(is_known).collect();
        let objects = self.history.iter().map(|operation| operation.object + 1).max();
        let start = (vec![self.spec.initial(); objects.unwrap_or(0)], Vec::new());
        let mut seen: HashSet<Configuration<S::State>> = HashSet::from([start.clone()]);
        // What took effect, and the entry of what took effect before it.
        let mut log: Vec<(usize, Option<usize>)> = Vec::new();
        let mut todo = vec![(start, None)];
        while let Some(((states, done), entry)) = todo.pop() {
            if must.iter().all(|id| done.contains(id)) {
                return Err(CoreError::Explained(order(&log, entry)));
            }
            if seen.len() > self.budget.configurations || self.budget.is_over() {
                return Err(CoreError::TooLarge);
            }
            for next in (0..self.history.len()).filter(|next| self.may_be_next(*next, &done, &must))
            {
                let operation = &self.history[next];
                let response = operation.response.as_ref().filter(|_| must.contains(&next));
                let state = &states[operation.object];
                for outcome in self.spec.apply(state, &operation.call, response) {
                    let (mut states, mut done) = (states.clone(), done.clone());
                    states[operation.object] = outcome.state;
                    done.insert(done.partition_point(|other| *other < next), next);
                    let configuration = (states, done);
                    if seen.insert(configuration.clone()) {
                        log.push((next, entry));
                        todo.push((configuration, Some(log.len() - 1)));
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether an operation may take effect after these: nothing that must precede it is missing,
    /// and it precedes none of them.
    fn may_be_next(&self, next: usize, done: &[usize], must: &BTreeSet<usize>) -> bool {
        let waits = |at: &usize| must.contains(at) && !done.contains(at);
        !done.contains(&next)
            && !self.before[next].iter().any(waits)
            && !done.iter().any(|at| self.before[*at].contains(&next))
    }
}

/// The order that ends with an entry.
fn order(log: &[(usize, Option<usize>)], last: Option<usize>) -> Vec<usize> {
    let mut order = Vec::new();
    let mut entry = last.and_then(|at| log.get(at));
    while let Some((id, before)) = entry {
        order.push(*id);
        entry = before.and_then(|at| log.get(at));
    }
    order.reverse();
    order
}
