//! Abstract correlated states as this checker sees them: sets, and nothing packed.
//!
//! A state stands for the concrete states in which every variable holds what its word says, every
//! name is one node, different names different nodes, and every link of a node goes to one of its
//! targets. A node without a name stands for any number of nodes, possibly none.

use std::collections::{BTreeMap, BTreeSet};

/// A node of a state.
pub type Id = usize;

/// How a key compares with the arbitrary key K.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Below every key that clients pass.
    Min,
    /// Below K.
    Below,
    /// K.
    At,
    /// Above K.
    Above,
    /// Above every key that clients pass.
    Max,
}

/// Who holds a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holder {
    /// No thread that the state shows. Where it shows all threads, no thread; a view does not know
    /// whether another thread does.
    Free,
    /// The thread with this index in the state.
    Thread(usize),
    /// A thread that the state does not show, for sure.
    Other,
    /// `init` or the reference.
    Reference,
}

/// What a variable holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Word {
    /// Anything: it is not read again.
    Forgotten,
    /// `null` or `none`.
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// An integer, a thread id, or `none`.
    Any,
    /// An argument of the call at hand.
    Argument(usize),
    /// A node.
    Node(Id),
    /// What an integer of a node was initialised with.
    ValueOf(Id, usize),
    /// A key.
    Key(Class),
    /// A lock.
    Lock(Holder),
    /// The id of the thread at hand.
    Me,
}

impl Word {
    /// The node that this names.
    pub fn node(self) -> Option<Id> {
        match self {
            Word::Node(node) | Word::ValueOf(node, _) => Some(node),
            _ => None,
        }
    }

    /// The same about another node.
    pub fn renamed(self, to: &dyn Fn(Id) -> Id) -> Word {
        match self {
            Word::Node(node) => Word::Node(to(node)),
            Word::ValueOf(node, value) => Word::ValueOf(to(node), value),
            other => other,
        }
    }
}

/// What a node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A duo-object whose links agree.
    Uniform,
    /// A duo-object of which some link differs.
    Nonuniform,
    /// A node of the candidate only.
    Candidate,
    /// A node of the reference only.
    Reference,
}

/// What is known for sure of a node, named or not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flags {
    /// Duo-object or not.
    pub kind: Kind,
    /// Its struct.
    pub of: usize,
    /// How its key compares with K.
    pub class: Option<Class>,
    /// Which of its truth values are true.
    pub truths: BTreeSet<usize>,
    /// Whether it is in the walked list.
    pub listed: bool,
    /// The thread that alone can reach it.
    pub owner: Option<usize>,
    /// Who holds its locks.
    pub locks: Vec<Holder>,
}

/// Where a link may go; `None` is null.
pub type Targets = BTreeSet<Option<Id>>;

/// A node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node {
    /// What is known for sure.
    pub flags: Flags,
    /// Whether it stands for any number of nodes.
    pub many: bool,
    /// The links of the candidate; of a uniform duo-object, those of both sides.
    pub links: Vec<Targets>,
    /// The links of the reference, of a nonuniform duo-object or a node of the reference.
    pub twin: Vec<Targets>,
}

/// One of the two executions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The interleaved one.
    Candidate,
    /// The sequential one.
    Reference,
}

impl Node {
    /// The links that a side reads.
    pub fn side(&mut self, side: Side) -> &mut Vec<Targets> {
        match (side, self.flags.kind) {
            (Side::Candidate, _) | (_, Kind::Uniform) => &mut self.links,
            _ => &mut self.twin,
        }
    }

    /// Every set of targets.
    pub fn sets(&self) -> impl Iterator<Item = &Targets> {
        self.links.iter().chain(&self.twin)
    }

    /// Every set of targets.
    pub fn sets_mut(&mut self) -> impl Iterator<Item = &mut Targets> {
        self.links.iter_mut().chain(&mut self.twin)
    }
}

/// A node and what its integers were initialised with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Made {
    /// The node.
    pub node: Id,
    /// Its integers.
    pub values: Vec<Word>,
}

/// An answer that may leave the object as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Seen {
    /// `none`.
    Nothing,
    /// `false`.
    False,
    /// `true`.
    True,
}

