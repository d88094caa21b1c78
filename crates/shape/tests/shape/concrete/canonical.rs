//! Canonical states: objects, reference nodes and tokens are numbered in the order in which they
//! are met from the shared variables, the reference and the threads; what is not met is dropped.
//!
//! Two states with the same canonical form differ only in names. Two that differ only in names may
//! still have different forms (where several objects hold one token): then a state is explored
//! twice, which costs time only.

use super::correlated::{Correlated, FIRST_TOKEN, ObjectId, Phase, as_token, thread_values};
use super::reference::{RefId, RefNode, Reference, Ret};
use linchpin_ir::interpreter::{Location, Object, Root, State, Status, ThreadState};
use linchpin_spec::Value;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Something to look into.
#[derive(Clone, Copy)]
enum Item {
    Object(ObjectId),
    Node(RefId),
}

/// The new numbers.
struct Names<'a> {
    state: &'a Correlated,
    partner: BTreeMap<RefId, ObjectId>,
    objects: BTreeMap<ObjectId, ObjectId>,
    order: Vec<ObjectId>,
    nodes: BTreeMap<RefId, RefId>,
    tokens: BTreeMap<i64, i64>,
    queue: VecDeque<Item>,
}

/// The canonical form of a state.
pub fn canonical(state: &Correlated) -> Correlated {
    let mut names = Names {
        state,
        partner: state.correlation.iter().map(|(object, node)| (*node, *object)).collect(),
        objects: BTreeMap::new(),
        order: Vec::new(),
        nodes: BTreeMap::new(),
        tokens: BTreeMap::new(),
        queue: VecDeque::new(),
    };
    names.meet_everything();
    names.renamed()
}

