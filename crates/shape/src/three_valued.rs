//! The paper's domain: three-valued structures after Sagiv, Reps and Wilhelm (`linchpin-kleene`).
//!
//! Duo-objects and nodes of one side are individuals; what is definite about them are unary
//! predicates, links are binary predicates that may be 1/2 (`predicates.rs` has the vocabulary). A
//! summary stands for one or more nodes. Structures are never joined: two states are the same if
//! their structures are isomorphic (paper 001, Chapter 5).

use crate::heap::{Flags, Heap, Kind, LINKS, LOCKS, List, Loaded, Lost, Side};
use crate::predicates::{CLASSES, Links, Predicates, UNNAMED, predicates};
use crate::targets::{NULL, Node, Targets, bit};
use crate::value::{Class, Holder, NodeId};
use linchpin_kleene::{Binary, Focus, Individual, Structure, Truth, Unary};
use smallvec::SmallVec;

/// A link that is read may be split into at most this many cases.
const MOST_CASES: usize = 256;

/// A heap as a three-valued structure.
///
/// INVARIANT: unary predicates are definite. `has` is kept up to date by every write, the marks
/// (`here`, `first`, `before`, `after`) are 0 between two steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreeValued(Structure);

fn individual(node: NodeId) -> Individual {
    Individual::at(node.index())
}

fn node(u: Individual) -> NodeId {
    NodeId(u8::try_from(u.index()).unwrap_or(u8::MAX))
}

impl ThreeValued {
    fn is(&self, p: Unary, u: Individual) -> bool {
        self.0.unary(p, u) == Truth::True
    }

    fn kind(&self, u: Individual) -> Kind {
        let p = predicates();
        let is = |p: Unary| self.is(p, u);
        match (is(p.uncorrelated), is(p.reference), is(p.nonuniform)) {
            (true, ..) => Kind::Candidate,
            (_, true, _) => Kind::Reference,
            (_, _, true) => Kind::Nonuniform,
            _ => Kind::Uniform,
        }
    }

    /// The links that a side reads.
    fn side(&self, side: Side, u: Individual) -> &'static Links {
        match (side, self.kind(u)) {
            (Side::Candidate, _) | (Side::Reference, Kind::Uniform) => &predicates().candidate,
            (Side::Reference, _) => &predicates().other,
        }
    }

    /// The individuals to which a link may go.
    fn possible(&self, n: Binary, u: Individual) -> impl Iterator<Item = Individual> {
        self.0.individuals().filter(move |v| self.0.binary(n, u, *v) != Truth::False)
    }

    /// The individual to which a link surely goes.
    fn sure(&self, n: Binary, u: Individual) -> Option<Individual> {
        self.0.individuals().find(|v| self.0.binary(n, u, *v) == Truth::True)
    }

    fn write(&mut self, links: &Links, u: Individual, link: usize, to: Option<Individual>) {
        for v in self.0.individuals() {
            self.0.set_binary(links.n[link], u, v, Truth::from(to == Some(v)));
        }
        self.0.set_unary(links.has[link], u, Truth::from(to.is_some()));
    }

    /// A nonuniform duo-object both of whose sides surely go to the same place is uniform. That
    /// both may go to the same summary does not make it one.
    fn settle_kind(&mut self, u: Individual) {
        let p = predicates();
        let to = |links: &Links, link: usize| match self.is(links.has[link], u) {
            false => Some(None),
            true => self.sure(links.n[link], u).map(Some),
        };
        let agree = |link: usize| {
            let candidate = to(&p.candidate, link);
            candidate.is_some() && candidate == to(&p.other, link)
        };
        if self.kind(u) == Kind::Nonuniform && (0..LINKS).all(agree) {
            self.0.set_unary(p.nonuniform, u, Truth::False);
            (0..LINKS).for_each(|link| self.write(&p.other, u, link, None));
        }
    }

    /// The same heap in the fast domain, which draws and names it.
    #[must_use]
    pub fn as_targets(&self) -> Targets {
        let p = predicates();
        let mut nodes = Vec::new();
        for u in self.0.individuals() {
            let masks = |links: &Links| {
                std::array::from_fn(|link| {
                    let null = if self.is(links.has[link], u) { 0 } else { NULL };
                    let to = self.possible(links.n[link], u);
                    to.fold(null, |mask, v| mask | bit(v.index()))
                })
            };
            let flags = self.flags(node(u));
            let (mut links, mut reference) = (masks(&p.candidate), masks(&p.other));
            match flags.kind {
                Kind::Uniform | Kind::Candidate => reference = [0; LINKS],
                Kind::Reference => links = [0; LINKS],
                Kind::Nonuniform => {}
            }
            nodes.push(Node { flags, summary: self.0.is_summary(u), links, reference });
        }
        Targets { nodes }
    }

    /// The individuals that can be reached from named ones.
    fn reachable(&self, named: &[NodeId]) -> SmallVec<[Individual; 16]> {
        let p = predicates();
        let mut found: SmallVec<[Individual; 16]> =
            named.iter().map(|at| individual(*at)).collect();
        let mut next = 0;
        while let Some(u) = found.get(next).copied() {
            next += 1;
            for n in p.candidate.n.iter().chain(&p.other.n) {
                for v in self.possible(*n, u) {
                    if !found.contains(&v) {
                        found.push(v);
                    }
                }
            }
        }
        found
    }
}

