//! Two views side by side: the states of two threads whose projections the views stand for.
//!
//! Soundness: take a concrete state whose projection to one thread the first view stands for, and
//! whose projection to another thread the second. Which private names of the two alias in it is one
//! of the matchings tried; every node that is named by one side only is, for the other side, in a
//! summary of the same flags, or not there at all, which only a node outside of the walked list can
//! be; and every link goes where both sides that know it allow. So the join stands for it.

use crate::correlate::{Locks, Machine};
use crate::failure::{Cause, Failure};
use crate::heap::{Flags, Heap, LINKS, Lost};
use crate::state::State;
use crate::targets::{MOST, Mask, NULL, Node, Targets, bit, nodes_in};
use crate::value::{Holder, NodeId, Scalar};
use smallvec::{SmallVec, smallvec};

/// The thread of the first view in a join.
const FIRST: u8 = 0;
/// The thread of the second view in a join.
pub const SECOND: u8 = 1;

/// A lock that two views see: as their join sees it. `None`: they do not fit, for both threads
/// would hold it.
fn joined_holder(first: Holder, second: Holder) -> Option<Holder> {
    match (first, second) {
        (Holder::Thread(_), Holder::Thread(_)) => None,
        (Holder::Thread(_), _) => Some(Holder::Thread(FIRST)),
        (_, Holder::Thread(_)) => Some(Holder::Thread(SECOND)),
        (Holder::Other, _) | (_, Holder::Other) => Some(Holder::Other),
        _ => Some(first),
    }
}

/// The flags of a node that both views have.
fn joined_flags(first: Flags, second: Flags) -> Option<Flags> {
    let mut flags = first;
    for (lock, (one, two)) in flags.locks.iter_mut().zip(first.locks.iter().zip(second.locks)) {
        *lock = joined_holder(*one, two)?;
    }
    let same = Flags { locks: first.locks, ..second } == first;
    (same && first.owner.is_none()).then_some(flags)
}

/// The flags that a node of the second view has in the join.
fn lifted(flags: Flags) -> Flags {
    let holder = |holder: Holder| match holder {
        Holder::Thread(_) => Holder::Thread(SECOND),
        other => other,
    };
    Flags { owner: flags.owner.map(|_| SECOND), locks: flags.locks.map(holder), ..flags }
}

/// The flags of a node of the join as the first view sees it, if it is not the node below the
/// arbitrary key: of that alone it may know that another thread holds its lock.
fn seen_by_first(flags: Flags) -> Flags {
    let holder = |holder: Holder| match holder {
        Holder::Thread(SECOND) | Holder::Other => Holder::Free,
        other => other,
    };
    Flags { locks: flags.locks.map(holder), ..flags }
}

/// The flags of a node of the join as the second view sees it, in the same way.
fn seen_by_second(flags: Flags) -> Flags {
    let holder = |holder: Holder| match holder {
        Holder::Thread(SECOND) => Holder::Thread(FIRST),
        Holder::Thread(_) | Holder::Other => Holder::Free,
        other => other,
    };
    Flags { owner: flags.owner.map(|_| FIRST), locks: flags.locks.map(holder), ..flags }
}

/// A view, ready to be joined.
#[derive(Clone, Debug)]
pub struct Side<'a> {
    /// The view.
    pub view: &'a State<Targets>,
    /// How many nodes shared and reference variables name.
    pub common: usize,
    /// How many nodes are named.
    pub named: usize,
}

impl Side<'_> {
    /// Prepares a view.
    pub fn new(view: &State<Targets>) -> Side<'_> {
        let named = view.heap.nodes.iter().take_while(|node| !node.summary).count();
        Side { common: view.common_nodes(), named, view }
    }

    fn nodes(&self) -> &[Node] {
        &self.view.heap.nodes
    }

    fn private(&self) -> std::ops::Range<usize> {
        self.common..self.named
    }

    fn summaries(&self) -> std::ops::Range<usize> {
        self.named..self.nodes().len()
    }

    /// The summaries that a node of these flags, which the other view names, may be in: who holds
    /// its lock the views may see differently.
    fn room(&self, flags: Flags) -> impl Iterator<Item = usize> {
        self.summaries().filter(move |at| joined_flags(self.nodes()[*at].flags, flags).is_some())
    }

    fn summary(&self, flags: Flags) -> Option<usize> {
        self.summaries().find(|at| self.nodes()[*at].flags == flags)
    }
}

