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

/// Removes what cannot be. `false`: nothing is left.
pub fn coerce(heap: &mut Targets, list: &List) -> bool {
    let link = usize::from(list.link);
    let in_list: Mask = mask_of(heap, |_, node| node.flags.reach);
    if !places(heap, list) {
        return false;
    }
    // A named node in the list at K is the one after `before`.
    let stray = |at: usize| at != list.after.index() && heap.nodes[at].flags.class == Class::At;
    if nodes_in(in_list).any(|at| stray(at) && !heap.nodes[at].summary) {
        return false;
    }
    let mut gone: Mask = 0;
    for at in nodes_in(in_list) {
        if stray(at) {
            gone |= bit(at);
        }
    }
    for at in nodes_in(in_list) {
        let allowed = allowed(heap, list, at, in_list & !gone);
        // The list ends with the node above every key, and there only.
        let end = if heap.nodes[at].flags.class == Class::Max { NULL } else { 0 };
        heap.nodes[at].links[link] &= allowed | end;
    }
    if heap.nodes[list.before.index()].links[link] & bit_of(Some(list.after)) == 0 {
        return false;
    }
    heap.nodes[list.before.index()].links[link] = bit_of(Some(list.after));
    predecessors(heap, list, in_list & !gone, gone)
}

fn mask_of(heap: &Targets, of: impl Fn(usize, &crate::targets::Node) -> bool) -> Mask {
    let nodes = heap.nodes.iter().enumerate();
    nodes.filter(|(at, node)| of(*at, node)).fold(0, |mask, (at, _)| mask | bit(at))
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

/// Rules 1, 3, 4: where a node in the list may go.
fn allowed(heap: &Targets, list: &List, at: usize, in_list: Mask) -> Mask {
    let class = heap.nodes[at].flags.class;
    let below = |class: Class| matches!(class, Class::Min | Class::Below);
    let fits = |to: usize| {
        let target = heap.nodes[to].flags.class;
        may_follow(class, target)
            && to != list.first.index()
            // The list is a path: a node of it does not follow itself.
            && (to != at || heap.nodes[at].summary)
            && (below(class) == below(target) || at == list.before.index())
    };
    nodes_in(in_list).filter(|to| fits(*to)).fold(0, |mask, to| mask | bit(to))
}

/// Rule 2, and what follows where a node has no target or no predecessor left.
fn predecessors(heap: &mut Targets, list: &List, in_list: Mask, mut gone: Mask) -> bool {
    let link = usize::from(list.link);
    loop {
        let mut changed = false;
        for at in nodes_in(in_list & !gone) {
            let mask = heap.nodes[at].links[link] & !gone;
            changed |= mask != heap.nodes[at].links[link];
            heap.nodes[at].links[link] = mask;
            if mask == 0 {
                match heap.nodes[at].summary {
                    true => {
                        gone |= bit(at);
                        changed = true;
                    }
                    false => return false,
                }
                continue;
            }
            // Its only target is a named node: no other node in the list goes there.
            let only = (mask.count_ones() == 1).then(|| nodes_in(mask).next()).flatten();
            if let Some(to) = only.filter(|to| !heap.nodes[*to].summary && !heap.nodes[at].summary)
            {
                for other in nodes_in(in_list & !gone & !bit(at)) {
                    if heap.nodes[other].links[link] & bit(to) != 0 {
                        heap.nodes[other].links[link] &= !bit(to);
                        changed = true;
                    }
                }
            }
        }
        for at in nodes_in(in_list & !gone) {
            if at == list.first.index() {
                continue;
            }
            let before = |from: &usize| heap.nodes[*from].links[link] & bit(at) != 0;
            let mut all = nodes_in(in_list & !gone).filter(before);
            match (all.next(), all.next(), heap.nodes[at].summary) {
                (None, _, false) => return false,
                (None, _, true) => {
                    gone |= bit(at);
                    changed = true;
                }
                (Some(only), None, false)
                    if !heap.nodes[only].summary && heap.nodes[only].links[link] != bit(at) =>
                {
                    heap.nodes[only].links[link] = bit(at);
                    changed = true;
                }
                _ => {}
            }
        }
        let met = met_from(heap, list);
        for at in nodes_in(in_list & !gone & !met) {
            if !heap.nodes[at].summary {
                return false;
            }
            gone |= bit(at);
            changed = true;
        }
        if !changed {
            break;
        }
    }
    drop_everywhere(heap, gone)
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
