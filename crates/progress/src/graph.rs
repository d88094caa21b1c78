//! The state graph of a model: every state within the bounds, every move between them, by name.
//!
//! Cycles are what progress is about, so a cycle here must be one of named threads and values:
//! symmetries, merged events and partial order reduction are off. Renaming objects and dropping
//! garbage and dead locals stay: two states that these identify have the same ways on, move by
//! move, so a cycle of identified states unrolls to a run.

use hashbrown::HashTable;
use linchpin_ir::program::Program;
use linchpin_space::{
    Action, Bounds, Calls, Event, Flat, Reductions, Space, SpaceError, Stop, Successor, Unreached,
    Workspace,
};
use linchpin_spec::Value;
use linchpin_verdict::{Limits, StopReason};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use thiserror::Error;

/// The reductions under which a cycle of the graph is a cycle of the model.
pub const REDUCTIONS: Reductions =
    Reductions { canonical_heap: true, dead_locals: true, ..Reductions::NONE };

/// More threads than this are not explored: sets of threads are one word.
pub const MAX_THREADS: usize = 48;

/// There is no such edge.
pub const NOWHERE: u32 = u32::MAX;

/// Where threads may call without end, there can be infinitely many states: no more than this many
/// are explored.
pub const MOST_STATES: usize = 1_000_000;

/// How often limits are looked at: once in so many states.
const EVERY: usize = 256;

/// What a move shows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Label {
    /// A step inside an operation: nothing.
    Step,
    /// A call.
    Call {
        /// Which operation.
        operation: usize,
        /// One value for each parameter.
        arguments: Vec<Value>,
    },
    /// A response.
    Return {
        /// Of which operation.
        operation: usize,
        /// What it answers.
        value: Value,
    },
}

/// A move from one state to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The state after it.
    pub to: u32,
    /// What it shows: index into [`Graph::labels`].
    pub label: u32,
    /// Who moves.
    pub thread: u8,
}

/// States and moves. State 0 is the initial one; states are numbered in breadth-first order.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// How many threads there are.
    pub threads: usize,
    /// Where the edges of each state start in `edges`; one entry more than states.
    pub first: Vec<u32>,
    /// The moves, those of one state next to each other.
    pub edges: Vec<Edge>,
    /// What moves show; number 0 is [`Label::Step`].
    pub labels: Vec<Label>,
    /// For each state and thread, 0 if it is idle, otherwise 1 more than the operation that it is
    /// in.
    pub pending: Vec<u8>,
    /// For each state, the threads that can move, as a set of bits. A thread that only a bound on
    /// the search keeps from moving is in it: the model could go on.
    pub enabled: Vec<u64>,
    /// For each state, the edge by which it was found; [`NOWHERE`] for the initial one.
    pub parent: Vec<u32>,
}

impl Graph {
    /// How many states there are.
    pub fn states(&self) -> usize {
        self.enabled.len()
    }

    /// The numbers of the edges of a state.
    pub fn edges_of(&self, state: u32) -> std::ops::Range<u32> {
        let at = |state: usize| self.first.get(state).copied().unwrap_or(self.edges.len() as u32);
        at(state as usize)..at(state as usize + 1)
    }

    /// The state where an edge starts.
    pub fn source(&self, edge: u32) -> u32 {
        self.first.partition_point(|&first| first <= edge).saturating_sub(1) as u32
    }

    /// What an edge shows.
    pub fn label(&self, edge: u32) -> &Label {
        &self.labels[self.edges[edge as usize].label as usize]
    }

    /// The operation that a thread is in.
    pub fn operation(&self, state: u32, thread: usize) -> Option<usize> {
        usize::from(self.pending[state as usize * self.threads + thread]).checked_sub(1)
    }

    /// Whether a thread can move.
    pub fn can_move(&self, state: u32, thread: usize) -> bool {
        self.enabled[state as usize] >> thread & 1 == 1
    }

    /// Whether a thread is inside an operation and cannot move: it waits.
    pub fn waits(&self, state: u32, thread: usize) -> bool {
        self.operation(state, thread).is_some() && !self.can_move(state, thread)
    }

    /// Whether no thread can move.
    pub fn is_final(&self, state: u32) -> bool {
        self.enabled[state as usize] == 0
    }

    /// The edges on the way from the initial state that the search took.
    pub fn way_to(&self, state: u32) -> Vec<u32> {
        let mut way = Vec::new();
        let mut edge = self.parent[state as usize];
        while edge != NOWHERE {
            way.push(edge);
            edge = self.parent[self.source(edge) as usize];
        }
        way.reverse();
        way
    }