impl Heap for ThreeValued {
    fn empty() -> Self {
        ThreeValued(Structure::new(&predicates().plain))
    }

    fn flags(&self, node: NodeId) -> Flags {
        let (p, u) = (predicates(), individual(node));
        let class = CLASSES.iter().zip(p.class).find(|(_, class)| self.is(*class, u));
        let bools = p.bools.iter().enumerate();
        Flags {
            kind: self.kind(u),
            of: u8::try_from(p.of.get(&self.0, u)).unwrap_or(u8::MAX),
            class: class.map_or(Class::None, |(class, _)| *class),
            bools: bools.fold(0, |all, (bit, p)| all | u8::from(self.is(*p, u)) << bit),
            reach: self.is(p.rt, u),
            owner: p.owner.get(&self.0, u).checked_sub(1).and_then(|at| u8::try_from(at).ok()),
            locks: std::array::from_fn(|lock| holder(p.locked[lock].get(&self.0, u))),
        }
    }

    fn set_flags(&mut self, node: NodeId, flags: Flags) {
        let (p, u) = (predicates(), individual(node));
        let mut set = |p: Unary, holds: bool| self.0.set_unary(p, u, Truth::from(holds));
        set(p.uncorrelated, flags.kind == Kind::Candidate);
        set(p.reference, flags.kind == Kind::Reference);
        set(p.nonuniform, flags.kind == Kind::Nonuniform);
        set(p.rt, flags.reach);
        for (class, p) in CLASSES.iter().zip(p.class) {
            set(p, flags.class == *class);
        }
        for (bit, p) in p.bools.iter().enumerate() {
            set(*p, flags.bools >> bit & 1 == 1);
        }
        p.of.set(&mut self.0, u, u16::from(flags.of));
        p.owner.set(&mut self.0, u, flags.owner.map_or(0, |thread| 1 + u16::from(thread)));
        for lock in 0..LOCKS {
            p.locked[lock].set(&mut self.0, u, holder_number(flags.locks[lock]));
        }
    }

    fn relabel(&mut self, change: &dyn Fn(Flags) -> Flags) {
        for u in self.0.individuals() {
            self.set_flags(node(u), change(self.flags(node(u))));
        }
    }

    fn allocate(&mut self, flags: Flags) -> Result<NodeId, Lost> {
        let new = node(self.0.add().map_err(|_| Lost::Nodes)?);
        self.set_flags(new, flags);
        Ok(new)
    }

    fn load(&self, side: Side, node_id: NodeId, link: u8) -> Result<Loaded<Self>, Lost> {
        let (p, u) = (predicates(), individual(node_id));
        let along = self.side(side, u).n[usize::from(link)];
        let mut marked = self.0.clone();
        marked.set_unary(p.here, u, Truth::True);
        let focus = Focus::Successor { from: p.here, along };
        let cases = marked.focus(&p.plain, &focus, MOST_CASES).map_err(|_| Lost::Nodes)?;
        let mut out: Loaded<Self> = Vec::new();
        for mut case in cases.into_iter().filter_map(|case| case.coerce(&p.plain)) {
            case.set_unary(p.here, u, Truth::False);
            let mut heap = ThreeValued(case);
            let to = heap.sure(along, u).map(node);
            heap.settle_kind(u);
            out.push((heap, to));
        }
        Ok(out)
    }

