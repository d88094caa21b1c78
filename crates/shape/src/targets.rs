//! The fast domain: a link is the set of nodes to which it may go.
//!
//! A heap is a row of nodes, named ones and summaries; a link is a bit mask over them and null, so
//! that "not null, somewhere in the summary" can be said, which three-valued edges cannot.

use crate::heap::{Compared, Flags, Heap, Kind, LINKS, List, Loaded, Lost, Side};
use crate::value::{Class, NodeId};
use smallvec::{SmallVec, smallvec};

/// Where a link may go: bit 0 is null, bit 1 + n the node with index n.
pub type Mask = u64;

/// The mask of null.
pub const NULL: Mask = 1;
/// As many nodes as a mask has room for.
pub const MOST: usize = 63;

/// The bit of a node.
pub fn bit(node: usize) -> Mask {
    1 << (node + 1)
}

/// The bit of a node, or of null.
pub fn bit_of(to: Option<NodeId>) -> Mask {
    to.map_or(NULL, |node| bit(node.index()))
}

/// The nodes in a mask.
pub fn nodes_in(mask: Mask) -> impl Iterator<Item = usize> {
    let mut rest = mask >> 1;
    std::iter::from_fn(move || {
        (rest != 0).then(|| {
            let at = rest.trailing_zeros();
            rest &= rest - 1;
            usize::try_from(at).unwrap_or_default()
        })
    })
}

/// A node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// What is definite.
    pub flags: Flags,
    /// Whether it stands for any number of nodes, possibly none.
    pub summary: bool,
    /// The links of the candidate; of a uniform duo-object, those of both sides.
    pub links: [Mask; LINKS],
    /// The links of the reference, of a nonuniform duo-object or a reference node.
    pub reference: [Mask; LINKS],
}

/// A heap.
///
/// INVARIANT: after [`Heap::canonical`] the named nodes come first, then the summaries, in the
/// order of their flags, which all differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Targets {
    /// The nodes.
    pub nodes: Vec<Node>,
}

impl Node {
    /// The links that a side reads.
    pub fn side(&self, side: Side) -> &[Mask; LINKS] {
        match (side, self.flags.kind) {
            (Side::Candidate, _) | (Side::Reference, Kind::Uniform) => &self.links,
            (Side::Reference, _) => &self.reference,
        }
    }

    fn side_mut(&mut self, side: Side) -> &mut [Mask; LINKS] {
        match (side, self.flags.kind) {
            (Side::Candidate, _) | (Side::Reference, Kind::Uniform) => &mut self.links,
            (Side::Reference, _) => &mut self.reference,
        }
    }

    /// All masks of this node that mean something.
    pub fn masks_mut(&mut self) -> impl Iterator<Item = &mut Mask> {
        let (candidate, reference) = (
            self.flags.kind != Kind::Reference,
            matches!(self.flags.kind, Kind::Nonuniform | Kind::Reference),
        );
        let links = self.links.iter_mut().filter(move |_| candidate);
        links.chain(self.reference.iter_mut().filter(move |_| reference))
    }

    /// All masks of this node that mean something.
    pub fn masks(&self) -> impl Iterator<Item = Mask> {
        let (candidate, reference) = (
            self.flags.kind != Kind::Reference,
            matches!(self.flags.kind, Kind::Nonuniform | Kind::Reference),
        );
        let links = self.links.into_iter().filter(move |_| candidate);
        links.chain(self.reference.into_iter().filter(move |_| reference))
    }
}

impl Targets {
    /// Takes one node out of a summary: a new named node that is like it.
    fn materialise(&mut self, summary: usize) -> Result<NodeId, Lost> {
        let new = self.nodes.len();
        let id = node_id(new)?;
        let mut node = self.nodes[summary];
        node.summary = false;
        self.nodes.push(node);
        // Whatever may point into the summary may point to the node taken out of it.
        for node in &mut self.nodes {
            for mask in node.masks_mut() {
                if *mask & bit(summary) != 0 {
                    *mask |= bit(new);
                }
            }
        }
        Ok(id)
    }

