//! Two views side by side: the states of two threads, of which one view knows each.
//!
//! Take a concrete state and two of its threads that the views stand for. Every node that either
//! view knows is in the first, in the second, or in both; in both if the list has it, for every
//! view knows all of the list; and what a thread owns only its own view knows. Which named node of
//! one view is which of the other is tried in all ways. A node that both know goes only where both
//! say; a node that one knows, where that one says.

use super::state::{Flags, Holder, Id, Node, State, Targets, Word};
use std::collections::BTreeMap;

/// The thread of the first view.
const FIRST: usize = 0;
/// The thread of the second view.
pub const SECOND: usize = 1;

/// A node of both views side by side: a node of one, of the other, or of both.
#[derive(Clone, Debug)]
struct Both {
    flags: Flags,
    many: bool,
    /// What it is in the first view; none: that does not know it.
    first: Option<Id>,
    /// What it is in the second view; none: that does not know it.
    second: Option<Id>,
}

impl Both {
    fn of_first(v: Id, flags: &Flags, many: bool) -> Both {
        Both { flags: flags.clone(), many, first: Some(v), second: None }
    }

    fn of_second(w: Id, flags: &Flags, many: bool) -> Both {
        Both { flags: of_second(flags), many, first: None, second: Some(w) }
    }
}

/// A lock that both views see. `Free` in a view says only that its thread does not hold it.
fn holder(first: Holder, second: Holder) -> Option<Holder> {
    match (first, second) {
        (Holder::Thread(_), Holder::Free | Holder::Other) => Some(Holder::Thread(FIRST)),
        (Holder::Free | Holder::Other, Holder::Thread(_)) => Some(Holder::Thread(SECOND)),
        (Holder::Thread(_), _) | (_, Holder::Thread(_)) => None,
        (Holder::Free, other) => Some(other),
        (other, _) => Some(other),
    }
}

/// A node that both views see: it is private to neither thread.
fn joined(first: &Flags, second: &Flags) -> Option<Flags> {
    let like = Flags { locks: first.locks.clone(), ..second.clone() };
    if first.owner.is_some() || like != *first {
        return None;
    }
    let locks = first.locks.iter().zip(&second.locks).map(|(one, two)| holder(*one, *two));
    Some(Flags { locks: locks.collect::<Option<_>>()?, ..first.clone() })
}

/// A node that only the second view sees.
fn of_second(flags: &Flags) -> Flags {
    let holder = |holder: &Holder| match holder {
        Holder::Thread(_) => Holder::Thread(SECOND),
        other => *other,
    };
    Flags {
        owner: flags.owner.map(|_| SECOND),
        locks: flags.locks.iter().map(holder).collect(),
        ..flags.clone()
    }
}

/// What one view knows, sorted by how it knows it.
struct View<'a> {
    state: &'a State,
    common: Vec<Id>,
    private: Vec<Id>,
    unnamed: Vec<Id>,
}

