//! What persistence owes the interpreter: the invariants of
//! [`Persistence`](crate::persistence::Persistence).

use super::Defect;
use crate::persistence::{Persistence, SharedLines};
use crate::program::{Program, SpecSource, Type};

/// What is wrong with the persistence of a program, beyond its bodies.
pub(super) fn defects(program: &Program, found: &mut Vec<Defect>) {
    let mut report = |problem: String| {
        found.push(Defect { operation: "persistence".to_owned(), node: 0, problem });
    };
    let inner = match &program.spec {
        SpecSource::Model(spec) => Some(&**spec),
        SpecSource::Builtin { .. } => None,
    };
    for sequential in inner.into_iter().chain(program.reference.as_deref()) {
        if sequential.persistence.is_some() {
            report("a specification or a reference has persistent memory".to_owned());
        }
    }
    let Some(persistence) = &program.persistence else { return };
    if persistence.shared.len() != program.shared.len()
        || persistence.structs.len() != program.structs.len()
    {
        report("it does not say for every variable and struct what is persistent".to_owned());
    }
    for (variable, lines) in program.shared.iter().zip(&persistence.shared) {
        let Some(lines) = lines else { continue };
        let exists = match lines {
            SharedLines::One(line) => *line < persistence.lines.len(),
            SharedLines::Elements => matches!(variable.ty, Type::Array(..)),
        };
        if !exists {
            report(format!("`{}` has no line", variable.name));
        }
        if refers_to_volatile(&variable.ty, persistence) {
            report(format!("`{}` refers to a volatile struct", variable.name));
        }
    }
    for (object, lines) in program.structs.iter().zip(&persistence.structs) {
        let Some(lines) = lines else { continue };
        if lines.fields.len() != object.fields.len()
            || lines.fields.iter().any(|line| *line >= lines.names.len())
        {
            report(format!("a field of `{}` has no line", object.name));
        }
        if object.fields.iter().any(|field| refers_to_volatile(&field.ty, persistence)) {
            report(format!("`{}` refers to a volatile struct", object.name));
        }
    }
}

/// Whether a value of this type may be a reference to an object that a crash destroys.
fn refers_to_volatile(ty: &Type, persistence: &Persistence) -> bool {
    match ty {
        Type::Struct(of) => persistence.structs.get(*of).is_none_or(Option::is_none),
        Type::Record { fields, .. } => {
            fields.iter().any(|(_, ty)| refers_to_volatile(ty, persistence))
        }
        Type::Tuple(items) => items.iter().any(|ty| refers_to_volatile(ty, persistence)),
        Type::Option(inner) | Type::Array(inner, _) => refers_to_volatile(inner, persistence),
        _ => false,
    }
}