    /// Whether this is a nonuniform duo-object both of whose sides surely go to the same places.
    /// That both go to the same *summary* does not make it one.
    fn agrees(&self, node: NodeId) -> bool {
        let at = &self.nodes[node.index()];
        let is_one =
            |mask: Mask| mask.count_ones() == 1 && nodes_in(mask).all(|to| !self.nodes[to].summary);
        at.flags.kind == Kind::Nonuniform
            && at.links == at.reference
            && at.links.iter().all(|mask| is_one(*mask))
    }

    /// A duo-object whose links agree after a write is uniform.
    ///
    /// INVARIANT: a duo-object is uniform exactly if the links of the nodes that it stands for
    /// agree: before a write all its links go to one place each. Views of the same state then
    /// agree on what is uniform.
    fn settle_kind(&mut self, node: NodeId) {
        if self.agrees(node) {
            let node = &mut self.nodes[node.index()];
            node.flags.kind = Kind::Uniform;
            node.reference = [0; LINKS];
        }
    }
}

/// A node's number, if a mask has room for it.
fn node_id(index: usize) -> Result<NodeId, Lost> {
    match index < MOST {
        true => u8::try_from(index).map(NodeId).map_err(|_| Lost::Nodes),
        false => Err(Lost::Nodes),
    }
}

impl Heap for Targets {
    fn empty() -> Self {
        Targets { nodes: Vec::new() }
    }

    fn flags(&self, node: NodeId) -> Flags {
        self.nodes[node.index()].flags
    }

    fn set_flags(&mut self, node: NodeId, flags: Flags) {
        self.nodes[node.index()].flags = flags;
    }

    fn relabel(&mut self, change: &dyn Fn(Flags) -> Flags) {
        for node in &mut self.nodes {
            node.flags = change(node.flags);
        }
    }

    fn allocate(&mut self, flags: Flags) -> Result<NodeId, Lost> {
        let id = node_id(self.nodes.len())?;
        let reference = match flags.kind {
            Kind::Nonuniform | Kind::Reference => [NULL; LINKS],
            Kind::Uniform | Kind::Candidate => [0; LINKS],
        };
        let links = if flags.kind == Kind::Reference { [0; LINKS] } else { [NULL; LINKS] };
        self.nodes.push(Node { flags, summary: false, links, reference });
        Ok(id)
    }

    fn load(&self, side: Side, node: NodeId, link: u8) -> Result<Loaded<Self>, Lost> {
        let link = usize::from(link);
        let mask = self.nodes[node.index()].side(side)[link];
        let mut out: Loaded<Self> = Vec::new();
        let narrowed = |mut heap: Targets, to: Option<NodeId>| {
            heap.nodes[node.index()].side_mut(side)[link] = bit_of(to);
            // A nonuniform duo-object is one whose links differ.
            (!heap.agrees(node)).then_some((heap, to))
        };
        if mask & NULL != 0 {
            out.extend(narrowed(self.clone(), None));
        }
        for to in nodes_in(mask) {
            let mut heap = self.clone();
            let id = match self.nodes[to].summary {
                true => heap.materialise(to)?,
                false => node_id(to)?,
            };
            out.extend(narrowed(heap, Some(id)));
        }
        Ok(out)
    }

    fn compare(
        &self,
        side: Side,
        node: NodeId,
        link: u8,
        expected: Option<NodeId>,
    ) -> Result<Compared<Self>, Lost> {
        let mask = self.nodes[node.index()].side(side)[usize::from(link)];
        let narrowed = |mask: Mask| {
            let mut heap = self.clone();
            heap.nodes[node.index()].side_mut(side)[usize::from(link)] = mask;
            (!heap.agrees(node)).then_some(heap)
        };
        let (same, rest) = (mask & bit_of(expected), mask & !bit_of(expected));
        Ok(Compared {
            equal: (same != 0).then(|| narrowed(same)).flatten().into_iter().collect(),
            different: (rest != 0).then(|| narrowed(rest)).flatten().into_iter().collect(),
        })
    }

