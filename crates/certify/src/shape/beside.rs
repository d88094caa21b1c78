//! Two views side by side: the states of two threads, of which one view knows each.
//!
//! Take a concrete state and two of its threads that the views stand for. Every node that either
//! view knows is in the first, in the second, or in both; in both if the list has it, for every
//! view knows all of the list; and what a thread owns only its own view knows. Which named node of
//! one view is which of the other is tried in all ways. A node that both know goes only where both
//! say; a node that one knows, where that one says.

use super::state::{Flags, Holder, Id, Kind, Node, State, Targets, Word};
use std::collections::{BTreeMap, BTreeSet};

/// The thread of the first view.
const FIRST: usize = 0;
/// The thread of the second view.
pub const SECOND: usize = 1;

/// A node of both views side by side.
#[derive(Clone, Debug)]
struct Both {
    flags: Flags,
    many: bool,
    /// The nodes of the first view that it may be.
    first: BTreeSet<Id>,
    /// The nodes of the second view that it may be.
    second: BTreeSet<Id>,
    /// Whether the first view surely knows it.
    in_first: bool,
    /// Whether the second view surely knows it.
    in_second: bool,
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

/// A node that both views see: it is private to neither thread. That a duo-object is nonuniform
/// only means that its sides may differ, so one view may know more than the other.
fn joined(first: &Flags, second: &Flags) -> Option<Flags> {
    let kind = match (first.kind, second.kind) {
        (Kind::Uniform, Kind::Nonuniform) | (Kind::Nonuniform, Kind::Uniform) => Kind::Uniform,
        (one, two) if one == two => one,
        _ => return None,
    };
    let like = Flags { locks: first.locks.clone(), kind: first.kind, ..second.clone() };
    if first.owner.is_some() || like != *first {
        return None;
    }
    let locks = first.locks.iter().zip(&second.locks).map(|(one, two)| holder(*one, *two));
    Some(Flags { kind, locks: locks.collect::<Option<_>>()?, ..first.clone() })
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
        first: [v].into(),
        second: [w].into(),
        in_first: true,
        in_second: true,
    })
}

/// Which node of the second view is this named one of the first, and the named ones after it?
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
    let taken =
        |w: &Id| named.iter().any(|both| both.second == BTreeSet::from([*w]) && both.in_second);
    let partners = two.private.iter().filter(|w| !taken(w));
    let mut options: Vec<Both> = partners.filter_map(|w| pair(one, two, v, *w)).collect();
    // Without a name in the second view: its lock may be held by the second thread all the same.
    let unnamed = two.unnamed.iter().filter_map(|w| pair(one, two, v, *w));
    let (same, other): (Vec<Both>, Vec<Both>) = unnamed.partition(|both| both.flags == *flags);
    options.extend(other);
    let may_be: BTreeSet<Id> = same.iter().flat_map(|both| both.second.iter().copied()).collect();
    if !flags.listed || !may_be.is_empty() {
        options.push(Both {
            flags: flags.clone(),
            many: false,
            first: [v].into(),
            in_first: true,
            in_second: flags.listed,
            second: may_be,
        });
    }
    for option in options {
        named.push(option);
        choose_first(one, two, at + 1, named, all);
        named.pop();
    }
}

/// Which node without a name of the first view is this named one of the second?
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
    if named.iter().any(|both| both.in_second && both.second == BTreeSet::from([w])) {
        return choose_second(one, two, at + 1, named, all);
    }
    let flags = of_second(flags);
    let unnamed = one.unnamed.iter().filter_map(|v| pair(one, two, *v, w));
    let (same, other): (Vec<Both>, Vec<Both>) = unnamed.partition(|both| both.flags == flags);
    let mut options: Vec<Both> = other;
    let may_be: BTreeSet<Id> = same.iter().flat_map(|both| both.first.iter().copied()).collect();
    if !flags.listed || !may_be.is_empty() {
        options.push(Both {
            in_first: flags.listed,
            in_second: true,
            many: false,
            first: may_be,
            second: [w].into(),
            flags,
        });
    }
    for option in options {
        named.push(option);
        choose_second(one, two, at + 1, named, all);
        named.pop();
    }
}

