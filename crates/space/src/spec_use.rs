//! What a specification of the model's own (`spec { }`) does with the integers that clients pass
//! and get back.
//!
//! The same question as for the model (`symmetry.rs`), asked of the specification's code, whose
//! values are sequences, sets and maps too: integers that are copied into each other or compared
//! form classes. A class with an integer of a parameter or an answer is data. Elements of sets and
//! keys of maps are compared with each other by being there.

use crate::any_values::{DataUse, NotAlike};
use crate::marks::{Marks, SpecMarks};
use linchpin_ir::program::{
    Action, BinaryOp, Body, Expr, LocalTarget, Method, Operation, Place, Program, Query, Target,
    Type, UnaryOp,
};
use linchpin_spec::Value;

/// What is done with the data of a specification, and where it is.
pub(crate) fn spec_use(spec: &Program) -> (DataUse, SpecMarks) {
    let mut flow = Flow::default();
    let shared: Vec<Tree> = spec.shared.iter().map(|of| flow.tree(&of.ty)).collect();
    let mut boundary: Vec<(usize, &Operation)> = Vec::new();
    for operation in &spec.operations {
        let response = flow.tree(&operation.response);
        let locals: Vec<Tree> = operation.body.locals.iter().map(|of| flow.tree(&of.ty)).collect();
        for (tree, parameter) in locals.iter().zip(&operation.parameters) {
            collect(tree, &parameter.ty, &mut |leaf| boundary.push((leaf, operation)));
        }
        collect(&response, &operation.response, &mut |leaf| boundary.push((leaf, operation)));
        let mut code = Code { flow: &mut flow, shared: &shared, locals, response };
        code.body(&operation.body);
    }
    let mut found = DataUse::Moved;
    for (leaf, operation) in &boundary {
        let class = flow.class(*leaf);
        let why: fn(String) -> NotAlike = match class {
            Class { plain: true, .. } => NotAlike::Computed,
            Class { positive: true, .. } => NotAlike::Constant,
            Class { compared, .. } => {
                if compared {
                    found = DataUse::Compared;
                }
                continue;
            }
        };
        let why = NotAlike::InSpecification(Box::new(why(operation.name.clone())));
        return (DataUse::Other(why), SpecMarks::of(spec, Vec::new()));
    }
    let roots: Vec<usize> = boundary.iter().map(|(leaf, _)| flow.find(*leaf)).collect();
    let variables = shared.iter().map(|tree| flow.marks(tree, &roots)).collect();
    (found, SpecMarks::of(spec, variables))
}

/// Where the integers of a value come from, in the form of its type.
#[derive(Clone, Debug)]
enum Tree {
    /// Of a variable: a number of [`Flow`].
    Leaf(usize),
    /// A constant.
    Const(Value),
    /// Computed.
    Other,
    /// A record, a tuple, or a list that is written down.
    Parts(Vec<Tree>),
    /// An array or a sequence: its elements are in one class.
    Each(Box<Tree>),
    /// A set.
    Set(Box<Tree>),
    /// A map.
    Map(Box<Tree>, Box<Tree>),
}

#[derive(Clone, Copy, Debug, Default)]
struct Class {
    /// Counted with, ordered, used as an index, computed, or no integer.
    plain: bool,
    /// Set to or compared with a constant above 0.
    positive: bool,
    /// Compared for equality with what is not a constant.
    compared: bool,
}

/// The classes: a union-find.
#[derive(Default)]
struct Flow {
    parents: Vec<usize>,
    classes: Vec<Class>,
}

impl Flow {
    fn leaf(&mut self, class: Class) -> usize {
        self.parents.push(self.parents.len());
        self.classes.push(class);
        self.parents.len() - 1
    }

    fn find(&mut self, mut leaf: usize) -> usize {
        while self.parents[leaf] != leaf {
            self.parents[leaf] = self.parents[self.parents[leaf]];
            leaf = self.parents[leaf];
        }
        leaf
    }

    fn class(&mut self, leaf: usize) -> Class {
        let root = self.find(leaf);
        self.classes[root]
    }

    fn note(&mut self, leaf: usize, more: Class) {
        let root = self.find(leaf);
        let class = &mut self.classes[root];
        class.plain |= more.plain;
        class.positive |= more.positive;
        class.compared |= more.compared;
    }

