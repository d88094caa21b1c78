//! What a conflict rests on: the choices without which it would not be there, and the operations
//! that show it.

use super::blocks::{Block, Blocks, Conflict, Slot};
use super::choices::{Literal, Nogood, Variable};
use super::epochs::{Bounds, Unfit};
use super::log::{At, BEGINNING, Role};

/// Collects a nogood.
struct Reason<'b, 'k, 'l> {
    blocks: &'b Blocks<'k, 'l>,
    literals: Vec<Literal>,
    operations: Vec<At>,
}

/// The nogood of a conflict. It only excludes choices that the conflict refutes.
pub(super) fn nogood(blocks: &Blocks<'_, '_>, conflict: &Conflict) -> Nogood {
    let mut reason = Reason { blocks, literals: Vec::new(), operations: Vec::new() };
    match *conflict {
        Conflict::Forked(one, other) => {
            reason.get(one);
            reason.get(other);
            reason.operations.push(blocks.place(one).put);
        }
        Conflict::Twice(append, one, other) => {
            reason.slot(one, append);
            reason.slot(other, append);
        }
        Conflict::Backwards(put, earlier, later) => {
            reason.member(put, earlier);
            reason.member(put, later);
        }
        Conflict::Crossed(one, other) => {
            for block in [one, other] {
                reason.member(block.root, block.first);
                reason.member(block.root, block.last);
            }
            reason.apart(one, other);
            reason.apart(other, one);
        }
    }
    let Reason { mut literals, mut operations, .. } = reason;
    literals.sort_unstable();
    literals.dedup();
    operations.retain(|at| *at != BEGINNING);
    operations.sort_unstable();
    operations.dedup();
    Nogood { literals, operations }
}

impl Reason<'_, '_, '_> {
    /// A get is where it is.
    fn get(&mut self, get: At) {
        self.operations.push(get);
        if self.blocks.places.of(get).len() > 1 {
            let value = self.blocks.chosen[get as usize];
            self.literals.push(Literal { variable: Variable::Get(get), value });
        }
    }

    /// An append is in this slot, which is there because the longest get shows it.
    fn slot(&mut self, slot: Slot, append: At) {
        self.operations.extend([slot.put, append]);
        self.filled(slot, append);
        if let Some(longest) = self.blocks.blocks[slot.put as usize].longest {
            self.get(longest);
        }
    }

    fn filled(&mut self, slot: Slot, append: At) {
        let known = self.blocks.known;
        if known.appends(known.log.tree.token(slot.node)).len() > 1 {
            self.literals.push(Literal { variable: Variable::Slot(slot), value: append });
        }
    }

    /// An operation belongs to the block of a root.
    fn member(&mut self, root: At, member: At) {
        self.operations.extend([root, member]);
        match self.blocks.known.log[member].role {
            Role::Put(_) if self.blocks.known.is_completed(member) => {}
            // It took effect only because a get shows it.
            Role::Put(_) => {
                if let Some(longest) = self.blocks.blocks[member as usize].longest {
                    self.get(longest);
                }
            }
            Role::Get(..) => self.get(member),
            Role::Append(_) => {
                if let Some(slot) = self.blocks.seen[member as usize] {
                    self.slot(slot, member);
                }
            }
        }
    }

    /// An append that no get shows is not in the other block: its slots are filled with others.
    fn apart(&mut self, single: Block, other: Block) {
        let log = self.blocks.known.log;
        let Role::Append(token) = log[single.root].role else { return };
        for slot in self.slots(other.root) {
            if log.tree.token(slot.node) == token
                && let Some(append) = self.blocks.append_in(slot)
            {
                self.filled(slot, append);
            }
        }
        if let Some(longest) = other.longest {
            self.get(longest);
        }
    }

    /// The slots of the epoch of a put.
    fn slots(&self, put: At) -> Vec<Slot> {
        let Some(longest) = self.blocks.blocks[put as usize].longest else { return Vec::new() };
        let path = self.blocks.known.log.tree.path(self.blocks.place(longest).node);
        path.into_iter().skip(1).map(|node| Slot { put, node }).collect()
    }
}

/// With some gets, the puts that overwrote for good what else they could show.
pub(super) fn with_overwriting(bounds: &Bounds<'_, '_>, log: &super::log::Log, core: &mut Vec<At>) {
    let mut overwriting = Vec::new();
    for get in core.iter().copied() {
        for reading in log.readings(get) {
            for put in log.puts.of(reading.base) {
                if let Err(Unfit::Overwritten(by)) = bounds.fits(get, *put, reading.node) {
                    overwriting.push(by);
                }
            }
        }
    }
    core.extend(overwriting);
    core.sort_unstable();
    core.dedup();
}
