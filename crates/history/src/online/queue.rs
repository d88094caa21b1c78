//! Queues: which values still matter.
//!
//! As the queue monitor shows, a history of distinct values is explained if and only if (1) the
//! values can be put into one order, in which `u` comes before `v` where an operation on `u`
//! returned before the addition of `v` was called, or where something saw or removed `u` and
//! returned before something on `v` was called; and (2) each answer "empty" has an instant at which
//! no value is certainly inside, which is from the first return of an operation on it to the last
//! call of one.
//!
//! A value is dropped if its life is over, so that no operation on it can return any more, and
//! - no value that is kept has to come before it. Nothing that follows changes that, for what
//!   follows returns after all calls on this value. So no cycle of (1) has both dropped and kept
//!   values, and those of dropped values alone would have been found;
//! - it is not certainly inside during an answer "empty" that is kept, or during an operation that
//!   may still answer so.
//!
//! An answer "empty" is dropped if it returned before any kept value was certainly inside: it has
//! its instant among the dropped values, which do not change, and values that are kept or follow
//! are inside only later.
//!
//! Operations that will never return do not hold anything up: a pending dequeue takes a kept value,
//! and one that is not known to be enqueued is inside only after now.

use super::lives::{Lives, Verbs, kept};
use super::past::Past;
use super::window::Fate;
use super::window_rule::{InitialOperation, WindowRule, silent_additions};
use linchpin_history_data::{History, NEVER};
use linchpin_history_data::{Monitored, OpId};
use linchpin_spec::Queue;
use linchpin_spec::{Builtin, Value};
use linchpin_verdict::Limits;

/// Queues, by windows.
pub(crate) struct Rule;

impl WindowRule for Rule {
    fn builtin(&self) -> Builtin {
        Builtin::Queue
    }

    fn initial_operations(&self, init: Option<&Value>) -> Vec<InitialOperation> {
        silent_additions(init, VERBS.add)
    }

    fn adds_and_removes(&self) -> Option<(usize, usize)> {
        Some((VERBS.add, VERBS.remove))
    }

    fn monitor(&self, history: &History, _: &Past, limits: &Limits) -> Monitored {
        linchpin_monitor::queue::check(history, &[], limits)
    }

    fn still_matter(
        &self,
        history: &History,
        fates: &[Fate],
        _: Option<&[OpId]>,
        _: &mut Past,
        _: &Limits,
    ) -> Vec<bool> {
        still_matter(history, fates)
    }
}

const VERBS: Verbs = Verbs { add: Queue::ENQUEUE, remove: Queue::DEQUEUE, peek: Some(Queue::PEEK) };

fn still_matter(history: &History, fates: &[Fate]) -> Vec<bool> {
    let lives = Lives::new(history, fates, VERBS);
    let mut keep_life: Vec<bool> = lives.lives.iter().map(|life| !life.is_over).collect();
    let mut keep_empty = vec![false; lives.empties.len()];
    // The first instants of what is kept: a return, a return of what saw or removed it, a call of
    // an answer "empty".
    let (mut returned, mut seen, mut empty) = (NEVER, NEVER, lives.first_open);
    for (life, _) in lives.lives.iter().zip(&keep_life).filter(|(_, keep)| **keep) {
        returned = returned.min(life.first_returned);
        seen = seen.min(life.first_seen);
    }
    loop {
        let mut changed = false;
        for (life, keep) in lives.lives.iter().zip(&mut keep_life).rev().filter(|(_, keep)| !**keep)
        {
            let comes_after = returned < life.add_invoked || seen < life.last_invoked;
            if comes_after || life.was_inside() && empty < life.last_invoked {
                returned = returned.min(life.first_returned);
                seen = seen.min(life.first_seen);
                (*keep, changed) = (true, true);
            }
        }
        for (id, keep) in lives.empties.iter().zip(&mut keep_empty).filter(|(_, keep)| !**keep) {
            let operation = &history[*id];
            if returned < operation.returned {
                empty = empty.min(operation.invoked);
                (*keep, changed) = (true, true);
            }
        }
        if !changed {
            return kept(history, fates, VERBS, &lives, &keep_life, &keep_empty);
        }
    }
}