/// The nodes without a name in either view: in both, or, outside of the list, in one.
fn unnamed(one: &View<'_>, two: &View<'_>) -> Vec<Both> {
    let mut all = Vec::new();
    for v in &one.unnamed {
        all.extend(two.unnamed.iter().filter_map(|w| pair(one, two, *v, *w)));
        all.extend(one.flags(*v).filter(|flags| !flags.listed).map(|flags| Both {
            flags: flags.clone(),
            many: true,
            first: [*v].into(),
            second: BTreeSet::new(),
            in_first: true,
            in_second: false,
        }));
    }
    for w in &two.unnamed {
        all.extend(two.flags(*w).filter(|flags| !flags.listed).map(|flags| Both {
            flags: of_second(flags),
            many: true,
            first: BTreeSet::new(),
            second: [*w].into(),
            in_first: false,
            in_second: true,
        }));
    }
    all
}

/// The state for one way in which the named nodes are the same. None: a named node has no target.
fn assembled(one: &View<'_>, two: &View<'_>, named: &[Both]) -> Option<State> {
    let mut all = named.to_vec();
    all.extend(unnamed(one, two));
    let mut nodes = BTreeMap::new();
    for (at, both) in all.iter().enumerate() {
        let of_first = both.first.iter().filter(|_| both.in_first).filter_map(|v| one.node(*v));
        let of_second = both.second.iter().filter(|_| both.in_second).filter_map(|w| two.node(*w));
        let first = of_first.map(|node| moved(node, &all, &|both| &both.first)).reduce(either);
        let second = of_second.map(|node| moved(node, &all, &|both| &both.second)).reduce(either);
        let (mut links, mut twin) = match (first, second) {
            (Some(first), Some(second)) => (meet(&first.0, &second.0), meet(&first.1, &second.1)),
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => return None,
        };
        if both.flags.kind == Kind::Uniform {
            links = meet(&links, &std::mem::take(&mut twin));
        }
        let node = Node { flags: both.flags.clone(), many: both.many, links, twin };
        if !both.many && node.sets().any(Targets::is_empty) {
            return None;
        }
        nodes.insert(at, node);
    }
    let is_first = |v: Id| named.iter().position(|both| both.in_first && both.first.contains(&v));
    let is_second =
        |w: Id| named.iter().position(|both| both.in_second && both.second.contains(&w));
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

/// The links of a node that is one of two.
fn either(
    one: (Vec<Targets>, Vec<Targets>),
    two: (Vec<Targets>, Vec<Targets>),
) -> (Vec<Targets>, Vec<Targets>) {
    let both = |one: Vec<Targets>, two: Vec<Targets>| {
        one.into_iter().zip(two).map(|(one, two)| one.into_iter().chain(two).collect()).collect()
    };
    (both(one.0, two.0), both(one.1, two.1))
}

/// The links of a node of one view, of either side, to the nodes of both views.
fn moved(
    node: &Node,
    all: &[Both],
    of: &dyn Fn(&Both) -> &BTreeSet<Id>,
) -> (Vec<Targets>, Vec<Targets>) {
    let target = |to: &Option<Id>| -> Vec<Option<Id>> {
        match to {
            None => vec![None],
            Some(to) => {
                let same = all.iter().enumerate().filter(|(_, both)| of(both).contains(to));
                same.map(|(at, _)| Some(at)).collect()
            }
        }
    };
    let sets =
        |sets: &[Targets]| sets.iter().map(|to| to.iter().flat_map(target).collect()).collect();
    match node.flags.kind {
        Kind::Uniform => (sets(&node.links), sets(&node.links)),
        _ => (sets(&node.links), sets(&node.twin)),
    }
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
