//! Guesses: the values that unset locals may take when a sub-operation first reads them.
//!
//! A reference may be `NULL` or any published object of its struct. There are infinitely many
//! integers, of which these are tried: the one that an equality of the precondition demands;
//! otherwise all from one below the least to one above the greatest that occurs in the file (those
//! that occur, if the range is wide), and the `ID`s.

use super::{FIRST_ID, Machine, State, Value, View, holds};
use crate::model::{
    Atom, Condition, Index, LocalId, Model, Next, Operation, Place, Relation, Statement,
    SubOperation, Term, Type, Var,
};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

/// A wider range of integers is not tried as a whole.
const WIDEST: i64 = 24;

/// The locals with every choice of the guesses of `sub_operation`; those that the precondition
/// excludes may be missing.
pub(super) fn choices(
    machine: &Machine<'_>,
    state: &State,
    me: usize,
    sub_operation: &SubOperation,
) -> Vec<Vec<Option<Value>>> {
    let instance = &state.instances[me];
    let guessed: Vec<LocalId> =
        uses(sub_operation).read.into_iter().filter(|id| instance.locals[id.0].is_none()).collect();
    if guessed.is_empty() {
        return vec![instance.locals.clone()];
    }
    let view = View { machine, shared: state.shared.clone(), own: instance.clone(), me: me as u16 };
    let mut search = Search {
        view,
        guessed,
        types: machine.model.operations[instance.operation.0]
            .locals
            .iter()
            .map(|local| local.ty)
            .collect(),
        precondition: &sub_operation.precondition,
        state,
        found: Vec::new(),
    };
    search.choose();
    search.found
}

struct Search<'a, 'm> {
    view: View<'a, 'm>,
    guessed: Vec<LocalId>,
    types: Vec<Type>,
    precondition: &'a Condition,
    state: &'a State,
    found: Vec<Vec<Option<Value>>>,
}

impl Search<'_, '_> {
    /// Chooses the first guess that is open, in every way; then the next.
    fn choose(&mut self) {
        let open: Vec<LocalId> = self
            .guessed
            .iter()
            .copied()
            .filter(|id| self.view.own.locals[id.0].is_none())
            .collect();
        let Some(&first) = open.first() else {
            self.found.push(self.view.own.locals.clone());
            return;
        };
        if !self.possible(self.precondition) {
            return;
        }
        let demanded = open.iter().find_map(|id| Some((*id, self.demanded(*id)?)));
        let (id, values) = match demanded {
            Some((id, value)) if self.allowed(id, value) => (id, vec![value]),
            Some(_) => return,
            None => {
                if self.types[first.0] == Type::Int {
                    self.view.machine.open.store(true, Ordering::Relaxed);
                }
                (first, self.domain(first))
            }
        };
        for value in values {
            self.view.own.locals[id.0] = Some(value);
            self.choose();
        }
        self.view.own.locals[id.0] = None;
    }

    /// The value that an equality of the precondition demands of a guess, if the other side is
    /// known.
    fn demanded(&self, id: LocalId) -> Option<Value> {
        let Condition::All(parts) = self.precondition else { return None };
        let wanted = Term::Place(Place::Variable(Var::Local(id)));
        parts.iter().find_map(|part| {
            let Condition::Atom(Atom { left, relation: Relation::Equal, right, .. }) = part else {
                return None;
            };
            if *left == wanted {
                self.view.term(*right)
            } else if *right == wanted {
                self.view.term(*left)
            } else {
                let sum = |term: &Term| match term {
                    Term::Plus(Place::Variable(Var::Local(of)), more) if *of == id => Some(*more),
                    _ => None,
                };
                let (more, other) = match (sum(left), sum(right)) {
                    (Some(more), None) => (more, right),
                    (None, Some(more)) => (more, left),
                    _ => return None,
                };
                match self.view.term(*other)? {
                    Value::Int(value) => value.checked_sub(more).map(Value::Int),
                    _ => None,
                }
            }
        })
    }

    /// Whether a conjunct whose terms are all known does not already fail.
    fn possible(&self, condition: &Condition) -> bool {
        let Condition::All(parts) = condition else { return true };
        parts.iter().all(|part| match part {
            Condition::Atom(Atom { left, right, .. })
                if self.view.term(*left).is_some() && self.view.term(*right).is_some() =>
            {
                holds(part, &|term| self.view.term(term))
            }
            _ => true,
        })
    }

    /// Whether a guess may have this value at all.
    fn allowed(&self, id: LocalId, value: Value) -> bool {
        match (self.types[id.0], value) {
            (_, Value::Null) | (Type::Int, Value::Int(_)) => true,
            (Type::Ref(of), Value::Ref(id)) => {
                let object = self.view.shared.heap.get(&id);
                object.is_some_and(|object| object.published && object.of == of)
            }
            _ => false,
        }
    }

