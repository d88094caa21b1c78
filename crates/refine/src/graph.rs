//! The state graph of a model by itself, without the specification: which states there are, what
//! leads where, and which pending operation can still return.
//!
//! Threads are known by their position in a packed state. Where threads are interchangeable, a
//! transition may move them to other positions: every edge says how.

use crate::store::hash;
use hashbrown::HashTable;
use linchpin_space::{CrashesLeft, Event, Flat, Space, SpaceError, Stop, Successor, Workspace};
use linchpin_verdict::{Limits, StopReason};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// So many states are expanded before what was found is added to the graph.
const BATCH: usize = 4096;

/// A batch this small is not worth a second worker.
const SMALL: usize = 128;

/// More threads than this do not fit a set of positions.
pub(crate) const MAX_THREADS: usize = 64;

/// The number of a state: 0 for the initial one, the others in breadth-first order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StateId(u32);

impl StateId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A set of positions of threads in a packed state.
pub(crate) type Positions = u64;

/// Where each position goes; empty if all stay.
type Permutation = SmallVec<[u8; 8]>;

/// A transition.
#[derive(Clone, Copy)]
struct Edge {
    to: StateId,
    /// How it permutes the threads: index into [`Graph::permutations`].
    permutation: u32,
}

/// Packed states, each kept once.
#[derive(Default)]
struct States {
    arena: Vec<u8>,
    ends: Vec<usize>,
    table: HashTable<u32>,
}

fn packed<'a>(arena: &'a [u8], ends: &[usize], state: u32) -> &'a [u8] {
    let state = state as usize;
    let start = if state == 0 { 0 } else { ends[state - 1] };
    &arena[start..ends[state]]
}

impl States {
    /// The number of a state, and whether it is new.
    fn add(&mut self, bytes: &[u8]) -> (StateId, bool) {
        let States { arena, ends, table } = self;
        let hashed = hash(bytes);
        if let Some(&known) = table.find(hashed, |&state| packed(arena, ends, state) == bytes) {
            return (StateId(known), false);
        }
        // There are at most as many states as `Graph::explore` is asked for, which fits.
        let state = ends.len() as u32;
        arena.extend_from_slice(bytes);
        ends.push(arena.len());
        table.insert_unique(hashed, state, |&state| hash(packed(arena, ends, state)));
        (StateId(state), true)
    }
}

/// The state graph of a model.
pub(crate) struct Graph {
    states: States,
    /// Where the edges of each state start; one entry more than states.
    first: Vec<u32>,
    edges: Vec<Edge>,
    /// For each state, the threads that are inside an operation.
    pending: Vec<Positions>,
    /// For each state, the threads that respond in one of its transitions.
    respond: Vec<Positions>,
    /// Whether the bound on objects refused a step of some state: what comes after such a step is
    /// not explored.
    refused: bool,
    /// The state from which each was found first.
    parents: Vec<StateId>,
    permutations: Vec<Permutation>,
}

/// Why there is no graph.
pub(crate) enum NoGraph {
    /// More states than asked for.
    TooManyStates,
    /// A limit.
    Stopped(StopReason),
    /// The initial state has no words.
    Space(SpaceError),
}

/// What a worker finds out about some states next to each other.
#[derive(Default)]
struct Expansion {
    /// For each state: its threads inside operations, those that respond, how many successors.
    of: Vec<(Positions, Positions, usize)>,
    /// Whether the bound on objects refused a step.
    refused: bool,
    /// Where the bytes of each successor end, and how threads move.
    successors: Vec<(usize, Permutation)>,
    bytes: Vec<u8>,
}

impl Graph {
    /// Explores the graph of a space from the initial state, and from other states if there are
    /// any, up to so many states.
    pub fn explore(
        space: &Space,
        others: &[Vec<u8>],
        most: u32,
        workers: usize,
        limits: &Limits,
    ) -> Result<Graph, NoGraph> {
        let mut graph = Graph {
            states: States::default(),
            first: Vec::new(),
            edges: Vec::new(),
            pending: Vec::new(),
            respond: Vec::new(),
            refused: false,
            parents: Vec::new(),
            permutations: vec![Permutation::new()],
        };
        let mut permutations = FxHashMap::default();
        permutations.insert(Permutation::new(), 0);
        let mut bytes = Vec::new();
        let mut initial = space.initial().map_err(NoGraph::Space)?;
        if !others.is_empty() {
            initial.left = CrashesLeft::default();
        }
        space.pack(&initial, &mut Workspace::default(), &mut bytes);
        for start in std::iter::once(&bytes).chain(others) {
            if graph.states.add(start).1 {
                graph.parents.push(StateId(0));
            }
        }
        while graph.first.len() < graph.len() {
            if let Some(reason) = limits.exceeded(graph.bytes()) {
                return Err(NoGraph::Stopped(reason));
            }
            let from = graph.first.len();
            let to = graph.len().min(from + BATCH);
            for expansion in graph.expand(space, from, to, workers) {
                graph.add(&expansion, &mut permutations);
            }
            if graph.len() > most as usize || graph.edges.len() > u32::MAX as usize {
                return Err(NoGraph::TooManyStates);
            }
        }
        graph.first.push(graph.edges.len() as u32);
        Ok(graph)
    }