impl Seen {
    /// The answer, if it is one of these.
    pub fn of(word: Word) -> Option<Seen> {
        match word {
            Word::Null => Some(Seen::Nothing),
            Word::Bool(false) => Some(Seen::False),
            Word::Bool(true) => Some(Seen::True),
            _ => None,
        }
    }
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Thread {
    /// Its role.
    pub role: usize,
    /// The operation that it executes, and the node of its body; none between two calls.
    pub at: Option<(usize, usize)>,
    /// What the reference has answered, once the linearization point is passed.
    pub answered: Option<Word>,
    /// What it was called with.
    pub arguments: Vec<Word>,
    /// Its variables.
    pub locals: Vec<Word>,
    /// The node that it made last in this call, if that can be correlated.
    pub made: Option<Made>,
    /// The answers that the reference would have given at some instant since the call, and that
    /// leave the object as it is.
    pub seen: BTreeSet<Seen>,
}

impl Thread {
    /// Between two calls.
    pub fn idle(role: usize) -> Thread {
        Thread {
            role,
            at: None,
            answered: None,
            arguments: Vec::new(),
            locals: Vec::new(),
            made: None,
            seen: BTreeSet::new(),
        }
    }

    /// The words that can name nodes.
    pub fn words(&self) -> impl Iterator<Item = Word> {
        let made = self.made.as_ref().map(|made| Word::Node(made.node));
        self.locals.iter().copied().chain(self.answered).chain(made)
    }

    /// The same about other nodes.
    pub fn renamed(&self, to: &dyn Fn(Id) -> Id) -> Thread {
        let mut thread = self.clone();
        for word in thread.locals.iter_mut().chain(&mut thread.answered) {
            *word = word.renamed(to);
        }
        if let Some(made) = &mut thread.made {
            made.node = to(made.node);
        }
        thread
    }
}

/// A state: of a view, with one thread.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct State {
    /// The shared variables.
    pub shared: Vec<Word>,
    /// The variables of the reference.
    pub reference: Vec<Word>,
    /// The last listed node below K, and the next one.
    pub edge: Option<(Id, Id)>,
    /// The threads.
    pub threads: Vec<Thread>,
    /// The nodes.
    pub nodes: BTreeMap<Id, Node>,
}

/// What states have in common of which one may cover the other: words with nodes numbered as they
/// are named, and the flags of named nodes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Signature {
    shared: Vec<Word>,
    reference: Vec<Word>,
    edge: Option<(Id, Id)>,
    threads: Vec<Thread>,
    flags: Vec<Flags>,
}

impl State {
    /// A new number for a node.
    pub fn fresh(&self) -> Id {
        self.nodes.keys().next_back().map_or(0, |last| last + 1)
    }

    /// The nodes that shared variables, the reference and the edge name, in this order.
    pub fn common_names(&self) -> Vec<Id> {
        let edge = self.edge.into_iter().flat_map(|(before, after)| [before, after]);
        let words = self.shared.iter().chain(&self.reference).filter_map(|word| word.node());
        first_occurrences(words.chain(edge))
    }

    /// All named nodes, those of shared variables first.
    pub fn names(&self) -> Vec<Id> {
        let threads = self.threads.iter().flat_map(Thread::words).filter_map(Word::node);
        first_occurrences(self.common_names().into_iter().chain(threads))
    }

    /// What can be reached from these nodes on either side.
    pub fn reachable(&self, from: &[Id]) -> BTreeSet<Id> {
        let mut found = BTreeSet::new();
        let mut work = from.to_vec();
        while let Some(node) = work.pop() {
            if found.insert(node) {
                let sets = self.nodes.get(&node).into_iter().flat_map(Node::sets);
                work.extend(sets.flatten().flatten());
            }
        }
        found
    }

