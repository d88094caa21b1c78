//! Which kinds of locations a sub-operation reads and writes, told apart by name only: a global, a
//! field of a struct, an array. Two sub-operations without a common kind need no closer look.

use linchpin_subop::model::{
    Atom, Condition, FieldId, GlobalId, Index, Place, Statement, StructId, SubOperation, Term, Var,
};

/// A kind of shared location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Global(GlobalId),
    Field(StructId, FieldId),
    Array(GlobalId),
    /// Which objects of a struct were ever stored: what a guess may be.
    Published(StructId),
}

/// What may be read and written.
#[derive(Clone, Debug, Default)]
pub struct Footprint {
    pub reads: Vec<Kind>,
    pub writes: Vec<Kind>,
    /// Structs whose objects may be stored for the first time. Two such steps do not conflict.
    pub publishes: Vec<Kind>,
}

impl Footprint {
    pub fn of(step: &SubOperation, fields_of: &dyn Fn(StructId) -> usize) -> Footprint {
        let mut footprint = Footprint::default();
        footprint.condition(&step.precondition);
        for statement in &step.body {
            match statement {
                Statement::Assign { place, value, .. } => {
                    footprint.base(place);
                    footprint.term(value);
                    footprint.writes.extend(kind(place));
                }
                Statement::Malloc { var, .. } => footprint.writes.extend(variable(*var)),
                Statement::Free { var, of, .. } => {
                    footprint.reads.extend(variable(*var));
                    footprint
                        .writes
                        .extend((0..fields_of(*of)).map(|field| Kind::Field(*of, FieldId(field))));
                }
                Statement::Read { place, .. } => footprint.place(place),
            }
        }
        for term in step.result.iter().flatten() {
            footprint.term(term);
        }
        footprint
    }

    pub fn of_condition(condition: &Condition) -> Footprint {
        let mut footprint = Footprint::default();
        footprint.condition(condition);
        footprint
    }

    /// Whether executing the other in between may change what this one does, or the other way
    /// round.
    pub fn conflicts(&self, other: &Footprint) -> bool {
        let meet = |a: &[Kind], b: &[Kind]| a.iter().any(|kind| b.contains(kind));
        meet(&self.writes, &other.reads)
            || meet(&self.reads, &other.writes)
            || meet(&self.writes, &other.writes)
            || meet(&self.publishes, &other.reads)
            || meet(&self.reads, &other.publishes)
    }

    pub fn extend(&mut self, other: &Footprint) {
        self.reads.extend(&other.reads);
        self.writes.extend(&other.writes);
        self.publishes.extend(&other.publishes);
    }

    fn condition(&mut self, condition: &Condition) {
        for Atom { left, right, .. } in condition.atoms() {
            self.term(left);
            self.term(right);
        }
    }

    fn term(&mut self, term: &Term) {
        if let Term::Place(place) | Term::Plus(place, _) = term {
            self.place(place);
        }
    }

    pub fn place(&mut self, place: &Place) {
        self.base(place);
        self.reads.extend(kind(place));
    }

    fn base(&mut self, place: &Place) {
        match place {
            Place::Variable(_) => {}
            Place::Field(var, ..) => self.reads.extend(variable(*var)),
            Place::Element(_, Index::Variable(var) | Index::Plus(var, _)) => {
                self.reads.extend(variable(*var))
            }
            Place::Element(_, Index::Int(_)) => {}
        }
    }
}

/// The kind of location that a place is; none for a local variable.
pub fn kind(place: &Place) -> Option<Kind> {
    match place {
        Place::Variable(var) => variable(*var),
        Place::Field(_, of, field) => Some(Kind::Field(*of, *field)),
        Place::Element(array, _) => Some(Kind::Array(*array)),
    }
}

fn variable(var: Var) -> Option<Kind> {
    match var {
        Var::Global(global) => Some(Kind::Global(global)),
        _ => None,
    }
}