    fn store(&mut self, side: Side, node: NodeId, link: u8, to: Option<NodeId>) {
        let at = &mut self.nodes[node.index()];
        if at.flags.kind == Kind::Uniform {
            at.flags.kind = Kind::Nonuniform;
            at.reference = at.links;
        }
        at.side_mut(side)[usize::from(link)] = bit_of(to);
        self.settle_kind(node);
    }

    fn correlate(&mut self, node: NodeId) {
        let at = &mut self.nodes[node.index()];
        at.flags.kind = Kind::Nonuniform;
        at.reference = [NULL; LINKS];
        self.settle_kind(node);
    }

    fn definite(&self, side: Side, node: NodeId, link: u8) -> Option<Option<NodeId>> {
        let mask = self.nodes[node.index()].side(side)[usize::from(link)];
        if mask == NULL {
            return Some(None);
        }
        let only = (mask.count_ones() == 1).then(|| nodes_in(mask).next()).flatten()?;
        (!self.nodes[only].summary).then(|| node_id(only).ok()).flatten().map(Some)
    }

    fn targets(&self, side: Side, node: NodeId, link: u8) -> SmallVec<[NodeId; 4]> {
        let mask = self.nodes[node.index()].side(side)[usize::from(link)];
        nodes_in(mask).filter_map(|to| node_id(to).ok()).collect()
    }

    fn coerce(&mut self, list: Option<&List>) -> bool {
        match list {
            Some(list) => crate::coerce::coerce(self, list),
            None => true,
        }
    }

    fn canonical(&mut self, named: &[NodeId]) {
        let kept = self.reachable(named);
        // The new place of each node: named ones as they come, the others by their flags.
        let mut place: SmallVec<[u8; 24]> = smallvec![u8::MAX; self.nodes.len()];
        for (to, from) in named.iter().enumerate() {
            place[from.index()] = u8::try_from(to).unwrap_or(u8::MAX);
        }
        let unnamed = |node: usize| kept & bit(node) != 0 && place[node] == u8::MAX;
        let mut summaries: SmallVec<[Flags; 24]> = SmallVec::new();
        for node in (0..self.nodes.len()).filter(|node| unnamed(*node)) {
            summaries.push(self.nodes[node].flags);
        }
        summaries.sort_unstable();
        summaries.dedup();
        let others: SmallVec<[usize; 24]> =
            (0..self.nodes.len()).filter(|node| unnamed(*node)).collect();
        for node in others {
            let at = summaries.binary_search(&self.nodes[node].flags).unwrap_or_default();
            place[node] = u8::try_from(named.len() + at).unwrap_or(u8::MAX);
        }
        let renamed = |mask: Mask| {
            nodes_in(mask).fold(mask & NULL, |new, node| new | bit(usize::from(place[node])))
        };
        let mut nodes: Vec<Node> = Vec::with_capacity(named.len() + summaries.len() + 2);
        for node in named {
            nodes.push(self.nodes[node.index()]);
        }
        for flags in &summaries {
            let empty = [0; LINKS];
            nodes.push(Node { flags: *flags, summary: true, links: empty, reference: empty });
        }
        for node in &mut nodes[..named.len()] {
            for mask in node.masks_mut() {
                *mask = renamed(*mask);
            }
        }
        for (node, to) in place.iter().enumerate() {
            let to = usize::from(*to);
            if to < named.len() || to >= nodes.len() {
                continue;
            }
            let from = self.nodes[node];
            for link in 0..LINKS {
                nodes[to].links[link] |= renamed(from.links[link]);
                nodes[to].reference[link] |= renamed(from.reference[link]);
            }
        }
        self.nodes = nodes;
    }

    fn key(&self, out: &mut Vec<u64>) {
        for node in self.nodes.iter().filter(|node| !node.summary) {
            out.push(node.flags.packed());
        }
    }

