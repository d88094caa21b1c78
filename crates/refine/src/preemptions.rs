//! Every run with at most so many preemptions (M. Musuvathi, S. Qadeer, Iterative Context Bounding
//! for Systematic Testing of Multithreaded Programs, PLDI 2007): most bugs need few.
//!
//! The moving thread changes for nothing where the one before is between two operations, or cannot
//! go on. Where it is in the middle of an operation and could go on, the change is a preemption.
//!
//! The reductions never add one. What they take together is done by one thread, one move after the
//! other: of a run of single moves, steps that concern no other thread, a response and the
//! invocation of the next call move along with their neighbours. A stretch of one thread that gets
//! longer at its end is interrupted as before, or not any more; one that gets shorter there ends
//! before an invocation, where a change is for nothing.
//!
//! A state is left out if another one was met that can do at least as much with at least as few
//! preemptions: the same state with as many calls left, after as many preemptions where the same
//! thread or any may go on for nothing, or after fewer. Those with the same number are explored
//! depth first: a run that goes wrong needs most of its calls.

use crate::product::{Product, Step, To};
use crate::search::{Exploration, SearchOptions, Stats, Wrong};
use crate::store::hash;
use hashbrown::HashTable;
use std::time::{Duration, Instant};

/// How often limits are looked at: once in so many states.
const EVERY: usize = 256;

/// Whichever thread goes on, it is no preemption.
const ANY: usize = usize::MAX;

/// A state beside the thread that goes on for nothing.
struct Node {
    state: Box<[u8]>,
    set: u32,
    mover: usize,
    /// How many preemptions led there.
    preemptions: usize,
    /// The node before it.
    parent: usize,
}

/// Bytes of a node beside those of its state.
const OVERHEAD: usize = std::mem::size_of::<Node>() + 24;

/// How states are compared.
struct Comparison<'a, P: Product> {
    product: &'a P,
    /// Whether one with more calls left stands for one with fewer.
    calls: bool,
}

impl<P: Product> Comparison<'_, P> {
    /// The part of a state that must be the same, and the calls that are left.
    fn split<'s>(&self, state: &'s [u8]) -> (&'s [u8], &'s [u8]) {
        let allowance = if self.calls { self.product.parts(state).allowance } else { 0 };
        let (allowance, rest) = state.split_at(allowance);
        (rest, allowance)
    }

    fn hash(&self, Node { state, set, .. }: &Node) -> u64 {
        hash(self.split(state).0) ^ u64::from(*set).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// Whether one node can do at least as much as the other, with at least as few preemptions.
    fn covers(&self, one: &Node, other: &Node) -> bool {
        let goes_on = one.mover == ANY || one.mover == other.mover;
        let is_sooner = one.preemptions < other.preemptions
            || (one.preemptions == other.preemptions && goes_on);
        if !is_sooner || one.set != other.set {
            return false;
        }
        let ((rest, more), (same, less)) = (self.split(&one.state), self.split(&other.state));
        rest == same && (more == less || self.product.allows(more, less))
    }
}

/// The nodes that were met.
struct Met<'a, P: Product> {
    comparison: Comparison<'a, P>,
    nodes: Vec<Node>,
    /// Numbers of nodes, by what they are apart from the calls that are left.
    table: HashTable<usize>,
    bytes: usize,
}

impl<P: Product> Met<'_, P> {
    /// Whether a node that was met stands for this one; not the one with this number.
    fn is_covered(&self, node: &Node, but: Option<usize>) -> bool {
        let mut alike = self.table.iter_hash(self.comparison.hash(node));
        alike.any(|&at| but != Some(at) && self.comparison.covers(&self.nodes[at], node))
    }

    /// Adds a node, unless another one stands for it.
    fn add(&mut self, node: Node) -> Option<usize> {
        if self.is_covered(&node, None) {
            return None;
        }
        let Met { comparison, nodes, table, bytes } = self;
        let (at, hashed) = (nodes.len(), comparison.hash(&node));
        *bytes += node.state.len() + OVERHEAD;
        nodes.push(node);
        table.insert_unique(hashed, at, |&at| comparison.hash(&nodes[at]));
        Some(at)
    }

    fn path(&self, end: usize) -> Vec<(Vec<u8>, u32)> {
        let mut path = Vec::new();
        let mut at = end;
        while let Some(Node { state, set, parent, .. }) = self.nodes.get(at) {
            path.push((state.to_vec(), *set));
            at = *parent;
        }
        path.reverse();
        path
    }
}