    /// What a state that covers this one must share with it: control, which names alias, and what
    /// is definite of named nodes. Left open is what a covering state may know less of: whether a
    /// thread not shown holds a lock, which answers were seen.
    pub fn signature(&self) -> Signature {
        let names = self.names();
        let place = |node: Id| names.iter().position(|name| *name == node).unwrap_or(usize::MAX);
        let open = |holder: Holder| match holder {
            Holder::Other => Holder::Free,
            other => other,
        };
        let word = |word: &Word| match word {
            Word::Lock(holder) => Word::Lock(open(*holder)),
            other => other.renamed(&place),
        };
        let flags = |node: &Node| Flags {
            locks: node.flags.locks.iter().map(|holder| open(*holder)).collect(),
            ..node.flags.clone()
        };
        let thread = |thread: &Thread| Thread { seen: BTreeSet::new(), ..thread.renamed(&place) };
        Signature {
            shared: self.shared.iter().map(word).collect(),
            reference: self.reference.iter().map(word).collect(),
            edge: self.edge.map(|(before, after)| (place(before), place(after))),
            threads: self.threads.iter().map(thread).collect(),
            flags: names.iter().filter_map(|name| self.nodes.get(name)).map(flags).collect(),
        }
    }

    /// What two views share if their threads can run side by side: all but who holds a lock.
    pub fn common_signature(&self) -> Signature {
        let mut common = State { threads: Vec::new(), ..self.clone() };
        common.change_holders(&|_| Holder::Free);
        common.signature()
    }

    /// The same state with nodes numbered as they are named; those without a name that are alike
    /// become one, and what cannot be reached is dropped. It stands for all that this one stands
    /// for.
    pub fn canonical(&self) -> State {
        let names = self.names();
        let mut unnamed: Vec<&Flags> = Vec::new();
        let mut to: BTreeMap<Id, Id> = names.iter().copied().zip(0..).collect();
        let mut reachable: Vec<(&Flags, Id)> = Vec::new();
        for at in self.reachable(&names) {
            reachable.extend(self.nodes.get(&at).map(|node| (&node.flags, at)));
        }
        reachable.sort();
        for (flags, at) in reachable.iter().filter(|(_, at)| !names.contains(at)) {
            if unnamed.last() != Some(flags) {
                unnamed.push(flags);
            }
            to.insert(*at, names.len() + unnamed.len() - 1);
        }
        let place = |node: Id| to.get(&node).copied().unwrap_or(usize::MAX);
        let renamed = |sets: &[Targets]| -> Vec<Targets> {
            let set = |set: &Targets| set.iter().map(|target| target.map(place)).collect();
            sets.iter().map(set).collect()
        };
        let mut nodes: BTreeMap<Id, Node> = BTreeMap::new();
        for (flags, at) in reachable {
            let Some(node) = self.nodes.get(&at) else { continue };
            let (links, twin) = (renamed(&node.links), renamed(&node.twin));
            let many = !names.contains(&at);
            let new = Node { flags: flags.clone(), many, links, twin };
            let old = nodes.entry(place(at)).or_insert_with(|| new.clone());
            for (old, new) in old.sets_mut().zip(new.sets()) {
                old.extend(new);
            }
        }
        State {
            shared: self.shared.iter().map(|word| word.renamed(&place)).collect(),
            reference: self.reference.iter().map(|word| word.renamed(&place)).collect(),
            edge: self.edge.map(|(before, after)| (place(before), place(after))),
            threads: self.threads.iter().map(|thread| thread.renamed(&place)).collect(),
            nodes,
        }
    }

    /// Gives every lock another holder.
    pub fn change_holders(&mut self, change: &dyn Fn(Holder) -> Holder) {
        for word in &mut self.shared {
            if let Word::Lock(holder) = word {
                *holder = change(*holder);
            }
        }
        for node in self.nodes.values_mut() {
            for holder in &mut node.flags.locks {
                *holder = change(*holder);
            }
        }
    }

    /// Gives the threads another order: `order[new]` is the old place.
    pub fn permuted(&self, order: &[usize]) -> State {
        let place = |old: usize| order.iter().position(|from| *from == old).unwrap_or(old);
        let mut state = self.clone();
        state.threads = order.iter().filter_map(|old| self.threads.get(*old).cloned()).collect();
        state.change_holders(&|holder| match holder {
            Holder::Thread(thread) => Holder::Thread(place(thread)),
            other => other,
        });
        for node in state.nodes.values_mut() {
            node.flags.owner = node.flags.owner.map(place);
        }
        state
    }
}

fn first_occurrences(nodes: impl Iterator<Item = Id>) -> Vec<Id> {
    let mut names = Vec::new();
    for node in nodes {
        if !names.contains(&node) {
            names.push(node);
        }
    }
    names
}