    fn absorb(&mut self, other: &Self) -> bool {
        let named = self.nodes.iter().take_while(|node| !node.summary).count();
        let same = self.nodes.len() == other.nodes.len()
            && self.nodes[named..]
                .iter()
                .zip(&other.nodes[named..])
                .all(|(one, two)| one.flags == two.flags);
        match same {
            true => self.absorb_same(other),
            false => self.absorb_other(other, named),
        }
    }

    fn bytes(&self) -> usize {
        std::mem::size_of::<Node>() * self.nodes.len() + std::mem::size_of::<Self>()
    }
}

impl Targets {
    /// The nodes that can be reached from the named ones.
    fn reachable(&self, named: &[NodeId]) -> Mask {
        let mut kept: Mask = named.iter().fold(0, |mask, node| mask | bit(node.index()));
        let mut work = kept;
        while work != 0 {
            let mut next: Mask = 0;
            for node in nodes_in(work) {
                next |= self.nodes[node].masks().fold(0, |all, mask| all | mask);
            }
            work = next & !kept & !NULL;
            kept |= work;
        }
        kept
    }

    fn absorb_same(&mut self, other: &Targets) -> bool {
        let mut grew = false;
        for (mine, theirs) in self.nodes.iter_mut().zip(&other.nodes) {
            for link in 0..LINKS {
                let links = mine.links[link] | theirs.links[link];
                let reference = mine.reference[link] | theirs.reference[link];
                grew |= links != mine.links[link] || reference != mine.reference[link];
                mine.links[link] = links;
                mine.reference[link] = reference;
            }
        }
        grew
    }

    /// The summaries differ: both heaps are written with the summaries of either.
    fn absorb_other(&mut self, other: &Targets, named: usize) -> bool {
        let mut summaries: Vec<Flags> = Vec::new();
        for node in self.nodes[named..].iter().chain(&other.nodes[named..]) {
            summaries.push(node.flags);
        }
        summaries.sort_unstable();
        summaries.dedup();
        let with_all = |heap: &Targets| {
            let place = |node: usize| match node < named {
                true => node,
                false => {
                    let flags = heap.nodes[node].flags;
                    named + summaries.binary_search(&flags).unwrap_or_default()
                }
            };
            let renamed =
                |mask: Mask| nodes_in(mask).fold(mask & NULL, |new, node| new | bit(place(node)));
            let mut nodes: Vec<Node> = heap.nodes[..named].to_vec();
            for flags in &summaries {
                let empty = [0; LINKS];
                nodes.push(Node { flags: *flags, summary: true, links: empty, reference: empty });
            }
            for (at, node) in heap.nodes.iter().enumerate() {
                let to = place(at);
                nodes[to].links = node.links.map(renamed);
                nodes[to].reference = node.reference.map(renamed);
            }
            Targets { nodes }
        };
        let grew = summaries.len() > self.nodes.len() - named;
        *self = with_all(self);
        self.absorb_same(&with_all(other)) || grew
    }
}

impl Flags {
    /// In one word, to hash and compare.
    pub fn packed(self) -> u64 {
        use crate::value::Holder;
        let holder = |holder: Holder| match holder {
            Holder::Free => 0,
            Holder::Other => 1,
            Holder::Reference => 2,
            Holder::Thread(thread) => 3 + u64::from(thread),
        };
        let class = match self.class {
            Class::None => 0,
            Class::Min => 1,
            Class::Below => 2,
            Class::At => 3,
            Class::Above => 4,
            Class::Max => 5,
        };
        let kind = match self.kind {
            Kind::Uniform => 0,
            Kind::Nonuniform => 1,
            Kind::Candidate => 2,
            Kind::Reference => 3,
        };
        let mut word = kind | u64::from(self.of) << 2 | class << 10 | u64::from(self.bools) << 13;
        word |= u64::from(self.reach) << 21;
        word |= self.owner.map_or(0, |thread| 1 + u64::from(thread)) << 22;
        for (at, lock) in self.locks.iter().enumerate() {
            word |= holder(*lock) << (31 + 9 * at);
        }
        word
    }
}
