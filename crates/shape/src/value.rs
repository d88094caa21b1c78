//! What a variable holds in an abstract state.
//!
//! References are definite: a variable that is not null names exactly one node. Integers that are
//! pushed and popped are never looked into: what is known of one is where it came from. Keys of a
//! set are known by how they compare with one arbitrary key K.

use linchpin_ir::program::Type;
use linchpin_spec::Value;
use smallvec::SmallVec;

/// Index of a node in its heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u8);

impl NodeId {
    /// As an index.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// How a key compares with the arbitrary key K.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Not a key.
    #[default]
    None,
    /// The smallest integer, below every key that clients pass.
    Min,
    /// Between the smallest integer and K.
    Below,
    /// K.
    At,
    /// Between K and the largest integer.
    Above,
    /// The largest integer, above every key that clients pass.
    Max,
}

/// A word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scalar {
    /// Will not be read again.
    Dead,
    /// `null` or `none`.
    Null,
    /// A truth value.
    Bool(bool),
    /// Either truth value. Only inside a move: what is stored is one of them.
    AnyBool,
    /// A small integer.
    Int(i8),
    /// An integer or thread id of which nothing is known; possibly `none`.
    Any,
    /// The argument with this number of the call at hand.
    Argument(u8),
    /// A reference to a node.
    Node(NodeId),
    /// What the integer cell with this number of a node was initialised with.
    ValueOf(NodeId, u8),
    /// A key.
    Key(Class),
    /// A lock: free, or held.
    Lock(Holder),
    /// The id of the thread at hand.
    Me,
}

impl Scalar {
    /// The node that this names.
    pub fn node(self) -> Option<NodeId> {
        match self {
            Scalar::Node(node) | Scalar::ValueOf(node, _) => Some(node),
            _ => None,
        }
    }

    /// The same about a renamed node.
    pub fn renamed(self, to: impl Fn(NodeId) -> NodeId) -> Scalar {
        match self {
            Scalar::Node(node) => Scalar::Node(to(node)),
            Scalar::ValueOf(node, cell) => Scalar::ValueOf(to(node), cell),
            other => other,
        }
    }
}

/// Who holds a lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Holder {
    /// No thread.
    #[default]
    Free,
    /// The thread with this index in the state.
    Thread(u8),
    /// A thread that the state does not show.
    Other,
    /// The reference.
    Reference,
}

/// A value inside a move: a word, or a record or tuple of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// A word.
    Word(Scalar),
    /// A record or tuple.
    List(Vec<Term>),
}

/// Words in a row.
pub type Words = SmallVec<[Scalar; 4]>;

impl Term {
    /// The words of this value, in order.
    pub fn flatten(&self, out: &mut Words) {
        match self {
            Term::Word(word) => out.push(*word),
            Term::List(items) => items.iter().for_each(|item| item.flatten(out)),
        }
    }

    /// The value of a type from its words; takes them from the front.
    pub fn unflatten(ty: &Type, words: &mut &[Scalar]) -> Term {
        match components(ty) {
            Some(items) => {
                Term::List(items.into_iter().map(|item| Term::unflatten(item, words)).collect())
            }
            None => {
                let (first, rest) = words.split_first().unwrap_or((&Scalar::Dead, &[]));
                *words = rest;
                Term::Word(*first)
            }
        }
    }
}

/// The components of a composite type.
pub fn components(ty: &Type) -> Option<Vec<&Type>> {
    match ty {
        Type::Record { fields, .. } => Some(fields.iter().map(|(_, ty)| ty).collect()),
        Type::Tuple(items) => Some(items.iter().collect()),
        _ => None,
    }
}

/// The words of a type, in order.
pub fn words_of<'t>(ty: &'t Type, out: &mut Vec<&'t Type>) {
    match components(ty) {
        Some(items) => items.into_iter().for_each(|item| words_of(item, out)),
        None => out.push(ty),
    }
}

/// How many words a value of this type has.
pub fn width(ty: &Type) -> usize {
    let mut words = Vec::new();
    words_of(ty, &mut words);
    words.len()
}

/// Whether integers are keys of a set or values that are only moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integers {
    /// Known by their origin.
    Values,
    /// Known by their class.
    Keys,
}

/// A constant of a model.
pub fn constant(value: &Value, ty: Option<&Type>, integers: Integers) -> Term {
    Term::Word(match value {
        Value::Null if matches!(ty, Some(Type::Lock)) => Scalar::Lock(Holder::Free),
        Value::Null => Scalar::Null,
        Value::Bool(truth) => Scalar::Bool(*truth),
        Value::Int(i64::MIN) if integers == Integers::Keys => Scalar::Key(Class::Min),
        Value::Int(i64::MAX) if integers == Integers::Keys => Scalar::Key(Class::Max),
        Value::Int(number) => match i8::try_from(*number) {
            Ok(small) => Scalar::Int(small),
            Err(_) => Scalar::Any,
        },
        Value::List(items) => {
            let types = ty.and_then(components);
            let of = |index: usize| types.as_ref().and_then(|types| types.get(index).copied());
            let items = items.iter().enumerate();
            return Term::List(
                items.map(|(index, item)| constant(item, of(index), integers)).collect(),
            );
        }
        _ => Scalar::Any,
    })
}
