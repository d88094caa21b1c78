//! Reading and writing links, and ownership.

use super::list;
use super::model::Model;
use super::state::{Id, Kind, Node, Side, State, Targets};
use super::wrong::What;

/// The states in which a link goes to one place; together they stand for all that this one stands
/// for (focus on the pointer read). Of a target without a name one node is taken out and named.
pub fn follow(
    model: &Model,
    state: &State,
    side: Side,
    node: Id,
    link: usize,
) -> Result<Vec<(State, Option<Id>)>, What> {
    let targets = targets(state, side, node, link)?;
    let mut out = Vec::new();
    for target in targets {
        let mut state = state.clone();
        let to = match target {
            Some(to) if state.nodes.get(&to).is_none_or(|node| node.many) => {
                Some(take_out(&mut state, to)?)
            }
            other => other,
        };
        if let Some(node) = state.nodes.get_mut(&node)
            && let Some(targets) = node.side(side).get_mut(link)
        {
            *targets = [to].into();
        }
        // A nonuniform duo-object is one whose links differ.
        if !agrees(&state, node) && list::sharpen(model, &mut state) {
            out.push((state, to));
        }
    }
    Ok(out)
}

/// Where a link may go.
pub fn targets(state: &State, side: Side, node: Id, link: usize) -> Result<Targets, What> {
    let mut found = state.nodes.get(&node).cloned().ok_or(What::Beyond("a node is missing"))?;
    let targets = found.side(side).get(link).cloned();
    targets.ok_or(What::Beyond("a link is missing"))
}

/// A new named node that is one of those a node without a name stands for.
fn take_out(state: &mut State, from: Id) -> Result<Id, What> {
    let new = state.fresh();
    let mut node = state.nodes.get(&from).cloned().ok_or(What::Beyond("a node is missing"))?;
    node.many = false;
    state.nodes.insert(new, node);
    // What may go to the ones may go to this one.
    for node in state.nodes.values_mut() {
        for targets in node.sets_mut() {
            if targets.contains(&Some(from)) {
                targets.insert(Some(new));
            }
        }
    }
    Ok(new)
}

/// The states in which every link of a node goes to one place, on both sides; together they stand
/// for all that this one stands for.
pub fn definite(model: &Model, state: &State, node: Id) -> Result<Vec<State>, What> {
    let mut states = vec![state.clone()];
    for side in [Side::Candidate, Side::Reference] {
        let mut next = Vec::new();
        for state in states {
            let mut work = vec![state];
            let links = work.first_mut().and_then(|state| state.nodes.get_mut(&node));
            let count = links.map_or(0, |node| node.side(side).len());
            for link in 0..count {
                let mut narrowed = Vec::new();
                for state in work {
                    let followed = follow(model, &state, side, node, link)?;
                    narrowed.extend(followed.into_iter().map(|(state, _)| state));
                }
                work = narrowed;
            }
            next.extend(work);
        }
        states = next;
    }
    Ok(states)
}

/// Writes a link. A uniform duo-object keeps its old link on the other side. The links of a
/// duo-object must each go to one place, so that whether they agree afterwards is known.
pub fn store(
    state: &mut State,
    side: Side,
    node: Id,
    link: usize,
    to: Option<Id>,
) -> Result<(), What> {
    let found = state.nodes.get_mut(&node).ok_or(What::Beyond("a node is missing"))?;
    if found.flags.kind == Kind::Uniform {
        found.flags.kind = Kind::Nonuniform;
        found.twin = found.links.clone();
    }
    let targets = found.side(side).get_mut(link).ok_or(What::Beyond("a link is missing"))?;
    *targets = [to].into();
    settle(state, node)
}

/// A candidate node, whose links must each go to one place, becomes a duo-object; the new reference
/// node has null links.
pub fn correlate(state: &mut State, node: Id) -> Result<(), What> {
    let found = state.nodes.get_mut(&node).ok_or(What::Beyond("a node is missing"))?;
    found.flags.kind = Kind::Nonuniform;
    found.twin = vec![[None].into(); found.links.len()];
    settle(state, node)
}

/// Whether a nonuniform duo-object surely has the same links on both sides: every link goes to the
/// same one node, or is null. Two links to the same node *without a name* may go to different ones.
fn agrees(state: &State, node: Id) -> bool {
    let Some(found) = state.nodes.get(&node) else { return false };
    let one = found.links.iter().all(|targets| is_one(state, targets));
    found.flags.kind == Kind::Nonuniform && found.links == found.twin && one
}

/// Whether a link surely goes to one named node, or is null.
fn is_one(state: &State, targets: &Targets) -> bool {
    let many = |to: &Option<Id>| to.is_some_and(|to| state.nodes.get(&to).is_none_or(|to| to.many));
    targets.len() == 1 && !targets.iter().any(many)
}

/// After a write: a duo-object is uniform exactly if its links agree, and that must be known.
fn settle(state: &mut State, node: Id) -> Result<(), What> {
    let Some(found) = state.nodes.get(&node) else { return Ok(()) };
    if found.flags.kind != Kind::Nonuniform {
        return Ok(());
    }
    if !found.sets().all(|targets| is_one(state, targets)) {
        return Err(What::Beyond("whether the links of a duo-object agree"));
    }
    if agrees(state, node)
        && let Some(found) = state.nodes.get_mut(&node)
    {
        found.flags.kind = Kind::Uniform;
        found.twin = Vec::new();
    }
    Ok(())
}

/// Ends the ownership of a node, and of the private nodes that can be reached from it.
pub fn publish(state: &mut State, node: Id) {
    let Some(found) = state.nodes.get_mut(&node) else { return };
    if found.flags.owner.take().is_some() {
        let next: Vec<Id> = found.links.iter().flatten().copied().flatten().collect();
        next.into_iter().for_each(|to| publish(state, to));
    }
}

/// What ownership means, checked after every move rather than argued: what a thread owns no other
/// thread names, no shared variable, and no node that is not its own may go there.
pub fn owned_is_private(state: &State) -> bool {
    let owner = |node: &Id| state.nodes.get(node).and_then(|node| node.flags.owner);
    let common = state.common_names().iter().all(|node| owner(node).is_none());
    let mut threads = state.threads.iter().enumerate();
    let threads = threads.all(|(at, thread)| {
        let mut nodes = thread.words().filter_map(|word| word.node());
        nodes.all(|node| owner(&node).is_none_or(|owner| owner == at))
    });
    let reachable = state.reachable(&state.names());
    let links = reachable.iter().filter_map(|node| state.nodes.get(node)).all(|node: &Node| {
        let mut targets = node.sets().flatten().flatten();
        targets.all(|to| owner(to).is_none_or(|owner| Some(owner) == node.flags.owner))
    });
    common && threads && links
}