    fn bytes(&self) -> usize {
        self.edges.capacity() * size_of::<Edge>()
            + self.enabled.capacity() * size_of::<u64>()
            + (self.first.capacity() + self.parent.capacity()) * size_of::<u32>()
            + self.pending.capacity()
            // Every label is kept twice, here and as a key, and its values are boxed.
            + self.labels.len() * (2 * size_of::<Label>() + 64)
    }
}

/// Why a model has no state graph.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GraphError {
    /// It has no state space.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// It has more threads than fit.
    #[error("{0} threads are more than progress is checked for (at most {MAX_THREADS})")]
    TooManyThreads(usize),
    /// It has more operations than fit.
    #[error("{0} operations are more than progress is checked for (at most 250)")]
    TooManyOperations(usize),
}

/// A model with its state graph.
pub struct Explored {
    /// The state space.
    pub space: Space,
    /// The graph.
    pub graph: Graph,
    /// Why the search was given up, if it was. The states that it did not get to have all their
    /// threads in [`Graph::enabled`] and no edges, so that nothing is concluded from what they seem
    /// to lack.
    pub stopped: Option<StopReason>,
    /// How many moves go wrong.
    pub faults: u64,
    /// Whether the bound on objects kept a step from being taken.
    pub bounded: bool,
    /// The program as the model has it, where what was explored leaves out values that nothing
    /// tests.
    pub(crate) original: Program,
    states: States,
}

impl Explored {
    /// The packed form of a state.
    pub fn packed(&self, state: u32) -> &[u8] {
        self.states.get(state)
    }

    /// About how many bytes are kept.
    pub fn bytes(&self) -> usize {
        self.graph.bytes() + self.states.bytes()
    }

    /// The lines that no run executed.
    pub fn unreached(&self) -> Vec<Unreached> {
        self.space.unreached()
    }
}

/// Packed states, each once.
#[derive(Default)]
struct States {
    arena: Vec<u8>,
    ends: Vec<usize>,
    table: HashTable<u32>,
}

impl States {
    fn get(&self, state: u32) -> &[u8] {
        let state = state as usize;
        let start = if state == 0 { 0 } else { self.ends[state - 1] };
        &self.arena[start..self.ends[state]]
    }

    /// The number of a state, and whether it is new.
    fn add(&mut self, bytes: &[u8]) -> (u32, bool) {
        let hash = hash_of(bytes);
        if let Some(&known) = self.table.find(hash, |&state| self.get(state) == bytes) {
            return (known, false);
        }
        let state = self.ends.len() as u32;
        self.arena.extend_from_slice(bytes);
        self.ends.push(self.arena.len());
        let States { arena, ends, table } = self;
        let of = |&state: &u32| {
            let state = state as usize;
            let start = if state == 0 { 0 } else { ends[state - 1] };
            hash_of(&arena[start..ends[state]])
        };
        table.insert_unique(hash, state, of);
        (state, true)
    }

    fn bytes(&self) -> usize {
        // A slot of the table is a number and a byte of control; an eighth of the slots stays
        // empty.
        self.arena.capacity()
            + self.ends.capacity() * size_of::<usize>()
            + self.table.capacity() * (size_of::<u32>() + 1) * 8 / 7
    }
}

fn hash_of(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    bytes.hash(&mut hasher);
    hasher.finish()
}

/// Explores the state graph of a program, as far as the limits let it.
pub fn explore(program: &Program, bounds: Bounds, limits: &Limits) -> Result<Explored, GraphError> {
    let threads = program.threads.len();
    if threads > MAX_THREADS {
        return Err(GraphError::TooManyThreads(threads));
    }
    if program.operations.len() > 250 {
        return Err(GraphError::TooManyOperations(program.operations.len()));
    }
    let space = Space::new(program, bounds, REDUCTIONS)?;
    // What the bound on objects hides is looked up here: a thread that it stops does not wait for
    // another.
    let unbounded = match bounds.objects {
        Some(_) => Some(Space::new(program, Bounds { objects: None, ..bounds }, REDUCTIONS)?),
        None => None,
    };
    let mut search = Search {
        space: &space,
        unbounded: unbounded.as_ref(),
        graph: Graph { threads, labels: vec![Label::Step], ..Graph::default() },
        states: States::default(),
        labels: FxHashMap::default(),
        faults: 0,
    };
    let stopped = search.run(&space.initial()?, limits);
    let Search { graph, states, faults, .. } = search;
    let bounded = space.was_bounded();
    let original = program.clone();
    Ok(Explored { space, graph, stopped, faults, bounded, original, states })
}

struct Search<'a> {
    space: &'a Space,
    unbounded: Option<&'a Space>,
    graph: Graph,
    states: States,
    labels: FxHashMap<Label, u32>,
    faults: u64,
}

