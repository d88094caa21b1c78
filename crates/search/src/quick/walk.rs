//! The search itself, in the form of a walk along the events: what is in progress is in lists in
//! the order of the calls, from which operations that take effect are taken and put back ("dancing
//! links"). There are three: those that change something, those that need not, which are tried
//! last, and those that only look, which are never tried.
//!
//! A walk can be interrupted. Two of them, which differ in what they try first, take turns: either
//! may be lucky, and what one knows to lead nowhere the other does not try.

use super::calls::{Event, Op, heads};
use super::seen::{Seen, Spot};
use super::{Model, State};
use linchpin_history_data::OpId;

/// Which of the operations in progress with the same call are tried. The others can do later
/// whatever it could.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Alike {
    /// The one with the earliest deadline, in the place of the one that was called first.
    Earliest,
    /// Those before which none was called that has an earlier deadline, each in its place: the
    /// order of Wing and Gong, with less of it.
    Each,
}

/// How far a walk is.
pub(super) enum Progress {
    /// An order that explains the operations.
    Explained(Vec<OpId>),
    /// There is nothing left to try.
    Exhausted,
    /// It has used up its turn.
    Paused,
}

/// An operation that took effect or was given up, and how things were before.
struct Taken {
    op: usize,
    /// Whether its deadline passed, and it did not take effect.
    is_late: bool,
    /// Where in the list it was met; nothing if there was no choice.
    met: Option<usize>,
    /// Where that led, if it had to be found out.
    entered: Option<Spot>,
    event: usize,
    state: State,
    done: u64,
}

/// Where a walk is.
#[derive(Clone, Copy, Default)]
struct Here {
    event: usize,
    state: State,
    done: u64,
}

/// What a walk keeps while another has its turn.
#[derive(Default)]
pub(super) struct Path {
    here: Here,
    taken: Vec<Taken>,
    next: Vec<usize>,
    previous: Vec<usize>,
    is_taken: Vec<bool>,
    in_class: Vec<usize>,
    /// The last event that it has been before.
    pub(super) farthest: usize,
}

impl Path {
    /// Goes back to before the first event of these operations.
    pub(super) fn start<M: Model>(&mut self, model: &M, operations: usize) {
        let Path { here, taken, next, previous, is_taken, in_class, farthest } = self;
        *here = Here { event: 0, state: model.initial(), done: 0 };
        *farthest = 0;
        taken.clear();
        is_taken.clear();
        is_taken.resize(operations, false);
        in_class.clear();
        in_class.resize(operations, 0);
        for links in [next, previous] {
            links.clear();
            // Only those of the heads matter before an operation is called.
            links.extend(0..operations + heads(operations).len());
        }
    }
}

/// A walk that has its turn.
pub(super) struct Walk<'a, M: Model> {
    pub(super) model: &'a mut M,
    pub(super) ops: &'a [Op<M::Call>],
    pub(super) events: &'a [Event],
    pub(super) seen: &'a mut Seen,
    pub(super) path: &'a mut Path,
    pub(super) alike: Alike,
}

