//! The search itself, in the form of a walk along the events: what is in progress is in lists in the
//! order of the calls, from which operations that take effect are taken and put back ("dancing
//! links"). There are three: those that change something, those that need not, which are tried
//! last, and those that only look, which are never tried.

use super::seen::{Seen, Spot, folded};
use super::{Model, Search};
use linchpin_history_data::{History, NEVER, OpId, Operation, Rank};
use rustc_hash::FxBuildHasher;
use std::hash::{BuildHasher, Hash};

/// So many operations may be in progress at a time.
const SLOTS: u32 = u64::BITS;

/// It is asked so often whether it is time to stop.
const POLL: usize = 1 << 10;

/// What the walk found.
pub(super) enum Walked {
    /// An order that explains the operations.
    Explained(Vec<OpId>),
    /// There is none; no way leads past the return of this one.
    Unexplained(OpId),
    /// There is no time, or no room, to find out.
    Open,
}

/// The operations of a part.
pub(super) struct Calls<C> {
    ops: Vec<Op<C>>,
}

impl<C: Copy> Calls<C> {
    pub(super) fn with_capacity(operations: usize) -> Calls<C> {
        Calls { ops: Vec::with_capacity(operations) }
    }

    /// Adds an operation, with what was called. They are added in the order of their calls.
    pub(super) fn push(&mut self, history: &History, id: OpId, call: C) {
        let Operation { invoked, returned, completed, .. } = history[id];
        let head = 0;
        let op = Op { id, call, class: 0, bit: 0, invoked, deadline: returned, completed, head };
        self.ops.push(op);
    }

    /// The ids.
    pub(super) fn ids(&self) -> impl Iterator<Item = OpId> + '_ {
        self.ops.iter().map(|op| op.id)
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.ops.clear();
    }
}

/// An operation.
#[derive(Clone, Copy)]
struct Op<C> {
    id: OpId,
    call: C,
    /// Operations of one class have the same call, and have all completed or have not.
    class: usize,
    /// Which bit says that it took effect.
    bit: u64,
    invoked: Rank,
    deadline: Rank,
    /// Whether it must take effect.
    completed: bool,
    /// The head of its list.
    head: usize,
}

/// A call, or the deadline of an operation.
#[derive(Clone, Copy)]
struct Event {
    op: usize,
    returns: bool,
}

/// An operation that took effect or was given up, and how things were before.
struct Taken {
    op: usize,
    /// Whether its deadline passed, and it did not take effect.
    is_late: bool,
    /// Where in the list it was met; nothing if there was no choice.
    met: Option<usize>,
    event: usize,
    state: usize,
    done: u64,
}

/// What is used again for the next part.
pub(super) struct Buffers {
    seen: Seen,
    taken: Vec<Taken>,
    next: Vec<usize>,
    previous: Vec<usize>,
    is_taken: Vec<bool>,
    sorted: Vec<(Rank, bool, usize)>,
    events: Vec<Event>,
    in_class: Vec<usize>,
    /// The first operation of each class, by the hash of the call: one more than its number.
    classes: Vec<usize>,
}

impl Buffers {
    pub(super) fn new() -> Buffers {
        Buffers {
            seen: Seen::new(),
            taken: Vec::new(),
            next: Vec::new(),
            previous: Vec::new(),
            is_taken: Vec::new(),
            sorted: Vec::new(),
            events: Vec::new(),
            in_class: Vec::new(),
            classes: Vec::new(),
        }
    }
}

/// Searches one part.
pub(super) fn walk<M: Model>(
    search: &mut Search<'_>,
    model: &mut M,
    calls: &mut Calls<M::Call>,
) -> Walked {
    let Search { limits, left, ref mut buffers, .. } = *search;
    let ops = &mut calls.ops[..];
    let [updates, optional, looks] = heads(ops.len());
    for op in &mut *ops {
        op.head = match (M::only_looks(op.call), op.completed) {
            (true, _) => looks,
            (false, true) => updates,
            (false, false) => optional,
        };
    }
    set_classes(buffers, ops);
    buffers.sorted.clear();
    for (at, op) in ops.iter().enumerate() {
        buffers.sorted.push((op.invoked, false, at));
        if op.deadline != NEVER {
            buffers.sorted.push((op.deadline, true, at));
        }
    }
    // At the same rank calls come first: such operations overlap.
    buffers.sorted.sort_unstable();
    if !set_events(buffers, ops) {
        return Walked::Open;
    }
    let mut walk = Walk { model, ops, buffers };
    walk.start();
    let walked = walk.run(left, || limits.exceeded(0).is_some());
    search.left = left.saturating_sub(search.buffers.seen.len());
    walked
}

