//! The meaning of a model as code: concrete states, and the steps that instances can take from
//! them.
//!
//! This is the operational semantics that [`model`](crate::model) describes. Objects are named
//! after the instance that allocated them and how many it had allocated before, so states of
//! different interleavings of the same instances can be compared directly.

pub(crate) mod guess;

use crate::model::{
    Atom, Condition, GlobalId, GlobalKind, Index, Model, Next, OperationId, Place, Relation,
    Statement, StructId, Term, Type, Var,
};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// A value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// An integer; `ID`s are integers too, from [`FIRST_ID`].
    Int(i64),
    /// `NULL`
    Null,
    /// A reference.
    Ref(ObjectId),
    /// What `free` leaves behind.
    Poison,
}

impl Value {
    /// The integer, if this is one.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(value) => Some(*value),
            _ => None,
        }
    }
}

/// The `ID` of instance 0; no constant is as large.
pub const FIRST_ID: i64 = 1 << 40;

/// The name of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId {
    /// The instance that allocated it; [`ObjectId::START`] for those that exist from the start.
    pub owner: u16,
    /// How many its owner had allocated before.
    pub serial: u16,
}

impl ObjectId {
    /// The owner of the objects that exist from the start.
    pub const START: u16 = u16::MAX;
}

/// An object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Object {
    /// Its struct.
    pub of: StructId,
    /// Its fields.
    pub fields: Vec<Value>,
    /// Whether a reference to it was ever stored in a global, an element or a field.
    pub published: bool,
}

/// What all instances share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shared {
    /// The value of each global; `NULL` for arrays.
    pub globals: Vec<Value>,
    /// The elements of each global that is an array, where they differ from what they all start as.
    pub elements: Vec<BTreeMap<i64, Value>>,
    /// The objects.
    pub heap: BTreeMap<ObjectId, Object>,
}

/// How far an instance is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Progress {
    /// It has not executed anything.
    Waiting,
    /// It executed this sub-operation last and is not complete.
    After(usize),
    /// It is complete.
    Complete,
}

/// An operation instance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instance {
    /// Its operation.
    pub operation: OperationId,
    /// How far it is.
    pub progress: Progress,
    /// Its arguments and locals; unset ones are absent.
    pub locals: Vec<Option<Value>>,
    /// What its `READ`s saw.
    pub reads: Vec<Option<Value>>,
    /// What it returned.
    pub result: Option<Vec<Value>>,
    /// How many objects it allocated.
    allocated: u16,
}

impl Instance {
    /// An instance that has not started, with these arguments; missing ones are unset, that is,
    /// guessed.
    pub fn new(model: &Model, operation: OperationId, arguments: &[Value]) -> Instance {
        let body = &model.operations[operation.0];
        let mut locals = vec![None; body.locals.len()];
        for (local, value) in locals.iter_mut().take(body.arguments).zip(arguments) {
            *local = Some(*value);
        }
        let reads = vec![None; body.reads];
        let progress = Progress::Waiting;
        Instance { operation, progress, locals, reads, result: None, allocated: 0 }
    }

    /// What the client sees of a complete instance: what it returned, or else all it saw.
    pub fn observation(&self) -> Vec<Option<Value>> {
        match &self.result {
            Some(values) => values.iter().copied().map(Some).collect(),
            None => self.locals.iter().chain(&self.reads).copied().collect(),
        }
    }
}

/// A state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State {
    /// What all instances share.
    pub shared: Shared,
    /// The instances; the index is what `ID` and the names of objects are made of.
    pub instances: Vec<Instance>,
}

/// A step that an instance can take.
#[derive(Clone, Debug)]
pub struct Step {
    /// The sub-operation.
    pub sub_operation: usize,
    /// The state afterwards.
    pub state: State,
}

/// Executes a model.
#[derive(Debug)]
pub struct Machine<'m> {
    model: &'m Model,
    /// What every element of each array starts as.
    fills: Vec<Value>,
    /// The integers that guesses are tried with, apart from neighbours: those that the file
    /// mentions, and more if told.
    constants: Vec<i64>,
    /// Whether an integer was guessed that no equality demands: then not all were tried.
    open: AtomicBool,
}

impl<'m> Machine<'m> {
    /// A machine for `model`.
    pub fn new(model: &'m Model) -> Machine<'m> {
        let fill = |(index, global): (usize, &crate::model::Global)| {
            let fills = &model.initially.fills;
            match fills.iter().rev().find(|(id, _)| id.0 == index) {
                Some((_, Term::Int(value))) => Value::Int(*value),
                Some(_) => Value::Null,
                None => match global.kind {
                    GlobalKind::Array(ty) | GlobalKind::Scalar(ty) => zero(ty),
                    GlobalKind::Place(_) => Value::Null,
                },
            }
        };
        let fills = model.globals.iter().enumerate().map(fill).collect();
        Machine { model, fills, constants: guess::constants(model), open: AtomicBool::new(false) }
    }

    /// Whether some integer that was guessed might have been another one as well, that was not
    /// tried.
    pub fn has_open_guesses(&self) -> bool {
        self.open.load(Ordering::Relaxed)
    }

    /// The same machine, in which guesses of integers may have these values too. A caller that
    /// passes arguments that the file does not mention should say so here.
    pub fn with_integers(mut self, values: impl IntoIterator<Item = i64>) -> Machine<'m> {
        self.constants.extend(values);
        self
    }

