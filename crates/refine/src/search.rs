//! The search of Figure 2, breadth first, level by level, on all cores.
//!
//! Breadth first finds a counterexample with the fewest transitions. A product state is left out if
//! one with the same implementation state and a subset of its specification states was met before:
//! whatever goes wrong from the one goes wrong from the other (an antichain).
//!
//! Implementation states are the same if they differ only in their allowance, which for models is
//! the calls that threads have left: one with at least as much of it has every run that the other
//! has, to the same events. So a state is left out only if another was met that is allowed at least
//! as much *and* has a subset of the specification states. By induction over the length of a
//! shortest run to something wrong: the state that is kept has one that is no longer.
//!
//! Where states have ranks ([`Product::rank`]), those of a higher rank wait, once there are many
//! states: most of them will turn out to be covered by states of a lower one.

use crate::chunked::is_same;
use crate::level::{Desk, Level};
use crate::product::Product;
use crate::store::{Added, NO_NODE, NodeId, Split, Store};
use linchpin_verdict::{Inconclusive, Limits, StopReason};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How to search.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// Keep only sets of specification states that are not supersets of others.
    pub antichain: bool,
    /// Keep only states that are not allowed less than others that are the same otherwise.
    pub calls: bool,
    /// How many workers.
    pub workers: usize,
    /// From so many states on, those of a higher rank wait. With fewer, what goes wrong is found by
    /// the fewest transitions, whatever its rank.
    pub wait_from: usize,
    /// When to give up.
    pub limits: Limits,
}

impl Default for SearchOptions {
    fn default() -> SearchOptions {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        SearchOptions {
            antichain: true,
            calls: true,
            workers,
            wait_from: MANY,
            limits: Limits::default(),
        }
    }
}

/// What an exploration has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    /// Implementation states.
    pub implementation_states: usize,
    /// Product states.
    pub states: usize,
    /// Transitions.
    pub transitions: u64,
    /// The length of the longest shortest way to a state.
    pub depth: usize,
    /// Bytes kept.
    pub bytes: usize,
    /// Seconds.
    pub seconds: f64,
    /// Whether everything was explored, and would have been with any allowance: see
    /// `Store::is_closed`.
    pub is_closed: bool,
    /// About how many states are still to come, where that can be guessed.
    pub to_come: Option<u64>,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// A response that no specification state explains.
    Unexplained,
    /// A step that goes wrong by itself.
    Fault,
}

/// How an exploration ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exploration {
    /// Everything was explored; nothing goes wrong.
    Complete,
    /// Something goes wrong: the states on the way, the last of which can go wrong in the next
    /// step.
    Found {
        /// The states on the way.
        path: Vec<(Vec<u8>, u32)>,
        /// What goes wrong.
        wrong: Wrong,
    },
    /// It was given up; why.
    Stopped(Inconclusive),
}

/// So many states are taken from the top of the stack at a time.
const AT_A_TIME: usize = 32;

/// A search of so many states is a long one.
const MANY: usize = 1 << 16;

/// No state waits.
pub(crate) const ANY_RANK: usize = usize::MAX;

/// Explores a product. `progress` is called now and then.
pub fn explore<P: Product>(
    product: &P,
    options: &SearchOptions,
    progress: &(dyn Fn(&Stats) + Sync),
) -> (Exploration, Stats) {
    let mut search = Search::new(product, options, progress);
    let mut workers: Vec<P::Worker> = Vec::new();
    workers.resize_with(options.workers.max(1), || product.worker());
    let (bytes, set) = product.initial();
    let mut depth = 0;
    let mut level = match search.add_initial(&bytes, set) {
        Added::New(id) => vec![id],
        _ => vec![],
    };
    let outcome = loop {
        if search.rank == ANY_RANK && search.store.size().nodes >= options.wait_from {
            level = search.begin_to_wait(&mut workers[0], level);
        }
        if level.is_empty() {
            level = search.next_rank(&mut workers[0]);
        }
        if level.is_empty() {
            break Exploration::Complete;
        }
        match search.level(&level, &mut workers, depth) {
            Level::Next(next) => level = next,
            Level::Found(id, wrong) => {
                break Exploration::Found { path: search.path(id), wrong };
            }
            Level::Stopped(reason) => break Exploration::Stopped(reason),
        }
        depth += 1;
    };
    let stats = search.final_stats(depth, &outcome, &mut workers);
    (outcome, stats)
}