/// Calls `each` with every join of two views of the same shared key.
pub fn joins(
    machine: &Machine,
    first: &Side<'_>,
    second: &Side<'_>,
    each: &mut dyn FnMut(State<Targets>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let Some(shared) = joined_words(&first.view.shared, &second.view.shared) else { return Ok(()) };
    // Nodes that both name through shared variables.
    let mut flags: SmallVec<[Flags; 8]> = smallvec![];
    for at in 0..first.common {
        match joined_flags(first.nodes()[at].flags, second.nodes()[at].flags) {
            Some(joined) => flags.push(joined),
            None => return Ok(()),
        }
    }
    let mut matching: SmallVec<[Option<usize>; 8]> = smallvec![None; second.private().len()];
    match_from(machine, first, second, &shared, &flags, 0, &mut matching, each)
}

fn joined_words(first: &[Scalar], second: &[Scalar]) -> Option<SmallVec<[Scalar; 6]>> {
    let joined = first.iter().zip(second).map(|(one, two)| match (one, two) {
        (Scalar::Lock(one), Scalar::Lock(two)) => joined_holder(*one, *two).map(Scalar::Lock),
        (one, two) => (one == two).then_some(*one),
    });
    joined.collect()
}

/// Tries every way to match the private nodes of the second view, from this one on.
#[allow(clippy::too_many_arguments)]
fn match_from(
    machine: &Machine,
    first: &Side<'_>,
    second: &Side<'_>,
    shared: &SmallVec<[Scalar; 6]>,
    common: &[Flags],
    at: usize,
    matching: &mut SmallVec<[Option<usize>; 8]>,
    each: &mut dyn FnMut(State<Targets>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if at == matching.len() {
        return match assemble(machine, first, second, shared, common, matching) {
            Ok(Some(state)) => each(state),
            Ok(None) => Ok(()),
            Err(lost) => {
                let operation = second.view.threads[0].at.map_or(0, |(operation, _)| operation);
                let operation = usize::from(operation);
                let line = machine.model.program.operations[operation].line;
                Err(Failure { cause: Cause::Lost(lost), operation, line })
            }
        };
    }
    let flags = second.nodes()[second.common + at].flags;
    // Named by the second view only: if it is in the list, the first view must have room for it.
    let fits = !flags.reach || first.room(flags).next().is_some();
    if fits || flags.owner.is_some() {
        matching[at] = None;
        match_from(machine, first, second, shared, common, at + 1, matching, each)?;
    }
    if flags.owner.is_some() {
        return Ok(());
    }
    for other in first.private() {
        let taken = matching[..at].contains(&Some(other));
        if !taken && joined_flags(first.nodes()[other].flags, flags).is_some() {
            matching[at] = Some(other);
            match_from(machine, first, second, shared, common, at + 1, matching, each)?;
        }
    }
    matching[at] = None;
    Ok(())
}

/// A summary of the join, and the summaries of the views that it is part of.
struct Summary {
    flags: Flags,
    first: Option<usize>,
    second: Option<usize>,
}

fn summaries(first: &Side<'_>, second: &Side<'_>) -> SmallVec<[Summary; 8]> {
    let mut all: SmallVec<[Summary; 8]> = smallvec![];
    let mut add = |flags: Flags| {
        if all.iter().all(|summary| summary.flags != flags) {
            all.push(Summary {
                flags,
                first: first.summary(seen_by_first(flags)),
                second: second.summary(seen_by_second(flags)),
            });
        }
    };
    for one in first.summaries() {
        let one = first.nodes()[one].flags;
        if !one.reach {
            add(one);
        }
        for two in second.summaries() {
            if let Some(flags) = joined_flags(one, second.nodes()[two].flags) {
                add(flags);
            }
        }
    }
    for two in second.summaries() {
        let two = second.nodes()[two].flags;
        if !two.reach {
            add(lifted(two));
        }
    }
    all
}

/// The join for one matching.
fn assemble(
    machine: &Machine,
    first: &Side<'_>,
    second: &Side<'_>,
    shared: &SmallVec<[Scalar; 6]>,
    common: &[Flags],
    matching: &[Option<usize>],
) -> Result<Option<State<Targets>>, Lost> {
    // Nodes of the join: those of the first view that are named, then those that only the second
    // names, then summaries.
    let mut place: SmallVec<[usize; 16]> = (0..second.common).collect();
    let mut next = first.named;
    for matched in matching {
        place.push(matched.unwrap_or(next));
        next += usize::from(matched.is_none());
    }
    // What the first view names alone must have room in the second.
    for at in first.private() {
        let flags = first.nodes()[at].flags;
        let alone = !matching.contains(&Some(at));
        if alone && flags.reach && second.room(flags).next().is_none() {
            return Ok(None);
        }
    }
    let summaries = summaries(first, second);
    if next + summaries.len() > MOST {
        return Err(Lost::Nodes);
    }
    let to_first = translation_of_first(first, second, &place, &summaries, next);
    let to_second = translation_of_second(first, second, matching, &place, &summaries, next);
    let mut nodes: Vec<Node> = Vec::with_capacity(next + summaries.len() + 2);
    for at in 0..first.named {
        let node = first.nodes()[at];
        let mut joined = translated(&node, &to_first);
        let matched = match at < first.common {
            true => Some(at),
            false => matching.iter().position(|to| *to == Some(at)).map(|at| at + second.common),
        };
        match matched {
            Some(other) => {
                let theirs = second.nodes()[other];
                intersect(&mut joined, &translated(&theirs, &to_second));
                joined.flags = match common.get(at) {
                    Some(flags) => *flags,
                    None => joined_flags(node.flags, theirs.flags).unwrap_or(node.flags),
                };
            }
            None if node.flags.reach => {
                intersect(&mut joined, &in_summary(second, node.flags, &to_second));
            }
            None => {}
        }
        nodes.push(joined);
    }
    for (at, _) in matching.iter().enumerate().filter(|(_, to)| to.is_none()) {
        let node = second.nodes()[second.common + at];
        let mut joined = translated(&node, &to_second);
        joined.flags = lifted(node.flags);
        if node.flags.reach {
            intersect(&mut joined, &in_summary(first, node.flags, &to_first));
        }
        nodes.push(joined);
    }
    for summary in &summaries {
        nodes.push(joined_summary(summary, first, second, &to_first, &to_second));
    }
    let mut threads = first.view.threads.clone();
    let mut other = second.view.threads[0].clone();
    other.rename_to(|node| NodeId(u8::try_from(place[node.index()]).unwrap_or(u8::MAX)));
    threads.push(other);
    let mut state = State {
        shared: shared.clone(),
        reference: first.view.reference.clone(),
        edge: first.view.edge,
        threads,
        heap: Targets { nodes },
    };
    let list = state.list(machine.model.root);
    let dead = |node: &Node| !node.summary && node.masks().any(|mask| mask == 0);
    if state.heap.nodes.iter().any(dead) || !state.heap.coerce(list.as_ref()) {
        return Ok(None);
    }
    Ok(Some(state))
}

/// What a view knows of the links of a node that it does not name: those of any summary that the
/// node may be in.
fn in_summary(side: &Side<'_>, flags: Flags, to: &[Mask]) -> Node {
    let empty = [0; LINKS];
    let mut all = Node { flags, summary: false, links: empty, reference: empty };
    for summary in side.room(flags) {
        unite(&mut all, &translated(&side.nodes()[summary], to));
    }
    all
}

fn joined_summary(
    summary: &Summary,
    first: &Side<'_>,
    second: &Side<'_>,
    to_first: &[Mask],
    to_second: &[Mask],
) -> Node {
    let empty = [0; LINKS];
    let blank = Node { flags: summary.flags, summary: true, links: empty, reference: empty };
    let one = summary.first.map(|at| translated(&first.nodes()[at], to_first));
    let two = summary.second.map(|at| translated(&second.nodes()[at], to_second));
    let mut joined = match (one, two) {
        (Some(mut one), Some(two)) => {
            match summary.flags.reach {
                // In the list: both views have it.
                true => intersect(&mut one, &two),
                false => unite(&mut one, &two),
            }
            one
        }
        (Some(one), None) => one,
        (None, Some(two)) => two,
        (None, None) => blank,
    };
    joined.flags = summary.flags;
    joined.summary = true;
    joined
}

/// Where each node of the first view may be in the join.
fn translation_of_first(
    first: &Side<'_>,
    second: &Side<'_>,
    place: &[usize],
    summaries: &[Summary],
    start: usize,
) -> SmallVec<[Mask; 24]> {
    let mut masks: SmallVec<[Mask; 24]> = (0..first.named).map(bit).collect();
    for at in first.summaries() {
        let flags = first.nodes()[at].flags;
        let mut mask = summary_bits(summaries, start, |summary| summary.first == Some(at));
        // A node that only the second view names may be in the summary.
        for other in second.private() {
            let theirs = second.nodes()[other].flags;
            let alone = place[other] >= first.named;
            if alone && joined_flags(flags, theirs).is_some() {
                mask |= bit(place[other]);
            }
        }
        masks.push(mask);
    }
    masks
}

/// Where each node of the second view may be in the join.
fn translation_of_second(
    first: &Side<'_>,
    second: &Side<'_>,
    matching: &[Option<usize>],
    place: &[usize],
    summaries: &[Summary],
    start: usize,
) -> SmallVec<[Mask; 24]> {
    let mut masks: SmallVec<[Mask; 24]> = (0..second.named).map(|at| bit(place[at])).collect();
    for at in second.summaries() {
        let flags = second.nodes()[at].flags;
        let mut mask = summary_bits(summaries, start, |summary| summary.second == Some(at));
        for other in first.private() {
            let theirs = first.nodes()[other].flags;
            let alone = !matching.contains(&Some(other));
            if alone && joined_flags(theirs, flags).is_some() {
                mask |= bit(other);
            }
        }
        masks.push(mask);
    }
    masks
}

fn summary_bits(summaries: &[Summary], start: usize, of: impl Fn(&Summary) -> bool) -> Mask {
    let found = summaries.iter().enumerate().filter(|(_, summary)| of(summary));
    found.fold(0, |mask, (at, _)| mask | bit(start + at))
}

fn translated(node: &Node, to: &[Mask]) -> Node {
    let mask = |mask: Mask| nodes_in(mask).fold(mask & NULL, |new, at| new | to[at]);
    Node { links: node.links.map(mask), reference: node.reference.map(mask), ..*node }
}

fn intersect(node: &mut Node, other: &Node) {
    for link in 0..LINKS {
        node.links[link] &= other.links[link];
        node.reference[link] &= other.reference[link];
    }
}

fn unite(node: &mut Node, other: &Node) {
    for link in 0..LINKS {
        node.links[link] |= other.links[link];
        node.reference[link] |= other.reference[link];
    }
}

/// What the first thread of a join knows of its state: a view.
pub fn projected(locks: Locks, mut state: State<Targets>) -> State<Targets> {
    state.threads.truncate(1);
    forget_holders(locks, &mut state);
    state.canonical();
    state
}

/// Forgets of locks what views do not know.
pub fn forget_holders(locks: Locks, state: &mut State<Targets>) {
    let elsewhere = match locks {
        Locks::Mine => Holder::Free,
        Locks::Edge => Holder::Other,
    };
    let seen = |holder: Holder| match holder {
        Holder::Thread(SECOND) | Holder::Other => elsewhere,
        other => other,
    };
    for word in &mut state.shared {
        if let Scalar::Lock(holder) = word {
            *holder = seen(*holder);
        }
    }
    let before = state.edge.map(|(before, _)| before.index());
    for (at, node) in state.heap.nodes.iter_mut().enumerate() {
        node.flags = match before == Some(at) {
            true => Flags { locks: node.flags.locks.map(seen), ..node.flags },
            false => seen_by_first(node.flags),
        };
    }
}