impl<'a> View<'a> {
    fn new(state: &'a State) -> View<'a> {
        let common = state.common_names();
        let names = state.names();
        let private = names.iter().copied().filter(|name| !common.contains(name)).collect();
        let reachable = state.reachable(&names);
        let unnamed = reachable.into_iter().filter(|node| !names.contains(node)).collect();
        View { state, common, private, unnamed }
    }

    fn node(&self, at: Id) -> Option<&Node> {
        self.state.nodes.get(&at)
    }

    fn flags(&self, at: Id) -> Option<&Flags> {
        self.node(at).map(|node| &node.flags)
    }
}

/// Every state of the two threads that two views stand for.
pub fn beside(first: &State, second: &State) -> Vec<State> {
    let (one, two) = (View::new(first), View::new(second));
    let mut named = Vec::new();
    for (v, w) in one.common.iter().zip(&two.common) {
        match pair(&one, &two, *v, *w) {
            Some(both) => named.push(both),
            None => return Vec::new(),
        }
    }
    let mut all = Vec::new();
    choose_first(&one, &two, 0, &mut named, &mut all);
    all
}

/// A node of the first view and one of the second as one.
fn pair(one: &View<'_>, two: &View<'_>, v: Id, w: Id) -> Option<Both> {
    let (first, second) = (one.node(v)?, two.node(w)?);
    Some(Both {
        flags: joined(&first.flags, &second.flags)?,
        many: first.many && second.many,
        first: Some(v),
        second: Some(w),
    })
}

/// Which node of the second view is this named one of the first, and the named ones after it? One
/// that is named there too, one that is not, or, outside of the list, none.
fn choose_first(
    one: &View<'_>,
    two: &View<'_>,
    at: usize,
    named: &mut Vec<Both>,
    all: &mut Vec<State>,
) {
    let Some(v) = one.private.get(at).copied() else {
        return choose_second(one, two, 0, named, all);
    };
    let Some(flags) = one.flags(v) else { return };
    let free = two.private.iter().filter(|w| !is_taken(named, **w));
    let partners = free.chain(&two.unnamed).filter_map(|w| pair(one, two, v, *w));
    let alone = Both::of_first(v, flags, false);
    let options: Vec<Both> = partners.chain((!flags.listed).then_some(alone)).collect();
    for option in options {
        named.push(option);
        choose_first(one, two, at + 1, named, all);
        named.pop();
    }
}

/// Which node without a name of the first view is this named one of the second, if any?
fn choose_second(
    one: &View<'_>,
    two: &View<'_>,
    at: usize,
    named: &mut Vec<Both>,
    all: &mut Vec<State>,
) {
    let Some(w) = two.private.get(at).copied() else {
        all.extend(assembled(one, two, named));
        return;
    };
    let Some(flags) = two.flags(w) else { return };
    if is_taken(named, w) {
        return choose_second(one, two, at + 1, named, all);
    }
    let partners = one.unnamed.iter().filter_map(|v| pair(one, two, *v, w));
    let alone = Both::of_second(w, flags, false);
    let options: Vec<Both> = partners.chain((!flags.listed).then_some(alone)).collect();
    for option in options {
        named.push(option);
        choose_second(one, two, at + 1, named, all);
        named.pop();
    }
}

fn is_taken(named: &[Both], w: Id) -> bool {
    named.iter().any(|both| both.second == Some(w))
}

/// The nodes without a name in either view: in both, or, outside of the list, in one.
fn unnamed(one: &View<'_>, two: &View<'_>) -> Vec<Both> {
    let mut all = Vec::new();
    for v in &one.unnamed {
        all.extend(two.unnamed.iter().filter_map(|w| pair(one, two, *v, *w)));
        let alone = one.flags(*v).filter(|flags| !flags.listed);
        all.extend(alone.map(|flags| Both::of_first(*v, flags, true)));
    }
    for w in &two.unnamed {
        let alone = two.flags(*w).filter(|flags| !flags.listed);
        all.extend(alone.map(|flags| Both::of_second(*w, flags, true)));
    }
    all
}

/// The state for one way in which the named nodes are the same. None: a named node has no target.
fn assembled(one: &View<'_>, two: &View<'_>, named: &[Both]) -> Option<State> {
    let mut all = named.to_vec();
    all.extend(unnamed(one, two));
    let mut nodes = BTreeMap::new();
    for (at, both) in all.iter().enumerate() {
        let first = both.first.and_then(|v| one.node(v));
        let first = first.map(|node| moved(node, &all, |both| both.first));
        let second = both.second.and_then(|w| two.node(w));
        let second = second.map(|node| moved(node, &all, |both| both.second));
        let (links, twin) = match (first, second) {
            (Some(first), Some(second)) => (meet(&first.0, &second.0), meet(&first.1, &second.1)),
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => return None,
        };
        let node = Node { flags: both.flags.clone(), many: both.many, links, twin };
        if !both.many && node.sets().any(Targets::is_empty) {
            return None;
        }
        nodes.insert(at, node);
    }
    let is_first = |v: Id| named.iter().position(|both| both.first == Some(v));
    let is_second = |w: Id| named.iter().position(|both| both.second == Some(w));
    let (v, w) = (one.state, two.state);
    let to_first = |node: Id| is_first(node).unwrap_or(usize::MAX);
    let to_second = |node: Id| is_second(node).unwrap_or(usize::MAX);
    let mut threads: Vec<_> = v.threads.iter().map(|thread| thread.renamed(&to_first)).collect();
    threads.extend(w.threads.iter().map(|thread| thread.renamed(&to_second)));
    let shared = v.shared.iter().zip(&w.shared).map(|(one, two)| match (one, two) {
        (Word::Lock(one), Word::Lock(two)) => holder(*one, *two).map(Word::Lock),
        (one, _) => Some(one.renamed(&to_first)),
    });
    Some(State {
        shared: shared.collect::<Option<_>>()?,
        reference: v.reference.iter().map(|word| word.renamed(&to_first)).collect(),
        edge: v.edge.map(|(before, after)| (to_first(before), to_first(after))),
        threads,
        nodes,
    })
}

/// The links of a node of one view, to the nodes of both views.
fn moved(node: &Node, all: &[Both], of: fn(&Both) -> Option<Id>) -> (Vec<Targets>, Vec<Targets>) {
    let target = |to: &Option<Id>| -> Vec<Option<Id>> {
        if to.is_none() {
            return vec![None];
        }
        let same = all.iter().enumerate().filter(|(_, both)| of(both) == *to);
        same.map(|(at, _)| Some(at)).collect()
    };
    let sets =
        |sets: &[Targets]| sets.iter().map(|to| to.iter().flat_map(target).collect()).collect();
    (sets(&node.links), sets(&node.twin))
}

fn meet(first: &[Targets], second: &[Targets]) -> Vec<Targets> {
    first.iter().zip(second).map(|(one, two)| one.intersection(two).copied().collect()).collect()
}

/// What the first thread knows after a move of the second.
pub fn seen_by_first(mut state: State) -> State {
    state.threads.truncate(1);
    state.change_holders(&|holder| match holder {
        Holder::Thread(SECOND) => Holder::Other,
        other => other,
    });
    state
}
