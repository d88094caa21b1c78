//! The states seen: for each model state, the allowances and specification sets that were met beside
//! it.
//!
//! A state is two components, each kept once, so a product state takes six numbers, in as few bytes
//! as they need ([`Rows`]), and its place in a table. The front stands with the product states, in a
//! part of the store that its hash tells; the backs, of which there are fewer, are kept apart
//! ([`Components`]).
//!
//! Parts are owned for a while: workers hold all of them to read while they expand states
//! ([`Store::reading`]), then each holds its own to write ([`Store::owning`]). So no lock is taken
//! for a state, and what many states need is asked for at once ([`Owned::look_for`]): a miss of the
//! cache costs more than all else that is done to add a state.

use crate::components::{ComponentId, Components, Strings};
use crate::index::{self, Index};
use crate::rows::Rows;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// How many parts the store has.
const SHARDS: usize = 64;

/// The number of a product state.
pub(crate) type NodeId = u32;

/// No node.
pub(crate) const NO_NODE: NodeId = u32::MAX;

/// A product state and how it was reached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// Within its shard.
    front: u32,
    pub back: ComponentId,
    pub set: u32,
    pub parent: NodeId,
    /// The next node with the same model state, within its shard, or [`NO_NODE`].
    next: u32,
    /// The allowance, within its shard.
    allowance: u32,
    /// The allowance kept something from happening, or the node was not expanded.
    refused: bool,
}

impl Node {
    /// In numbers that are small: most of what is kept are nodes.
    fn row(self) -> [u32; 6] {
        let Node { front, back, set, parent, next, allowance, refused } = self;
        // No node is 0 so, and others are one more.
        let (parent, next) = (parent.wrapping_add(1), next.wrapping_add(1));
        [front, back, set, parent, next, allowance << 1 | u32::from(refused)]
    }

    fn of([front, back, set, parent, next, allowance]: [u32; 6]) -> Node {
        let (parent, next) = (parent.wrapping_sub(1), next.wrapping_sub(1));
        let (allowance, refused) = (allowance >> 1, allowance & 1 == 1);
        Node { front, back, set, parent, next, allowance, refused }
    }
}

/// Product states, by their numbers.
#[derive(Default)]
struct Nodes(Rows<6>);

impl Nodes {
    fn get(&self, number: usize) -> Node {
        Node::of(self.0.get(number))
    }

    /// Whether a node has this front and this back.
    fn is_at(&self, number: u32, front: u32, back: ComponentId) -> bool {
        self.0.first(number as usize) == [front, back]
    }

    fn hash(&self, number: u32) -> u64 {
        let [front, back] = self.0.first(number as usize);
        hash_of(front, back)
    }

    fn refuse(&mut self, number: usize) {
        let node = Node { refused: true, ..self.get(number) };
        self.0.set(number, node.row());
    }
}

#[derive(Default)]
struct Shard {
    fronts: Strings,
    /// The latest node of each model state.
    latest: Index,
    nodes: Nodes,
    allowances: Allowances,
    /// Of the nodes of the level that is expanded, and of those that were added since.
    now: Superseded,
    next: Superseded,
}

