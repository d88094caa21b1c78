//! The product of a state graph with an automaton: the runs of the model whose events the automaton
//! accepts.
//!
//! A node `(state, node)` stands for a run that has come to the state, with the automaton about to
//! read the next letter in the node. A run that ends because no thread can move any more goes on
//! with letters without events for ever (stuttering); one that ends in a fault, or at a bound on
//! the search, is no run.

use super::atom::Atom;
use super::automaton::Automaton;
use crate::cycles::{Arc, Via, View};
use crate::graph::{Graph, NOWHERE};
use crate::property::{SOMETHING, all_fairness, fairness};
use linchpin_verdict::{Limits, StopReason};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// How often limits are looked at: once in so many nodes.
const EVERY: usize = 1024;

/// The atoms that each edge of a graph shows, by label and thread: `letters[label * threads +
/// thread]`.
pub fn letters(graph: &Graph, atoms: &[Atom]) -> Vec<u64> {
    let mut letters = Vec::new();
    for label in &graph.labels {
        for thread in 0..graph.threads {
            let shown = atoms.iter().enumerate().filter(|(_, atom)| atom.fits(thread, label));
            letters.push(shown.fold(0, |letter, (number, _)| letter | 1 << number));
        }
    }
    letters
}

/// A product, explored.
pub struct Product<'a> {
    graph: &'a Graph,
    automaton: &'a Automaton,
    letters: &'a [u64],
    fair: bool,
    nodes: Vec<(u32, u32)>,
    numbers: FxHashMap<(u32, u32), u32>,
    /// How each node was found: from which, and what happened.
    parents: Vec<(u32, Via)>,
}

impl<'a> Product<'a> {
    /// Explores the product; an error says why it was given up. `kept` is how many bytes are kept
    /// already.
    pub fn explore(
        graph: &'a Graph,
        automaton: &'a Automaton,
        letters: &'a [u64],
        fair: bool,
        limits: &Limits,
        kept: usize,
    ) -> Result<Product<'a>, StopReason> {
        let (nodes, numbers, parents) = Default::default();
        let mut product = Product { graph, automaton, letters, fair, nodes, numbers, parents };
        for &node in &automaton.initial {
            product.add((0, node), (NOWHERE, Via::Stutter));
        }
        let mut at = 0;
        while at < product.nodes.len() {
            if at % EVERY == 0
                && let Some(reason) = limits.exceeded(kept + product.bytes())
            {
                return Err(reason);
            }
            if product.nodes.len() > (NOWHERE - (1 << 24)) as usize {
                return Err(StopReason::Budget);
            }
            let (state, node) = product.nodes[at];
            for (to, via) in product.moves(state, node) {
                for &next in &automaton.nodes[node as usize].next {
                    product.add((to, next), (at as u32, via));
                }
            }
            at += 1;
        }
        Ok(product)
    }

    /// About how many bytes are kept.
    pub fn bytes(&self) -> usize {
        self.nodes.len() * (2 * size_of::<(u32, u32)>() + 20)
    }

    /// The state and the node of the automaton that a node of the product is made of.
    pub fn parts(&self, node: u32) -> (u32, u32) {
        self.nodes[node as usize]
    }

    /// What happens on the way to a node.
    pub fn way_to(&self, node: u32) -> Vec<Via> {
        let mut way = Vec::new();
        let mut at = node;
        while let (parent, via) = self.parents[at as usize]
            && parent != NOWHERE
        {
            way.push(via);
            at = parent;
        }
        way.reverse();
        way
    }

    fn add(&mut self, node: (u32, u32), parent: (u32, Via)) {
        if let Entry::Vacant(entry) = self.numbers.entry(node) {
            entry.insert(self.nodes.len() as u32);
            self.nodes.push(node);
            self.parents.push(parent);
        }
    }

    /// The moves from a state whose letter the node reads.
    fn moves(&self, state: u32, node: u32) -> Vec<(u32, Via)> {
        let reader = &self.automaton.nodes[node as usize];
        if self.graph.is_final(state) {
            return if reader.reads(0) { vec![(state, Via::Stutter)] } else { vec![] };
        }
        let reads = |edge: &u32| {
            let edge = &self.graph.edges[*edge as usize];
            let at = edge.label as usize * self.graph.threads + usize::from(edge.thread);
            reader.reads(self.letters[at])
        };
        let edges = self.graph.edges_of(state).filter(reads);
        edges.map(|edge| (self.graph.edges[edge as usize].to, Via::Move(edge))).collect()
    }
}

impl View for Product<'_> {
    fn nodes(&self) -> usize {
        self.nodes.len()
    }

    fn arcs(&self, at: u32, out: &mut Vec<Arc>) {
        let (state, node) = self.parts(at);
        let of = &self.automaton.nodes[node as usize];
        for (to, via) in self.moves(state, node) {
            let fair = if self.fair { fairness(self.graph, state, via) } else { 0 };
            let met = SOMETHING | u128::from(of.accepting) << 1 | fair;
            for next in &of.next {
                if let Some(&to) = self.numbers.get(&(to, *next)) {
                    out.push(Arc { to, via, met });
                }
            }
        }
    }

    fn demands(&self) -> u128 {
        let sets = ((1u128 << self.automaton.sets) - 1) << 1;
        let fair = if self.fair { all_fairness(self.graph.threads) } else { 0 };
        SOMETHING | sets | fair
    }
}
