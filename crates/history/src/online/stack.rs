//! Stacks: which values still matter.
//!
//! Between the first return and the last call of the operations on a value it is certainly inside.
//! A value is dropped if its life is over, and no operation that is kept, is open, or follows has
//! an instant while it is certainly inside.
//!
//! Let something explain what is kept and what follows, and let `L` be the part on the dropped
//! values `D` of what explained the window. The instants of the kept operations cut time into
//! segments; each dropped value was certainly inside within one of them. Move the operations of `L`
//! as little as puts each into the segment of its value: none leaves its span, since every
//! operation on a value returns after, and is called before, the value was certainly inside there;
//! and within a segment the order stays that of `L`. So each segment has pushes and pops of `D`
//! that come out even, put between two operations that are kept, which notice nothing. Values that
//! were never certainly inside are pushed, seen and popped at one instant.
//!
//! An answer "empty" is dropped if it returned before every kept operation was called: it stays
//! where `L` has it, before the first cut, and moves to later segments only take values of `D` out
//! of its way.

use super::lives::{Lives, Spans, Verbs, kept};
use super::past::Past;
use super::window::Fate;
use super::window_rule::{InitialOperation, WindowRule, silent_additions};
use linchpin_history_data::Monitored;
use linchpin_history_data::{History, NEVER, OpId, Rank};
use linchpin_spec::Stack;
use linchpin_spec::{Builtin, Value};
use linchpin_verdict::Limits;

/// Stacks, by windows.
pub(crate) struct Rule;

impl WindowRule for Rule {
    fn builtin(&self) -> Builtin {
        Builtin::Stack
    }

    fn initial_operations(&self, init: Option<&Value>) -> Vec<InitialOperation> {
        silent_additions(init, VERBS.add)
    }

    fn adds_and_removes(&self) -> Option<(usize, usize)> {
        Some((VERBS.add, VERBS.remove))
    }

    fn monitor(&self, history: &History, _: &Past, limits: &Limits) -> Monitored {
        linchpin_monitor::stack::check(history, &[], limits)
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

const VERBS: Verbs = Verbs { add: Stack::PUSH, remove: Stack::POP, peek: Some(Stack::PEEK) };

fn still_matter(history: &History, fates: &[Fate]) -> Vec<bool> {
    let lives = Lives::new(history, fates, VERBS);
    let mut keep_life: Vec<bool> = lives.lives.iter().map(|life| !life.is_over).collect();
    let mut keep_empty = vec![false; lives.empties.len()];
    let span = |id: &OpId| -> (Rank, Rank) {
        let operation = &history[*id];
        (operation.invoked, operation.returned)
    };
    loop {
        let keep = kept(history, fates, VERBS, &lives, &keep_life, &keep_empty);
        let ids = history
            .ids()
            .filter(|id| keep[id.index()] && !matches!(fates[id.index()], Fate::Retracted(_)));
        let spans: Vec<(Rank, Rank)> = ids.map(|id| span(&id)).collect();
        let first = spans.iter().map(|span| span.0).min().unwrap_or(NEVER);
        let spans = Spans::new(spans);
        let mut changed = false;
        for (life, keep) in lives.lives.iter().zip(&mut keep_life).filter(|(_, keep)| !**keep) {
            if life.was_inside() && spans.meet(life.first_returned, life.last_invoked) {
                (*keep, changed) = (true, true);
            }
        }
        for (id, keep) in lives.empties.iter().zip(&mut keep_empty).filter(|(_, keep)| !**keep) {
            if first < span(id).1 {
                (*keep, changed) = (true, true);
            }
        }
        if !changed {
            return keep;
        }
    }
}