/// Which nodes are covered by one of the same level that was added later.
#[derive(Default)]
struct Superseded {
    /// The first node.
    from: usize,
    notes: Vec<bool>,
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
    /// The number of an allowance; `None` if there are too many.
    fn number(&mut self, allowance: &[u8]) -> Option<u32> {
        if let Some(number) = self.numbers.get(allowance) {
            return Some(*number);
        }
        let number =
            u32::try_from(self.items.len()).ok().filter(|number| *number < u32::MAX / 2)?;
        self.items.push(allowance.into());
        self.numbers.insert(allowance.into(), number);
        Some(number)
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
    shards: Vec<RwLock<Shard>>,
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

/// A product state that is to be added.
#[derive(Clone, Copy)]
pub(crate) struct Candidate<'a> {
    pub allowance: &'a [u8],
    pub front: &'a [u8],
    /// The hash of the front.
    pub hash: u64,
    pub back: ComponentId,
    pub set: u32,
    pub parent: NodeId,
}

/// The shard of a front with this hash.
fn shard_of(hash: u64) -> usize {
    (hash >> 8) as usize % SHARDS
}

/// The shard of a node, and its number there.
fn place(id: NodeId) -> (usize, usize) {
    let id = id as usize;
    (id % SHARDS, id / SHARDS)
}

/// Which of so many owners adds states with this hash of the front.
pub(crate) fn owner_of(hash: u64, owners: usize) -> usize {
    shard_of(hash) % owners
}

impl Shard {
    fn add(
        &mut self,
        index: usize,
        candidate: &Candidate<'_>,
        front: u32,
        mut covers: impl FnMut((&[u8], u32), (&[u8], u32)) -> bool,
    ) -> Added {
        let Candidate { back, set, parent, .. } = *candidate;
        let hash = hash_of(front, back);
        let Shard { latest, nodes, .. } = self;
        let found = latest.find(hash, |at| nodes.is_at(at, front, back));
        let own = (candidate.allowance, set);
        let mut at = found.unwrap_or(NO_NODE);
        while at != NO_NODE {
            let node = self.nodes.get(at as usize);
            let other = (&*self.allowances.items[node.allowance as usize], node.set);
            if covers(other, own) {
                return Added::Known;
            }
            at = node.next;
        }
        let mut at = found.unwrap_or(NO_NODE);
        while at != NO_NODE && at as usize >= self.next.from {
            let node = self.nodes.get(at as usize);
            if covers(own, (&self.allowances.items[node.allowance as usize], node.set)) {
                self.next.notes[at as usize - self.next.from] = true;
            }
            at = node.next;
        }
        let number = u32::try_from(self.nodes.0.len()).ok().filter(|number| *number < index::END);
        let Some(number) = number else { return Added::Full };
        let Some(allowance) = self.allowances.number(candidate.allowance) else {
            return Added::Full;
        };
        let next = found.unwrap_or(NO_NODE);
        let Shard { latest, nodes, .. } = self;
        nodes.0.push(Node { front, back, set, parent, next, allowance, refused: false }.row());
        self.next.notes.push(false);
        match found {
            None => latest.insert(hash, number, |at| nodes.hash(at)),
            Some(old) => latest.replace(hash, old, number),
        }
        // It fits: an `END` of numbers times the shards does.
        Added::New(number * SHARDS as u32 + index as u32)
    }
}

/// Shards that one worker adds to.
pub(crate) struct Owned<'a> {
    shards: Vec<RwLockWriteGuard<'a, Shard>>,
    owner: usize,
    owners: usize,
}

impl Owned<'_> {
    /// Looks where the front of a candidate would be. Several are looked for before the first is
    /// added, so that the misses of the cache overlap: what is returned only has to be used.
    pub fn look_for(&self, candidate: &Candidate<'_>) -> u32 {
        let shard = &self.shards[shard_of(candidate.hash) / self.owners];
        u32::from(shard.fronts.likely(candidate.hash).unwrap_or(0))
    }

    /// The same for the nodes beside a front.
    pub fn look_for_node(&self, candidate: &Candidate<'_>, front: u32) -> u32 {
        let shard = &self.shards[shard_of(candidate.hash) / self.owners];
        let likely = shard.latest.likely(hash_of(front, candidate.back));
        likely.map_or(0, |at| shard.nodes.0.first::<1>(at as usize)[0])
    }

    /// Notes that the allowance of a node kept something from happening, or that it was not
    /// expanded; if the node is in a part that is owned here.
    pub fn mark_refused(&mut self, id: NodeId) {
        let (index, number) = place(id);
        if index % self.owners == self.owner {
            let shard = &mut self.shards[index / self.owners];
            shard.nodes.refuse(number);
        }
    }

    /// The number of the front of a candidate; `None` if there is no room for more.
    pub fn front(&mut self, candidate: &Candidate<'_>) -> Option<u32> {
        let shard = &mut self.shards[shard_of(candidate.hash) / self.owners];
        shard.fronts.number(candidate.front, candidate.hash)
    }

    /// Adds a product state, unless `covers` says of an allowance and a set already met beside the
    /// rest of the state that those of this one can do no more.
    pub fn add(
        &mut self,
        candidate: &Candidate<'_>,
        front: u32,
        covers: impl FnMut((&[u8], u32), (&[u8], u32)) -> bool,
    ) -> Added {
        let index = shard_of(candidate.hash);
        self.shards[index / self.owners].add(index, candidate, front, covers)
    }
}

/// All shards, which nothing is added to for a while.
pub(crate) struct Reading<'a> {
    components: &'a Components,
    shards: Vec<RwLockReadGuard<'a, Shard>>,
}

impl Reading<'_> {
    /// Looks at a node that is asked for soon: see [`Owned::look_for`].
    pub fn look_at(&self, id: NodeId) -> usize {
        let (index, number) = place(id);
        let shard = &self.shards[index];
        shard.fronts.get(shard.nodes.get(number).front).len()
    }

    /// Copies the bytes of a node out; returns it.
    pub fn get(&self, id: NodeId, out: &mut Vec<u8>) -> Node {
        out.clear();
        let (index, number) = place(id);
        let node = self.shards[index].append(number, out);
        self.components.append(node.back, out);
        node
    }

    /// Whether `covers` says of a node with the same model state that was added after this one, but
    /// is among the first `sizes`, that this one can do no more.
    pub fn is_superseded(
        &self,
        id: NodeId,
        sizes: &[usize],
        mut covers: impl FnMut((&[u8], u32), (&[u8], u32)) -> bool,
    ) -> bool {
        let (index, number) = place(id);
        let shard = &self.shards[index];
        // It was noted, unless the node was added before the level that came before this one.
        let Superseded { from, notes } = &shard.now;
        if let Some(noted) = number.checked_sub(*from).and_then(|at| notes.get(at)) {
            return *noted;
        }
        let Node { front, back, set, .. } = shard.nodes.get(number);
        let allowance = |node: Node| &*shard.allowances.items[node.allowance as usize];
        let own = (allowance(shard.nodes.get(number)), set);
        let is_same = |at| shard.nodes.is_at(at, front, back);
        let latest = shard.latest.find(hash_of(front, back), is_same);
        // The latest comes first, so those that were added before this one come after it.
        let mut at = latest.map_or(number, |latest| latest as usize);
        while at != number {
            let node = shard.nodes.get(at);
            if at < sizes[index] && covers((allowance(node), node.set), own) {
                return true;
            }
            at = node.next as usize;
        }
        false
    }
}