    fn store(&mut self, side: Side, node: NodeId, link: u8, to: Option<NodeId>) {
        let (p, u) = (predicates(), individual(node));
        if self.kind(u) == Kind::Uniform {
            // The other side keeps the old links.
            for link in 0..LINKS {
                let (from, into) = (&p.candidate, &p.other);
                for v in self.0.individuals() {
                    let value = self.0.binary(from.n[link], u, v);
                    self.0.set_binary(into.n[link], u, v, value);
                }
                self.0.set_unary(into.has[link], u, self.0.unary(from.has[link], u));
            }
            self.0.set_unary(p.nonuniform, u, Truth::True);
        }
        let links = self.side(side, u);
        self.write(links, u, usize::from(link), to.map(individual));
        self.settle_kind(u);
    }

    fn correlate(&mut self, node: NodeId) {
        let (p, u) = (predicates(), individual(node));
        self.0.set_unary(p.uncorrelated, u, Truth::False);
        self.0.set_unary(p.nonuniform, u, Truth::True);
        self.settle_kind(u);
    }

    fn definite(&self, side: Side, node_id: NodeId, link: u8) -> Option<Option<NodeId>> {
        let (u, link) = (individual(node_id), usize::from(link));
        let links = self.side(side, u);
        match self.is(links.has[link], u) {
            false => Some(None),
            true => self.sure(links.n[link], u).map(|v| Some(node(v))),
        }
    }

    fn targets(&self, side: Side, node_id: NodeId, link: u8) -> SmallVec<[NodeId; 4]> {
        let u = individual(node_id);
        self.possible(self.side(side, u).n[usize::from(link)], u).map(node).collect()
    }

    fn coerce(&mut self, list: Option<&List>) -> bool {
        let Some(list) = list else { return true };
        let p = predicates();
        let marks = [(p.first, list.first), (p.before, list.before), (p.after, list.after)];
        let mut marked = self.0.clone();
        for (mark, at) in marks {
            marked.set_unary(mark, individual(at), Truth::True);
        }
        let Some(mut coerced) = marked.coerce(&p.walked[usize::from(list.link)]) else {
            return false;
        };
        for (mark, at) in marks {
            coerced.set_unary(mark, individual(at), Truth::False);
        }
        self.0 = coerced;
        true
    }

    fn canonical(&mut self, named: &[NodeId]) {
        let p: &Predicates = predicates();
        for u in self.0.individuals() {
            p.number.set(&mut self.0, u, UNNAMED);
        }
        for (number, at) in (0..UNNAMED).zip(named) {
            p.number.set(&mut self.0, individual(*at), number);
        }
        let kept = self.reachable(named);
        let gone: SmallVec<[Individual; 16]> =
            self.0.individuals().filter(|u| !kept.contains(u)).collect();
        // Without links of their own they are missed by no predicate.
        for u in &gone {
            for link in 0..LINKS {
                self.write(&p.candidate, *u, link, None);
                self.write(&p.other, *u, link, None);
            }
        }
        if !gone.is_empty() {
            self.0 = self.0.remove(&p.plain, &gone);
        }
        self.0 = self.0.blur(&p.plain);
    }

    fn key(&self, out: &mut Vec<u64>) {
        out.extend_from_slice(self.0.canonical(&predicates().plain).words());
    }

    fn absorb(&mut self, _: &Self) -> bool {
        false
    }

    fn bytes(&self) -> usize {
        // Two words for the unary predicates of an individual and for each row of a link.
        std::mem::size_of::<Self>() + 16 * self.0.len() * (1 + 2 * LINKS)
    }
}

fn holder(number: u16) -> Holder {
    match number {
        0 => Holder::Free,
        1 => Holder::Other,
        2 => Holder::Reference,
        more => Holder::Thread(u8::try_from(more - 3).unwrap_or(u8::MAX)),
    }
}

fn holder_number(holder: Holder) -> u16 {
    match holder {
        Holder::Free => 0,
        Holder::Other => 1,
        Holder::Reference => 2,
        Holder::Thread(thread) => 3 + u16::from(thread),
    }
}