    fn unite(&mut self, left: usize, right: usize) {
        let (left, right) = (self.find(left), self.find(right));
        if left != right {
            self.parents[left] = right;
            self.note(right, self.classes[left]);
        }
    }

    /// A new tree for a type.
    fn tree(&mut self, ty: &Type) -> Tree {
        let compared = Class { compared: true, ..Class::default() };
        match ty {
            Type::Int => Tree::Leaf(self.leaf(Class::default())),
            Type::Option(inner) => self.tree(inner),
            Type::Record { fields, .. } => {
                Tree::Parts(fields.iter().map(|(_, ty)| self.tree(ty)).collect())
            }
            Type::Tuple(items) => Tree::Parts(items.iter().map(|ty| self.tree(ty)).collect()),
            Type::Array(item, _) | Type::Seq(item) => Tree::Each(Box::new(self.tree(item))),
            Type::Set(item) => {
                let item = self.tree(item);
                self.note_all(&item, compared);
                Tree::Set(Box::new(item))
            }
            Type::Map(key, item) => {
                let (key, item) = (self.tree(key), self.tree(item));
                self.note_all(&key, compared);
                Tree::Map(Box::new(key), Box::new(item))
            }
            Type::Wrapping(_)
            | Type::Unit
            | Type::Bool
            | Type::Tid
            | Type::Lock
            | Type::Struct(_) => Tree::Leaf(self.leaf(Class { plain: true, ..Class::default() })),
        }
    }

    fn note_all(&mut self, tree: &Tree, more: Class) {
        leaves(tree, &mut |leaf| self.note(leaf, more));
    }

    fn plain(&mut self, tree: &Tree) {
        self.note_all(tree, Class { plain: true, ..Class::default() });
    }

    /// One is copied into the other.
    fn meet(&mut self, left: &Tree, right: &Tree) {
        match (left, right) {
            (Tree::Leaf(left), Tree::Leaf(right)) => self.unite(*left, *right),
            (Tree::Const(_), Tree::Const(_)) => {}
            (tree, Tree::Const(value)) | (Tree::Const(value), tree) => self.constant(tree, value),
            (tree, Tree::Other) | (Tree::Other, tree) => self.plain(tree),
            (Tree::Parts(left), Tree::Parts(right)) if left.len() == right.len() => {
                left.iter().zip(right).for_each(|(left, right)| self.meet(left, right));
            }
            (Tree::Each(item), Tree::Parts(parts)) | (Tree::Parts(parts), Tree::Each(item)) => {
                parts.iter().for_each(|part| self.meet(item, part));
            }
            // A set may be written down as a list.
            (Tree::Set(item), Tree::Parts(parts)) | (Tree::Parts(parts), Tree::Set(item)) => {
                parts.iter().for_each(|part| self.meet(item, part));
            }
            (Tree::Map(..), Tree::Parts(parts)) | (Tree::Parts(parts), Tree::Map(..))
                if parts.is_empty() => {}
            (Tree::Each(left), Tree::Each(right)) | (Tree::Set(left), Tree::Set(right)) => {
                self.meet(left, right);
            }
            (Tree::Map(key, item), Tree::Map(other, value)) => {
                self.meet(key, other);
                self.meet(item, value);
            }
            // Of different forms, which well-formed code does not copy: nothing is known.
            (left, right) => {
                self.plain(left);
                self.plain(right);
            }
        }
    }

    fn constant(&mut self, tree: &Tree, value: &Value) {
        match value {
            Value::Int(i) => {
                let positive = *i > 0;
                self.note_all(tree, Class { positive, ..Class::default() });
            }
            Value::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    match tree {
                        Tree::Parts(parts) if at < parts.len() => self.constant(&parts[at], item),
                        Tree::Each(each) | Tree::Set(each) => self.constant(each, item),
                        other => self.constant(other, item),
                    }
                }
            }
            Value::Set(items) => items.iter().for_each(|item| self.constant(tree, item)),
            Value::Map(items) => items.iter().for_each(|(key, item)| {
                self.constant(tree, key);
                self.constant(tree, item);
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Str(_) | Value::Ref(_) => {}
        }
    }