impl Shard {
    /// Appends the allowance and the front of a node.
    fn append(&self, number: usize, out: &mut Vec<u8>) -> Node {
        let node = self.nodes.get(number);
        out.extend_from_slice(&self.allowances.items[node.allowance as usize]);
        out.extend_from_slice(self.fronts.get(node.front));
        node
    }
}

impl Store {
    pub fn new() -> Store {
        let shards = (0..SHARDS).map(|_| RwLock::default()).collect();
        Store { components: Components::new(), shards }
    }

    fn shard(&self, index: usize) -> RwLockReadGuard<'_, Shard> {
        self.shards[index].read().unwrap_or_else(PoisonError::into_inner)
    }

    fn shard_mut(&self, index: usize) -> RwLockWriteGuard<'_, Shard> {
        self.shards[index].write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything, to read.
    pub fn reading(&self) -> Reading<'_> {
        let shards = (0..SHARDS).map(|index| self.shard(index)).collect();
        Reading { components: &self.components, shards }
    }

    /// What one of so many owners may add to.
    pub fn owning(&self, owner: usize, owners: usize) -> Owned<'_> {
        let shards = (owner..SHARDS).step_by(owners).map(|index| self.shard_mut(index)).collect();
        Owned { shards, owner, owners }
    }

    /// The number of a back; `None` if there is no room for more.
    pub fn back(&self, back: &[u8]) -> Option<ComponentId> {
        self.components.number(back)
    }

    /// Adds one product state: see [`Owned::add`].
    pub fn add(
        &self,
        Split { allowance, front, back }: Split<'_>,
        set: u32,
        parent: NodeId,
        covers: impl FnMut((&[u8], u32), (&[u8], u32)) -> bool,
    ) -> Added {
        let Some(back) = self.back(back) else { return Added::Full };
        let hash = hash(front);
        let index = shard_of(hash);
        let candidate = Candidate { allowance, front, hash, back, set, parent };
        let mut shard = self.shard_mut(index);
        match shard.fronts.number(front, hash) {
            Some(front) => shard.add(index, &candidate, front, covers),
            None => Added::Full,
        }
    }

    /// Copies the bytes of a node out; returns it.
    pub fn get(&self, id: NodeId, out: &mut Vec<u8>) -> Node {
        out.clear();
        let (index, number) = place(id);
        let node = self.shard(index).append(number, out);
        self.components.append(node.back, out);
        node
    }

    /// Begins a level: what was added since the last began is expanded now. Returns how many nodes
    /// each part has.
    pub fn begin_level(&self) -> Vec<usize> {
        let begin = |index: usize| {
            let mut shard = self.shard_mut(index);
            let from = shard.nodes.0.len();
            shard.now = std::mem::replace(&mut shard.next, Superseded { from, notes: Vec::new() });
            from
        };
        (0..SHARDS).map(begin).collect()
    }

    /// Notes that the allowance of a node kept something from happening, or that it was not
    /// expanded.
    pub fn mark_refused(&self, id: NodeId) {
        let (index, number) = place(id);
        self.shard_mut(index).nodes.refuse(number);
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
            shard.latest.iter().all(|latest| {
                shard.nodes_from(latest).filter(|node| node.refused).all(|refused| {
                    let mut full = shard.nodes_from(latest).filter(|node| !node.refused);
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
            size.nodes += shard.nodes.0.len();
            size.bytes += shard.nodes.0.bytes() + shard.latest.bytes() + shard.fronts.bytes();
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

/// The hash of some bytes. A table looks at the lowest six and at the upper 32 bits: where a shard is
/// chosen, it is by others.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    mixed(hasher.finish())
}

fn hash_of(front: u32, back: ComponentId) -> u64 {
    mixed(u64::from(front) << 32 | u64::from(back))
}

/// Spreads bits over all bits.
pub(crate) fn mixed(bits: u64) -> u64 {
    let bits = (bits ^ bits >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (bits ^ bits >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}