/// The heads of the lists: of those that change something, of those that need not, and of those that
/// only look. Lists are circles through their heads.
fn heads(operations: usize) -> [usize; 3] {
    [operations, operations + 1, operations + 2]
}

/// Numbers the different calls. A class is the number of its first operation.
fn set_classes<C: Copy + Eq + Hash>(buffers: &mut Buffers, ops: &mut [Op<C>]) {
    let size = (2 * ops.len()).next_power_of_two();
    let Buffers { classes, in_class, .. } = buffers;
    classes.clear();
    classes.resize(size, 0);
    in_class.clear();
    in_class.resize(ops.len(), 0);
    for op in 0..ops.len() {
        let key = (ops[op].call, ops[op].head);
        let mut place = folded(FxBuildHasher.hash_one(key)) & (size - 1);
        ops[op].class = loop {
            match classes[place].checked_sub(1) {
                Some(first) if (ops[first].call, ops[first].head) == key => break first,
                Some(_) => place = (place + 1) & (size - 1),
                None => {
                    classes[place] = op + 1;
                    break op;
                }
            }
        };
    }
}

/// Sets the events, and gives each operation a bit that is its own while it is in progress; whether
/// there are enough.
fn set_events<C>(buffers: &mut Buffers, ops: &mut [Op<C>]) -> bool {
    let mut free = u64::MAX;
    buffers.events.clear();
    for &(_, returns, op) in &buffers.sorted {
        if returns {
            free |= ops[op].bit;
        } else {
            let slot = free.trailing_zeros();
            if slot == SLOTS {
                return false;
            }
            ops[op].bit = 1 << slot;
            free &= !ops[op].bit;
        }
        buffers.events.push(Event { op, returns });
    }
    true
}

struct Walk<'a, M: Model> {
    model: &'a mut M,
    ops: &'a [Op<M::Call>],
    buffers: &'a mut Buffers,
}

/// Where the walk is.
#[derive(Clone, Copy)]
struct Here {
    event: usize,
    state: usize,
    done: u64,
}

