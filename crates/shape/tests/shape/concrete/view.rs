//! What a check of embedding asks of a correlated state.

use super::correlated::{Correlated, ObjectId, Phase};
use super::reference::{RefId, Reference, Ret};
use linchpin_ir::interpreter::{Object, Status};
use linchpin_ir::program::NodeId;
use linchpin_spec::Value;
use std::collections::BTreeSet;

/// A field that refers to the next node: of its own, or a component of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The field of the object.
    pub field: usize,
    /// The component, if the field is a record.
    pub component: Option<usize>,
}

/// Where a key stands beside the one key K that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyClass {
    /// The smallest number: a sentinel.
    Min,
    /// Below K.
    Below,
    /// K itself.
    Key,
    /// Above K.
    Above,
    /// The largest number: a sentinel.
    Max,
}

impl KeyClass {
    /// The class of a key.
    pub fn of(key: i64, one: i64) -> KeyClass {
        match key {
            i64::MIN => KeyClass::Min,
            i64::MAX => KeyClass::Max,
            key if key < one => KeyClass::Below,
            key if key == one => KeyClass::Key,
            _ => KeyClass::Above,
        }
    }
}

impl Correlated {
    /// The objects of the candidate.
    pub fn objects(&self) -> impl Iterator<Item = (ObjectId, &Object)> {
        (0..).map(ObjectId).zip(self.candidate.heap.iter().map(|object| &**object))
    }

    /// The object to which a value refers.
    pub fn object_of(value: &Value) -> Option<ObjectId> {
        match value {
            Value::Ref(object) => Some(ObjectId(*object)),
            _ => None,
        }
    }

    /// The object to which a shared variable refers.
    pub fn shared_object(&self, variable: usize) -> Option<ObjectId> {
        Correlated::object_of(self.candidate.shared.get(variable)?)
    }

    /// A field of an object, or the component of one.
    pub fn field(&self, object: ObjectId, link: Link) -> Option<&Value> {
        let value = self.candidate.heap.get(object.0 as usize)?.fields.get(link.field)?;
        match link.component {
            None => Some(value),
            Some(component) => value.as_list()?.get(component),
        }
    }

    /// The object that follows; none if the link is null.
    pub fn next(&self, object: ObjectId, link: Link) -> Option<ObjectId> {
        Correlated::object_of(self.field(object, link)?)
    }

    /// The objects that can be reached from a shared variable along a link.
    pub fn reachable(&self, variable: usize, link: Link) -> BTreeSet<ObjectId> {
        let mut reached = BTreeSet::new();
        let mut at = self.shared_object(variable);
        while let Some(object) = at
            && reached.insert(object)
        {
            at = self.next(object, link);
        }
        reached
    }

    /// The reference node that an object is correlated with.
    pub fn correlated(&self, object: ObjectId) -> Option<RefId> {
        self.correlation.get(&object).copied()
    }

    /// The object that a reference node is correlated with.
    pub fn candidate_of(&self, node: RefId) -> Option<ObjectId> {
        self.correlation.iter().find(|(_, other)| **other == node).map(|(object, _)| *object)
    }

    /// Whether an object and its reference node have successors that are correlated, or none
    /// (uniform, Figure D.1). `None`: it is not correlated.
    pub fn is_uniform(&self, object: ObjectId, link: Link) -> Option<bool> {
        let next = self.reference.node(self.correlated(object)?)?.next;
        Some(match (self.next(object, link), next) {
            (None, None) => true,
            (Some(object), Some(node)) => self.correlated(object) == Some(node),
            _ => false,
        })
    }

    /// The number of nodes: objects, and reference nodes without a partner.
    pub fn node_count(&self) -> usize {
        let nodes = self.reference.nodes().map_or(0, |nodes| nodes.len());
        self.candidate.heap.len() + nodes.saturating_sub(self.correlation.len())
    }

    /// How far the call of a thread is.
    pub fn phase(&self, thread: usize) -> Phase {
        let call = self.calls.get(thread).and_then(Option::as_ref);
        call.map_or(Phase::Out, |call| call.phase.clone())
    }

    /// The operation of a thread and the node where it stands; no node if it is about to respond.
    pub fn stands(&self, thread: usize) -> Option<(usize, Option<NodeId>)> {
        match &self.candidate.threads.get(thread)?.status {
            Status::Idle | Status::Interrupted { .. } => None,
            Status::Resolving { operation, node, .. } => Some((*operation, Some(*node))),
            Status::Resolved { operation, .. } => Some((*operation, None)),
            Status::Running { operation, node, .. } => Some((*operation, Some(*node))),
            Status::Returning { operation, .. } => Some((*operation, None)),
        }
    }

    /// The locals of a running thread; those that are dead have their initial values.
    pub fn locals(&self, thread: usize) -> &[Value] {
        match self.candidate.threads.get(thread).map(|thread| &thread.status) {
            Some(Status::Running { locals, .. }) => locals,
            _ => &[],
        }
    }

    /// Whether the reference would have answered this, at an instant of the call.
    pub fn seen(&self, thread: usize, answer: &Value) -> bool {
        let call = self.calls.get(thread).and_then(Option::as_ref);
        call.is_some_and(|call| call.seen.contains(answer))
    }

    /// Of a thread about to answer with the value of a node: whether the value is that of the object
    /// correlated with the reference's node, as the \[finish\] rule of Figure C.3 demands. Where
    /// clients pass distinct values, this and equal values are the same.
    pub fn origin_corresponds(&self, thread: usize) -> Option<bool> {
        let Phase::Post(Ret::Node(node)) = self.phase(thread) else { return None };
        let Status::Returning { value, .. } = &self.candidate.threads.get(thread)?.status else {
            return None;
        };
        let object = self.candidate_of(node).and_then(|o| self.candidate.heap.get(o.0 as usize));
        Some(object.is_some_and(|object| object.fields.contains(value)))
    }

    /// The objects that a thread has allocated in its call and not published.
    pub fn owned(&self, thread: usize) -> BTreeSet<ObjectId> {
        let call = self.calls.get(thread).and_then(Option::as_ref);
        call.map_or_else(BTreeSet::new, |call| call.owned.clone())
    }

    /// The thread that holds a lock.
    pub fn holder(value: &Value) -> Option<usize> {
        value.as_int().and_then(|thread| usize::try_from(thread).ok())
    }

    /// Whether the key is in the reference set: the bit `b` for K.
    pub fn bit(&self, key: i64) -> bool {
        matches!(&self.reference, Reference::Set(keys) if keys.contains(&Value::Int(key)))
    }
}