    /// The model.
    pub fn model(&self) -> &'m Model {
        self.model
    }

    /// The state in which nothing has been executed but `initially`. Statements of it that are not
    /// defined, of which there are none in a file that was parsed, do nothing.
    pub fn start(&self, instances: Vec<Instance>) -> State {
        self.start_with(instances).0
    }

    /// The first statement of `initially` that is not defined.
    pub(crate) fn undefined_at_start(&self) -> Option<&'m Statement> {
        self.start_with(Vec::new()).1
    }

    fn start_with(&self, instances: Vec<Instance>) -> (State, Option<&'m Statement>) {
        let model = self.model;
        let mut shared = Shared {
            globals: self.fills.clone(),
            elements: vec![BTreeMap::new(); model.globals.len()],
            heap: BTreeMap::new(),
        };
        let mut builder = Instance {
            operation: OperationId(0),
            progress: Progress::Waiting,
            locals: model.initially.locals.iter().map(|local| Some(zero(local.ty))).collect(),
            reads: Vec::new(),
            result: None,
            allocated: 0,
        };
        for (index, global) in model.globals.iter().enumerate() {
            if let GlobalKind::Place(of) = global.kind {
                let id = self.allocate(&mut shared, &mut builder, ObjectId::START, of);
                shared.globals[index] = Value::Ref(id);
            }
        }
        let mut view = View { machine: self, shared, own: builder, me: ObjectId::START };
        let mut undefined = None;
        for statement in &model.initially.statements {
            if view.execute(statement).is_none() {
                undefined = undefined.or(Some(statement));
            }
        }
        let mut shared = view.shared;
        shared.heap.values_mut().for_each(|object| object.published = true);
        (State { shared, instances }, undefined)
    }

    /// Every step that instance number `me` can take. Where the operation may end or go on, there
    /// is one step for each.
    pub fn steps(&self, state: &State, me: usize) -> Vec<Step> {
        let instance = &state.instances[me];
        let body = &self.model.operations[instance.operation.0];
        let mut steps = Vec::new();
        match instance.progress {
            Progress::Complete => {}
            Progress::Waiting => {
                body.first.iter().for_each(|index| self.step(state, me, *index, &mut steps));
            }
            Progress::After(last) => {
                for next in &body.sub_operations[last].next {
                    if let Next::SubOperation(index) = next {
                        self.step(state, me, *index, &mut steps);
                    }
                }
            }
        }
        steps
    }

    /// Adds every way in which instance `me` can execute sub-operation `index`.
    fn step(&self, state: &State, me: usize, index: usize, steps: &mut Vec<Step>) {
        let instance = &state.instances[me];
        let sub_operation = &self.model.operations[instance.operation.0].sub_operations[index];
        for locals in guess::choices(self, state, me, sub_operation) {
            let own = Instance { locals, ..instance.clone() };
            let mut view = View { machine: self, shared: state.shared.clone(), own, me: me as u16 };
            if !view.holds(&sub_operation.precondition) {
                continue;
            }
            if !sub_operation.body.iter().all(|statement| view.execute(statement).is_some()) {
                continue;
            }
            if let Some(terms) = &sub_operation.result {
                let values: Option<Vec<Value>> =
                    terms.iter().map(|term| view.term(*term)).collect();
                let Some(values) = values else { continue };
                view.own.result = Some(values);
            }
            for ends in [false, true] {
                let allowed = sub_operation.next.iter().any(|n| (*n == Next::Return) == ends);
                if allowed {
                    let progress = if ends { Progress::Complete } else { Progress::After(index) };
                    let mut instances = state.instances.clone();
                    instances[me] = Instance { progress, ..view.own.clone() };
                    let state = State { shared: view.shared.clone(), instances };
                    steps.push(Step { sub_operation: index, state });
                }
            }
        }
    }

    /// Whether a condition holds for the locals of instance `me`.
    pub fn holds(&self, state: &State, me: usize, condition: &Condition) -> bool {
        let own = state.instances[me].clone();
        View { machine: self, shared: state.shared.clone(), own, me: me as u16 }.holds(condition)
    }

    /// An element of an array.
    pub(crate) fn element(&self, shared: &Shared, array: GlobalId, index: i64) -> Value {
        shared.elements[array.0].get(&index).copied().unwrap_or(self.fills[array.0])
    }

    fn allocate(
        &self,
        shared: &mut Shared,
        own: &mut Instance,
        owner: u16,
        of: StructId,
    ) -> ObjectId {
        let id = ObjectId { owner, serial: own.allocated };
        own.allocated += 1;
        let fields = self.model.structs[of.0].fields.iter().map(|field| zero(field.ty)).collect();
        shared.heap.insert(id, Object { of, fields, published: false });
        id
    }
}

