//! Heaps of a delta state (paper 001, Appendix D), and what a domain must be able to do with them.
//!
//! A node is a duo-object (a candidate node and the reference node correlated with it, uniform if
//! their links agree), or a node of one side only. What is definite about a node are its
//! [`Flags`]; links are what domains differ in.

use crate::value::{Class, Holder, NodeId};
use smallvec::SmallVec;

/// Links a node can have: fields, and components of record fields, that are references.
pub const LINKS: usize = 2;
/// Locks a node can have.
pub const LOCKS: usize = 1;
/// Truth values a node can have.
pub const BOOLS: usize = 6;

/// One of the two executions (paper 001, Section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The interleaved execution under study.
    Candidate,
    /// The sequential execution that it is compared with.
    Reference,
}

/// What a node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A duo-object whose links agree.
    Uniform,
    /// A duo-object whose links may differ.
    Nonuniform,
    /// A node of the candidate that is not correlated.
    Candidate,
    /// A node of the reference that is not correlated.
    Reference,
}

/// What is definite about a node, named or summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Flags {
    /// Duo-object or one-sided.
    pub kind: Kind,
    /// Its struct.
    pub of: u8,
    /// The class of its key.
    pub class: Class,
    /// Its truth values, a bit each.
    pub bools: u8,
    /// Whether it is in the list that starts at the root (only where lists are walked).
    pub reach: bool,
    /// The thread that alone can reach it: it made the node and has not published it.
    pub owner: Option<u8>,
    /// Who holds its locks.
    pub locks: [Holder; LOCKS],
}

impl Flags {
    /// A new node of the reference, of this struct.
    pub fn of_reference(of: u8) -> Flags {
        Flags {
            kind: Kind::Reference,
            of,
            class: Class::None,
            bools: 0,
            reach: false,
            owner: None,
            locks: [Holder::Free; LOCKS],
        }
    }

    /// Whether a thread owns the node or holds its lock.
    pub fn mentions(&self, thread: u8) -> bool {
        self.owner == Some(thread) || self.locks.contains(&Holder::Thread(thread))
    }
}

/// Something that the abstraction cannot keep: the proof stops here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Lost {
    /// A reachable node is written in a way that is not known.
    #[error(
        "the list: a node in it is written, and this is neither the insertion of one private node nor the removal of one node"
    )]
    List,
    /// A node is linked where its key is not in order.
    #[error("the order of keys: the abstraction cannot see that the node is linked in order")]
    Order,
    /// The root of the list is assigned.
    #[error("the list: its first node is replaced")]
    Root,
    /// The key of a new node is not known.
    #[error("the key of a new node: it is not the argument of the call, nor a bound")]
    Key,
    /// The reference reads or writes a truth value or a lock of a node: the candidate's are kept.
    #[error("what the reference has in a node: it uses a truth value or a lock of one")]
    ReferenceCell,
    /// More nodes than a structure can have.
    #[error("the shape: too many nodes that differ")]
    Nodes,
    /// A word whose value is not known is used as a reference or a truth value.
    #[error("a value: which one is used here depends on something that is not tracked")]
    Value,
    /// An expression may fail.
    #[error("that no step fails: arithmetic with integers of which nothing is known")]
    Arithmetic,
}

/// A heap with the reading and writing of links: a domain of the analysis.
///
/// Nodes are only ever added inside a move; [`Heap::canonical`] then drops, merges and renumbers.
pub trait Heap: Clone + Send + Sync {
    /// No nodes.
    fn empty() -> Self;

    /// What is definite about a node.
    fn flags(&self, node: NodeId) -> Flags;

    /// Sets what is definite about a node.
    fn set_flags(&mut self, node: NodeId, flags: Flags);

    /// Whether a thread owns a node or holds the lock of one.
    fn mentions(&self, thread: u8) -> bool;

    /// Changes the flags of all nodes: threads get other names. Different flags stay different.
    fn relabel(&mut self, change: &dyn Fn(Flags) -> Flags);

    /// A new node, all of whose links are null.
    fn allocate(&mut self, flags: Flags) -> Result<NodeId, Lost>;

    /// The heaps in which a link goes to one node, or is null: together they stand for all that
    /// this heap stands for (focus on the pointer read).
    fn load(&self, side: Side, node: NodeId, link: u8) -> Result<Loaded<Self>, Lost>;

    /// The heaps in which a link goes to `expected`, and those in which it goes elsewhere: together
    /// they stand for all that this heap stands for.
    fn compare(
        &self,
        side: Side,
        node: NodeId,
        link: u8,
        expected: Option<NodeId>,
    ) -> Result<Compared<Self>, Lost> {
        let mut compared = Compared { equal: Vec::new(), different: Vec::new() };
        for (heap, to) in self.load(side, node, link)? {
            match to == expected {
                true => compared.equal.push(heap),
                false => compared.different.push(heap),
            }
        }
        Ok(compared)
    }

    /// Writes a link.
    fn store(&mut self, side: Side, node: NodeId, link: u8, to: Option<NodeId>);

    /// Makes a candidate node a duo-object; its links on the reference side are null.
    fn correlate(&mut self, node: NodeId);

    /// The node to which a link surely goes (`Some(None)`: it surely is null).
    fn definite(&self, side: Side, node: NodeId, link: u8) -> Option<Option<NodeId>>;

    /// The nodes to which a link may go, all of them named nodes; `None` if a summary is among
    /// them.
    fn targets(&self, side: Side, node: NodeId, link: u8) -> SmallVec<[NodeId; 4]>;

    /// Uses what is known of every reachable list to remove what cannot be. `false`: this heap
    /// stands for nothing.
    fn coerce(&mut self, list: Option<&List>) -> bool;

    /// Numbers the named nodes as they come in `named` (each once), merges the others into
    /// summaries, drops what cannot be reached. The new number of each node is returned by
    /// the order of `named`.
    fn canonical(&mut self, named: &[NodeId]);

    /// What two heaps must share to be joined.
    fn key(&self, out: &mut Vec<u64>);

    /// Makes this heap stand for what the other, of the same key, stands for too. Whether it
    /// grew.
    fn absorb(&mut self, other: &Self) -> bool;

    /// How many bytes it takes.
    fn bytes(&self) -> usize;
}

/// How a link compares with a node.
#[derive(Clone, Debug)]
pub struct Compared<H> {
    /// It goes there.
    pub equal: Vec<H>,
    /// It goes elsewhere.
    pub different: Vec<H>,
}

/// The ways in which a link can be read.
pub type Loaded<H> = Vec<(H, Option<NodeId>)>;

/// The list that is walked (only where keys are compared): where it starts, and where the arbitrary
/// key K belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List {
    /// The link that is followed.
    pub link: u8,
    /// The first node.
    pub first: NodeId,
    /// The last reachable node below K.
    pub before: NodeId,
    /// The reachable node after it.
    pub after: NodeId,
}
