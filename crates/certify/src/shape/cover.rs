//! Whether a state of the certificate covers one: same control, same aliasing, same flags of named
//! nodes, and every target among those that it allows.

use super::state::{Id, Kind, Node, Signature, State, Targets};
use std::collections::{BTreeMap, BTreeSet};

/// At most so many named duo-objects are tried as nonuniform ones.
const MOST_WEAKENED: usize = 6;

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

    /// A uniform duo-object is one whose sides may differ, and do not: where the certificate does
    /// not know that, this may be forgotten.
    fn covers_as_it_is(&self, state: &State) -> bool {
        let names = state.names();
        let uniform = |name: &&Id| {
            state.nodes.get(*name).is_some_and(|node| node.flags.kind == Kind::Uniform)
        };
        let uniform: Vec<Id> = names.iter().filter(uniform).take(MOST_WEAKENED).copied().collect();
        (0..1_usize << uniform.len()).any(|choice| {
            let mut state = state.clone();
            for (at, name) in uniform.iter().enumerate() {
                if let (1, Some(node)) = (choice >> at & 1, state.nodes.get_mut(name)) {
                    node.flags.kind = Kind::Nonuniform;
                    node.twin = node.links.clone();
                }
            }
            let found = self.by.get(&state.signature()).into_iter().flatten();
            found.filter_map(|at| self.states.get(*at)).any(|cover| embeds(&state, cover))
        })
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
    let (names, cover_names) = (state.names(), cover.names());
    let mut to: BTreeMap<Id, Id> = names.iter().copied().zip(cover_names.iter().copied()).collect();
    let named: BTreeSet<Id> = cover_names.into_iter().collect();
    let reachable = state.reachable(&names);
    for node in &reachable {
        if to.contains_key(node) {
            continue;
        }
        let Some(flags) = state.nodes.get(node).map(|node| &node.flags) else { return false };
        let weaker = super::state::Flags { kind: Kind::Nonuniform, ..flags.clone() };
        let place = |flags: &super::state::Flags| {
            let mut nodes = cover.nodes.iter();
            nodes.find(|(at, node)| !named.contains(at) && node.many && node.flags == *flags)
        };
        let found = place(flags).or_else(|| place(&weaker).filter(|_| flags.kind == Kind::Uniform));
        match found {
            Some((at, _)) => to.insert(*node, *at),
            None => return false,
        };
    }
    reachable.iter().all(|node| {
        let pair = to.get(node).and_then(|at| Some((state.nodes.get(node)?, cover.nodes.get(at)?)));
        pair.is_some_and(|(node, cover)| is_within(node, cover, &to))
    })
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
    match (node.flags.kind, cover.flags.kind) {
        (Kind::Uniform, Kind::Nonuniform) => {
            within(&node.links, &cover.links) && within(&node.links, &cover.twin)
        }
        _ => within(&node.links, &cover.links) && within(&node.twin, &cover.twin),
    }
}