impl Names<'_> {
    fn meet_everything(&mut self) {
        let state = self.state;
        state.candidate.shared.iter().for_each(|value| self.value(value));
        self.drain();
        state.reference.pointers().into_iter().for_each(|node| self.node(node));
        self.drain();
        for thread in 0..state.candidate.threads.len() {
            for value in thread_values(&state.candidate.threads[thread]) {
                self.held(value);
            }
            if let Some(call) = &state.calls[thread] {
                // Of the nodes that hold it, `la` below is kept.
                self.value(&call.argument);
                if let Phase::Post(Ret::Node(node)) = call.phase {
                    self.node(node);
                }
            }
            if let Some(object) = state.last_allocated(thread) {
                self.object(object);
            }
            self.drain();
        }
    }

    fn drain(&mut self) {
        while let Some(item) = self.queue.pop_front() {
            match item {
                Item::Object(object) => {
                    let fields = &self.state.candidate.heap[object.0 as usize].fields;
                    fields.iter().for_each(|value| self.value(value));
                    if let Some(node) = self.state.correlation.get(&object) {
                        self.node(*node);
                    }
                }
                Item::Node(id) => {
                    if let Some(node) = self.state.reference.node(id) {
                        self.value(&node.value);
                        node.next.into_iter().for_each(|next| self.node(next));
                    }
                    if let Some(object) = self.partner.get(&id) {
                        self.object(*object);
                    }
                }
            }
        }
    }

    fn object(&mut self, object: ObjectId) {
        if !self.objects.contains_key(&object) {
            self.objects.insert(object, ObjectId(number(self.order.len())));
            self.order.push(object);
            self.queue.push_back(Item::Object(object));
        }
    }

    fn node(&mut self, node: RefId) {
        let next = RefId(number(self.nodes.len()));
        if let std::collections::btree_map::Entry::Vacant(entry) = self.nodes.entry(node) {
            entry.insert(next);
            self.queue.push_back(Item::Node(node));
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Ref(object) => self.object(ObjectId(*object)),
            Value::List(items) => items.iter().for_each(|item| self.value(item)),
            other => {
                if let Some(token) = as_token(other) {
                    let next = FIRST_TOKEN + i64::from(number(self.tokens.len()));
                    self.tokens.entry(token).or_insert(next);
                }
            }
        }
    }

    /// A value that a thread holds: a token keeps the objects and nodes that it came from, so that
    /// an answer can be traced to its origin.
    fn held(&mut self, value: &Value) {
        self.value(value);
        if as_token(value).is_none() {
            return;
        }
        for (index, object) in (0..).zip(&self.state.candidate.heap) {
            if object.fields.contains(value) {
                self.object(ObjectId(index));
            }
        }
        for (id, node) in self.state.reference.nodes().into_iter().flatten() {
            if node.value == *value {
                self.node(*id);
            }
        }
    }

    fn renamed(&self) -> Correlated {
        let state = self.state;
        let candidate = State {
            shared: state.candidate.shared.iter().map(|value| self.rename(value)).collect(),
            heap: self.order.iter().map(|old| self.renamed_object(*old)).collect(),
            threads: state.candidate.threads.iter().map(|t| self.renamed_thread(t)).collect(),
            ..state.candidate.clone()
        };
        let correlation = state.correlation.iter().filter_map(|(object, node)| {
            Some((*self.objects.get(object)?, *self.nodes.get(node)?))
        });
        let calls = state.calls.iter().map(|call| {
            let mut call = call.clone()?;
            call.argument = self.rename(&call.argument);
            if let Phase::Post(Ret::Node(node)) = &mut call.phase {
                *node = self.nodes[node];
            }
            let kept = |object: &ObjectId| self.objects.get(object).copied();
            call.allocated = call.allocated.iter().filter_map(kept).collect();
            call.owned = call.owned.iter().filter_map(kept).collect();
            Some(call)
        });
        Correlated {
            candidate,
            reference: self.renamed_reference(),
            correlation: correlation.collect(),
            calls: calls.collect(),
            tokens: number(self.tokens.len()),
        }
    }

    fn renamed_reference(&self) -> Reference {
        let nodes = |nodes: &BTreeMap<RefId, RefNode>| {
            let renamed = self.nodes.iter().filter_map(|(old, new)| {
                let RefNode { value, next } = nodes.get(old)?;
                let next = next.map(|next| self.nodes[&next]);
                Some((*new, RefNode { value: self.rename(value), next }))
            });
            renamed.collect()
        };
        match &self.state.reference {
            Reference::Stack { top, nodes: all } => {
                Reference::Stack { top: top.map(|top| self.nodes[&top]), nodes: nodes(all) }
            }
            Reference::Queue { head, tail, nodes: all } => Reference::Queue {
                head: self.nodes[head],
                tail: self.nodes[tail],
                nodes: nodes(all),
            },
            Reference::Set(keys) => Reference::Set(keys.clone()),
        }
    }

    fn renamed_object(&self, old: ObjectId) -> Arc<Object> {
        let Object { of, fields, live } = &*self.state.candidate.heap[old.0 as usize];
        let fields = fields.iter().map(|value| self.rename(value)).collect();
        Arc::new(Object { of: *of, fields, live: *live })
    }

    fn renamed_thread(&self, thread: &ThreadState) -> Arc<ThreadState> {
        let all = |values: &[Value]| values.iter().map(|value| self.rename(value)).collect();
        let status = match &thread.status {
            Status::Idle => Status::Idle,
            Status::Running { operation, node, locals } => {
                Status::Running { operation: *operation, node: *node, locals: all(locals) }
            }
            Status::Returning { operation, value } => {
                Status::Returning { operation: *operation, value: self.rename(value) }
            }
            other => unreachable!("no thread crashes: {other:?}"),
        };
        let link = |link: &Location| match link.root {
            Root::Shared(_) => Some(*link),
            Root::Field { object, field } => {
                let object = self.objects.get(&ObjectId(object))?.0;
                Some(Location { root: Root::Field { object, field }, element: link.element })
            }
        };
        let links = thread.links.iter().filter_map(link).collect();
        Arc::new(ThreadState { variables: all(&thread.variables), links, status, ..thread.clone() })
    }

    fn rename(&self, value: &Value) -> Value {
        match value {
            Value::Ref(object) => Value::Ref(self.objects[&ObjectId(*object)].0),
            Value::List(items) => Value::list(items.iter().map(|item| self.rename(item))),
            other => match as_token(other) {
                Some(token) => Value::Int(self.tokens[&token]),
                None => other.clone(),
            },
        }
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
