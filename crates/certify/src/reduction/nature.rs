//! Which variables can hold `NULL` or poison at all, over all executions: assignments are followed from variable to variable.

use linchpin_subop::Model;
use linchpin_subop::model::{GlobalKind, Statement, Term, Type};
use std::collections::BTreeSet;

use super::sort::{Holder, holder};

#[derive(Clone, Debug, Default)]
pub struct Natures {
    pub null: BTreeSet<Holder>,
    pub poison: BTreeSet<Holder>,
}

impl Natures {
    pub fn of(model: &Model) -> Natures {
        let mut natures = Natures::default();
        let start = model.operations.len();
        for (at, global) in model.globals.iter().enumerate() {
            if matches!(
                global.kind,
                GlobalKind::Scalar(Type::Ref(_)) | GlobalKind::Array(Type::Ref(_))
            ) {
                natures.null.insert(Holder::Global(at));
            }
        }
        for (of, structure) in model.structs.iter().enumerate() {
            for (field, variable) in structure.fields.iter().enumerate() {
                if variable.ty != Type::Int {
                    natures.null.insert(Holder::Field(of, field));
                }
            }
        }
        for (operation, body) in model.operations.iter().enumerate() {
            natures
                .null
                .extend((0..body.locals.len()).map(|local| Holder::Local(operation, local)));
        }
        natures
            .null
            .extend((0..model.initially.locals.len()).map(|local| Holder::Local(start, local)));
        for (array, fill) in &model.initially.fills {
            if *fill == Term::Null {
                natures.null.insert(Holder::Global(array.0));
            }
        }
        loop {
            let size = natures.null.len() + natures.poison.len();
            for (operation, body) in model.operations.iter().enumerate() {
                for statement in body.sub_operations.iter().flat_map(|step| &step.body) {
                    natures.follow(model, operation, statement);
                }
            }
            for statement in &model.initially.statements {
                natures.follow(model, start, statement);
            }
            if natures.null.len() + natures.poison.len() == size {
                return natures;
            }
        }
    }

    fn follow(&mut self, model: &Model, operation: usize, statement: &Statement) {
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
                let fields = model.structs[of.0].fields.len();
                self.poison.extend((0..fields).map(|field| Holder::Field(of.0, field)));
            }
            Statement::Malloc { .. } | Statement::Read { .. } => {}
        }
    }
}
