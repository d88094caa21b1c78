//! The states seen: for each model state, the allowances and specification sets that were met
//! beside it.
//!
//! A state is two components, each kept once, so a product state takes six numbers, in as few bits
//! as they need ([`Rows`]), and its place in a table. The front stands with the product states, in
//! a part of the store that its hash tells; the backs, of which there are fewer, are kept apart
//! ([`Components`]).
//!
//! Parts are owned for a while: workers hold all of them to read while they expand states
//! ([`Store::reading`]), then each holds its own to write ([`Store::owning`]). So no lock is taken
//! for a state, and what many states need is asked for at once ([`Owned::beside`]): a miss of the
//! cache costs more than all else that is done to add a state.

use crate::chunked::is_same;
use crate::components::{ComponentId, Components, Known, Strings};
use crate::index::{self, Index};
use crate::rows::Rows;
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use std::hash::Hasher;
use std::hint::black_box;
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

/// The column of a row whose lowest bit says whether it is refused.
const REFUSED: usize = 5;

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
        self.0.set_lowest(number, REFUSED);
    }
}

/// Other workers add to the shards beside it: they have lines of the cache of their own.
#[derive(Default)]
#[repr(align(128))]
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
    /// The number that was asked for last: often it is the next too.
    last: u32,
}

impl Allowances {
    /// The number of an allowance; `None` if there are too many.
    fn number(&mut self, allowance: &[u8]) -> Option<u32> {
        if self.items.get(self.last as usize).is_some_and(|last| is_same(last, allowance)) {
            return Some(self.last);
        }
        if let Some(number) = self.numbers.get(allowance) {
            self.last = *number;
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
    /// The allowance and the front, one after the other.
    pub kept: &'a [u8],
    /// The length of the allowance.
    pub allowance: usize,
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
        beside: Beside,
        mut covers: impl FnMut((&[u8], u32), (&[u8], u32)) -> bool,
    ) -> Added {
        let Candidate { back, set, parent, .. } = *candidate;
        let Beside { front, hash } = beside;
        let Some(allowance) = self.allowances.number(candidate.allowance) else {
            return Added::Full;
        };
        let found = self.latest.find(hash, |at| self.nodes.is_at(at, front, back));
        let own = (candidate.allowance, set);
        // Those of the level that is made now: they may be covered by this one.
        let mut young: SmallVec<[(usize, Node); 4]> = SmallVec::new();
        let mut at = found.unwrap_or(NO_NODE);
        while at != NO_NODE {
            let node = self.nodes.get(at as usize);
            if (node.allowance, node.set) == (allowance, set)
                || covers((&self.allowances.items[node.allowance as usize], node.set), own)
            {
                return Added::Known;
            }
            if let Some(at) = (at as usize).checked_sub(self.next.from) {
                young.push((at, node));
            }
            at = node.next;
        }
        for (at, node) in &young {
            if covers(own, (&self.allowances.items[node.allowance as usize], node.set)) {
                self.next.notes[*at] = true;
            }
        }
        let number = u32::try_from(self.nodes.0.len()).ok().filter(|number| *number < index::END);
        let Some(number) = number else { return Added::Full };
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
    /// Where each of its shards stands in the row.
    places: [u8; SHARDS],
    owner: usize,
    owners: usize,
}

/// Where a candidate is looked for: the number of its front, and the hash of it and its back.
#[derive(Clone, Copy)]
pub(crate) struct Beside {
    front: u32,
    hash: u64,
}

/// So many candidates are looked for before the first of them is added.
pub(crate) const AHEAD: usize = 16;

/// Something for each of them.
pub(crate) type Batch<T> = SmallVec<[T; AHEAD]>;

impl Owned<'_> {
    #[inline]
    fn shard(&self, hash: u64) -> &Shard {
        &self.shards[usize::from(self.places[shard_of(hash)])]
    }

    #[inline]
    fn shard_mut(&mut self, hash: u64) -> &mut Shard {
        &mut self.shards[usize::from(self.places[shard_of(hash)])]
    }

    /// The numbers of the fronts of candidates; `None` for one if there is no room for more.
    ///
    /// First it looks where each of them would be, then where the nodes would be, so that the
    /// misses of the cache overlap.
    pub fn beside(&mut self, candidates: &[Candidate<'_>]) -> Batch<Option<Beside>> {
        let mut likely = [None; AHEAD];
        for (likely, of) in likely.iter_mut().zip(candidates) {
            *likely = self.shard(of.hash).fronts.likely(of.hash);
        }
        let seen = likely.iter().zip(candidates).map(|(likely, of)| {
            let fronts = &self.shard(of.hash).fronts;
            likely.map_or(0, |likely| fronts.look_at(likely, of.front.len()))
        });
        black_box(seen.fold(0, |all, seen| all ^ seen));
        let mut beside = Batch::new();
        for of in candidates {
            beside.push(self.shard_mut(of.hash).beside(of));
        }
        for ((likely, of), beside) in likely.iter_mut().zip(candidates).zip(&beside) {
            *likely = beside.and_then(|beside| self.shard(of.hash).latest.likely(beside.hash));
        }
        let seen = likely.iter().zip(candidates).map(|(likely, of)| {
            let nodes = &self.shard(of.hash).nodes.0;
            likely.map_or(0, |likely| nodes.look_at(likely as usize))
        });
        black_box(seen.fold(0, |all, seen| all ^ seen));
        beside
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

    /// Adds a product state, unless `covers` says of an allowance and a set already met beside the
    /// rest of the state that those of this one can do no more.
    pub fn add(
        &mut self,
        candidate: &Candidate<'_>,
        beside: Beside,
        covers: impl FnMut((&[u8], u32), (&[u8], u32)) -> bool,
    ) -> Added {
        let index = shard_of(candidate.hash);
        self.shard_mut(candidate.hash).add(index, candidate, beside, covers)
    }
}

/// All shards, which nothing is added to for a while.
pub(crate) struct Reading<'a> {
    components: Known<'a>,
    shards: Vec<RwLockReadGuard<'a, Shard>>,
}

impl Reading<'_> {
    /// Some nodes, whose bytes are asked for soon.
    pub fn nodes(&self, ids: &[NodeId]) -> Batch<Node> {
        let node = |id: &NodeId| {
            let (index, number) = place(*id);
            self.shards[index].nodes.get(number)
        };
        let nodes: Batch<Node> = ids.iter().map(node).collect();
        let seen = ids.iter().zip(&nodes).map(|(id, node)| {
            let front = self.shards[place(*id).0].fronts.look_at(node.front, 0);
            front ^ self.components.look_at(node.back)
        });
        black_box(seen.fold(0, |all, seen| all ^ seen));
        nodes
    }

    /// Copies the bytes of a node out; returns where its back begins.
    pub fn get(&self, id: NodeId, node: &Node, out: &mut Vec<u8>) -> usize {
        out.clear();
        self.shards[place(id).0].append(node, out);
        let back = out.len();
        out.extend_from_slice(self.components.get(node.back));
        back
    }

    /// The number of a back; `None` if it is not there.
    pub fn back(&self, back: &[u8]) -> Option<ComponentId> {
        self.components.find(back)
    }

    /// Whether `covers` says of a node with the same model state that was added after this one, but
    /// is among the first `sizes`, that this one can do no more.
    pub fn is_superseded(
        &self,
        (id, node): (NodeId, &Node),
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
        let Node { front, back, set, .. } = *node;
        let allowance = |node: &Node| &*shard.allowances.items[node.allowance as usize];
        let own = (allowance(node), set);
        let is_same = |at| shard.nodes.is_at(at, front, back);
        let latest = shard.latest.find(hash_of(front, back), is_same);
        // The latest comes first, so those that were added before this one come after it.
        let mut at = latest.map_or(number, |latest| latest as usize);
        while at != number {
            let node = shard.nodes.get(at);
            if at < sizes[index] && covers((allowance(&node), node.set), own) {
                return true;
            }
            at = node.next as usize;
        }
        false
    }
}

impl Shard {
    /// Appends the allowance and the front of a node.
    fn append(&self, node: &Node, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.allowances.items[node.allowance as usize]);
        out.extend_from_slice(self.fronts.get(node.front));
    }

