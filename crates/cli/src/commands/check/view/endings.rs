//! Other orders, that end in other states: the last operations of an order that explains what came
//! before an event, and those in progress there, in all other ways.

use super::states;
use linchpin_history::{History, NEVER, OpId};
use linchpin_spec::{AnySpec, AnyState};
use linchpin_verdict::Limits;

/// So many operations at the end of an order are put in another order.
const TAIL: usize = 8;

/// So many operations that need not have taken effect are tried, the latest ones.
const OPTIONAL: usize = 4;

/// So many other orders are found.
const MOST: usize = 3;

/// So many beginnings of orders are tried.
const MOST_TRIED: usize = 20_000;

/// Other orders of a history, each of which ends in other states than all the others and the given
/// one. In none of them the operation `without` takes effect, unless it does in the given one.
pub fn other_endings(
    spec: &AnySpec,
    history: &History,
    order: &[OpId],
    without: Option<OpId>,
    limits: &Limits,
) -> Vec<Vec<OpId>> {
    // why: what its process did next may have to come after an interrupted operation.
    if !history.crashes.is_empty() {
        return Vec::new();
    }
    let (head, tail) = order.split_at(order.len().saturating_sub(TAIL));
    let mut states = vec![spec.initial()];
    for id in head {
        states = states::apply(spec, history, *id, &states);
        if !states::are_few(&states) || limits.exceeded(0).is_some() {
            return Vec::new();
        }
    }
    let is_optional = |id: &OpId| {
        let operation = &history[*id];
        !operation.completed && operation.returned == NEVER && Some(*id) != without
    };
    let taken: std::collections::BTreeSet<OpId> = order.iter().copied().collect();
    let pending = history.ids().rev().filter(|id| is_optional(id) && !taken.contains(id));
    let mut left: Vec<OpId> = tail.to_vec();
    left.extend(pending.take(OPTIONAL));
    let given = tail.iter().fold(states.clone(), |s, id| states::apply(spec, history, *id, &s));
    let required = tail.iter().filter(|id| history[**id].completed).count();
    let (known, found) = (vec![given], Vec::new());
    let mut search = Search { spec, history, known, found, tried: 0 };
    search.extend(&states, &mut Vec::new(), &mut left, required);
    search.found.into_iter().map(|tail| [head, &tail].concat()).collect()
}

struct Search<'a> {
    spec: &'a AnySpec,
    history: &'a History,
    /// The states at the ends of the orders so far.
    known: Vec<Vec<AnyState>>,
    found: Vec<Vec<OpId>>,
    tried: usize,
}

impl Search<'_> {
    /// Puts what is left after an order in all ways, of which so many operations are required.
    fn extend(
        &mut self,
        states: &[AnyState],
        order: &mut Vec<OpId>,
        left: &mut Vec<OpId>,
        required: usize,
    ) {
        self.tried += 1;
        if required == 0 && !self.known.iter().any(|known| known == states) {
            self.known.push(states.to_vec());
            self.found.push(order.clone());
        }
        for at in 0..left.len() {
            if self.found.len() >= MOST || self.tried > MOST_TRIED {
                return;
            }
            let id = left[at];
            let precedes = |other: &OpId| self.history[*other].precedes(&self.history[id]);
            if left.iter().any(precedes) {
                continue;
            }
            let next = states::apply(self.spec, self.history, id, states);
            // What need not have taken effect and changes nothing is not told.
            let is_idle = !self.history[id].completed && next == states;
            if is_idle || !states::are_few(&next) {
                continue;
            }
            left.remove(at);
            order.push(id);
            let completed = usize::from(self.history[id].completed);
            self.extend(&next, order, left, required - completed);
            order.pop();
            left.insert(at, id);
        }
    }
}