/// Explores a product depth first, with one worker: what is deep is found sooner, by a longer way.
/// What it has explored when it ends is the same.
pub fn explore_depth_first<P: Product>(
    product: &P,
    options: &SearchOptions,
    progress: &(dyn Fn(&Stats) + Sync),
) -> (Exploration, Stats) {
    let mut search = Search::new(product, options, progress);
    let mut worker = product.worker();
    let (bytes, set) = product.initial();
    let mut stack = match search.add_initial(&bytes, set) {
        Added::New(id) => vec![id],
        _ => vec![],
    };
    let mut deepest = 0;
    let outcome = loop {
        // A few at a time: limits are not looked at for each of them.
        let last = stack.split_off(stack.len().saturating_sub(AT_A_TIME));
        if last.is_empty() {
            break Exploration::Complete;
        }
        deepest = deepest.max(stack.len());
        match search.level(&last, std::slice::from_mut(&mut worker), deepest) {
            Level::Next(next) => stack.extend(next),
            Level::Found(id, wrong) => break Exploration::Found { path: search.path(id), wrong },
            Level::Stopped(reason) => break Exploration::Stopped(reason),
        }
    };
    let stats = search.final_stats(deepest, &outcome, std::slice::from_mut(&mut worker));
    (outcome, stats)
}

/// States that wait, by their sets.
type Waiting = FxHashMap<u32, FxHashMap<Box<[u8]>, NodeId>>;

/// What is searched, how, and what was seen.
pub(crate) struct Search<'a, P: Product> {
    pub(crate) product: &'a P,
    pub(crate) options: &'a SearchOptions,
    pub(crate) store: Store,
    pub(crate) transitions: AtomicU64,
    progress: &'a (dyn Fn(&Stats) + Sync),
    start: Instant,
    /// When it was told last how far the search is.
    shown: Mutex<Instant>,
    /// What workers have found for each other.
    pub(crate) desks: Vec<Desk>,
    /// The rank of the states that are explored; those of a higher one wait.
    pub(crate) rank: usize,
    /// The states that wait, each with the one that it was found from.
    waiting: Mutex<Waiting>,
    /// Those that wait but were found before any did.
    early: Vec<NodeId>,
}

