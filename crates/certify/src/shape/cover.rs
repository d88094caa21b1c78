//! Whether a state of the certificate covers one: same control, same aliasing, flags that say the
//! same or less, and every target among those that it allows.

use super::state::{Flags, Holder, Id, Node, Signature, State, Targets, Thread, Word};
use std::collections::BTreeMap;

/// The states of a certificate.
pub struct Index<'a> {
    states: &'a [State],
    by: BTreeMap<Signature, Vec<usize>>,
}

impl<'a> Index<'a> {
    /// Sorts the states by what a covered state must share with them.
    pub fn new(states: &'a [State]) -> Index<'a> {
        let mut by: BTreeMap<Signature, Vec<usize>> = BTreeMap::new();
        for (at, state) in states.iter().enumerate() {
            by.entry(state.signature()).or_default().push(at);
        }
        Index { states, by }
    }

    /// Whether one of them stands for all that this state stands for, up to the order of threads.
    pub fn covers(&self, state: &State) -> bool {
        orders(state.threads.len()).iter().any(|order| match order.is_sorted() {
            true => self.covers_as_it_is(state),
            false => self.covers_as_it_is(&state.permuted(order)),
        })
    }

    fn covers_as_it_is(&self, state: &State) -> bool {
        let found = self.by.get(&state.signature()).into_iter().flatten();
        found.filter_map(|at| self.states.get(*at)).any(|cover| embeds(state, cover))
    }
}

/// Every order of so many threads.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for thread in 0..count {
        let with = |order: &Vec<usize>| {
            let order = order.clone();
            (0..=order.len()).rev().map(move |at| {
                let mut order = order.clone();
                order.insert(at, thread);
                order
            })
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

/// Whether `cover`, of the same signature, stands for all that `state` stands for.
fn embeds(state: &State, cover: &State) -> bool {
    let seen = |(one, two): (&Thread, &Thread)| two.seen.is_subset(&one.seen);
    let held = |(one, two): (&Word, &Word)| match (one, two) {
        (Word::Lock(one), Word::Lock(two)) => knows_less(*two, *one),
        _ => true,
    };
    if !state.threads.iter().zip(&cover.threads).all(seen)
        || !state.shared.iter().zip(&cover.shared).all(held)
        || !state.reference.iter().zip(&cover.reference).all(held)
    {
        return false;
    }
    let (names, cover_names) = (state.names(), cover.names());
    let mut to: BTreeMap<Id, Id> = names.iter().copied().zip(cover_names.iter().copied()).collect();
    let reachable = state.reachable(&names);
    for at in &reachable {
        let Some(node) = state.nodes.get(at) else { return false };
        if to.contains_key(at) {
            continue;
        }
        // A node without a name goes to one that knows the same of it, or else to one that knows
        // less.
        let unnamed = || cover.nodes.iter().filter(|(_, node)| node.many);
        let same = unnamed().find(|(_, cover)| cover.flags == node.flags);
        let less = || unnamed().find(|(_, cover)| fits(&node.flags, &cover.flags));
        match same.or_else(less) {
            Some((place, _)) => to.insert(*at, *place),
            None => return false,
        };
    }
    reachable.iter().all(|at| {
        let pair = to.get(at).and_then(|to| Some((state.nodes.get(at)?, cover.nodes.get(to)?)));
        pair.is_some_and(|(node, cover)| {
            fits(&node.flags, &cover.flags) && is_within(node, cover, &to)
        })
    })
}

/// Whether what is said of a lock follows from what is known of it.
fn knows_less(said: Holder, known: Holder) -> bool {
    said == known || (said, known) == (Holder::Free, Holder::Other)
}

/// Whether the flags of a node of the certificate follow from those of a node.
fn fits(flags: &Flags, cover: &Flags) -> bool {
    let mut locks = flags.locks.iter().zip(&cover.locks);
    let like = Flags { locks: cover.locks.clone(), ..flags.clone() };
    locks.all(|(known, said)| knows_less(*said, *known)) && like == *cover
}

fn is_within(node: &Node, cover: &Node, to: &BTreeMap<Id, Id>) -> bool {
    let within = |targets: &[Targets], allowed: &[Targets]| {
        let one = |(targets, allowed): (&Targets, &Targets)| {
            targets.iter().all(|target| match target {
                None => allowed.contains(&None),
                Some(node) => to.get(node).is_some_and(|node| allowed.contains(&Some(*node))),
            })
        };
        targets.len() == allowed.len() && targets.iter().zip(allowed).all(one)
    };
    within(&node.links, &cover.links) && within(&node.twin, &cover.twin)
}