/// What a variable of this type starts as.
fn zero(ty: Type) -> Value {
    match ty {
        Type::Int => Value::Int(0),
        Type::Ref(_) => Value::Null,
    }
}

/// The state as one instance sees it.
struct View<'a, 'm> {
    machine: &'a Machine<'m>,
    shared: Shared,
    own: Instance,
    me: u16,
}

impl View<'_, '_> {
    fn holds(&self, condition: &Condition) -> bool {
        holds(condition, &|term| self.term(term))
    }

    fn var(&self, var: Var) -> Option<Value> {
        match var {
            Var::Global(id) => Some(self.shared.globals[id.0]),
            Var::Local(id) => self.own.locals[id.0],
            Var::Peer(_) | Var::Bound(_) => None,
        }
    }

    fn term(&self, term: Term) -> Option<Value> {
        match term {
            Term::Int(value) => Some(Value::Int(value)),
            Term::Null => Some(Value::Null),
            Term::Id => Some(Value::Int(FIRST_ID + i64::from(self.me))),
            Term::Place(place) => self.place(place),
            Term::Plus(place, offset) => Some(plus(self.place(place)?, offset)),
        }
    }

    fn index(&self, index: Index) -> Option<i64> {
        let value = match index {
            Index::Int(value) => Value::Int(value),
            Index::Variable(var) => self.var(var)?,
            Index::Plus(var, offset) => plus(self.var(var)?, offset),
        };
        match value {
            Value::Int(value) => Some(value),
            _ => None,
        }
    }

    fn object(&self, var: Var) -> Option<ObjectId> {
        match self.var(var)? {
            Value::Ref(id) => Some(id),
            _ => None,
        }
    }

    fn place(&self, place: Place) -> Option<Value> {
        match place {
            Place::Variable(var) => self.var(var),
            Place::Field(var, _, field) => {
                Some(self.shared.heap[&self.object(var)?].fields[field.0])
            }
            Place::Element(array, index) => {
                let index = self.index(index)?;
                Some(self.machine.element(&self.shared, array, index))
            }
        }
    }

    fn write(&mut self, place: Place, value: Value) -> Option<()> {
        match place {
            Place::Variable(Var::Local(id)) => {
                self.own.locals[id.0] = Some(value);
                return Some(());
            }
            Place::Variable(Var::Global(id)) => self.shared.globals[id.0] = value,
            Place::Variable(_) => return None,
            Place::Field(var, _, field) => {
                let id = self.object(var)?;
                self.shared.heap.get_mut(&id)?.fields[field.0] = value;
            }
            Place::Element(array, index) => {
                let index = self.index(index)?;
                // What an element started as is not stored, so equal arrays are equal maps.
                if value == self.machine.fills[array.0] {
                    self.shared.elements[array.0].remove(&index);
                } else {
                    self.shared.elements[array.0].insert(index, value);
                }
            }
        }
        if let Value::Ref(id) = value {
            self.shared.heap.get_mut(&id)?.published = true;
        }
        Some(())
    }

    /// Executes a statement, or finds that it is not defined.
    fn execute(&mut self, statement: &Statement) -> Option<()> {
        match *statement {
            Statement::Assign { place, value, .. } => {
                let value = self.term(value)?;
                self.write(place, value)
            }
            Statement::Malloc { var, of, .. } => {
                let id = self.machine.allocate(&mut self.shared, &mut self.own, self.me, of);
                self.write(Place::Variable(var), Value::Ref(id))
            }
            Statement::Free { var, .. } => {
                let id = self.object(var)?;
                self.shared.heap.get_mut(&id)?.fields.fill(Value::Poison);
                Some(())
            }
            Statement::Read { place, slot, .. } => {
                self.own.reads[slot] = Some(self.place(place)?);
                Some(())
            }
        }
    }
}

/// Whether a condition holds where terms have these values; an atom with a term that has none does
/// not.
pub(crate) fn holds(condition: &Condition, term: &dyn Fn(Term) -> Option<Value>) -> bool {
    match condition {
        Condition::All(parts) => parts.iter().all(|part| holds(part, term)),
        Condition::Any(parts) => parts.iter().any(|part| holds(part, term)),
        Condition::Atom(Atom { left, relation, right, .. }) => match (term(*left), term(*right)) {
            (Some(left), Some(right)) => compare(left, *relation, right),
            _ => false,
        },
    }
}

fn compare(left: Value, relation: Relation, right: Value) -> bool {
    match relation {
        Relation::Equal => return left == right,
        Relation::NotEqual => return left != right,
        _ => {}
    }
    let (Value::Int(left), Value::Int(right)) = (left, right) else { return false };
    match relation {
        Relation::Less => left < right,
        Relation::LessOrEqual => left <= right,
        Relation::Greater => left > right,
        _ => left >= right,
    }
}

/// `value + offset`, which is poison for anything but an integer.
fn plus(value: Value, offset: i64) -> Value {
    match value {
        Value::Int(value) => value.checked_add(offset).map_or(Value::Poison, Value::Int),
        _ => Value::Poison,
    }
}
