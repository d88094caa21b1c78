//! Partial orders that are orders of intervals.
//!
//! A strict partial order is one of intervals on a line if and only if the sets of predecessors
//! form a chain under inclusion (P. C. Fishburn, *Intransitive indifference with unequal
//! indifference intervals*, 1970; T. L. Greenough, 1976). The place of a set in the chain is then
//! the instant of the call of those that have it, and an operation returns just before the first
//! set that it is in.

use super::{PartialHistory, Precedence, bits};
use crate::{History, Judgement, NEVER, OpId, Rank, Violation, Witness};

/// A partial history as one of intervals, and the way back.
#[derive(Clone, Debug)]
pub struct Intervals {
    /// The operations, with ranks that are in the same order.
    pub history: History,
    /// For each operation of it, the operation of the partial history.
    ids: Vec<OpId>,
}

impl Precedence {
    /// Whether it is an order of intervals.
    pub fn is_of_intervals(&self) -> bool {
        let before = self.before();
        // INVARIANT: pairs suffice, and of 64 there are few.
        before.iter().enumerate().all(|(at, one)| {
            before[..at].iter().all(|other| one & !other == 0 || other & !one == 0)
        })
    }
}

impl PartialHistory {
    /// The same history with intervals, if its order is one of intervals. A pending operation that
    /// precedes another gets the instant by which it takes effect, if it ever does.
    pub fn intervals(&self) -> Option<Intervals> {
        if !self.order.is_of_intervals() {
            return None;
        }
        let before = self.order.before();
        let mut ids: Vec<usize> = (0..before.len()).collect();
        // In a chain the larger of two sets holds the smaller.
        ids.sort_by_key(|at| before[*at].count_ones());
        let mut history = self.history.clone();
        let mut clock = Rank::FIRST;
        let mut tick = || {
            let now = clock;
            clock += 1;
            now
        };
        let mut returned = 0;
        for &at in &ids {
            for first in bits(before[at] & !returned) {
                history.operations[first].returned = tick();
            }
            returned |= before[at];
            history.operations[at].invoked = tick();
        }
        for (at, operation) in history.operations.iter_mut().enumerate() {
            if returned >> at & 1 == 0 {
                operation.returned = if operation.completed { tick() } else { NEVER };
            }
        }
        history.events = clock;
        let ids: Vec<OpId> = ids.into_iter().map(OpId::new).collect();
        history.operations = ids.iter().map(|id| history[*id]).collect();
        Some(Intervals { history, ids })
    }
}

impl Intervals {
    /// The operation of the partial history.
    pub fn id(&self, id: OpId) -> OpId {
        self.ids.get(id.index()).copied().unwrap_or(id)
    }

    /// What is known of the intervals, as it is known of the partial history. In that there is no
    /// first event.
    pub fn judged(&self, judgement: Judgement) -> Judgement {
        let all = |ids: Vec<OpId>| ids.into_iter().map(|id| self.id(id)).collect::<Vec<OpId>>();
        match judgement {
            Judgement::Holds(witness) => Judgement::Holds(Witness { order: all(witness.order) }),
            Judgement::Violated(Violation { core, blamed, explanation, at: _ }) => {
                let (mut core, blamed) = (all(core), all(blamed));
                core.sort_unstable();
                Judgement::Violated(Violation { core, blamed, explanation, at: None })
            }
            Judgement::Inconclusive(reason) => Judgement::Inconclusive(reason),
        }
    }
}