    fn domain(&self, id: LocalId) -> Vec<Value> {
        match self.types[id.0] {
            Type::Ref(of) => {
                let objects = self.view.shared.heap.iter();
                let published = objects.filter(|(_, object)| object.published && object.of == of);
                let references = published.map(|(id, _)| Value::Ref(*id));
                std::iter::once(Value::Null).chain(references).collect()
            }
            Type::Int => self.integers(),
        }
    }

    /// The integers that are tried, and `NULL`. They do not depend on the state: what a sequential
    /// run may guess must not depend on who was executed before.
    fn integers(&self) -> Vec<Value> {
        let constants = &self.view.machine.constants;
        let mut values: BTreeSet<i64> = constants.iter().copied().collect();
        if let (Some(&least), Some(&greatest)) = (values.first(), values.last()) {
            if greatest - least <= WIDEST {
                values.extend(least - 1..=greatest + 1);
            } else {
                values.extend([least - 1, greatest + 1]);
            }
        }
        values.extend((0..self.state.instances.len() as i64).map(|at| FIRST_ID + at));
        std::iter::once(Value::Null).chain(values.into_iter().map(Value::Int)).collect()
    }
}

/// The locals that each sub-operation of an operation may have to guess: those that it reads before
/// it writes them, and that some way to it leaves unset.
pub(crate) fn guesses(operation: &Operation) -> Vec<Vec<LocalId>> {
    let arguments: BTreeSet<LocalId> = (0..operation.arguments).map(LocalId).collect();
    // What is set for sure before each; nothing is known until a way to it is seen. All that lead
    // to a sub-operation stand before it.
    let mut set: Vec<Option<BTreeSet<LocalId>>> = vec![None; operation.sub_operations.len()];
    for &first in &operation.first {
        set[first] = Some(arguments.clone());
    }
    let mut guesses = Vec::new();
    for (index, step) in operation.sub_operations.iter().enumerate() {
        let mut known = set[index].clone().unwrap_or_else(|| arguments.clone());
        let uses = uses(step);
        guesses.push(uses.read.iter().copied().filter(|id| !known.contains(id)).collect());
        known.extend(uses.read);
        known.extend(uses.written);
        for next in &step.next {
            if let Next::SubOperation(next) = next {
                set[*next] = Some(match set[*next].take() {
                    Some(before) => before.intersection(&known).copied().collect(),
                    None => known.clone(),
                });
            }
        }
    }
    guesses
}

/// The locals that a sub-operation reads before it writes them, in the order of their first use.
pub(crate) fn reads(sub_operation: &SubOperation) -> Vec<LocalId> {
    uses(sub_operation).read
}

/// The locals that a term reads.
pub(crate) fn locals_of(term: Term) -> Vec<LocalId> {
    let mut uses = Uses::default();
    uses.term(term);
    uses.read
}

/// The same, and those that it writes.
fn uses(sub_operation: &SubOperation) -> Uses {
    let mut uses = Uses::default();
    for atom in sub_operation.precondition.atoms() {
        uses.term(atom.left);
        uses.term(atom.right);
    }
    for statement in &sub_operation.body {
        match *statement {
            Statement::Assign { place, value, .. } => {
                uses.term(value);
                match place {
                    Place::Variable(var) => uses.write(var),
                    _ => uses.place(place),
                }
            }
            Statement::Malloc { var, .. } => uses.write(var),
            Statement::Free { var, .. } => uses.var(var),
            Statement::Read { place, .. } => uses.place(place),
        }
    }
    for term in sub_operation.result.iter().flatten() {
        uses.term(*term);
    }
    uses
}

#[derive(Default)]
struct Uses {
    read: Vec<LocalId>,
    written: BTreeSet<LocalId>,
}

impl Uses {
    fn var(&mut self, var: Var) {
        if let Var::Local(id) = var
            && !self.written.contains(&id)
            && !self.read.contains(&id)
        {
            self.read.push(id);
        }
    }

    fn write(&mut self, var: Var) {
        if let Var::Local(id) = var {
            self.written.insert(id);
        }
    }

    fn place(&mut self, place: Place) {
        match place {
            Place::Variable(var) | Place::Field(var, ..) => self.var(var),
            Place::Element(_, Index::Variable(var) | Index::Plus(var, _)) => self.var(var),
            Place::Element(_, Index::Int(_)) => {}
        }
    }

    fn term(&mut self, term: Term) {
        if let Term::Place(place) | Term::Plus(place, _) = term {
            self.place(place);
        }
    }
}

/// The integers that the sub-operations of a model mention.
pub(super) fn constants(model: &Model) -> Vec<i64> {
    let mut values = BTreeSet::from([0]);
    let mut see = |term: &Term| {
        if let Term::Int(value) = term {
            values.insert(*value);
        }
    };
    for step in model.operations.iter().flat_map(|operation| &operation.sub_operations) {
        for atom in step.precondition.atoms() {
            see(&atom.left);
            see(&atom.right);
        }
        for statement in &step.body {
            if let Statement::Assign { value, .. } = statement {
                see(value);
            }
        }
        step.result.iter().flatten().for_each(&mut see);
    }
    values.into_iter().collect()
}
