//! Priority queues: which values still matter.
//!
//! A value is dropped if its life is over and
//! - it is not certainly inside (from the first return of its operations to the call of its removal) during a kept removal of a larger value, one that is open or
//!   follows, or one that found nothing;
//! - every smaller value that is kept was inserted by a call after its removal returned, or its own removal returned before this one was called.
//!
//! Let something explain what is kept and what follows, and let `L` be the part on the dropped values `D` of what explained the window, each insertion moved
//! to as late as it can be: that only takes values out of the way. Each kept removal, at its instant in the first
//! order, must not find a smaller value of `D`; larger ones do not concern it. Where `L` has one inside then, that one was not certainly inside, so its removal had been called: move it to just before that
//! instant, and with it the removals in `L` between, of all smaller ones, in their order. A removal in `D` needs no smaller value inside: none
//! of `D`, as the order among those that move together stays and others only leave earlier; and no kept one, as all smaller
//! ones are inserted after it returned, or are gone before it was called.
//!
//! An answer "empty" is dropped if it returned before every kept operation was called, as for stacks.

use super::lives::{Lives, Verbs, kept};
use super::window::Fate;
use crate::history::{Argument, History, NEVER, Rank};
use crate::value_table::ValueId;
use linchpin_spec::PriorityQueue;
use std::collections::BTreeMap;

const VERBS: Verbs =
    Verbs { add: PriorityQueue::INSERT, remove: PriorityQueue::REMOVE_MIN, peek: None };

pub(super) fn still_matter(history: &History, fates: &[Fate]) -> Vec<bool> {
    let mut lives = Lives::new(history, fates, VERBS);
    lives.lives.sort_by_key(|life| history.values.get(life.value));
    let mut keep_life: Vec<bool> = lives.lives.iter().map(|life| !life.is_over).collect();
    let mut keep_empty = vec![false; lives.empties.len()];
    loop {
        let keep = kept(history, fates, VERBS, &lives, &keep_life, &keep_empty);
        let (mut removals, mut first) = (Union::default(), NEVER);
        for (id, operation) in history.operations.iter().enumerate() {
            if !keep[id] || matches!(fates[id], Fate::Retracted(_)) {
                continue;
            }
            first = first.min(operation.invoked);
            let removes_any =
                !operation.completed || operation.response == Argument::One(ValueId::NULL);
            if operation.operation as usize == VERBS.remove && removes_any {
                removals.insert(operation.invoked, operation.returned);
            }
        }
        let mut changed = false;
        // INVARIANT: `removals` are the kept ones of larger values, and of what nobody knows.
        for (life, keep) in lives.lives.iter().zip(&mut keep_life).rev() {
            let inside = life.was_inside() && removals.meet(life.first_returned, life.last_invoked);
            if !*keep && inside {
                (*keep, changed) = (true, true);
            }
            if *keep && life.removed.1 != NEVER {
                removals.insert(life.removed.0, life.removed.1);
            }
        }
        // When smaller values that are kept may have been inside.
        let mut smaller = Union::default();
        for (life, keep) in lives.lives.iter().zip(&mut keep_life) {
            if !*keep && smaller.meet(life.removed.0, life.removed.1) {
                (*keep, changed) = (true, true);
            }
            if *keep {
                smaller.insert(life.add_invoked, life.removed.1);
            }
        }
        for (id, keep) in lives.empties.iter().zip(&mut keep_empty).filter(|(_, keep)| !**keep) {
            if first < history.operations[*id as usize].returned {
                (*keep, changed) = (true, true);
            }
        }
        if !changed {
            return keep;
        }
    }
}

/// A growing set of instants: spans that do not meet, by where they begin.
#[derive(Default)]
struct Union(BTreeMap<Rank, Rank>);

impl Union {
    /// Adds the instants between a call and a return.
    fn insert(&mut self, mut from: Rank, mut to: Rank) {
        while let Some((&begin, &end)) =
            self.0.range(..=to).next_back().filter(|(_, end)| **end >= from)
        {
            self.0.remove(&begin);
            (from, to) = (from.min(begin), to.max(end));
        }
        self.0.insert(from, to);
    }

    /// Whether one of them is between these two events.
    fn meet(&self, from: Rank, to: Rank) -> bool {
        self.0.range(..to).next_back().is_some_and(|(_, end)| *end > from)
    }
}