impl<M: Model> Walk<'_, M> {
    /// What is tried after this one, or first if this is the head of the updates; nothing if that was
    /// all.
    fn after(&self, met: usize) -> Option<usize> {
        let [updates, optional, _] = heads(self.ops.len());
        let next = &self.buffers.next;
        let met = if next[met] == updates { next[optional] } else { next[met] };
        (met != optional).then_some(met)
    }

    fn start(&mut self) {
        let Buffers { seen, taken, next, previous, is_taken, .. } = &mut *self.buffers;
        let heads = self.ops.len() + 3;
        seen.clear();
        taken.clear();
        is_taken.clear();
        is_taken.resize(self.ops.len(), false);
        for links in [next, previous] {
            links.clear();
            // Only those of the heads matter before an operation is called.
            links.extend(0..heads);
        }
    }

    fn run(&mut self, most: usize, is_over: impl Fn() -> bool) -> Walked {
        let mut here = Here { event: 0, state: self.model.initial(), done: 0 };
        let mut farthest = 0;
        'forwards: loop {
            let Some(mut forced) = self.pass(&mut here) else {
                let taken = self.buffers.taken.iter().filter(|taken| !taken.is_late);
                return Walked::Explained(taken.map(|taken| self.ops[taken.op].id).collect());
            };
            farthest = farthest.max(here.event);
            self.look(&mut here);
            if self.buffers.is_taken[forced] {
                continue;
            }
            let [mut met, ..] = heads(self.ops.len());
            loop {
                while let Some(next) = self.after(met) {
                    met = next;
                    if let Some((op, after)) = self.choice(here, forced, met) {
                        let count = self.buffers.seen.len();
                        if count >= most || count.is_multiple_of(POLL) && is_over() {
                            return Walked::Open;
                        }
                        self.take(&mut here, op, Some(met));
                        here.state = after;
                        continue 'forwards;
                    }
                }
                let Some(last) = self.back(&mut here) else {
                    return Walked::Unexplained(self.ops[self.buffers.events[farthest].op].id);
                };
                met = last;
                forced = self.buffers.events[here.event].op;
            }
        }
    }

    /// Passes events up to the return of an operation that must take effect first; nothing if there
    /// is none.
    fn pass(&mut self, here: &mut Here) -> Option<usize> {
        loop {
            let &Event { op, returns } = self.buffers.events.get(here.event)?;
            if !returns {
                self.call(op);
            } else if self.buffers.is_taken[op] {
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
        let met = Some(first);
        self.buffers.taken.push(Taken { op, is_late: true, met, event, state, done });
        self.unlink(op);
    }

    /// Lets everything take effect that only looks and sees what is there: that can only help.
    fn look(&mut self, here: &mut Here) {
        let [.., head] = heads(self.ops.len());
        let mut op = self.buffers.next[head];
        while op != head {
            let next = self.buffers.next[op];
            if self.model.step(here.state, self.ops[op].call).is_some() {
                self.take(here, op, None);
            }
            op = next;
        }
    }

    /// The operation to try in the place of the one that was met, and the state after it; nothing if
    /// it cannot take effect, or if that leads to where the search has been.
    fn choice(&mut self, here: Here, forced: usize, met: usize) -> Option<(usize, usize)> {
        let op = self.first_like(met)?;
        let after = self.model.step(here.state, self.ops[op].call)?;
        let Here { event, done, .. } = here;
        let spot = match op == forced {
            // Its return is next.
            true => Spot { event: event + 1, state: after, done },
            false => Spot { event, state: after, done: done | self.ops[op].bit },
        };
        self.buffers.seen.insert(spot).then_some((op, after))
    }

    /// Of those in progress that are like this one, the one with the earliest deadline: the others
    /// can do later whatever it could. Nothing unless this one was called first.
    fn first_like(&self, met: usize) -> Option<usize> {
        let Buffers { next, previous, in_class, .. } = &*self.buffers;
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

    /// An operation takes effect.
    fn take(&mut self, here: &mut Here, op: usize, met: Option<usize>) {
        let Here { event, state, done } = *here;
        self.buffers.taken.push(Taken { op, is_late: false, met, event, state, done });
        self.unlink(op);
        self.buffers.is_taken[op] = true;
        here.done |= self.ops[op].bit;
    }

    /// Steps back to the last choice; where in the list it was made.
    fn back(&mut self, here: &mut Here) -> Option<usize> {
        loop {
            let Taken { op, met, event, state, done, .. } = self.buffers.taken.pop()?;
            while here.event > event {
                here.event -= 1;
                let Event { op, returns } = self.buffers.events[here.event];
                // What returned had taken effect before, or was given up.
                if !returns {
                    self.unlink(op);
                }
            }
            self.buffers.is_taken[op] = false;
            self.link_again(op);
            *here = Here { event, state, done };
            if met.is_some() {
                return met;
            }
        }
    }

    /// Puts an operation that is called at the end of its list.
    fn call(&mut self, op: usize) {
        let head = self.ops[op].head;
        let last = self.buffers.previous[head];
        self.buffers.previous[op] = last;
        self.buffers.next[op] = head;
        self.link_again(op);
    }

    /// Takes an operation out of its list.
    fn unlink(&mut self, op: usize) {
        let Buffers { next, previous, in_class, .. } = &mut *self.buffers;
        next[previous[op]] = next[op];
        previous[next[op]] = previous[op];
        in_class[self.ops[op].class] -= 1;
    }

    /// Puts it back.
    // INVARIANT: what was taken out last is put back first, so its neighbours are as they were.
    fn link_again(&mut self, op: usize) {
        let Buffers { next, previous, in_class, .. } = &mut *self.buffers;
        next[previous[op]] = op;
        previous[next[op]] = op;
        in_class[self.ops[op].class] += 1;
    }
}
