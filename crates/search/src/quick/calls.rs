//! The operations of a part, and the events at which they are called and must have taken effect.

use super::seen::folded;
use linchpin_history_data::{History, NEVER, OpId, Operation, Rank};
use rustc_hash::FxBuildHasher;
use std::hash::{BuildHasher, Hash};

/// So many operations may be in progress at a time.
const SLOTS: u32 = u64::BITS;

/// The operations of a part.
pub(super) struct Calls<C> {
    pub(super) ops: Vec<Op<C>>,
}

/// An operation.
#[derive(Clone, Copy)]
pub(super) struct Op<C> {
    pub(super) id: OpId,
    pub(super) call: C,
    /// Operations of one class have the same call, and have all completed or have not.
    pub(super) class: usize,
    /// Which bit says that it took effect.
    pub(super) bit: u64,
    invoked: Rank,
    pub(super) deadline: Rank,
    /// Whether it must take effect.
    pub(super) completed: bool,
    /// The head of its list.
    pub(super) head: usize,
}

/// A call, or the deadline of an operation.
#[derive(Clone, Copy)]
pub(super) struct Event {
    pub(super) op: usize,
    pub(super) returns: bool,
}

/// The heads of the lists of what is in progress: of what changes something, of what need not take
/// effect, and of what only looks. Lists are circles through their heads.
pub(super) fn heads(operations: usize) -> [usize; 3] {
    [operations, operations + 1, operations + 2]
}

impl<C: Copy + Eq + Hash> Calls<C> {
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

    /// Puts operations into lists and classes, and sets the events; whether there is a bit for each
    /// operation that is in progress.
    pub(super) fn prepare(&mut self, events: &mut Events, only_looks: impl Fn(C) -> bool) -> bool {
        let ops = &mut self.ops[..];
        let [updates, optional, looks] = heads(ops.len());
        for op in &mut *ops {
            op.head = match (only_looks(op.call), op.completed) {
                (true, _) => looks,
                (false, true) => updates,
                (false, false) => optional,
            };
        }
        set_classes(&mut events.classes, ops);
        events.set(ops)
    }
}

/// Numbers the different calls. A class is the number of its first operation.
fn set_classes<C: Copy + Eq + Hash>(classes: &mut Vec<usize>, ops: &mut [Op<C>]) {
    let size = (2 * ops.len()).next_power_of_two();
    classes.clear();
    classes.resize(size, 0);
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

/// The events of a part, and what it takes to set them, to be used again for the next part.
#[derive(Default)]
pub(super) struct Events {
    pub(super) list: Vec<Event>,
    sorted: Vec<(Rank, bool, usize)>,
    /// The first operation of each class, by the hash of the call: one more than its number.
    classes: Vec<usize>,
}

impl Events {
    /// Sets the events, and gives each operation a bit that is its own while it is in progress;
    /// whether there are enough.
    fn set<C>(&mut self, ops: &mut [Op<C>]) -> bool {
        self.sorted.clear();
        for (at, op) in ops.iter().enumerate() {
            self.sorted.push((op.invoked, false, at));
            if op.deadline != NEVER {
                self.sorted.push((op.deadline, true, at));
            }
        }
        // At the same rank calls come first: such operations overlap.
        self.sorted.sort_unstable();
        let mut free = u64::MAX;
        self.list.clear();
        for &(_, returns, op) in &self.sorted {
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
            self.list.push(Event { op, returns });
        }
        true
    }
}
