//! Cycles that meet several demands: strongly connected components, and a way round inside one.
//!
//! A component has a cycle that meets every demand if and only if, for each demand, one of its arcs
//! meets it: the cycle visits them one after the other. Components are found by Tarjan's algorithm
//! ("Depth-First Search and Linear Graph Algorithms", SIAM J. Comput. 1(2), 1972), with a stack of
//! its own instead of recursion.

use linchpin_verdict::{Limits, StopReason};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// What happens on an arc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// A move: the number of an edge of the state graph.
    Move(u32),
    /// A thread tries in vain: it waits.
    Wait(u8),
    /// No thread can move any more: time goes on.
    Stutter,
}

/// A way from one node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arc {
    /// Where it ends.
    pub to: u32,
    /// What happens.
    pub via: Via,
    /// The demands that it meets, as a set of bits.
    pub met: u128,
}

/// A graph in which cycles are looked for.
pub trait View {
    /// How many nodes it has.
    fn nodes(&self) -> usize;
    /// Adds the arcs of a node.
    fn arcs(&self, node: u32, out: &mut Vec<Arc>);
    /// What a cycle must meet, as a set of bits; at least one.
    fn demands(&self) -> u128;
}

/// How often limits are looked at: once in so many nodes.
const EVERY: usize = 4096;

/// Not numbered yet.
const NEW: u32 = u32::MAX;

/// At most so many nodes of a component are tried as the start of a cycle; fewer if it is large.
const STARTS: usize = 16;

/// About how many nodes are visited to find a short cycle.
const EFFORT: usize = 1_000_000;

/// Tells `found` every strongly connected component that has a cycle which meets all demands.
/// `kept` is how many bytes are kept already. An error says why it was given up.
pub fn components(
    view: &dyn View,
    limits: &Limits,
    kept: usize,
    found: &mut dyn FnMut(&[u32]),
) -> Result<(), StopReason> {
    let nodes = view.nodes();
    let kept = kept + nodes * 2 * size_of::<u32>();
    let mut search = Tarjan {
        view,
        number: vec![NEW; nodes],
        low: vec![0; nodes],
        next: 0,
        open: Vec::new(),
        frames: Vec::new(),
        arcs: Vec::new(),
        done: 0,
    };
    for root in 0..nodes as u32 {
        if search.number[root as usize] == NEW {
            search.from(root, limits, kept, found)?;
        }
    }
    Ok(())
}

/// A node whose arcs are being followed.
struct Frame {
    node: u32,
    /// Where its arcs start in the stack of arcs, and which is next.
    start: usize,
    next: usize,
}

struct Tarjan<'a> {
    view: &'a dyn View,
    /// The order in which nodes were met.
    number: Vec<u32>,
    /// The least number that can be reached, as far as known; `NEW` once the component of the node
    /// is complete.
    low: Vec<u32>,
    next: u32,
    /// Nodes whose component is not complete.
    open: Vec<u32>,
    frames: Vec<Frame>,
    arcs: Vec<Arc>,
    done: usize,
}

