//! The states seen: for each model state, the allowances and specification sets that were met beside
//! it.
//!
//! A state is two components, each kept once ([`Components`]), so a product state takes six numbers
//! and its place in a table. What the search needs of a store is [`Store::add`] and [`Store::get`];
//! the other functions look at the whole.

use crate::chunked::Chunked;
use crate::components::{ComponentId, Components};
use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many parts the store has, so that workers rarely wait for each other.
const SHARDS: usize = 64;

/// The number of a product state.
pub(crate) type NodeId = u32;

/// No node.
pub(crate) const NO_NODE: NodeId = u32::MAX;

/// A product state and how it was reached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    front: ComponentId,
    back: ComponentId,
    pub set: u32,
    pub parent: NodeId,
    /// The next node with the same model state, within its shard, or [`NO_NODE`].
    next: u32,
    /// The allowance, within its shard, and [`REFUSED`].
    allowance: u32,
}

/// The allowance kept something from happening.
const REFUSED: u32 = 1 << 31;

impl Node {
    fn allowance(self) -> usize {
        (self.allowance & !REFUSED) as usize
    }

    fn refused(self) -> bool {
        self.allowance & REFUSED != 0
    }

    fn hash(self) -> u64 {
        hash_of(self.front, self.back)
    }
}

#[derive(Default)]
struct Shard {
    /// The latest node of each model state.
    latest: HashTable<u32>,
    nodes: Chunked<Node>,
    allowances: Allowances,
}

impl Shard {
    /// The nodes with the same model state, from the latest on.
    fn nodes_from(&self, latest: u32) -> impl Iterator<Item = Node> + '_ {
        let at = |at: u32| (at != NO_NODE).then(|| self.nodes.get(at as usize));
        std::iter::successors(at(latest), move |node| at(node.next))
    }
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

/// A state in three parts: how much may still happen, and two that together are all else.
#[derive(Clone, Copy)]
pub(crate) struct Split<'a> {
    pub allowance: &'a [u8],
    pub front: &'a [u8],
    pub back: &'a [u8],
}

/// The states seen.
pub(crate) struct Store {
    components: Components,
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
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Store { components: Components::new(), shards }
    }

    fn shard(&self, index: usize) -> MutexGuard<'_, Shard> {
        self.shards[index].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a product state, unless `covers` says of an allowance and a set already met beside the
    /// rest of the state that this one can do no more.
    pub fn add(
        &self,
        Split { allowance, front, back }: Split<'_>,
        set: u32,
        parent: NodeId,
        mut covers: impl FnMut(&[u8], u32) -> bool,
    ) -> Added {
        let (front, back) = (self.components.number(front), self.components.number(back));
        let (Some(front), Some(back)) = (front, back) else { return Added::Full };
        let hash = hash_of(front, back);
        let index = (hash >> 32) as usize % SHARDS;
        let mut guard = self.shard(index);
        let shard = &mut *guard;
        let same = |&at: &u32| {
            let node = shard.nodes.get(at as usize);
            node.front == front && node.back == back
        };
        let found = shard.latest.find(hash, same).copied();
        if let Some(latest) = found {
            let allowances = &shard.allowances.items;
            let mut nodes = shard.nodes_from(latest);
            if nodes.any(|node| covers(&allowances[node.allowance()], node.set)) {
                return Added::Known;
            }
        }
        let number = shard.nodes.len();
        let id = u32::try_from(number * SHARDS + index).ok().filter(|id| *id != NO_NODE);
        let Some(id) = id else { return Added::Full };
        let allowance = shard.allowances.number(allowance);
        if allowance >= REFUSED {
            return Added::Full;
        }
        let Shard { latest, nodes, .. } = shard;
        // It fits: the id is no smaller.
        let number = number as u32;
        let next = match found {
            None => {
                nodes.push(Node { front, back, set, parent, next: NO_NODE, allowance });
                latest.insert_unique(hash, number, |&at| nodes.get(at as usize).hash());
                return Added::New(id);
            }
            Some(next) => next,
        };
        nodes.push(Node { front, back, set, parent, next, allowance });
        if let Some(at) = latest.find_mut(hash, |at| *at == next) {
            *at = number;
        }
        Added::New(id)
    }

    /// Copies the bytes of a node out; returns its set and its parent.
    pub fn get(&self, id: NodeId, out: &mut Vec<u8>) -> Node {
        out.clear();
        let node = {
            let shard = self.shard(id as usize % SHARDS);
            let node = shard.nodes.get(id as usize / SHARDS);
            out.extend_from_slice(&shard.allowances.items[node.allowance()]);
            node
        };
        self.components.append(node.front, out);
        self.components.append(node.back, out);
        node
    }

    /// Notes that the allowance of a node kept something from happening.
    pub fn mark_refused(&self, id: NodeId) {
        self.shard(id as usize % SHARDS).nodes.get_mut(id as usize / SHARDS).allowance |= REFUSED;
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
            shard.latest.iter().all(|&latest| {
                shard.nodes_from(latest).filter(|node| node.refused()).all(|refused| {
                    let mut full = shard.nodes_from(latest).filter(|node| !node.refused());
                    full.any(|node| is_subset(node.set, refused.set))
                })
            })
        })
    }

    /// How many model states, how many product states, and about how many bytes they take.
    pub fn size(&self) -> Size {
        let mut size = Size { bytes: self.components.bytes(), ..Size::default() };
        for index in 0..SHARDS {
            let shard = self.shard(index);
            size.states += shard.latest.len();
            size.nodes += shard.nodes.len();
            size.bytes += shard.nodes.bytes() + shard.latest.capacity() * 5;
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

/// The hash of some bytes. A table looks at the lowest and at the seven highest bits: where a shard
/// is chosen, it is by others.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    mixed(hasher.finish())
}

fn hash_of(front: ComponentId, back: ComponentId) -> u64 {
    mixed(u64::from(front) << 32 | u64::from(back))
}

/// Spreads bits over all bits.
pub(crate) fn mixed(bits: u64) -> u64 {
    let bits = (bits ^ bits >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (bits ^ bits >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}
