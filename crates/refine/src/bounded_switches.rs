//! Every run with at most so many context switches (S. Qadeer, J. Rehof, Context-Bounded Model
//! Checking of Concurrent Software, TACAS 2005): most bugs need few.
//!
//! A switch is any change of the moving thread, also after an operation has returned. The
//! reductions never add one: what they take together is done by one thread, one after the other.
//!
//! A state is left out if another one was met that can do at least as much with at least as few
//! switches: the same state with as many calls left, after as many switches of the same thread, or
//! after fewer switches of any.

use crate::product::{Product, Step, To};
use crate::search::{Exploration, SearchOptions, Stats, Wrong};
use crate::store::hash;
use hashbrown::HashTable;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How often limits are looked at: once in so many states.
const EVERY: usize = 256;

const NO_THREAD: usize = usize::MAX;

/// A state beside the thread that moved last.
struct Node {
    state: Box<[u8]>,
    set: u32,
    mover: usize,
    /// How many switches led there.
    switches: usize,
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

    /// Whether one node can do at least as much as the other, with at least as few switches.
    fn covers(&self, one: &Node, other: &Node) -> bool {
        let is_sooner = one.switches < other.switches
            || (one.switches == other.switches && one.mover == other.mover);
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

/// Explores all runs with at most `most` switches, those with fewer first.
pub fn explore_switches<P: Product>(
    product: &P,
    most: usize,
    options: &SearchOptions,
    progress: &(dyn Fn(&Stats) + Sync),
) -> (Exploration, Stats) {
    let start = Instant::now();
    let mut worker = product.worker();
    let (state, set) = product.initial();
    let first =
        Node { state: state.into(), set, mover: NO_THREAD, switches: 0, parent: usize::MAX };
    let comparison = Comparison { product, calls: options.calls };
    let mut met = Met { comparison, nodes: Vec::new(), table: HashTable::new(), bytes: 0 };
    // INVARIANT: those in `level` have as many switches as are explored now, those in `later` one
    // more. What was made first has used the fewest calls, and stands for what comes after it.
    let mut level: VecDeque<usize> = met.add(first).into_iter().collect();
    let mut later: VecDeque<usize> = VecDeque::new();
    let mut stats = Stats::default();
    let (mut shown, mut expanded) = (Instant::now(), 0_usize);
    let mut found: Vec<Node> = Vec::new();
    let outcome = loop {
        let Some(at) = level.pop_front() else {
            if later.is_empty() || stats.depth == most {
                break Exploration::Complete;
            }
            stats.depth += 1;
            std::mem::swap(&mut level, &mut later);
            continue;
        };
        expanded += 1;
        if expanded.is_multiple_of(EVERY) {
            if let Some(reason) = options.limits.exceeded(met.bytes + product.bytes()) {
                break Exploration::Stopped(reason.into());
            }
            if shown.elapsed() > Duration::from_millis(200) {
                shown = Instant::now();
                stats.states = met.nodes.len();
                progress(&stats);
            }
        }
        // It may have been made before one that stands for it.
        if met.is_covered(&met.nodes[at], Some(at)) {
            continue;
        }
        let Node { state, set, mover: last, switches, .. } = &met.nodes[at];
        let (last, switches) = (*last, *switches);
        let mut wrong = None;
        product.expand(&mut worker, state, *set, &mut |step: Step<'_>| {
            stats.transitions += 1;
            let is_switch = last != NO_THREAD && last != step.thread;
            if is_switch && switches == most {
                return;
            }
            match step.to {
                To::State { bytes, set, mover } => {
                    let switches = switches + usize::from(is_switch);
                    found.push(Node { state: bytes.into(), set, mover, switches, parent: at });
                }
                To::Unexplained => wrong = Some(Wrong::Unexplained),
                To::Fault => wrong = wrong.or(Some(Wrong::Fault)),
            }
        });
        if let Some(wrong) = wrong {
            break Exploration::Found { path: met.path(at), wrong };
        }
        for node in found.drain(..) {
            let is_switch = node.switches > switches;
            if let Some(added) = met.add(node) {
                if is_switch { later.push_back(added) } else { level.push_back(added) }
            }
        }
    };
    stats.states = met.nodes.len();
    stats.bytes = met.bytes + product.bytes();
    stats.seconds = start.elapsed().as_secs_f64();
    (outcome, stats)
}
