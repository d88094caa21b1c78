//! The list of a set: what is checked at each write, and what follows from it.
//!
//! The invariant, by induction over writes ([`write`] refuses every other one): the listed nodes
//! are exactly those on the way from the root along one link; it ends in null, at the one node
//! above every key; keys grow along it, so that classes may follow each other as [`may_follow`]
//! says; the edge is the pair of neighbours of which the first is below K and the second is not.
//!
//! From it follow the rules of [`sharpen`], which remove targets that cannot be:
//!
//! 1. A listed node goes to a listed node; the one above every key, and no other, to null.
//! 2. No two listed nodes go to the same node; none goes to itself or to the first; along the list
//!    one comes to every other.
//! 3. Classes follow each other as keys that grow.
//! 4. Only the first node of the edge, of those below K, goes to one that is not, and that is the
//!    second; so a listed node at K is the second.

use super::heap::{follow, publish, store, targets};
use super::model::Model;
use super::state::{Class, Id, Side, State};
use super::step::Path;
use super::wrong::What;
use std::collections::BTreeSet;

/// Whether a node of the second class may come right after one of the first, if keys grow.
fn may_follow(first: Option<Class>, second: Option<Class>) -> bool {
    match (first, second) {
        (Some(Class::Below), Some(Class::Below)) | (Some(Class::Above), Some(Class::Above)) => true,
        (Some(first), Some(second)) => first < second,
        _ => false,
    }
}

fn is_below(class: Option<Class>) -> bool {
    matches!(class, Some(Class::Min | Class::Below))
}

fn class(state: &State, node: Id) -> Option<Class> {
    state.nodes.get(&node).and_then(|node| node.flags.class)
}

fn is_listed(state: &State, node: Id) -> bool {
    state.nodes.get(&node).is_some_and(|node| node.flags.listed)
}

fn list(state: &mut State, node: Id, listed: bool) {
    if let Some(node) = state.nodes.get_mut(&node) {
        node.flags.listed = listed;
    }
}

/// Marks the nodes of the list that `init` made, and finds where K belongs.
pub fn find(model: &Model, state: &mut State) -> Result<(), What> {
    let Some((root, link)) = model.root else { return Ok(()) };
    let no_list = What::Beyond("`init` does not make a list from below every key to above");
    let mut at = state.shared.get(root).and_then(|word| word.node()).ok_or(no_list)?;
    if class(state, at) != Some(Class::Min) {
        return Err(no_list);
    }
    loop {
        if is_listed(state, at) {
            return Err(no_list);
        }
        list(state, at, true);
        let next: Vec<_> = targets(state, Side::Candidate, at, link)?.into_iter().collect();
        match next[..] {
            [None] if class(state, at) == Some(Class::Max) => break,
            [Some(next)] if may_follow(class(state, at), class(state, next)) => {
                if is_below(class(state, at)) && !is_below(class(state, next)) {
                    state.edge = Some((at, next));
                }
                at = next;
            }
            _ => return Err(no_list),
        }
    }
    state.edge.map(|_| ()).ok_or(no_list)
}

/// Writes a link of a listed node: the insertion of one private node, or the removal of one node.
pub fn write(
    model: &Model,
    path: Path,
    node: Id,
    link: usize,
    to: Option<Id>,
) -> Result<Vec<Path>, What> {
    let beyond = What::Beyond("a write to the list that neither inserts nor removes one node");
    if model.root.is_none_or(|(_, walked)| walked != link) {
        let mut path = path;
        store(&mut path.state, Side::Candidate, node, link, to)?;
        to.into_iter().for_each(|to| publish(&mut path.state, to));
        return Ok(vec![path]);
    }
    let new = to.ok_or(beyond)?;
    let mut out = Vec::new();
    for (state, old) in follow(model, &path.state, Side::Candidate, node, link)? {
        let old = old.ok_or(beyond)?;
        if old == new {
            out.push(Path { state, ..path.clone() });
        } else if state.nodes.get(&new).is_some_and(|new| new.flags.owner.is_some()) {
            let state = inserted(state, link, node, new, old)?;
            out.push(Path { state, ..path.clone() });
        } else {
            for (state, next) in follow(model, &state, Side::Candidate, old, link)? {
                if next != Some(new) {
                    return Err(beyond);
                }
                let state = removed(state, link, node, old, new)?;
                out.push(Path { state, ..path.clone() });
            }
        }
    }
    Ok(out)
}

fn inserted(mut state: State, link: usize, before: Id, new: Id, after: Id) -> Result<State, What> {
    if targets(&state, Side::Candidate, new, link)? != [Some(after)].into() {
        return Err(What::Beyond("a node is inserted that does not go on to the next one"));
    }
    let (first, second, third) = (class(&state, before), class(&state, new), class(&state, after));
    if !may_follow(first, second) || !may_follow(second, third) {
        return Err(What::Beyond("a node is inserted where its key may be out of order"));
    }
    publish(&mut state, new);
    list(&mut state, new, true);
    store(&mut state, Side::Candidate, before, link, Some(new))?;
    if is_below(first) && !is_below(second) {
        state.edge = Some((before, new));
    } else if is_below(second) && !is_below(third) {
        state.edge = Some((new, after));
    }
    Ok(state)
}

fn removed(mut state: State, link: usize, before: Id, old: Id, after: Id) -> Result<State, What> {
    let (first, second) = (class(&state, before), class(&state, after));
    if !may_follow(first, second) {
        return Err(What::Beyond("a node is removed where keys may be out of order"));
    }
    list(&mut state, old, false);
    store(&mut state, Side::Candidate, before, link, Some(after))?;
    if is_below(first) && !is_below(second) {
        state.edge = Some((before, after));
    }
    Ok(state)
}

