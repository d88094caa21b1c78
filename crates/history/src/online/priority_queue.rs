//! Priority queues: which values still matter.
//!
//! A value is dropped if its life is over and
//! - it is not certainly inside (from the first return of its operations to the call of its removal) during a kept removal, one that is open or
//!   follows, or one that found nothing;
//! - every smaller value that is kept was inserted by a call after its removal returned.
//!
//! Let something explain what is kept and what follows, and let `L` be the part on the dropped values `D` of what explained the window, each insertion moved
//! to as late as it can be: that only takes values out of the way. Each kept removal, at its instant in the first
//! order, must not find a smaller value of `D`. Where `L` has one inside then, that one was not certainly inside, so its removal had been called: move it to just before that
//! instant, and with it the removals in `L` between, of all smaller ones, in their order. A removal in `D` needs no smaller value inside: none
//! of `D`, as the order among those that move together stays and others only leave earlier; and no kept one, as all smaller
//! ones are inserted after it returned.
//!
//! An answer "empty" is dropped if it returned before every kept operation was called, as for stacks.

use super::lives::{Lives, Spans, Verbs, kept};
use super::window::Fate;
use crate::history::{History, NEVER, Rank};
use linchpin_spec::PriorityQueue;

const VERBS: Verbs =
    Verbs { add: PriorityQueue::INSERT, remove: PriorityQueue::REMOVE_MIN, peek: None };

pub(super) fn still_matter(history: &History, fates: &[Fate]) -> Vec<bool> {
    let mut lives = Lives::new(history, fates, VERBS);
    lives.lives.sort_by_key(|life| history.values.get(life.value));
    let mut keep_life: Vec<bool> = lives.lives.iter().map(|life| !life.is_over).collect();
    let mut keep_empty = vec![false; lives.empties.len()];
    loop {
        let keep = kept(history, fates, VERBS, &lives, &keep_life, &keep_empty);
        let (mut removals, mut first) = (Vec::new(), NEVER);
        for (id, operation) in history.operations.iter().enumerate() {
            if !keep[id] || matches!(fates[id], Fate::Retracted(_)) {
                continue;
            }
            first = first.min(operation.invoked);
            if operation.operation as usize == VERBS.remove {
                removals.push((operation.invoked, operation.returned));
            }
        }
        let removals = Spans::new(removals);
        let mut changed = false;
        // When the first of the smaller values that are kept was inserted.
        let mut inserted: Rank = NEVER;
        for (life, keep) in lives.lives.iter().zip(&mut keep_life) {
            let inside = life.was_inside() && removals.meet(life.first_returned, life.last_invoked);
            if !*keep && (inside || inserted < life.removed.1) {
                (*keep, changed) = (true, true);
            }
            if *keep {
                inserted = inserted.min(life.add_invoked);
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
