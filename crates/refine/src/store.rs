//! The states seen: packed bytes, each kept once, with the allowances and specification sets that
//! were met beside it.

use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;
use std::sync::Mutex;

/// How many parts the store has, so that workers rarely wait for each other.
const SHARDS: usize = 64;

/// The number of a product state.
pub(crate) type NodeId = u32;

/// No node.
pub(crate) const NO_NODE: NodeId = u32::MAX;

/// A product state and how it was reached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// The implementation state, within its shard.
    pub state: u32,
    pub set: u32,
    pub parent: NodeId,
    /// The allowance, within its shard.
    allowance: u32,
    /// Whether the allowance kept something from happening.
    refused: bool,
    /// The next node with the same implementation state, or [`NO_NODE`].
    next: u32,
}

#[derive(Clone, Copy)]
struct State {
    start: u32,
    length: u16,
    /// The latest node with this state.
    first: u32,
}

#[derive(Default)]
struct Shard {
    table: HashTable<u32>,
    bytes: Vec<u8>,
    states: Vec<State>,
    nodes: Vec<Node>,
    allowances: Allowances,
}

/// The different allowances; there are few.
#[derive(Default)]
struct Allowances {
    items: Vec<Box<[u8]>>,
    numbers: FxHashMap<Box<[u8]>, u32>,
}

impl Allowances {
    fn number(&mut self, allowance: &[u8]) -> u32 {
        if let Some(number) = self.numbers.get(allowance) {
            return *number;
        }
        let number = self.items.len() as u32;
        self.items.push(allowance.into());
        self.numbers.insert(allowance.into(), number);
        number
    }
}

/// A state in two parts: how much may still happen, and all else.
#[derive(Clone, Copy)]
pub(crate) struct Split<'a> {
    pub allowance: &'a [u8],
    pub rest: &'a [u8],
}

/// The states seen.
pub(crate) struct Store {
    shards: Vec<Mutex<Shard>>,
}

/// What came of adding a product state.
pub(crate) enum Added {
    /// It is new.
    New(NodeId),
    /// It was there, or one that can do no more.
    Known,
    /// There is no room for so many or so large states.
    Full,
}

impl Store {
    pub fn new() -> Store {
        Store { shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }

    fn shard(&self, index: usize) -> std::sync::MutexGuard<'_, Shard> {
        self.shards[index].lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Adds a product state, unless `covers` says of an allowance and a set already met beside the
    /// rest of the state that this one can do no more.
    pub fn add(
        &self,
        Split { allowance, rest: bytes }: Split<'_>,
        set: u32,
        parent: NodeId,
        mut covers: impl FnMut(&[u8], u32) -> bool,
    ) -> Added {
        let hash = hash(bytes);
        let index = (hash >> 58) as usize;
        let mut guard = self.shard(index);
        let Shard { table, bytes: all, states, nodes, allowances } = &mut *guard;
        let same = |&state: &u32| {
            let State { start, length, .. } = states[state as usize];
            &all[start as usize..start as usize + usize::from(length)] == bytes
        };
        let state = match table.find(hash, same) {
            Some(&state) => {
                let mut at = states[state as usize].first;
                while at != NO_NODE {
                    let node = nodes[at as usize];
                    if covers(&allowances.items[node.allowance as usize], node.set) {
                        return Added::Known;
                    }
                    at = node.next;
                }
                state
            }
            None => {
                let (Ok(start), Ok(length)) =
                    (u32::try_from(all.len()), u16::try_from(bytes.len()))
                else {
                    return Added::Full;
                };
                let state = states.len() as u32;
                all.extend_from_slice(bytes);
                states.push(State { start, length, first: NO_NODE });
                let rehash = |&state: &u32| {
                    let State { start, length, .. } = states[state as usize];
                    self::hash(&all[start as usize..start as usize + usize::from(length)])
                };
                table.insert_unique(hash, state, rehash);
                state
            }
        };
        let number = nodes.len();
        let Some(id) = u32::try_from(number * SHARDS + index).ok().filter(|id| *id != NO_NODE)
        else {
            return Added::Full;
        };
        let next = std::mem::replace(&mut states[state as usize].first, number as u32);
        let allowance = allowances.number(allowance);
        nodes.push(Node { state, set, parent, allowance, refused: false, next });
        Added::New(id)
    }

    /// Copies the bytes of a node out; returns its set and its parent.
    pub fn get(&self, id: NodeId, out: &mut Vec<u8>) -> Node {
        let shard = self.shard(id as usize % SHARDS);
        let node = shard.nodes[id as usize / SHARDS];
        let State { start, length, .. } = shard.states[node.state as usize];
        out.clear();
        out.extend_from_slice(&shard.allowances.items[node.allowance as usize]);
        out.extend_from_slice(&shard.bytes[start as usize..start as usize + usize::from(length)]);
        node
    }

    /// Notes that the allowance of a node kept something from happening.
    pub fn mark_refused(&self, id: NodeId) {
        self.shard(id as usize % SHARDS).nodes[id as usize / SHARDS].refused = true;
    }

    /// Whether what a complete search has visited is closed under all steps that any allowance
    /// would let happen: beside each node whose allowance refused something there is one with the
    /// same state that refused nothing, with a subset of its specification states.
    ///
    /// Then the nodes that refused nothing have every way on that there is, and each leads to one
    /// that is visited, so to one that refused nothing and has a subset of its specification
    /// states. The first node is one of them, or stands beside one.
    pub fn is_closed(&self, mut is_subset: impl FnMut(u32, u32) -> bool) -> bool {
        (0..SHARDS).all(|index| {
            let shard = self.shard(index);
            let beside = |first: u32| {
                let at = |at: &u32| (*at != NO_NODE).then(|| shard.nodes[*at as usize].next);
                std::iter::successors(Some(first), at).take_while(|at| *at != NO_NODE)
            };
            shard.states.iter().all(|state| {
                let nodes = || beside(state.first).map(|at| shard.nodes[at as usize]);
                nodes().filter(|node| node.refused).all(|refused| {
                    let mut full = nodes().filter(|node| !node.refused);
                    full.any(|node| is_subset(node.set, refused.set))
                })
            })
        })
    }

    /// How many implementation states, how many product states, and about how many bytes they take.
    pub fn size(&self) -> Size {
        let mut size = Size::default();
        for index in 0..SHARDS {
            let shard = self.shard(index);
            size.states += shard.states.len();
            size.nodes += shard.nodes.len();
            size.bytes += shard.bytes.capacity()
                + shard.states.capacity() * size_of::<State>()
                + shard.nodes.capacity() * size_of::<Node>()
                + shard.table.capacity() * 5;
        }
        size
    }
}

/// How much a store holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    pub states: usize,
    pub nodes: usize,
    pub bytes: usize,
}

pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    // The shard is taken from the top bits, the place in the table from the others: both must be
    // mixed.
    hasher.finish().wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
