//! Abstract correlated states (paper 001, Figure B.1, under the delta abstraction of Appendix D).
//!
//! The reference run is part of the move in which a linearization point is passed, so that no
//! half-run reference is ever stored.

use crate::heap::{Flags, Heap, List};
use crate::value::{Class, Holder, NodeId, Scalar};
use smallvec::SmallVec;

/// A state of the candidate, the reference, and so many threads; of a view, one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State<H> {
    /// The shared variables of the candidate, word by word.
    pub shared: SmallVec<[Scalar; 6]>,
    /// The variables of the reference.
    pub reference: SmallVec<[Scalar; 4]>,
    /// Where the arbitrary key K belongs in the list: the last node below it and the next one.
    pub edge: Option<(NodeId, NodeId)>,
    /// The threads.
    pub threads: Vec<Thread>,
    /// The nodes.
    pub heap: H,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Which of the program's kinds of threads it is.
    pub role: u8,
    /// The operation that it executes and where it is; `None` between two operations.
    pub at: Option<(u8, u16)>,
    /// Whether it has passed its linearization point.
    pub phase: Phase,
    /// What it was called with.
    pub arguments: SmallVec<[Scalar; 2]>,
    /// Its local variables, word by word.
    pub locals: SmallVec<[Scalar; 10]>,
    /// The node that it allocated last in this call, if it can be correlated, and with what its
    /// integers were initialised.
    pub allocated: Option<Allocated>,
    /// The answers that change nothing and that the reference would have given at some instant
    /// since the call, a bit for each of them.
    pub seen: u8,
    /// What the reference said when it was last asked for a claimed `when returns` point.
    pub asked: Option<Scalar>,
}

/// A node and what its integer cells were initialised with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocated {
    /// The node.
    pub node: NodeId,
    /// What its integers were initialised with.
    pub values: SmallVec<[Scalar; 2]>,
}

/// Where an operation stands (paper 001, Section C.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Before its linearization point, or no operation.
    Pre,
    /// After it: what the reference answered.
    Post(Scalar),
}

impl Thread {
    /// A thread between two operations.
    pub fn idle(role: u8) -> Thread {
        Thread {
            role,
            at: None,
            phase: Phase::Pre,
            arguments: SmallVec::new(),
            locals: SmallVec::new(),
            allocated: None,
            seen: 0,
            asked: None,
        }
    }

    /// Its words that may name nodes.
    pub fn words(&self) -> impl Iterator<Item = Scalar> {
        let answer = match self.phase {
            Phase::Post(answer) => Some(answer),
            Phase::Pre => None,
        };
        let allocated = self.allocated.as_ref().map(|made| Scalar::Node(made.node));
        self.locals.iter().copied().chain(answer).chain(allocated)
    }

    /// Gives nodes other numbers.
    pub fn rename_to(&mut self, to: impl Fn(NodeId) -> NodeId) {
        for word in &mut self.locals {
            *word = word.renamed(&to);
        }
        if let Phase::Post(answer) = &mut self.phase {
            *answer = answer.renamed(&to);
        }
        if let Some(made) = &mut self.allocated {
            made.node = to(made.node);
        }
    }
}

impl<H: Heap> State<H> {
    /// The list, if one is followed along this link from this shared variable.
    pub fn list(&self, root: Option<(usize, u8)>) -> Option<List> {
        let ((root, link), (before, after)) = (root?, self.edge?);
        let first = self.shared.get(root)?.node()?;
        Some(List { link, first, before, after })
    }

    /// The words that shared and reference variables hold.
    fn common(&self) -> impl Iterator<Item = Scalar> {
        let edge = self.edge.into_iter().flat_map(|(before, after)| [before, after]);
        let words = self.shared.iter().chain(&self.reference).copied();
        words.chain(edge.map(Scalar::Node))
    }

    /// The named nodes, each once, in the order in which the variables name them; and how many
    /// of them shared and reference variables name.
    pub fn named(&self) -> (SmallVec<[NodeId; 16]>, usize) {
        let mut named: SmallVec<[NodeId; 16]> = SmallVec::new();
        let add = |word: Scalar, named: &mut SmallVec<[NodeId; 16]>| {
            if let Some(node) = word.node()
                && !named.contains(&node)
            {
                named.push(node);
            }
        };
        self.common().for_each(|word| add(word, &mut named));
        let common = named.len();
        let words = self.threads.iter().flat_map(Thread::words);
        words.for_each(|word| add(word, &mut named));
        (named, common)
    }

    /// How many nodes shared and reference variables name, of a state in canonical form: these
    /// come first.
    pub fn common_nodes(&self) -> usize {
        let last = self.common().filter_map(Scalar::node).map(NodeId::index).max();
        last.map_or(0, |last| last + 1)
    }

    /// Brings the state into canonical form: equal states are then equal.
    pub fn canonical(&mut self) {
        let (named, _) = self.named();
        self.heap.canonical(&named);
        let to = |node: NodeId| {
            let at = named.iter().position(|other| *other == node).unwrap_or_default();
            NodeId(u8::try_from(at).unwrap_or(u8::MAX))
        };
        for word in self.shared.iter_mut().chain(&mut self.reference) {
            *word = word.renamed(to);
        }
        if let Some((before, after)) = &mut self.edge {
            (*before, *after) = (to(*before), to(*after));
        }
        for thread in &mut self.threads {
            thread.rename_to(to);
        }
    }

    /// What two states must share to be joined: control, which names alias, the flags of named
    /// nodes, and what the domain wants.
    pub fn key(&self) -> Key {
        let mut key = Vec::with_capacity(32);
        self.common_key(&mut key, false);
        for thread in &self.threads {
            thread.key(&mut key);
        }
        self.heap.key(&mut key);
        Key(key.into_boxed_slice())
    }

