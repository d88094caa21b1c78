//! The nodes of a concrete correlated state: an object, a node of the reference, or both where they
//! are correlated (a duo-object, Appendix D of the paper), and what can be said of each.

use crate::concrete::correlated::{Correlated, ObjectId};
use crate::concrete::reference::{RefId, Reference as List};
use linchpin_ir::program::Type;
use linchpin_shape::correlate::Machine;
use linchpin_shape::heap::{Flags, Kind, Side};
use linchpin_shape::model::{Cell, Reference};
use linchpin_shape::value::{Class, Holder};
use linchpin_spec::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A node: index into [`Nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Concrete(pub usize);

/// What is looked at: the threads that are shown, in this order, and the key K.
#[derive(Clone, Debug)]
pub struct Focus {
    /// The threads.
    pub threads: Vec<usize>,
    /// The key, where keys are told apart by one.
    pub key: i64,
}

struct Node {
    object: Option<ObjectId>,
    reference: Option<RefId>,
    of: usize,
    /// The words of an object, in the order of the cells of its struct.
    words: Vec<Value>,
}

/// The nodes of a state.
pub struct Nodes<'a> {
    /// The state.
    pub state: &'a Correlated,
    /// The program.
    pub machine: &'a Machine,
    nodes: Vec<Node>,
    of_reference: BTreeMap<RefId, Concrete>,
    /// The walked list, in order.
    pub list: Vec<Concrete>,
    owned: Vec<BTreeSet<ObjectId>>,
}

/// The words of a value of a type.
pub fn words(value: &Value, ty: &Type, out: &mut Vec<Value>) {
    let parts: Vec<&Type> = match ty {
        Type::Record { fields, .. } => fields.iter().map(|(_, ty)| ty).collect(),
        Type::Tuple(items) => items.iter().collect(),
        _ => {
            out.push(value.clone());
            return;
        }
    };
    for (at, part) in parts.into_iter().enumerate() {
        let value = value.as_list().map_or(Some(value), |items| items.get(at));
        words(value.unwrap_or(&Value::Null), part, out);
    }
}

/// Where a key stands beside K.
pub fn class_of(key: i64, one: i64) -> Class {
    match key {
        i64::MIN => Class::Min,
        i64::MAX => Class::Max,
        key if key < one => Class::Below,
        key if key == one => Class::At,
        _ => Class::Above,
    }
}

impl<'a> Nodes<'a> {
    /// The nodes of a state.
    pub fn new(state: &'a Correlated, machine: &'a Machine) -> Nodes<'a> {
        let model = &machine.model;
        let mut nodes = Vec::new();
        let mut of_reference = BTreeMap::new();
        for (id, object) in state.objects() {
            let mut all = Vec::new();
            for (value, field) in object.fields.iter().zip(&model.program.structs[object.of].fields)
            {
                words(value, &field.ty, &mut all);
            }
            let reference = state.correlated(id);
            of_reference.extend(reference.map(|node| (node, Concrete(nodes.len()))));
            nodes.push(Node { object: Some(id), reference, of: object.of, words: all });
        }
        let of = match &model.reference {
            Reference::Stack(node) | Reference::Queue(node) => usize::from(node.of),
            _ => 0,
        };
        for id in state.reference.nodes().into_iter().flat_map(BTreeMap::keys) {
            if !of_reference.contains_key(id) {
                of_reference.insert(*id, Concrete(nodes.len()));
                nodes.push(Node { object: None, reference: Some(*id), of, words: Vec::new() });
            }
        }
        let owned = (0..state.calls.len()).map(|thread| state.owned(thread)).collect();
        let mut all = Nodes { state, machine, nodes, of_reference, list: Vec::new(), owned };
        all.list = all.walk();
        all
    }

    fn walk(&self) -> Vec<Concrete> {
        let Some((root, link)) = self.machine.model.root else { return Vec::new() };
        let mut list = Vec::new();
        let mut at = self.of_value(&self.shared()[root]);
        while let Some(node) = at
            && !list.contains(&node)
        {
            list.push(node);
            at = self.link(Side::Candidate, node, link);
        }
        list
    }

    /// The words of the shared variables.
    pub fn shared(&self) -> Vec<Value> {
        let mut all = Vec::new();
        let program = &self.machine.model.program;
        for (value, variable) in self.state.candidate.shared.iter().zip(&program.shared) {
            words(value, &variable.ty, &mut all);
        }
        all
    }

    /// The words of the locals of a running thread, with whether each can still be read.
    pub fn locals(
        &self,
        thread: usize,
        operation: usize,
        is_live: impl Fn(usize) -> bool,
    ) -> Vec<(Value, bool)> {
        let locals = &self.machine.model.program.operations[operation].body.locals;
        let mut all = Vec::new();
        for (at, (value, local)) in self.state.locals(thread).iter().zip(locals).enumerate() {
            let mut of_local = Vec::new();
            words(value, &local.ty, &mut of_local);
            all.extend(of_local.into_iter().map(|word| (word, is_live(at))));
        }
        all
    }

    /// The node that a value refers to.
    pub fn of_value(&self, value: &Value) -> Option<Concrete> {
        Correlated::object_of(value).and_then(|object| usize::try_from(object.0).ok()).map(Concrete)
    }

    /// The node that a node of the reference is.
    pub fn of_reference(&self, id: RefId) -> Option<Concrete> {
        self.of_reference.get(&id).copied()
    }

    /// The words of the reference: pointers, or the bit of K.
    pub fn reference(&self, key: i64) -> Vec<Word> {
        let node = |id: Option<RefId>| Word::Node(id.and_then(|id| self.of_reference(id)));
        match &self.state.reference {
            List::Stack { top, .. } => vec![node(*top)],
            List::Queue { head, tail, .. } => vec![node(Some(*head)), node(Some(*tail))],
            List::Set(_) => vec![Word::Value(Value::Bool(self.state.bit(key)))],
        }
    }

    /// The last node of the list below K, and the one behind it.
    pub fn edge(&self, key: i64) -> Option<(Concrete, Concrete)> {
        let below = |node: Concrete| self.class(node, key) < Class::At;
        self.list.windows(2).map(|pair| (pair[0], pair[1])).find(|(a, b)| below(*a) && !below(*b))
    }

    fn class(&self, node: Concrete, key: i64) -> Class {
        let node = &self.nodes[node.0];
        let cells = self.machine.model.cells[node.of].iter().zip(&node.words);
        let mut keys = cells.filter(|(cell, _)| **cell == Cell::Key);
        let value = keys.next().and_then(|(_, value)| value.as_int());
        value.map_or(Class::None, |value| class_of(value, key))
    }

    /// The links that nodes of this struct have.
    fn links(&self, of: usize) -> impl Iterator<Item = u8> + '_ {
        self.machine.model.cells[of].iter().filter_map(|cell| match cell {
            Cell::Link(link) => Some(*link),
            _ => None,
        })
    }

    /// Where the link of a side goes.
    pub fn link(&self, side: Side, node: Concrete, link: u8) -> Option<Concrete> {
        let node = &self.nodes[node.0];
        match side {
            Side::Candidate => {
                let cells = self.machine.model.cells[node.of].iter().zip(&node.words);
                let mut links = cells.filter(|(cell, _)| **cell == Cell::Link(link));
                self.of_value(links.next()?.1)
            }
            Side::Reference => {
                let (Reference::Stack(list) | Reference::Queue(list)) =
                    &self.machine.model.reference
                else {
                    return None;
                };
                let next = self.state.reference.node(node.reference?)?.next?;
                (list.link == link).then(|| self.of_reference(next)).flatten()
            }
        }
    }

    /// All links of a node.
    pub fn all_links(&self, node: Concrete) -> Vec<(Side, u8, Option<Concrete>)> {
        let mut all = Vec::new();
        let has = &self.nodes[node.0];
        for (side, is) in
            [(Side::Candidate, has.object.is_some()), (Side::Reference, has.reference.is_some())]
        {
            for link in self.links(has.of).filter(|_| is) {
                all.push((side, link, self.link(side, node, link)));
            }
        }
        all
    }

    fn is_uniform(&self, node: Concrete) -> bool {
        let same = |link: u8| {
            self.link(Side::Candidate, node, link) == self.link(Side::Reference, node, link)
        };
        self.links(self.nodes[node.0].of).all(same)
    }

    /// The nodes whose integer cell with this number holds a value.
    pub fn holding(&self, value: &Value, cell: u8) -> Vec<Concrete> {
        let all = (0..self.nodes.len()).map(Concrete);
        all.filter(|node| self.value(*node, cell) == Some(value)).collect()
    }

    /// What the integer cell with this number of a node holds.
    pub fn value(&self, node: Concrete, cell: u8) -> Option<&Value> {
        let node = &self.nodes[node.0];
        match node.object {
            Some(_) => {
                let cells = self.machine.model.cells[node.of].iter().zip(&node.words);
                let mut values = cells.filter(|(at, _)| **at == Cell::Value(cell));
                values.next().map(|(_, value)| value)
            }
            None => self.state.reference.node(node.reference?).map(|node| &node.value),
        }
    }

    /// The node that is this object.
    pub fn of_object(&self, object: ObjectId) -> Option<Concrete> {
        usize::try_from(object.0).ok().map(Concrete)
    }

    /// The thread that holds a lock, if it is shown.
    pub fn holder(&self, value: &Value, focus: &Focus) -> Option<u8> {
        let holder = Correlated::holder(value)?;
        let place = focus.threads.iter().position(|thread| *thread == holder)?;
        u8::try_from(place).ok()
    }

    /// Whether a lock may be said to have this holder. A view may know of no other holder than its
    /// own thread: `Free` then says that this thread is not the one.
    pub fn is_held(&self, value: &Value, by: Holder, focus: &Focus) -> bool {
        let shown = self.holder(value, focus);
        match by {
            Holder::Thread(thread) => shown == Some(thread),
            Holder::Free => shown.is_none(),
            Holder::Other => shown.is_none() && !value.is_null(),
            Holder::Reference => false,
        }
    }

    /// Whether a node may have these flags in a structure; if not, what is not so. A uniform node
    /// may be taken for one that may not be uniform, and a private one for one that may not be.
    pub fn fits(&self, at: Concrete, flags: Flags, focus: &Focus) -> Result<(), &'static str> {
        let node = &self.nodes[at.0];
        let kind = match (node.object.is_some(), node.reference.is_some()) {
            (true, true) if flags.kind == Kind::Uniform && !self.is_uniform(at) => {
                return Err("it is not uniform");
            }
            (true, true) => matches!(flags.kind, Kind::Uniform | Kind::Nonuniform),
            (true, false) => flags.kind == Kind::Candidate,
            (false, _) => flags.kind == Kind::Reference,
        };
        let holder = |thread: u8| focus.threads.get(usize::from(thread)).copied();
        let owned = |thread: u8| {
            let owned = holder(thread).and_then(|thread| self.owned.get(thread));
            node.object.is_some_and(|object| owned.is_some_and(|all| all.contains(&object)))
        };
        let (mut bools, mut locks) = (0, true);
        for (cell, value) in self.machine.model.cells[node.of].iter().zip(&node.words) {
            match cell {
                Cell::Flag(bit) => bools |= u8::from(*value == Value::Bool(true)) << bit,
                Cell::Lock(lock) => {
                    locks &= self.is_held(value, flags.locks[usize::from(*lock)], focus);
                }
                _ => {}
            }
        }
        let checks = [
            (kind, "its kind"),
            (usize::from(flags.of) == node.of, "its struct"),
            (flags.class == self.class(at, focus.key), "its class"),
            (flags.bools == bools, "its truth values"),
            (flags.reach == self.list.contains(&at), "whether it is in the list"),
            (flags.owner.is_none_or(owned), "it is not private"),
            (locks, "its locks"),
        ];
        checks.into_iter().find(|(fits, _)| !fits).map_or(Ok(()), |(_, what)| Err(what))
    }
}

/// A word of the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// A pointer.
    Node(Option<Concrete>),
    /// Something else.
    Value(Value),
}