/// Removes what cannot be. `false`: the state stands for nothing.
pub fn sharpen(model: &Model, state: &mut State) -> bool {
    let (Some((root, link)), Some(edge)) = (model.root, state.edge) else { return true };
    let Some(first) = state.shared.get(root).and_then(|word| word.node()) else { return false };
    let List { listed, mut gone } = match List::of(state, first, edge) {
        Some(list) => list,
        None => return false,
    };
    for at in &listed {
        let allowed = |to: &Option<Id>| match to {
            None => class(state, *at) == Some(Class::Max),
            Some(to) => {
                let crosses = is_below(class(state, *at)) != is_below(class(state, *to));
                listed.contains(to)
                    && !gone.contains(to)
                    && *to != first
                    && (to != at || state.nodes.get(at).is_some_and(|node| node.many))
                    && may_follow(class(state, *at), class(state, *to))
                    && crosses == ((*at, *to) == edge)
                    && (*at != edge.0 || *to == edge.1)
            }
        };
        let kept = targets_of(state, *at, link).into_iter().filter(allowed).collect();
        set(state, *at, link, kept);
    }
    let mut listed: BTreeSet<Id> = listed.difference(&gone).copied().collect();
    loop {
        let before = (state.clone(), listed.clone());
        one_predecessor(state, &listed, link, first);
        let met = met_from(state, first, link);
        let empty = |at: &Id| targets_of(state, *at, link).is_empty() || !met.contains(at);
        let dead: BTreeSet<Id> = listed.iter().copied().filter(empty).collect();
        if dead.iter().any(|at| state.nodes.get(at).is_none_or(|node| !node.many)) {
            return false;
        }
        for at in &listed {
            let kept = targets_of(state, *at, link);
            let kept = kept.into_iter().filter(|to| to.is_none_or(|to| !dead.contains(&to)));
            let kept = kept.collect();
            set(state, *at, link, kept);
        }
        listed = listed.difference(&dead).copied().collect();
        gone.extend(dead);
        if (&before.0, &before.1) == (&*state, &listed) {
            break;
        }
    }
    drop_everywhere(state, &gone)
}

struct List {
    listed: BTreeSet<Id>,
    /// Listed nodes that stand for nothing.
    gone: BTreeSet<Id>,
}

impl List {
    fn of(state: &State, first: Id, edge: (Id, Id)) -> Option<List> {
        let listed = state.nodes.iter().filter(|(_, node)| node.flags.listed).map(|(at, _)| *at);
        let listed: BTreeSet<Id> = listed.collect();
        let there = [first, edge.0, edge.1].iter().all(|at| listed.contains(at));
        let second = class(state, edge.1);
        if !there || !is_below(class(state, edge.0)) || is_below(second) || second.is_none() {
            return None;
        }
        let stray = |at: &Id| *at != edge.1 && class(state, *at) == Some(Class::At);
        let gone: BTreeSet<Id> = listed.iter().copied().filter(stray).collect();
        let named = |at: &Id| state.nodes.get(at).is_some_and(|node| !node.many);
        (!gone.iter().any(named)).then_some(List { listed, gone })
    }
}

fn targets_of(state: &State, node: Id, link: usize) -> BTreeSet<Option<Id>> {
    targets(state, Side::Candidate, node, link).unwrap_or_default()
}

fn set(state: &mut State, node: Id, link: usize, to: BTreeSet<Option<Id>>) {
    let links = state.nodes.get_mut(&node).map(|node| &mut node.links);
    if let Some(targets) = links.and_then(|links| links.get_mut(link)) {
        *targets = to;
    }
}

/// The nodes that one may come to along the list.
fn met_from(state: &State, first: Id, link: usize) -> BTreeSet<Id> {
    let mut met = BTreeSet::new();
    let mut work = vec![first];
    while let Some(at) = work.pop() {
        if met.insert(at) {
            work.extend(targets_of(state, at, link).into_iter().flatten());
        }
    }
    met
}

/// Rule 2, where both nodes have names.
fn one_predecessor(state: &mut State, listed: &BTreeSet<Id>, link: usize, first: Id) {
    let named = |state: &State, at: Id| state.nodes.get(&at).is_some_and(|node| !node.many);
    for at in listed.iter().copied().filter(|at| named(state, *at)).collect::<Vec<_>>() {
        // It goes to one named node for sure: no other node goes there.
        let only: Vec<_> = targets_of(state, at, link).into_iter().collect();
        if let [Some(to)] = only[..]
            && named(state, to)
        {
            for other in listed.iter().filter(|other| **other != at) {
                let mut targets = targets_of(state, *other, link);
                targets.remove(&Some(to));
                set(state, *other, link, targets);
            }
        }
        // One named node alone may go there: it does.
        let mut from =
            listed.iter().filter(|from| targets_of(state, **from, link).contains(&Some(at)));
        if let (Some(only), None, true) = (from.next().copied(), from.next(), at != first)
            && named(state, only)
        {
            set(state, only, link, [Some(at)].into());
        }
    }
}

/// Nodes that stand for nothing are gone to by nothing. `false`: a named node has no target left.
fn drop_everywhere(state: &mut State, gone: &BTreeSet<Id>) -> bool {
    state.nodes.retain(|at, _| !gone.contains(at));
    let mut possible = true;
    for node in state.nodes.values_mut() {
        let many = node.many;
        for targets in node.sets_mut() {
            let before = targets.len();
            targets.retain(|to| to.is_none_or(|to| !gone.contains(&to)));
            possible &= many || !targets.is_empty() || before == 0;
        }
    }
    possible
}