    /// The two are compared for equality.
    fn compare(&mut self, left: &Tree, right: &Tree) {
        self.meet(left, right);
        if !matches!(left, Tree::Const(_)) && !matches!(right, Tree::Const(_)) {
            let compared = Class { compared: true, ..Class::default() };
            self.note_all(left, compared);
            self.note_all(right, compared);
        }
    }

    /// One or the other.
    fn either(&mut self, left: Tree, right: Tree) -> Tree {
        match (&left, &right) {
            (Tree::Const(Value::Null), _) => right,
            (_, Tree::Const(Value::Null)) => left,
            (Tree::Const(Value::Int(_)), Tree::Const(Value::Int(_))) => {
                let tree = Tree::Leaf(self.leaf(Class::default()));
                self.meet(&tree, &left);
                self.meet(&tree, &right);
                tree
            }
            (Tree::Const(one), Tree::Const(other)) if one == other => left,
            (Tree::Const(_), Tree::Const(_)) | (Tree::Other, _) | (_, Tree::Other) => {
                self.plain(&left);
                self.plain(&right);
                Tree::Other
            }
            (Tree::Const(_), _) => {
                self.meet(&right, &left);
                right
            }
            _ => {
                self.meet(&left, &right);
                left
            }
        }
    }

    fn marks(&mut self, tree: &Tree, roots: &[usize]) -> Marks {
        match tree {
            Tree::Leaf(leaf) if roots.contains(&self.find(*leaf)) => Marks::All,
            Tree::Leaf(_) | Tree::Const(_) | Tree::Other => Marks::None,
            Tree::Parts(parts) => {
                Marks::Parts(parts.iter().map(|part| self.marks(part, roots)).collect())
            }
            Tree::Each(item) | Tree::Set(item) => Marks::Each(Box::new(self.marks(item, roots))),
            Tree::Map(key, item) => {
                Marks::Map(Box::new(self.marks(key, roots)), Box::new(self.marks(item, roots)))
            }
        }
    }
}

/// Visits the variables that a tree is made of.
fn leaves(tree: &Tree, visit: &mut dyn FnMut(usize)) {
    match tree {
        Tree::Leaf(leaf) => visit(*leaf),
        Tree::Const(_) | Tree::Other => {}
        Tree::Parts(parts) => parts.iter().for_each(|part| leaves(part, visit)),
        Tree::Each(item) | Tree::Set(item) => leaves(item, visit),
        Tree::Map(key, item) => {
            leaves(key, visit);
            leaves(item, visit);
        }
    }
}

/// Visits the integers of a parameter or an answer, but not its thread ids and truth values.
fn collect(tree: &Tree, ty: &Type, visit: &mut dyn FnMut(usize)) {
    match (tree, ty) {
        (Tree::Leaf(leaf), Type::Int | Type::Wrapping(_)) => visit(*leaf),
        (tree, Type::Option(inner)) => collect(tree, inner, visit),
        (Tree::Parts(parts), Type::Tuple(items)) => {
            parts.iter().zip(items).for_each(|(part, ty)| collect(part, ty, visit));
        }
        (Tree::Parts(parts), Type::Record { fields, .. }) => {
            parts.iter().zip(fields).for_each(|(part, (_, ty))| collect(part, ty, visit));
        }
        (Tree::Each(item), Type::Array(ty, _) | Type::Seq(ty)) => collect(item, ty, visit),
        (Tree::Set(item), Type::Set(ty)) => collect(item, ty, visit),
        (Tree::Map(key, item), Type::Map(of_key, of_item)) => {
            collect(key, of_key, visit);
            collect(item, of_item, visit);
        }
        _ => {}
    }
}

/// The code of one operation.
struct Code<'a> {
    flow: &'a mut Flow,
    shared: &'a [Tree],
    locals: Vec<Tree>,
    response: Tree,
}