    /// Where a candidate is looked for; `None` if there is no room for more fronts.
    fn beside(&mut self, candidate: &Candidate<'_>) -> Option<Beside> {
        let front = self.fronts.number(candidate.front, candidate.hash)?;
        Some(Beside { front, hash: hash_of(front, candidate.back) })
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
        Reading { components: self.components.known(), shards }
    }

    /// What one of so many owners may add to.
    pub fn owning(&self, owner: usize, owners: usize) -> Owned<'_> {
        let shards = (owner..SHARDS).step_by(owners).map(|index| self.shard_mut(index)).collect();
        let places = std::array::from_fn(|index| (index / owners) as u8);
        Owned { shards, places, owner, owners }
    }

    /// The number of a back; `None` if there is no room for more.
    pub fn back(&self, back: &[u8]) -> Option<ComponentId> {
        self.components.number(back)
    }

    /// Adds one product state: see [`Owned::add`].
    pub fn add(
        &self,
        state: Split<'_>,
        set: u32,
        parent: NodeId,
        covers: impl FnMut((&[u8], u32), (&[u8], u32)) -> bool,
    ) -> Added {
        let Some(back) = self.back(state.back) else { return Added::Full };
        let (allowance, front) = state.kept.split_at(state.allowance);
        let hash = hash(front);
        let index = shard_of(hash);
        let candidate = Candidate { allowance, front, hash, back, set, parent };
        let mut shard = self.shard_mut(index);
        match shard.beside(&candidate) {
            Some(beside) => shard.add(index, &candidate, beside, covers),
            None => Added::Full,
        }
    }

    /// Copies the bytes of a node out; returns it.
    pub fn get(&self, id: NodeId, out: &mut Vec<u8>) -> Node {
        out.clear();
        let (index, number) = place(id);
        let node = {
            let shard = self.shard(index);
            let node = shard.nodes.get(number);
            shard.append(&node, out);
            node
        };
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

/// The hash of some bytes. A table looks at the lowest six and at the upper 32 bits: where a shard
/// is chosen, it is by others.
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