    /// How many states there are.
    pub fn len(&self) -> usize {
        self.states.ends.len()
    }

    /// Bytes kept.
    pub fn bytes(&self) -> usize {
        let Graph { states, first, edges, pending, respond, parents, .. } = self;
        states.arena.capacity()
            + states.ends.capacity() * size_of::<usize>()
            + states.table.capacity() * 6
            + first.capacity() * size_of::<u32>()
            + edges.capacity() * size_of::<Edge>()
            + (pending.capacity() + respond.capacity()) * size_of::<Positions>()
            + parents.capacity() * size_of::<StateId>()
    }

    /// Whether the bound on objects refused a step.
    pub fn is_bounded(&self) -> bool {
        self.refused
    }

    /// The packed form of a state.
    pub fn packed(&self, state: StateId) -> &[u8] {
        packed(&self.states.arena, &self.states.ends, state.0)
    }

    /// All states, in breadth-first order.
    pub fn states(&self) -> impl DoubleEndedIterator<Item = StateId> + use<> {
        (0..self.len() as u32).map(StateId)
    }

    /// The states on a shortest way to a state, if the initial one is the only start.
    pub fn path_to(&self, state: StateId) -> Vec<(Vec<u8>, u32)> {
        let mut path = vec![(self.packed(state).to_vec(), 0)];
        let mut at = state;
        while at != StateId(0) {
            at = self.parents[at.index()];
            path.push((self.packed(at).to_vec(), 0));
        }
        path.reverse();
        path
    }

    /// The ways on from the states `from..to`, found by several workers, in order.
    fn expand(&self, space: &Space, from: usize, to: usize, workers: usize) -> Vec<Expansion> {
        let share = |from: usize, to: usize| {
            let mut expansion = Expansion::default();
            let (mut search, mut pack) = (Workspace::default(), Workspace::default());
            for state in from..to {
                let state = packed(&self.states.arena, &self.states.ends, state as u32);
                expansion.state(space, state, &mut search, &mut pack);
            }
            expansion
        };
        let size = (to - from).div_ceil(workers.max(1));
        if workers < 2 || to - from < SMALL {
            return vec![share(from, to)];
        }
        let share = &share;
        std::thread::scope(|scope| {
            let starts = (from..to).step_by(size);
            let running: Vec<_> = starts
                .map(|start| {
                    let work = move || share(start, to.min(start + size));
                    (start, std::thread::Builder::new().spawn_scoped(scope, work).ok())
                })
                .collect();
            // A worker that failed, or could not be made, leaves its share to this one.
            let redo = |start: usize| share(start, to.min(start + size));
            running
                .into_iter()
                .map(|(start, worker)| {
                    let done = worker.and_then(|worker| worker.join().ok());
                    done.unwrap_or_else(|| redo(start))
                })
                .collect()
        })
    }

    fn add(&mut self, expansion: &Expansion, permutations: &mut FxHashMap<Permutation, u32>) {
        self.refused |= expansion.refused;
        let (mut start, mut successors) = (0, expansion.successors.iter());
        for &(pending, respond, count) in &expansion.of {
            let from = StateId(self.first.len() as u32);
            self.first.push(self.edges.len() as u32);
            self.pending.push(pending);
            self.respond.push(respond);
            for (end, permutation) in successors.by_ref().take(count) {
                let (to, new) = self.states.add(&expansion.bytes[start..*end]);
                start = *end;
                if new {
                    self.parents.push(from);
                }
                let permutation = match permutations.get(permutation) {
                    Some(number) => *number,
                    None => {
                        let number = self.permutations.len() as u32;
                        self.permutations.push(permutation.clone());
                        permutations.insert(permutation.clone(), number);
                        number
                    }
                };
                self.edges.push(Edge { to, permutation });
            }
        }
    }
}

