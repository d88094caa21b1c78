//! What is known of the walked list removes targets that cannot be.
//!
//! Each rule is a theorem about reachable states, because what it rests on is checked at every
//! write (`list.rs`): the list is a path from its first node, private nodes are inserted one at a
//! time, single nodes are removed, and keys are in order of class.
//!
//! 1. The target of a node in the list is in the list, or null.
//! 2. A node in the list, other than the first, has exactly one predecessor in it, which is another
//!    node; the first has none. Following the list from its first node one comes to all of them.
//! 3. Classes do not decrease along the list, and K, the bounds do not follow themselves.
//! 4. One edge of the list goes from below K to K or above: from `before` to `after`.

use crate::heap::List;
use crate::targets::{Mask, NULL, Targets, bit, bit_of, nodes_in};
use crate::value::Class;

/// Whether a class may follow another in the list.
pub fn may_follow(first: Class, second: Class) -> bool {
    match (first, second) {
        (Class::None, _) | (_, Class::None) => false,
        (Class::Below, Class::Below) | (Class::Above, Class::Above) => true,
        _ => first < second,
    }
}

/// The nodes of the list, by how their keys compare with K.
struct Members {
    all: Mask,
    below: Mask,
    above: Mask,
    max: Mask,
}

impl Members {
    fn of(heap: &Targets) -> Members {
        let mut members = Members { all: 0, below: 0, above: 0, max: 0 };
        for (at, node) in heap.nodes.iter().enumerate().filter(|(_, node)| node.flags.reach) {
            members.all |= bit(at);
            match node.flags.class {
                Class::Below => members.below |= bit(at),
                Class::Above => members.above |= bit(at),
                Class::Max => members.max |= bit(at),
                Class::Min | Class::At | Class::None => {}
            }
        }
        members
    }

    /// Rules 1, 3, 4: where a node of the list may go.
    fn allowed(&self, list: &List, at: usize, class: Class) -> Mask {
        match class {
            Class::Min | Class::Below if at == list.before.index() => bit_of(Some(list.after)),
            Class::Min | Class::Below => self.below,
            Class::At | Class::Above => self.above | self.max,
            // The list ends with the node above every key, and there only.
            Class::Max => NULL,
            Class::None => 0,
        }
    }
}

/// Removes what cannot be. `false`: nothing is left.
pub fn coerce(heap: &mut Targets, list: &List) -> bool {
    let link = usize::from(list.link);
    if !places(heap, list) {
        return false;
    }
    let members = Members::of(heap);
    let mut gone: Mask = 0;
    for at in nodes_in(members.all) {
        let node = &heap.nodes[at];
        // A node of the list at K is the one after `before`.
        if node.flags.class == Class::At && at != list.after.index() {
            if !node.summary {
                return false;
            }
            gone |= bit(at);
        }
        let itself = if node.summary { 0 } else { bit(at) };
        let allowed = members.allowed(list, at, node.flags.class) & !itself;
        heap.nodes[at].links[link] &= allowed;
    }
    predecessors(heap, list, members.all, gone)
}

/// The three nodes that the list is known by are in it.
fn places(heap: &Targets, list: &List) -> bool {
    let flags = |node: crate::value::NodeId| heap.nodes[node.index()].flags;
    let (first, before, after) = (flags(list.first), flags(list.before), flags(list.after));
    first.reach
        && before.reach
        && after.reach
        && matches!(before.class, Class::Min | Class::Below)
        && matches!(after.class, Class::At | Class::Above | Class::Max)
}

/// Rule 2, and what follows where a node has no target or no predecessor left.
fn predecessors(heap: &mut Targets, list: &List, in_list: Mask, mut gone: Mask) -> bool {
    let link = usize::from(list.link);
    let first = bit(list.first.index());
    let named = in_list & !summaries(heap);
    loop {
        let before = gone;
        let mut changed = false;
        // Named nodes that are surely the target of a named node. Two that go to the same
        // *summary* may go to different nodes.
        let mut taken: Mask = 0;
        for at in nodes_in(in_list & !gone) {
            let node = &mut heap.nodes[at];
            node.links[link] &= !gone;
            let mask = node.links[link];
            if mask == 0 {
                if !node.summary {
                    return false;
                }
                gone |= bit(at);
            } else if !node.summary && mask.count_ones() == 1 && mask & named != 0 {
                if taken & mask != 0 {
                    return false;
                }
                taken |= mask;
            }
        }
        let (mut once, mut twice): (Mask, Mask) = (0, 0);
        for at in nodes_in(in_list & !gone) {
            let node = &mut heap.nodes[at];
            let mask = node.links[link];
            let sure = !node.summary && mask.count_ones() == 1;
            if !sure && mask & taken != 0 {
                node.links[link] &= !taken;
                changed = true;
            }
            twice |= once & node.links[link];
            once |= node.links[link];
        }
        let orphans = in_list & !gone & !first & !once;
        let met = met_from(heap, list);
        for at in nodes_in((orphans | in_list & !met) & !gone) {
            if !heap.nodes[at].summary {
                return false;
            }
            gone |= bit(at);
        }
        // A named node with one possible predecessor that is named too: that one goes there.
        let single = once & !twice & !taken & !NULL & in_list & !gone;
        for at in nodes_in(single).filter(|at| !heap.nodes[*at].summary).collect::<Few>() {
            let from =
                nodes_in(in_list & !gone).find(|from| heap.nodes[*from].links[link] & bit(at) != 0);
            if let Some(from) = from.filter(|from| !heap.nodes[*from].summary)
                && heap.nodes[from].links[link] != bit(at)
            {
                heap.nodes[from].links[link] = bit(at);
                changed = true;
            }
        }
        if !changed && gone == before {
            break;
        }
    }
    drop_everywhere(heap, gone)
}

type Few = smallvec::SmallVec<[usize; 8]>;

fn summaries(heap: &Targets) -> Mask {
    let nodes = heap.nodes.iter().enumerate();
    nodes.filter(|(_, node)| node.summary).fold(0, |mask, (at, _)| mask | bit(at))
}

/// The nodes that one may come to along the list.
fn met_from(heap: &Targets, list: &List) -> Mask {
    let link = usize::from(list.link);
    let mut met = bit(list.first.index());
    let mut work = met;
    while work != 0 {
        let next = nodes_in(work).fold(0, |all, at| all | heap.nodes[at].links[link]);
        work = next & !met & !NULL;
        met |= work;
    }
    met
}

/// Summaries that stand for nothing are the target of nothing.
fn drop_everywhere(heap: &mut Targets, gone: Mask) -> bool {
    if gone == 0 {
        return true;
    }
    let mut dead = false;
    for at in 0..heap.nodes.len() {
        if gone & bit(at) != 0 {
            continue;
        }
        let summary = heap.nodes[at].summary;
        for mask in heap.nodes[at].masks_mut() {
            let left = *mask & !gone;
            // A node outside of the list whose target cannot be: it cannot be either. A summary
            // of them is left with an empty mask, which stands for nothing.
            dead |= left == 0 && *mask != 0 && !summary;
            *mask = left;
        }
    }
    !dead
}