    /// What two views must share for their threads to run side by side: the common part. Who holds
    /// which lock is left open.
    pub fn shared_key(&self) -> Key {
        let mut key = Vec::with_capacity(16);
        self.common_key(&mut key, true);
        let (named, common) = self.named();
        for node in &named[..common] {
            let mut flags: Flags = self.heap.flags(*node);
            for lock in &mut flags.locks {
                *lock = Holder::Free;
            }
            key.push(flags.packed());
        }
        Key(key.into_boxed_slice())
    }

    fn common_key(&self, key: &mut Vec<u64>, holders_open: bool) {
        for word in self.common() {
            key.push(packed(match word {
                Scalar::Lock(_) if holders_open => Scalar::Lock(Holder::Free),
                other => other,
            }));
        }
        key.push(u64::MAX);
    }

    /// How many bytes the state takes.
    pub fn bytes(&self) -> usize {
        let words = self.shared.len() + self.reference.len();
        let threads: usize = self.threads.iter().map(|thread| thread.locals.len()).sum();
        4 * (words + threads) + self.heap.bytes() + std::mem::size_of::<Self>()
    }
}

impl Thread {
    fn key(&self, key: &mut Vec<u64>) {
        let (operation, node) = self.at.map_or((u8::MAX, u16::MAX), |at| at);
        let allocated = self.allocated.as_ref().map_or(Scalar::Dead, |at| Scalar::Node(at.node));
        key.push(
            u64::from(operation)
                | u64::from(node) << 8
                | u64::from(self.role) << 24
                | u64::from(self.seen) << 32
                | u64::from(matches!(self.phase, Phase::Post(_))) << 40,
        );
        if let Phase::Post(answer) = self.phase {
            key.push(packed(answer));
        }
        key.push(packed(self.asked.unwrap_or(Scalar::Dead)));
        key.push(packed(allocated));
        let values = self.allocated.iter().flat_map(|made| made.values.iter());
        key.extend(values.map(|word| packed(*word)));
        let arguments = self.arguments.iter().chain(&self.locals);
        key.extend(arguments.map(|word| packed(*word)));
        key.push(u64::MAX);
    }
}

/// What states are found by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub Box<[u64]>);

/// A word as a number.
fn packed(word: Scalar) -> u64 {
    let class = |class: Class| match class {
        Class::None => 0,
        Class::Min => 1,
        Class::Below => 2,
        Class::At => 3,
        Class::Above => 4,
        Class::Max => 5,
    };
    let holder = |holder: Holder| match holder {
        Holder::Free => 0,
        Holder::Other => 1,
        Holder::Reference => 2,
        Holder::Thread(thread) => 3 + u64::from(thread),
    };
    let (tag, payload) = match word {
        Scalar::Dead => (0, 0),
        Scalar::Null => (1, 0),
        Scalar::Bool(truth) => (2, u64::from(truth)),
        Scalar::AnyBool => (3, 0),
        Scalar::Int(number) => (4, u64::from(number.cast_unsigned())),
        Scalar::Any => (5, 0),
        Scalar::Argument(number) => (6, u64::from(number)),
        Scalar::Node(node) => (7, u64::from(node.0)),
        Scalar::ValueOf(node, cell) => (8, u64::from(node.0) | u64::from(cell) << 8),
        Scalar::Key(of) => (9, class(of)),
        Scalar::Lock(of) => (10, holder(of)),
        Scalar::Me => (11, 0),
    };
    tag << 32 | payload
}

impl Thread {
    /// What threads are ordered by: everything but which nodes they name.
    pub fn rank(&self) -> Vec<u64> {
        let open = |word: Scalar| match word {
            Scalar::Node(_) => packed(Scalar::Node(NodeId(0))),
            Scalar::ValueOf(_, cell) => packed(Scalar::ValueOf(NodeId(0), cell)),
            other => packed(other),
        };
        let (operation, node) = self.at.map_or((u8::MAX, u16::MAX), |at| at);
        let phase = match self.phase {
            Phase::Pre => 0,
            Phase::Post(answer) => 1 + open(answer),
        };
        let mut rank = vec![
            u64::from(self.role),
            u64::from(operation),
            u64::from(node),
            phase,
            u64::from(self.seen),
            packed(self.asked.unwrap_or(Scalar::Dead)),
            u64::from(self.allocated.is_some()),
        ];
        rank.extend(self.arguments.iter().chain(&self.locals).map(|word| open(*word)));
        // Which of its own names alias.
        for (at, word) in self.locals.iter().enumerate() {
            let first = self.locals[..at].iter().position(|other| other.node() == word.node());
            let aliased = word.node().is_some();
            rank.push(match (aliased, first) {
                (true, Some(first)) => u64::try_from(first).unwrap_or(u64::MAX),
                _ => u64::MAX,
            });
        }
        rank
    }
}

impl<H: Heap> State<H> {
    /// Puts the threads into another order: `order[new]` is the old place.
    pub fn permute(&mut self, order: &[usize]) {
        let new_place = |old: u8| {
            let at = order.iter().position(|from| *from == usize::from(old)).unwrap_or_default();
            u8::try_from(at).unwrap_or(u8::MAX)
        };
        let holder = |holder: Holder| match holder {
            Holder::Thread(thread) => Holder::Thread(new_place(thread)),
            other => other,
        };
        self.threads = order.iter().map(|from| self.threads[*from].clone()).collect();
        for word in &mut self.shared {
            if let Scalar::Lock(held) = word {
                *held = holder(*held);
            }
        }
        self.heap.relabel(&|flags: Flags| Flags {
            owner: flags.owner.map(new_place),
            locks: flags.locks.map(holder),
            ..flags
        });
    }
}