impl Search<'_> {
    /// Breadth first, until everything is explored or it is given up; then it says why.
    fn run(&mut self, initial: &Flat, limits: &Limits) -> Option<StopReason> {
        let (mut search, mut pack) = (Workspace::default(), Workspace::default());
        let mut bytes = Vec::new();
        self.space.pack(initial, &mut pack, &mut bytes);
        let idle = vec![0; self.graph.threads];
        self.state(&bytes, &idle, NOWHERE);
        let mut stopped = None;
        let mut flat = Flat::default();
        let mut next = 0;
        while next < self.states.ends.len() {
            if next % EVERY == 0 {
                stopped = limits.exceeded(self.graph.bytes() + self.states.bytes());
            }
            if stopped.is_none() && self.is_full() {
                stopped = Some(StopReason::Budget);
            }
            if stopped.is_some() {
                break;
            }
            let state = next as u32;
            self.graph.first.push(self.graph.edges.len() as u32);
            bytes.clear();
            bytes.extend_from_slice(self.states.get(state));
            self.space.unpack(&bytes, &mut flat);
            self.expand(state, &flat, &mut search, &mut pack);
            next += 1;
        }
        // The states that were not expanded: who could move there is not known.
        let all = (1 << self.graph.threads) - 1;
        for enabled in &mut self.graph.enabled[next..] {
            *enabled = all;
        }
        let edges = self.graph.edges.len() as u32;
        self.graph.first.resize(self.graph.states() + 1, edges);
        stopped
    }

    fn is_full(&self) -> bool {
        let most = (u32::MAX - (1 << 20)) as usize;
        let states = match self.space.bounds().calls {
            Calls::Unlimited => MOST_STATES,
            Calls::Each(_) => most,
        };
        self.graph.edges.len() > most || self.states.ends.len() > states
    }

    /// The moves of every thread from a state.
    fn expand(&mut self, state: u32, flat: &Flat, search: &mut Workspace, pack: &mut Workspace) {
        let mut bytes = Vec::new();
        for thread in 0..self.graph.threads {
            let mut can_move = false;
            let space = self.space;
            let mut visit = |successor: Successor<'_>| {
                can_move = true;
                match successor.stop {
                    Stop::Fault => self.faults += 1,
                    Stop::State(after) => {
                        space.pack(after, pack, &mut bytes);
                        self.edge(state, thread, &successor, &bytes);
                    }
                }
                true
            };
            space.successors_of(flat, thread, 0, search, &mut visit);
            if let (false, Some(unbounded)) = (can_move, self.unbounded) {
                let mut visit = |_: Successor<'_>| {
                    can_move = true;
                    false
                };
                unbounded.successors_of(flat, thread, 0, search, &mut visit);
            }
            self.graph.enabled[state as usize] |= u64::from(can_move) << thread;
        }
    }

    /// One move, with the state after it.
    fn edge(&mut self, from: u32, thread: usize, successor: &Successor<'_>, bytes: &[u8]) {
        let first = successor.actions.first().map(|made| &made.action);
        let label = match (first, successor.events.first()) {
            (Some(Action::Invoke { operation, arguments }), _) => Label::Call {
                operation: *operation,
                arguments: self.space.arguments(*operation, arguments),
            },
            (Some(Action::Respond), Some(Event::Return { operation, value, .. })) => {
                let value = self.space.response(*operation, value);
                Label::Return { operation: *operation, value }
            }
            _ => Label::Step,
        };
        let threads = self.graph.threads;
        let at = from as usize * threads;
        let mut pending = self.graph.pending[at..at + threads].to_vec();
        match &label {
            Label::Step => {}
            Label::Call { operation, .. } => pending[thread] = *operation as u8 + 1,
            Label::Return { .. } => pending[thread] = 0,
        }
        let label = self.label(label);
        let edge = self.graph.edges.len() as u32;
        let to = self.state(bytes, &pending, edge);
        self.graph.edges.push(Edge { to, label, thread: thread as u8 });
    }

    fn label(&mut self, label: Label) -> u32 {
        if label == Label::Step {
            return 0;
        }
        let labels = &mut self.graph.labels;
        *self.labels.entry(label).or_insert_with_key(|label| {
            labels.push(label.clone());
            labels.len() as u32 - 1
        })
    }

    fn state(&mut self, bytes: &[u8], pending: &[u8], parent: u32) -> u32 {
        let (state, new) = self.states.add(bytes);
        if new {
            self.graph.pending.extend_from_slice(pending);
            self.graph.enabled.push(0);
            self.graph.parent.push(parent);
        }
        state
    }
}
