//! Writes to the walked list, and what is checked at each so that `coerce.rs` may rely on it.
//!
//! Two patterns are known: the insertion of a private node, and the removal of one node. Any other
//! write to a node in the list is a fact that is lost, and the proof stops there.

use crate::coerce::may_follow;
use crate::execute::{Path, publish};
use crate::heap::{Heap, Lost, Side};
use crate::value::{Class, NodeId};

/// Writes the link of a node in the list.
pub fn write<H: Heap>(
    root: Option<(usize, u8)>,
    path: Path<H>,
    node: NodeId,
    link: u8,
    to: Option<NodeId>,
    out: &mut Vec<Path<H>>,
) -> Result<(), Lost> {
    let Some((_, walked)) = root else { return Err(Lost::List) };
    if link != walked {
        let mut path = path;
        path.state.heap.store(Side::Candidate, node, link, to);
        to.into_iter().for_each(|to| publish(&mut path.state.heap, to));
        out.push(path);
        return Ok(());
    }
    let new = to.ok_or(Lost::List)?;
    for (mut path, old) in focused(path, root, node, link)? {
        let old = old.ok_or(Lost::List)?;
        if old == new {
            out.push(path);
        } else if path.state.heap.flags(new).owner.is_some() {
            insert(&mut path, link, node, new, old)?;
            out.push(path);
        } else {
            for (mut path, next) in focused(path, root, old, link)? {
                if next != Some(new) {
                    return Err(Lost::List);
                }
                remove(&mut path, link, node, old, new)?;
                out.push(path);
            }
        }
    }
    Ok(())
}

/// The states in which a link goes to one place.
fn focused<H: Heap>(
    path: Path<H>,
    root: Option<(usize, u8)>,
    node: NodeId,
    link: u8,
) -> Result<Vec<(Path<H>, Option<NodeId>)>, Lost> {
    let mut out = Vec::new();
    if let Some(to) = path.state.heap.definite(Side::Candidate, node, link) {
        out.push((path, to));
        return Ok(out);
    }
    for (heap, to) in path.state.heap.load(Side::Candidate, node, link)? {
        let mut path = path.clone();
        path.state.heap = heap;
        let list = path.state.list(root);
        if path.state.heap.coerce(list.as_ref()) {
            out.push((path, to));
        }
    }
    Ok(out)
}

fn insert<H: Heap>(
    path: &mut Path<H>,
    link: u8,
    before: NodeId,
    new: NodeId,
    after: NodeId,
) -> Result<(), Lost> {
    let heap = &mut path.state.heap;
    if heap.definite(Side::Candidate, new, link) != Some(Some(after)) {
        return Err(Lost::List);
    }
    let class = |heap: &H, node: NodeId| heap.flags(node).class;
    let (first, second, third) = (class(heap, before), class(heap, new), class(heap, after));
    if !may_follow(first, second) || !may_follow(second, third) {
        return Err(Lost::Order);
    }
    publish(heap, new);
    let mut flags = heap.flags(new);
    flags.reach = true;
    heap.set_flags(new, flags);
    heap.store(Side::Candidate, before, link, Some(new));
    if is_below(first) && !is_below(second) {
        path.state.edge = Some((before, new));
    } else if is_below(second) && !is_below(third) {
        path.state.edge = Some((new, after));
    }
    Ok(())
}

fn remove<H: Heap>(
    path: &mut Path<H>,
    link: u8,
    before: NodeId,
    old: NodeId,
    after: NodeId,
) -> Result<(), Lost> {
    let heap = &mut path.state.heap;
    let (first, second) = (heap.flags(before).class, heap.flags(after).class);
    if !may_follow(first, second) {
        return Err(Lost::Order);
    }
    let mut flags = heap.flags(old);
    flags.reach = false;
    heap.set_flags(old, flags);
    heap.store(Side::Candidate, before, link, Some(after));
    if is_below(first) && !is_below(second) {
        path.state.edge = Some((before, after));
    }
    Ok(())
}

/// Whether a key is below K.
pub fn is_below(class: Class) -> bool {
    matches!(class, Class::Min | Class::Below)
}