/// A search in progress.
struct Search<'a, P: Product> {
    met: Met<'a, P>,
    worker: P::Worker,
    most: usize,
    /// The nodes that are explored now: INVARIANT: all after as many preemptions.
    level: Vec<usize>,
    /// Those after one more.
    later: Vec<usize>,
    transitions: u64,
    /// The ways on from a node, each with the thread that moves.
    ways: Vec<(usize, Result<Node, Wrong>)>,
}

impl<P: Product> Search<'_, P> {
    /// Explores a node; answers what goes wrong from it.
    fn expand(&mut self, at: usize) -> Option<Wrong> {
        let Search { met, worker, ways, transitions, .. } = self;
        let Node { state, set, mover: last, preemptions, .. } = &met.nodes[at];
        let (last, preemptions) = (*last, *preemptions);
        met.comparison.product.expand(worker, state, *set, &mut |step: Step<'_>| {
            *transitions += 1;
            let to = match step.to {
                To::State { bytes, set, mover, is_inside } => {
                    let mover = if is_inside { mover } else { ANY };
                    Ok(Node { state: bytes.into(), set, mover, preemptions, parent: at })
                }
                To::Unexplained => Err(Wrong::Unexplained),
                To::Fault => Err(Wrong::Fault),
            };
            ways.push((step.thread, to));
        });
        let could_go_on = self.ways.iter().any(|(thread, _)| *thread == last);
        let mut wrong = None;
        let mut ways = std::mem::take(&mut self.ways);
        for (thread, to) in ways.drain(..) {
            let is_preempted = could_go_on && thread != last;
            if is_preempted && preemptions == self.most {
                continue;
            }
            match to {
                Ok(node) if is_preempted => {
                    let node = Node { preemptions: preemptions + 1, ..node };
                    self.later.extend(self.met.add(node));
                }
                Ok(node) => self.level.extend(self.met.add(node)),
                Err(Wrong::Unexplained) => wrong = Some(Wrong::Unexplained),
                Err(Wrong::Fault) => wrong = wrong.or(Some(Wrong::Fault)),
            }
        }
        self.ways = ways;
        wrong
    }

    /// The next node to explore, if there is one.
    fn next(&mut self) -> Option<usize> {
        loop {
            if self.level.is_empty() {
                std::mem::swap(&mut self.level, &mut self.later);
            }
            let at = self.level.pop()?;
            // It may have been made before one that stands for it.
            if !self.met.is_covered(&self.met.nodes[at], Some(at)) {
                return Some(at);
            }
        }
    }
}

/// Explores all runs with at most `most` preemptions, those with fewer first.
pub fn explore_preemptions<P: Product>(
    product: &P,
    most: usize,
    options: &SearchOptions,
    progress: &(dyn Fn(&Stats) + Sync),
) -> (Exploration, Stats) {
    let start = Instant::now();
    let (state, set) = product.initial();
    let first = Node { state: state.into(), set, mover: ANY, preemptions: 0, parent: usize::MAX };
    let comparison = Comparison { product, calls: options.calls };
    let mut met = Met { comparison, nodes: Vec::new(), table: HashTable::new(), bytes: 0 };
    let level = met.add(first).into_iter().collect();
    let (later, ways) = (Vec::new(), Vec::new());
    let worker = product.worker();
    let mut search = Search { met, worker, most, level, later, transitions: 0, ways };
    let mut stats = Stats::default();
    let (mut shown, mut expanded) = (Instant::now(), 0_usize);
    let outcome = loop {
        let Some(at) = search.next() else { break Exploration::Complete };
        stats.depth = search.met.nodes[at].preemptions;
        expanded += 1;
        if expanded.is_multiple_of(EVERY) {
            if let Some(reason) = options.limits.exceeded(search.met.bytes + product.bytes()) {
                break Exploration::Stopped(reason.into());
            }
            if shown.elapsed() > Duration::from_millis(200) {
                shown = Instant::now();
                stats.states = search.met.nodes.len();
                progress(&stats);
            }
        }
        if let Some(wrong) = search.expand(at) {
            break Exploration::Found { path: search.met.path(at), wrong };
        }
    };
    stats.states = search.met.nodes.len();
    stats.transitions = search.transitions;
    stats.bytes = search.met.bytes + product.bytes();
    stats.seconds = start.elapsed().as_secs_f64();
    (outcome, stats)
}