impl Tarjan<'_> {
    fn enter(&mut self, node: u32) {
        self.number[node as usize] = self.next;
        self.low[node as usize] = self.next;
        self.next += 1;
        self.open.push(node);
        let start = self.arcs.len();
        self.view.arcs(node, &mut self.arcs);
        self.frames.push(Frame { node, start, next: start });
    }

    fn from(
        &mut self,
        root: u32,
        limits: &Limits,
        kept: usize,
        found: &mut dyn FnMut(&[u32]),
    ) -> Result<(), StopReason> {
        self.enter(root);
        while let Some(frame) = self.frames.last_mut() {
            let node = frame.node as usize;
            if frame.next < self.arcs.len() {
                let to = self.arcs[frame.next].to;
                frame.next += 1;
                if self.number[to as usize] == NEW {
                    self.enter(to);
                } else if self.low[to as usize] != NEW {
                    self.low[node] = self.low[node].min(self.number[to as usize]);
                }
                continue;
            }
            self.arcs.truncate(frame.start);
            self.frames.pop();
            let low = self.low[node];
            if low == self.number[node] {
                self.complete(node as u32, found);
            }
            if let Some(parent) = self.frames.last() {
                let parent = parent.node as usize;
                self.low[parent] = self.low[parent].min(low);
            }
            self.done += 1;
            if self.done.is_multiple_of(EVERY) {
                let stacks = self.arcs.len() * size_of::<Arc>()
                    + self.frames.len() * size_of::<Frame>()
                    + self.open.len() * size_of::<u32>();
                if let Some(reason) = limits.exceeded(kept + stacks) {
                    return Err(reason);
                }
            }
        }
        Ok(())
    }

    /// The component of a node is everything above it on the stack of open nodes.
    fn complete(&mut self, node: u32, found: &mut dyn FnMut(&[u32])) {
        let start = self.open.iter().rposition(|&open| open == node).unwrap_or(0);
        let mut met = 0;
        let mut arcs = Vec::new();
        for &member in &self.open[start..] {
            arcs.clear();
            self.view.arcs(member, &mut arcs);
            // INVARIANT: an arc to an open node stays inside, because one to an older node would
            // have lowered `low`.
            for arc in arcs.iter().filter(|arc| self.low[arc.to as usize] != NEW) {
                met |= arc.met;
            }
        }
        for &member in &self.open[start..] {
            self.low[member as usize] = NEW;
        }
        if met & self.view.demands() == self.view.demands() {
            found(&self.open[start..]);
        }
        self.open.truncate(start);
    }
}

/// A cycle inside a component that meets all demands: the node where it starts and its arcs. One
/// arc from a node to itself is best, at the first node that has one; otherwise, of a few starting
/// points near the beginning, the one with the shortest cycle is taken.
pub fn cycle(view: &dyn View, members: &[u32]) -> Option<(u32, Vec<Arc>)> {
    let demands = view.demands();
    let mut starts = members.to_vec();
    starts.sort_unstable();
    let mut arcs = Vec::new();
    for &node in &starts {
        arcs.clear();
        view.arcs(node, &mut arcs);
        let alone = |arc: &&Arc| arc.to == node && arc.met & demands == demands;
        if let Some(arc) = arcs.iter().find(alone) {
            return Some((node, vec![*arc]));
        }
    }
    let inside: FxHashSet<u32> = members.iter().copied().collect();
    starts.truncate((EFFORT / members.len().max(1)).clamp(1, STARTS));
    let around = |start: u32| Some((start, around(view, &inside, start)?));
    starts.into_iter().filter_map(around).min_by_key(|(_, arcs)| arcs.len())
}

/// A cycle through a node: always on to the nearest arc that meets a demand not yet met, then back.
fn around(view: &dyn View, inside: &FxHashSet<u32>, start: u32) -> Option<Vec<Arc>> {
    let demands = view.demands();
    let (mut at, mut met, mut way) = (start, 0, Vec::new());
    while met & demands != demands {
        let new = |arc: &Arc| arc.met & demands & !met != 0;
        let more = nearest(view, inside, at, &new)?;
        met |= more.iter().fold(0, |met, arc| met | arc.met);
        at = more.last().map_or(at, |arc| arc.to);
        way.extend(more);
    }
    if at != start {
        way.extend(nearest(view, inside, at, &|arc| arc.to == start)?);
    }
    Some(way)
}

/// The shortest way from a node, inside a component, whose last arc is wanted.
fn nearest(
    view: &dyn View,
    inside: &FxHashSet<u32>,
    from: u32,
    wanted: &dyn Fn(&Arc) -> bool,
) -> Option<Vec<Arc>> {
    let mut before: FxHashMap<u32, (u32, Arc)> = FxHashMap::default();
    let mut queue = VecDeque::from([from]);
    let mut arcs = Vec::new();
    while let Some(node) = queue.pop_front() {
        arcs.clear();
        view.arcs(node, &mut arcs);
        for arc in arcs.iter().filter(|arc| inside.contains(&arc.to)) {
            if wanted(arc) {
                let (mut way, mut at) = (vec![*arc], node);
                while at != from {
                    let (previous, arc) = before.get(&at)?;
                    way.push(*arc);
                    at = *previous;
                }
                way.reverse();
                return Some(way);
            }
            if arc.to != from && !before.contains_key(&arc.to) {
                before.insert(arc.to, (node, *arc));
                queue.push_back(arc.to);
            }
        }
    }
    None
}
