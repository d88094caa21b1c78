//! The states seen: packed bytes, each kept once, with the specification sets that were met beside
//! it.

use hashbrown::HashTable;
use rustc_hash::FxHasher;
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

    /// Adds a product state, unless `is_subset(old, set)` says of a set already met with the same
    /// implementation state that it can do no more.
    pub fn add(
        &self,
        bytes: &[u8],
        set: u32,
        parent: NodeId,
        mut is_subset: impl FnMut(u32, u32) -> bool,
    ) -> Added {
        let hash = hash(bytes);
        let index = (hash >> 58) as usize;
        let mut guard = self.shard(index);
        let Shard { table, bytes: all, states, nodes } = &mut *guard;
        let same = |&state: &u32| {
            let State { start, length, .. } = states[state as usize];
            &all[start as usize..start as usize + usize::from(length)] == bytes
        };
        let state = match table.find(hash, same) {
            Some(&state) => {
                let mut at = states[state as usize].first;
                while at != NO_NODE {
                    let node = nodes[at as usize];
                    if node.set == set || is_subset(node.set, set) {
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
        nodes.push(Node { state, set, parent, next });
        Added::New(id)
    }

    /// Copies the bytes of a node out; returns its set and its parent.
    pub fn get(&self, id: NodeId, out: &mut Vec<u8>) -> Node {
        let shard = self.shard(id as usize % SHARDS);
        let node = shard.nodes[id as usize / SHARDS];
        let State { start, length, .. } = shard.states[node.state as usize];
        out.clear();
        out.extend_from_slice(&shard.bytes[start as usize..start as usize + usize::from(length)]);
        node
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