impl<M: Model> Walk<'_, M> {
    /// Walks until so many configurations have been entered.
    pub(super) fn run(&mut self, turn: usize) -> Progress {
        let mut left = turn;
        let mut here = self.path.here;
        'forwards: while left > 0 {
            let Some(mut forced) = self.pass(&mut here) else {
                let taken = self.path.taken.iter().filter(|taken| !taken.is_late);
                return Progress::Explained(taken.map(|taken| self.ops[taken.op].id).collect());
            };
            self.path.farthest = self.path.farthest.max(here.event);
            self.look(&mut here);
            if self.path.is_taken[forced] {
                continue;
            }
            let [mut met, ..] = heads(self.ops.len());
            let mut has_hope = self.has_hope(here, forced);
            loop {
                while let Some(next) = self.after(met).filter(|_| has_hope) {
                    met = next;
                    if let Some((op, entered)) = self.choice(here, forced, met) {
                        self.take(&mut here, op, Some((met, entered)));
                        here.state = entered.state();
                        left -= 1;
                        continue 'forwards;
                    }
                }
                let Some(last) = self.back(&mut here) else {
                    return Progress::Exhausted;
                };
                (met, has_hope) = (last, true);
                forced = self.events[here.event].op;
            }
        }
        self.path.here = here;
        Progress::Paused
    }

    /// Whether the operation that returns next may take effect, perhaps after others.
    fn has_hope(&mut self, here: Here, forced: usize) -> bool {
        let (ops, next) = (self.ops, &self.path.next);
        let call = ops[forced].call;
        let [updates, optional, _] = heads(ops.len());
        let in_list = |head: usize| {
            let first = Some(next[head]).filter(move |op| *op != head);
            std::iter::successors(first, move |op| Some(next[*op]).filter(|op| *op != head))
        };
        let in_progress = in_list(updates).chain(in_list(optional)).map(|op| ops[op].call);
        self.model.step(here.state, call).is_some()
            || self.model.may_come(here.state, call, in_progress)
    }

    /// What is tried after this one, or first if this is the head of the updates; nothing if that
    /// was all.
    fn after(&self, met: usize) -> Option<usize> {
        let [updates, optional, _] = heads(self.ops.len());
        let next = &self.path.next;
        let met = if next[met] == updates { next[optional] } else { next[met] };
        (met != optional).then_some(met)
    }

    /// Passes events up to the return of an operation that must take effect first; nothing if there
    /// is none.
    fn pass(&mut self, here: &mut Here) -> Option<usize> {
        loop {
            let &Event { op, returns } = self.events.get(here.event)?;
            if !returns {
                self.call(op);
            } else if self.path.is_taken[op] {
                here.done &= !self.ops[op].bit;
            } else if self.ops[op].completed {
                return Some(op);
            } else {
                self.give_up(here, op);
            }
            here.event += 1;
        }
    }

    /// Lets the deadline of an operation pass that need not take effect. If that is of no avail, it
    /// may take effect after all, and so may others before it.
    fn give_up(&mut self, here: &mut Here, op: usize) {
        self.look(here);
        let ([first, ..], Here { event, state, done }) = (heads(self.ops.len()), *here);
        let (met, entered) = (Some(first), None);
        self.path.taken.push(Taken { op, is_late: true, met, entered, event, state, done });
        self.unlink(op);
    }

    /// Lets everything take effect that only looks and sees what is there: that can only help.
    fn look(&mut self, here: &mut Here) {
        let [.., head] = heads(self.ops.len());
        let mut op = self.path.next[head];
        while op != head {
            let next = self.path.next[op];
            if self.model.step(here.state, self.ops[op].call).is_some() {
                self.take(here, op, None);
            }
            op = next;
        }
    }

    /// The operation to try in the place of the one that was met, and where it leads; nothing if it
    /// cannot take effect, or if nothing explains the rest from there.
    fn choice(&mut self, here: Here, forced: usize, met: usize) -> Option<(usize, Spot)> {
        let op = match self.alike {
            Alike::Earliest => self.earliest_like(met)?,
            Alike::Each => self.is_first_like(met).then_some(met)?,
        };
        let after = self.model.step(here.state, self.ops[op].call)?;
        let Here { event, done, .. } = here;
        let spot = match op == forced {
            // Its return is next.
            true => Spot::new(event + 1, after, done),
            false => Spot::new(event, after, done | self.ops[op].bit),
        };
        self.seen.enter(spot).then_some((op, spot))
    }

    /// Of those in progress that are like this one, the one with the earliest deadline. Nothing
    /// unless this one was called first.
    fn earliest_like(&self, met: usize) -> Option<usize> {
        let Path { next, previous, in_class, .. } = &*self.path;
        let Op { class, head, .. } = self.ops[met];
        if in_class[class] == 1 {
            return Some(met);
        }
        let mut at = previous[met];
        while at != head {
            if self.ops[at].class == class {
                return None;
            }
            at = previous[at];
        }
        let (mut first, mut at) = (met, next[met]);
        while at != head {
            let op = &self.ops[at];
            if op.class == class && op.deadline < self.ops[first].deadline {
                first = at;
            }
            at = next[at];
        }
        Some(first)
    }

    /// Whether none like this one that was called before it has an earlier deadline, or the same.
    fn is_first_like(&self, met: usize) -> bool {
        let Path { previous, in_class, .. } = &*self.path;
        let Op { class, head, deadline, .. } = self.ops[met];
        if in_class[class] == 1 {
            return true;
        }
        let mut at = previous[met];
        while at != head {
            if self.ops[at].class == class && self.ops[at].deadline <= deadline {
                return false;
            }
            at = previous[at];
        }
        true
    }

    /// An operation takes effect.
    fn take(&mut self, here: &mut Here, op: usize, chosen: Option<(usize, Spot)>) {
        let Here { event, state, done } = *here;
        let (met, entered) = chosen.unzip();
        self.path.taken.push(Taken { op, is_late: false, met, entered, event, state, done });
        self.unlink(op);
        self.path.is_taken[op] = true;
        here.done |= self.ops[op].bit;
    }

    /// Steps back to the last choice; where in the list it was made.
    fn back(&mut self, here: &mut Here) -> Option<usize> {
        loop {
            let Taken { op, met, entered, event, state, done, .. } = self.path.taken.pop()?;
            while here.event > event {
                here.event -= 1;
                let Event { op, returns } = self.events[here.event];
                // What returned had taken effect before, or was given up.
                if !returns {
                    self.unlink(op);
                }
            }
            self.path.is_taken[op] = false;
            self.link_again(op);
            *here = Here { event, state, done };
            if let Some(entered) = entered {
                self.seen.leave(entered);
            }
            if met.is_some() {
                return met;
            }
        }
    }

    /// Puts an operation that is called at the end of its list.
    fn call(&mut self, op: usize) {
        let head = self.ops[op].head;
        let last = self.path.previous[head];
        self.path.previous[op] = last;
        self.path.next[op] = head;
        self.link_again(op);
    }

    /// Takes an operation out of its list.
    fn unlink(&mut self, op: usize) {
        let Path { next, previous, in_class, .. } = &mut *self.path;
        next[previous[op]] = next[op];
        previous[next[op]] = previous[op];
        in_class[self.ops[op].class] -= 1;
    }

    /// Puts it back.
    // INVARIANT: what was taken out last is put back first, so its neighbours are as they were.
    fn link_again(&mut self, op: usize) {
        let Path { next, previous, in_class, .. } = &mut *self.path;
        next[previous[op]] = op;
        previous[next[op]] = op;
        in_class[self.ops[op].class] += 1;
    }
}