impl<'a, P: Product> Search<'a, P> {
    pub(crate) fn new(
        product: &'a P,
        options: &'a SearchOptions,
        progress: &'a (dyn Fn(&Stats) + Sync),
    ) -> Search<'a, P> {
        Search {
            product,
            options,
            store: Store::new(),
            transitions: AtomicU64::new(0),
            progress,
            start: Instant::now(),
            shown: Mutex::new(Instant::now()),
            desks: Vec::new(),
            rank: ANY_RANK,
            waiting: Mutex::default(),
            early: Vec::new(),
        }
    }

    fn rank_of(&self, worker: &mut P::Worker, id: NodeId) -> usize {
        let set = self.store.get(id, &mut Vec::new()).set;
        self.product.rank(worker, set)
    }

    /// From now on only states of the lowest rank are explored: those of a level.
    fn begin_to_wait(&mut self, worker: &mut P::Worker, level: Vec<NodeId>) -> Vec<NodeId> {
        let ranks: Vec<usize> = level.iter().map(|id| self.rank_of(worker, *id)).collect();
        self.rank = ranks.iter().copied().min().unwrap_or(ANY_RANK);
        let (now, later): (Vec<_>, Vec<_>) =
            level.into_iter().zip(ranks).partition(|(_, rank)| *rank == self.rank);
        self.early = later.into_iter().map(|(id, _)| id).collect();
        now.into_iter().map(|(id, _)| id).collect()
    }

    /// The states of the lowest rank of those that wait.
    fn next_rank(&mut self, worker: &mut P::Worker) -> Vec<NodeId> {
        let waiting = self.waiting.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut waiting: Vec<_> = std::mem::take(waiting)
            .into_iter()
            .map(|(set, states)| (self.product.rank(worker, set), set, states))
            .collect();
        let early: Vec<(usize, NodeId)> =
            self.early.iter().map(|id| (self.rank_of(worker, *id), *id)).collect();
        let ranks = waiting.iter().map(|of| of.0).chain(early.iter().map(|of| of.0));
        let Some(lowest) = ranks.min() else { return Vec::new() };
        self.rank = lowest;
        let (now, later): (Vec<_>, Vec<_>) =
            early.into_iter().partition(|(rank, _)| *rank == lowest);
        self.early = later.into_iter().map(|(_, id)| id).collect();
        let mut level: Vec<NodeId> = now.into_iter().map(|(_, id)| id).collect();
        let later = waiting.extract_if(.., |(rank, ..)| *rank > lowest);
        self.waiting = Mutex::new(later.map(|(_, set, states)| (set, states)).collect());
        for (_, set, states) in waiting {
            for (bytes, parent) in states {
                if let Added::New(id) = self.add(worker, &bytes, set, parent) {
                    level.push(id);
                }
            }
        }
        level
    }

    /// Lets a state wait until it is the turn of its rank.
    pub(crate) fn wait(&self, bytes: &[u8], set: u32, parent: NodeId) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let states = waiting.entry(set).or_default();
        if !states.contains_key(bytes) {
            states.insert(bytes.into(), parent);
        }
    }

    /// Adds a state, unless one that covers it is there.
    pub(crate) fn add(
        &self,
        worker: &mut P::Worker,
        bytes: &[u8],
        set: u32,
        parent: NodeId,
    ) -> Added {
        let state = self.split(bytes);
        self.store.add(state, set, parent, |one, other| self.covers(worker, one, other))
    }

    pub(crate) fn stats(&self, depth: usize) -> Stats {
        let size = self.store.size();
        Stats {
            implementation_states: size.states,
            states: size.nodes,
            transitions: self.transitions.load(Ordering::Relaxed),
            depth,
            bytes: size.bytes + self.product.bytes(),
            seconds: self.start.elapsed().as_secs_f64(),
            is_closed: false,
            to_come: None,
        }
    }

    pub(crate) fn final_stats(
        &self,
        depth: usize,
        outcome: &Exploration,
        workers: &mut [P::Worker],
    ) -> Stats {
        let is_closed = match (outcome, workers.first_mut()) {
            (Exploration::Complete, Some(worker)) => self.store.is_closed(|smaller, larger| {
                smaller == larger || self.product.is_subset(worker, smaller, larger)
            }),
            _ => false,
        };
        Stats { is_closed, ..self.stats(depth) }
    }

    /// Tells how far it is, now and then, and why to give up, if there is a reason.
    pub(crate) fn look_at_limits(&self, depth: usize) -> Option<Inconclusive> {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.elapsed() > Duration::from_millis(200) {
            *shown = Instant::now();
            (self.progress)(&self.stats(depth));
        }
        drop(shown);
        let size = self.store.size();
        let limits = &self.options.limits;
        let has_room = |most: u64| u64::try_from(size.nodes).is_ok_and(|states| states <= most);
        if !limits.configurations.is_none_or(has_room) {
            return Some(Inconclusive::from(StopReason::Budget));
        }
        limits.exceeded(size.bytes + self.product.bytes()).map(Inconclusive::from)
    }

    fn add_initial(&self, bytes: &[u8], set: u32) -> Added {
        self.store.add(self.split(bytes), set, NO_NODE, |_, _| false)
    }

    /// The parts of a state; no allowance if it is to be told apart.
    pub(crate) fn split<'b>(&self, bytes: &'b [u8]) -> Split<'b> {
        let parts = self.product.parts(bytes);
        let allowance = if self.options.calls { parts.allowance } else { 0 };
        let (kept, back) = bytes.split_at(parts.front);
        Split { kept, allowance, back }
    }

    /// Whether whatever goes wrong from the second goes wrong from the first: two allowances and
    /// sets, beside states that are the same otherwise.
    pub(crate) fn covers(
        &self,
        worker: &mut P::Worker,
        (allowance, set): (&[u8], u32),
        (less, larger): (&[u8], u32),
    ) -> bool {
        (is_same(allowance, less) || self.product.allows(allowance, less))
            && (set == larger
                || self.options.antichain && self.product.is_subset(worker, set, larger))
    }

    /// The states on the way to a node.
    fn path(&self, id: NodeId) -> Vec<(Vec<u8>, u32)> {
        let mut path = Vec::new();
        let mut at = id;
        while at != NO_NODE {
            let mut bytes = Vec::new();
            let node = self.store.get(at, &mut bytes);
            path.push((bytes, node.set));
            at = node.parent;
        }
        path.reverse();
        path
    }
}
