//! Which variables may hold `NULL` or poison, for all executions at once: one bit for each
//! variable, field and array, closed under assignments. An `int` that is never `NULL` needs no case
//! split when one is added to it.

use rustc_hash::FxHashSet;

use linchpin_subop::model::{
    FieldId, GlobalId, GlobalKind, Index, LocalId, Model, Place, Statement, StructId, Term, Type,
    Var,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Holder {
    Global(GlobalId),
    Field(StructId, FieldId),
    Array(GlobalId),
    /// A local of an operation; the operations end where `initially` begins.
    Local(usize, LocalId),
}

/// The result of the analysis.
#[derive(Clone, Debug, Default)]
pub struct Natures {
    null: FxHashSet<Holder>,
    poison: FxHashSet<Holder>,
}

/// What a variable may hold besides proper values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nature {
    pub null: bool,
    pub poison: bool,
}

impl Natures {
    pub fn of(model: &Model) -> Natures {
        let mut natures = Natures::default();
        natures.start(model);
        while natures.grow(model) {}
        natures
    }

    pub fn global(&self, global: GlobalId) -> Nature {
        self.holder(Holder::Global(global))
    }

    pub fn field(&self, of: StructId, field: FieldId) -> Nature {
        self.holder(Holder::Field(of, field))
    }

    pub fn array(&self, array: GlobalId) -> Nature {
        self.holder(Holder::Array(array))
    }

    pub fn local(&self, operation: usize, local: LocalId) -> Nature {
        self.holder(Holder::Local(operation, local))
    }

    fn holder(&self, holder: Holder) -> Nature {
        Nature { null: self.null.contains(&holder), poison: self.poison.contains(&holder) }
    }

    fn start(&mut self, model: &Model) {
        let mut null = |holder, ty: Type| {
            if let Type::Ref(_) = ty {
                self.null.insert(holder);
            }
        };
        for (at, global) in model.globals.iter().enumerate() {
            match global.kind {
                GlobalKind::Scalar(ty) => null(Holder::Global(GlobalId(at)), ty),
                GlobalKind::Array(ty) => null(Holder::Array(GlobalId(at)), ty),
                GlobalKind::Place(_) => {}
            }
        }
        for (of, structure) in model.structs.iter().enumerate() {
            for (field, variable) in structure.fields.iter().enumerate() {
                null(Holder::Field(StructId(of), FieldId(field)), variable.ty);
            }
        }
        // Arguments are any values, and every local may be guessed.
        for (operation, body) in model.operations.iter().enumerate() {
            for local in 0..body.locals.len() {
                self.null.insert(Holder::Local(operation, LocalId(local)));
            }
        }
        for (local, variable) in model.initially.locals.iter().enumerate() {
            if let Type::Ref(_) = variable.ty {
                self.null.insert(Holder::Local(model.operations.len(), LocalId(local)));
            }
        }
        for (array, value) in &model.initially.fills {
            if *value == Term::Null {
                self.null.insert(Holder::Array(*array));
            }
        }
    }

    /// One pass over all statements; whether anything was added.
    fn grow(&mut self, model: &Model) -> bool {
        let before = self.null.len() + self.poison.len();
        for (operation, body) in model.operations.iter().enumerate() {
            for step in &body.sub_operations {
                for statement in &step.body {
                    self.statement(model, operation, statement);
                }
            }
        }
        for statement in &model.initially.statements {
            self.statement(model, model.operations.len(), statement);
        }
        self.null.len() + self.poison.len() > before
    }

    fn statement(&mut self, model: &Model, operation: usize, statement: &Statement) {
        match statement {
            Statement::Assign { place, value, .. } => {
                let to = holder(operation, place);
                let (null, poison) = match value {
                    Term::Int(_) | Term::Id => (false, false),
                    Term::Null => (true, false),
                    Term::Place(from) => {
                        let from = holder(operation, from);
                        (self.null.contains(&from), self.poison.contains(&from))
                    }
                    Term::Plus(from, _) => {
                        let from = holder(operation, from);
                        (false, self.null.contains(&from) || self.poison.contains(&from))
                    }
                };
                if null {
                    self.null.insert(to);
                }
                if poison {
                    self.poison.insert(to);
                }
            }
            Statement::Free { of, .. } => {
                for field in 0..model.structs[of.0].fields.len() {
                    self.poison.insert(Holder::Field(*of, FieldId(field)));
                }
            }
            Statement::Malloc { .. } | Statement::Read { .. } => {}
        }
    }
}

fn holder(operation: usize, place: &Place) -> Holder {
    match place {
        Place::Variable(Var::Global(global)) => Holder::Global(*global),
        Place::Variable(Var::Local(local) | Var::Peer(local)) => Holder::Local(operation, *local),
        Place::Variable(Var::Bound(at)) => Holder::Local(usize::MAX, LocalId(*at)),
        Place::Field(_, of, field) => Holder::Field(*of, *field),
        Place::Element(array, Index::Int(_) | Index::Variable(_) | Index::Plus(..)) => {
            Holder::Array(*array)
        }
    }
}
