//! The sequential references, in plain Rust: lists for stacks and queues, one node an element and in
//! a queue a dummy in front; a set of keys for sets.

use linchpin_spec::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A node of a reference list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RefId(pub u32);

/// What a reference node holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RefNode {
    /// Its value; the first dummy of a queue has none.
    pub value: Value,
    /// The node behind it.
    pub next: Option<RefId>,
}

/// The reference and its state. Nodes that have left a list stay as long as something mentions
/// them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reference {
    /// A list, topmost first.
    Stack {
        /// The topmost node.
        top: Option<RefId>,
        /// All nodes.
        nodes: BTreeMap<RefId, RefNode>,
    },
    /// A list with a dummy in front.
    Queue {
        /// The dummy.
        head: RefId,
        /// The last node; the dummy if the queue is empty.
        tail: RefId,
        /// All nodes.
        nodes: BTreeMap<RefId, RefNode>,
    },
    /// A set of keys.
    Set(BTreeSet<Value>),
}

/// An operation of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum RefOperation {
    Push,
    Pop,
    Enqueue,
    Dequeue,
    Add,
    Remove,
    Contains,
}

impl RefOperation {
    /// Whether some call changes the object.
    pub fn updates(self) -> bool {
        self != RefOperation::Contains
    }

    /// Whether it makes a node of a list.
    pub fn inserts(self) -> bool {
        matches!(self, RefOperation::Push | RefOperation::Enqueue)
    }
}

/// What the reference answered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ret {
    /// The value of this node.
    Node(RefId),
    /// This, whatever the nodes hold.
    Constant(Value),
}

/// What an operation did to the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// Its answer.
    pub ret: Ret,
    /// The node that it made.
    pub made: Option<RefId>,
}

impl Reference {
    /// The reference of a built-in specification, without elements; none for other ones.
    pub fn named(name: &str) -> Option<Reference> {
        let dummy = RefId(0);
        Some(match name {
            "stack" => Reference::Stack { top: None, nodes: BTreeMap::new() },
            "queue" => {
                let node = RefNode { value: Value::Null, next: None };
                Reference::Queue { head: dummy, tail: dummy, nodes: [(dummy, node)].into() }
            }
            "set" => Reference::Set(BTreeSet::new()),
            _ => return None,
        })
    }

    /// The operation with this name.
    pub fn operation(&self, name: &str) -> Option<RefOperation> {
        Some(match (self, name) {
            (Reference::Stack { .. }, "push") => RefOperation::Push,
            (Reference::Stack { .. }, "pop") => RefOperation::Pop,
            (Reference::Queue { .. }, "enqueue") => RefOperation::Enqueue,
            (Reference::Queue { .. }, "dequeue") => RefOperation::Dequeue,
            (Reference::Set(_), "add") => RefOperation::Add,
            (Reference::Set(_), "remove") => RefOperation::Remove,
            (Reference::Set(_), "contains") => RefOperation::Contains,
            _ => return None,
        })
    }

    /// The nodes of a list; none of a set.
    pub fn nodes(&self) -> Option<&BTreeMap<RefId, RefNode>> {
        match self {
            Reference::Stack { nodes, .. } | Reference::Queue { nodes, .. } => Some(nodes),
            Reference::Set(_) => None,
        }
    }

    /// A node.
    pub fn node(&self, id: RefId) -> Option<&RefNode> {
        self.nodes()?.get(&id)
    }

    /// The reference's own pointers: `topʳ`, or `headʳ` and `tailʳ`.
    pub fn pointers(&self) -> Vec<RefId> {
        match self {
            Reference::Stack { top, .. } => top.iter().copied().collect(),
            Reference::Queue { head, tail, .. } => vec![*head, *tail],
            Reference::Set(_) => Vec::new(),
        }
    }

    /// The answer that this call would get now if it is a constant and nothing would change: what a
    /// `seen` bit is about.
    pub fn idle_answer(&self, operation: RefOperation, argument: &Value) -> Option<Value> {
        match (self, operation) {
            (Reference::Stack { top, .. }, RefOperation::Pop) => {
                top.is_none().then_some(Value::Null)
            }
            (Reference::Queue { head, tail, .. }, RefOperation::Dequeue) => {
                (head == tail).then_some(Value::Null)
            }
            (Reference::Set(keys), RefOperation::Contains) => {
                Some(Value::Bool(keys.contains(argument)))
            }
            (Reference::Set(keys), RefOperation::Add) => {
                keys.contains(argument).then_some(Value::Bool(false))
            }
            (Reference::Set(keys), RefOperation::Remove) => {
                (!keys.contains(argument)).then_some(Value::Bool(false))
            }
            _ => None,
        }
    }

    /// Runs an operation from its call to its answer; `None` if the object does not have it.
    pub fn run(&mut self, operation: RefOperation, argument: &Value) -> Option<Effect> {
        let constant = |value| Effect { ret: Ret::Constant(value), made: None };
        Some(match (self, operation) {
            (Reference::Stack { top, nodes }, RefOperation::Push) => {
                let made = fresh(nodes);
                nodes.insert(made, RefNode { value: argument.clone(), next: *top });
                *top = Some(made);
                Effect { made: Some(made), ..constant(Value::Null) }
            }
            (Reference::Stack { top, nodes }, RefOperation::Pop) => match *top {
                None => constant(Value::Null),
                Some(first) => {
                    *top = nodes.get(&first)?.next;
                    Effect { ret: Ret::Node(first), made: None }
                }
            },
            (Reference::Queue { tail, nodes, .. }, RefOperation::Enqueue) => {
                let made = fresh(nodes);
                nodes.insert(made, RefNode { value: argument.clone(), next: None });
                nodes.get_mut(tail)?.next = Some(made);
                *tail = made;
                Effect { made: Some(made), ..constant(Value::Null) }
            }
            (Reference::Queue { head, nodes, .. }, RefOperation::Dequeue) => {
                match nodes.get(head)?.next {
                    None => constant(Value::Null),
                    Some(first) => {
                        *head = first;
                        Effect { ret: Ret::Node(first), made: None }
                    }
                }
            }
            (Reference::Set(keys), RefOperation::Add) => {
                constant(Value::Bool(keys.insert(argument.clone())))
            }
            (Reference::Set(keys), RefOperation::Remove) => {
                constant(Value::Bool(keys.remove(argument)))
            }
            (Reference::Set(keys), RefOperation::Contains) => {
                constant(Value::Bool(keys.contains(argument)))
            }
            _ => return None,
        })
    }
}

fn fresh(nodes: &BTreeMap<RefId, RefNode>) -> RefId {
    nodes.last_key_value().map_or(RefId(0), |(last, _)| RefId(last.0 + 1))
}