impl Code<'_> {
    fn body(&mut self, body: &Body) {
        for (tree, variable) in self.locals.iter().zip(&body.locals) {
            self.flow.constant(tree, &variable.initial);
        }
        for edge in body.nodes.iter().flat_map(|node| &node.edges) {
            for (action, _) in &edge.actions {
                self.action(action);
            }
            if let Target::Return(value) = &edge.target {
                let value = self.of(value);
                self.flow.meet(&self.response, &value);
            }
        }
    }

    fn local(&self, at: u32) -> Tree {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        self.locals.get(at).cloned().unwrap_or(Tree::Other)
    }

    fn set(&mut self, local: u32, value: &Tree) {
        let local = self.local(local);
        self.flow.meet(&local, value);
    }

    fn action(&mut self, action: &Action) {
        match action {
            Action::Guard(condition) | Action::Assert(condition) | Action::Free(condition) => {
                self.of(condition);
            }
            Action::Assign { local, value } => {
                let value = self.of(value);
                let target = self.target(local);
                self.flow.meet(&target, &value);
            }
            Action::Choose { into, from, to } => {
                self.plain(from);
                self.plain(to);
                self.set(into.0, &Tree::Other);
            }
            Action::New { fields, .. } => fields.iter().for_each(|field| self.plain(field)),
            Action::Read { into, place } | Action::LoadLinked { into, place } => {
                let place = self.place(place);
                self.set(into.0, &place);
            }
            Action::Write { place, value } => {
                let (place, value) = (self.place(place), self.of(value));
                self.flow.meet(&place, &value);
            }
            Action::StoreConditional { into, place, value } => {
                let (place, value) = (self.place(place), self.of(value));
                self.flow.meet(&place, &value);
                self.set(into.0, &Tree::Other);
            }
            Action::Cas { into, cells } => {
                for cell in cells {
                    let place = self.place(&cell.place);
                    let (expected, new) = (self.of(&cell.expected), self.of(&cell.new));
                    self.flow.compare(&place, &expected);
                    self.flow.meet(&place, &new);
                }
                self.set(into.0, &Tree::Other);
            }
            Action::Swap { into, place, value } => {
                let (place, value) = (self.place(place), self.of(value));
                self.flow.meet(&place, &value);
                self.set(into.0, &place);
            }
            Action::FetchAdd { into, place, value } => {
                let place = self.place(place);
                self.plain(value);
                self.flow.plain(&place);
                self.set(into.0, &place);
            }
            Action::Update { into, place, method, arguments } => {
                let place = self.place(place);
                let arguments: Vec<Tree> = arguments.iter().map(|of| self.of(of)).collect();
                let answer = self.update(*method, &place, &arguments);
                self.set(into.0, &answer);
            }
            Action::Lock(place)
            | Action::Unlock(place)
            | Action::Flush(place)
            | Action::Persist(place) => {
                self.place(place);
            }
            Action::Fence => {}
        }
    }

    fn target(&mut self, target: &LocalTarget) -> Tree {
        match target {
            LocalTarget::Local(local) => self.local(local.0),
            LocalTarget::ThreadLocal(_) => Tree::Other,
            LocalTarget::Element(local, index) => {
                self.plain(index);
                let local = self.local(local.0);
                self.element(local)
            }
            LocalTarget::Component(local, at) => {
                let local = self.local(local.0);
                self.component(local, *at)
            }
        }
    }

    fn place(&mut self, place: &Place) -> Tree {
        match place {
            Place::Shared(at) => self.shared.get(*at).cloned().unwrap_or(Tree::Other),
            Place::SharedElement(at, index) => {
                self.plain(index);
                let whole = self.shared.get(*at).cloned().unwrap_or(Tree::Other);
                self.element(whole)
            }
            // A specification has no heap.
            Place::Field { .. } | Place::FieldElement { .. } => Tree::Other,
        }
    }

    fn plain(&mut self, expr: &Expr) {
        let tree = self.of(expr);
        self.flow.plain(&tree);
    }

    /// A component of a record or tuple.
    fn component(&mut self, of: Tree, at: usize) -> Tree {
        match of {
            Tree::Parts(mut parts) if at < parts.len() => parts.swap_remove(at),
            Tree::Const(Value::List(items)) => {
                items.get(at).cloned().map_or(Tree::Other, Tree::Const)
            }
            other => {
                self.flow.plain(&other);
                Tree::Other
            }
        }
    }

    /// An element of a list.
    fn element(&mut self, list: Tree) -> Tree {
        match list {
            Tree::Each(item) => *item,
            Tree::Parts(parts) => self.one_of(parts),
            Tree::Const(Value::List(items)) => {
                self.one_of(items.iter().cloned().map(Tree::Const).collect())
            }
            other => {
                self.flow.plain(&other);
                Tree::Other
            }
        }
    }

    fn one_of(&mut self, trees: Vec<Tree>) -> Tree {
        let mut trees = trees.into_iter();
        let Some(first) = trees.next() else { return Tree::Other };
        trees.fold(first, |one, other| self.flow.either(one, other))
    }

    /// Where the value of an expression comes from.
    fn of(&mut self, expr: &Expr) -> Tree {
        match expr {
            Expr::Const(value) => Tree::Const(value.clone()),
            Expr::Local(local) => self.local(local.0),
            Expr::ThreadLocal(_) | Expr::Me => Tree::Other,
            Expr::Unary(UnaryOp::Not, inner) => {
                self.of(inner);
                Tree::Other
            }
            Expr::Unary(UnaryOp::Negate | UnaryOp::ThreadNumber, inner) => {
                self.plain(inner);
                Tree::Other
            }
            Expr::Binary(operator, left, right) => {
                let (left, right) = (self.of(left), self.of(right));
                match operator {
                    BinaryOp::Equal | BinaryOp::NotEqual => self.flow.compare(&left, &right),
                    // Everything else is about truth values, or counts or orders.
                    _ => {
                        self.flow.plain(&left);
                        self.flow.plain(&right);
                    }
                }
                Tree::Other
            }
            Expr::Component(of, at) => {
                let of = self.of(of);
                self.component(of, *at)
            }
            Expr::Element(list, index) => {
                self.plain(index);
                let list = self.of(list);
                self.element(list)
            }
            Expr::List(items) => Tree::Parts(items.iter().map(|item| self.of(item)).collect()),
            Expr::If(condition, yes, no) => {
                self.of(condition);
                let (yes, no) = (self.of(yes), self.of(no));
                self.flow.either(yes, no)
            }
            Expr::Unwrap(inner) => self.of(inner),
            Expr::Query(query, of, arguments) => {
                let of = self.of(of);
                let arguments: Vec<Tree> = arguments.iter().map(|of| self.of(of)).collect();
                self.query(*query, of, &arguments)
            }
        }
    }

    fn query(&mut self, query: Query, of: Tree, arguments: &[Tree]) -> Tree {
        match (query, of, arguments) {
            (Query::Len, _, _) => Tree::Other,
            (Query::Contains, Tree::Each(item) | Tree::Set(item) | Tree::Map(item, _), [x]) => {
                self.flow.compare(&item, x);
                Tree::Other
            }
            (Query::Get, Tree::Map(key, item), [x]) => {
                self.flow.compare(&key, x);
                *item
            }
            (Query::First | Query::Last, Tree::Each(item), []) => *item,
            (Query::First | Query::Last, Tree::Set(item), []) => {
                self.flow.plain(&item);
                *item
            }
            (_, of, arguments) => {
                self.flow.plain(&of);
                arguments.iter().for_each(|argument| self.flow.plain(argument));
                Tree::Other
            }
        }
    }

    fn update(&mut self, method: Method, place: &Tree, arguments: &[Tree]) -> Tree {
        match (method, place, arguments) {
            (Method::PushBack | Method::PushFront, Tree::Each(item), [x]) => {
                self.flow.meet(item, x);
                Tree::Const(Value::Null)
            }
            (Method::PopBack | Method::PopFront, Tree::Each(item), []) => (**item).clone(),
            (Method::RemoveAt, Tree::Each(item), [index]) => {
                self.flow.plain(index);
                (**item).clone()
            }
            (Method::Insert | Method::Remove, Tree::Set(item), [x]) => {
                self.flow.compare(item, x);
                Tree::Other
            }
            (Method::Remove, Tree::Map(key, item), [x]) => {
                self.flow.compare(key, x);
                (**item).clone()
            }
            (Method::Put, Tree::Map(key, item), [x, value]) => {
                self.flow.compare(key, x);
                self.flow.meet(item, value);
                (**item).clone()
            }
            (_, place, arguments) => {
                self.flow.plain(place);
                arguments.iter().for_each(|argument| self.flow.plain(argument));
                Tree::Other
            }
        }
    }
}