impl Expansion {
    fn state(&mut self, space: &Space, state: &[u8], search: &mut Workspace, pack: &mut Workspace) {
        let mut flat = Flat::default();
        space.unpack(state, &mut flat);
        let threads = 0..space.program().threads.len();
        let is_pending = |thread: &usize| space.is_pending(&flat, *thread);
        let pending = threads.filter(is_pending).fold(0, |set, thread| set | 1 << thread);
        let (mut respond, mut count) = (0, 0);
        let mut bytes = Vec::new();
        let mut visit = |successor: Successor<'_>| {
            // A step that goes wrong has been looked for before, and found nowhere within the
            // bounds.
            let Stop::State(after) = successor.stop else { return true };
            for event in successor.events {
                if let Event::Return { thread, .. } | Event::Resolve { thread, .. } = event {
                    respond |= 1 << thread;
                }
            }
            let renaming = space.pack(after, pack, &mut bytes);
            self.bytes.extend_from_slice(&bytes);
            self.successors.push((self.bytes.len(), renaming.threads));
            count += 1;
            true
        };
        search.take_bounded();
        space.successors(state, 0, search, &mut visit);
        self.refused |= search.take_bounded();
        self.of.push((pending, respond, count));
    }
}

/// For each state, the pending operations that can still return, by the positions of their threads.
pub(crate) struct CanReturn<'g> {
    graph: &'g Graph,
    can: Vec<Positions>,
    /// For each state, where the transitions into it start in `sources`.
    first: Vec<u32>,
    /// Where transitions start and how they permute threads, sorted by where they end.
    sources: Vec<(StateId, u32)>,
}

impl<'g> CanReturn<'g> {
    /// One backward pass from the states where operations return.
    pub fn new(graph: &'g Graph) -> CanReturn<'g> {
        let mut first = vec![0u32; graph.len() + 1];
        for edge in &graph.edges {
            first[edge.to.index() + 1] += 1;
        }
        for state in 0..graph.len() {
            first[state + 1] += first[state];
        }
        let mut sources = vec![(StateId(0), 0); graph.edges.len()];
        let mut next = first.clone();
        for state in graph.states() {
            let edges = graph.first[state.index()]..graph.first[state.index() + 1];
            for edge in &graph.edges[edges.start as usize..edges.end as usize] {
                let at = &mut next[edge.to.index()];
                sources[*at as usize] = (state, edge.permutation);
                *at += 1;
            }
        }
        let can =
            graph.pending.iter().zip(&graph.respond).map(|(pending, respond)| pending & respond);
        let mut result = CanReturn { graph, can: can.collect(), first, sources };
        let open = graph.states().filter(|state| result.can[state.index()] != 0).collect();
        result.propagate(open);
        result
    }

    /// The pending operations of a state that cannot return, as far as is known.
    pub fn open(&self, state: StateId) -> Positions {
        self.graph.pending[state.index()] & !self.can[state.index()]
    }

    /// All pending operations of a state can return after all, and so can those that lead there.
    pub fn close(&mut self, state: StateId) {
        self.can[state.index()] = self.graph.pending[state.index()];
        self.propagate(vec![state]);
    }

    /// A thread that stays inside its operation along a transition can return before it if it can
    /// after it. (One that responds in the transition can return anyway.)
    fn propagate(&mut self, mut changed: Vec<StateId>) {
        let graph = self.graph;
        while let Some(state) = changed.pop() {
            let can = self.can[state.index()];
            let range = self.first[state.index()] as usize..self.first[state.index() + 1] as usize;
            for &(source, permutation) in &self.sources[range] {
                let permutation = &graph.permutations[permutation as usize];
                let open = graph.pending[source.index()] & !self.can[source.index()];
                let before =
                    if permutation.is_empty() { open & can } else { moved(open, can, permutation) };
                if before != 0 {
                    self.can[source.index()] |= before;
                    changed.push(source);
                }
            }
        }
    }
}

/// The positions in `open` that a permutation takes to one in `to`.
fn moved(open: Positions, to: Positions, permutation: &[u8]) -> Positions {
    let mut result = 0;
    for (from, at) in permutation.iter().enumerate() {
        if open >> from & 1 == 1 && to >> *at & 1 == 1 {
            result |= 1 << from;
        }
    }
    result
}
