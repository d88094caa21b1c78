//! Paths as operations of a `.subop` model.

use crate::layout::free_name;
use crate::path::{End, Path, Step};
use crate::simplify::reading;
use crate::symbol::{Substitute, as_symbol, symbols_of};
use linchpin_diagnostic::Span;
use linchpin_subop::model::{
    Condition, LocalId, Mark, Model, Next, Operation, Place, Relation, Statement, SubOperation,
    Term, Type, Var, Variable,
};

/// The path as an operation; a step that others may do has the mark `*`.
pub fn operation(model: &Model, name: &str, path: &Path, helped: &[usize]) -> Operation {
    written(model, name, path, helped, true)
}

/// The same with every condition of the path as a condition, so that all symbols are set in the
/// end.
pub fn comparing(model: &Model, name: &str, path: &Path) -> Operation {
    written(model, name, path, &[], false)
}

fn written(model: &Model, name: &str, path: &Path, helped: &[usize], reads: bool) -> Operation {
    let set = path.set_at();
    let mut sub_operations: Vec<SubOperation> = Vec::new();
    let count = path.steps.len().max(1);
    let empty = Step::default();
    for at in 0..count {
        let step = path.steps.get(at).unwrap_or(&empty);
        let last = at + 1 == count;
        let mut result = match &path.end {
            End::Return(terms) if last => Some(terms.clone()),
            _ => None,
        };
        let mut conditions = Vec::new();
        let mut body: Vec<Statement> = Vec::new();
        let mut statements = step.statements.clone();
        for (position, condition) in step.conditions.iter().enumerate() {
            match reading(condition).filter(|_| reads) {
                Some((place, id))
                    if set[id.0] == Some(at)
                        && id.0 >= path.arguments
                        && !symbols_of(&place).contains(&id)
                        && is_only_read(step, position, id)
                        && read_in_place(path, at, &mut statements, &mut result, id, place) => {}
                Some((place, id))
                    if set[id.0] == Some(at)
                        && id.0 >= path.arguments
                        && path.symbols[id.0].ty == Type::Int
                        && !symbols_of(&place).contains(&id)
                        && is_only_read(step, position, id) =>
                {
                    body.push(Statement::Assign {
                        place: Place::Variable(Var::Local(id)),
                        value: Term::Place(place),
                        span: Span::default(),
                    });
                }
                _ => conditions.push(condition.clone()),
            }
        }
        body.extend(statements);
        sub_operations.push(SubOperation {
            name: format!("{name}_{}", at + 1),
            unnamed: true,
            mark: if helped.contains(&at) { Mark::Anyone } else { Mark::Invoker },
            precondition: Condition::All(conditions),
            body,
            result,
            next: vec![if last { Next::Return } else { Next::SubOperation(at + 1) }],
            span: Span::default(),
        });
    }
    let mut operation = Operation {
        name: name.to_owned(),
        locals: path
            .symbols
            .iter()
            .map(|symbol| Variable {
                name: symbol.name.clone(),
                ty: symbol.ty,
                span: Span::default(),
            })
            .collect(),
        arguments: path.arguments,
        reads: 0,
        sub_operations,
        first: vec![0],
        span: Span::default(),
    };
    compact(model, &mut operation, path);
    operation
}

/// Writes the location where the symbol stands, if it is used just once, in this step, before the
/// location can have changed.
fn read_in_place(
    path: &Path,
    at: usize,
    statements: &mut [Statement],
    result: &mut Option<Vec<Term>>,
    id: LocalId,
    place: Place,
) -> bool {
    let uses = |step: &Step| step.symbols().iter().filter(|other| **other == id).count();
    let returned = path.result_symbols().iter().filter(|other| **other == id).count();
    // One of the uses is the read itself.
    let total: usize = path.steps.iter().map(uses).sum::<usize>() + returned;
    if total != 2 || path.steps[at].attempt.is_some() {
        return false;
    }
    for (position, statement) in statements.iter().enumerate() {
        let Statement::Assign { place: target, value, span } = *statement else { continue };
        if symbols_of(&value).contains(&id) {
            let mut value = value;
            if symbols_of(&target).contains(&id)
                || value.substitute(id, &Term::Place(place)).is_err()
            {
                return false;
            }
            statements[position] = Statement::Assign { place: target, value, span };
            return true;
        }
        if is_same_kind(&target, &place) {
            return false;
        }
    }
    for term in result.iter_mut().flatten() {
        if symbols_of(term).contains(&id) {
            return term.substitute(id, &Term::Place(place)).is_ok();
        }
    }
    false
}

/// Whether two places may be the same location.
pub fn is_same_kind(one: &Place, other: &Place) -> bool {
    match (one, other) {
        (Place::Field(_, of, field), Place::Field(_, other_of, other_field)) => {
            (of, field) == (other_of, other_field)
        }
        (Place::Element(array, _), Place::Element(other, _)) => array == other,
        _ => one == other,
    }
}

/// Whether no other condition of the step mentions the symbol.
fn is_only_read(step: &Step, position: usize, id: LocalId) -> bool {
    let mut others = step.conditions.iter().enumerate().filter(|(at, _)| *at != position);
    others.all(|(_, condition)| !symbols_of(condition).contains(&id))
}

/// Leaves out locals that nothing mentions and gives the others names of their own.
///
/// INVARIANT: every symbol that a step mentions keeps a local, in the order of [`local_of`], even
/// if the location stands in its place now.
fn compact(model: &Model, operation: &mut Operation, path: &Path) {
    let mut used = used(path);
    for id in path.result_symbols() {
        if !used.contains(&id) {
            used.push(id);
        }
    }
    let mut names: Vec<String> = Vec::new();
    for id in &used {
        let taken = |name: &str| {
            names.iter().any(|known| known == name)
                || model.globals.iter().any(|global| global.name == name)
                || model.structs.iter().any(|structure| structure.name == name)
        };
        let name = free_name(operation.locals[id.0].name.clone(), &taken);
        names.push(name);
    }
    operation.locals = used
        .iter()
        .zip(names)
        .map(|(id, name)| Variable { name, ..operation.locals[id.0].clone() })
        .collect();
    rename(operation, &|var| match var {
        Var::Local(id) => {
            Var::Local(LocalId(used.iter().position(|known| *known == id).unwrap_or(id.0)))
        }
        other => other,
    });
}

/// Leaves out what says nothing: `x != NULL` next to an access to a field of `x`, and locals that
/// nothing mentions any more.
pub fn pruned(mut operation: Operation) -> Operation {
    for step in &mut operation.sub_operations {
        let Condition::All(parts) = &mut step.precondition else { continue };
        let accessed: Vec<LocalId> = parts
            .iter()
            .filter(|part| matches!(part, Condition::Atom(_)))
            .flat_map(|part| part.atoms().into_iter().flat_map(|atom| [atom.left, atom.right]))
            .filter_map(|term| match term {
                Term::Place(Place::Field(Var::Local(base), ..)) => Some(base),
                _ => None,
            })
            .collect();
        parts.retain(|part| match part {
            Condition::Atom(atom)
                if atom.relation == Relation::NotEqual && atom.right == Term::Null =>
            {
                as_symbol(&atom.left).is_none_or(|id| !accessed.contains(&id))
            }
            _ => true,
        });
    }
    let mut found = Vec::new();
    for step in &operation.sub_operations {
        step.precondition.symbols(&mut found);
        step.body.iter().for_each(|statement| statement.symbols(&mut found));
        step.result.iter().flatten().for_each(|term| term.symbols(&mut found));
    }
    let kept: Vec<LocalId> = (0..operation.locals.len())
        .map(LocalId)
        .filter(|id| id.0 < operation.arguments || found.contains(id))
        .collect();
    operation.locals = kept.iter().map(|id| operation.locals[id.0].clone()).collect();
    rename(&mut operation, &|var| match var {
        Var::Local(id) => {
            Var::Local(LocalId(kept.iter().position(|known| *known == id).unwrap_or(id.0)))
        }
        other => other,
    });
    operation
}

/// An integer that the operation guesses without a comparison that says which one it is, in words.
pub fn open_guess(operation: &Operation) -> Option<String> {
    let mut set: Vec<LocalId> = (0..operation.arguments).map(LocalId).collect();
    for step in &operation.sub_operations {
        let mut used = Vec::new();
        step.precondition.symbols(&mut used);
        // Only a location that is known before the step says which integer it is.
        let is_known = |place: &Place| symbols_of(place).iter().all(|id| set.contains(id));
        let pinned: Vec<LocalId> = match &step.precondition {
            Condition::All(parts) => parts
                .iter()
                .filter_map(reading)
                .filter(|(place, _)| is_known(place))
                .map(|(_, id)| id)
                .collect(),
            _ => Vec::new(),
        };
        // What a statement uses counts as guessed unless one before it wrote it.
        let mut written: Vec<LocalId> = Vec::new();
        for statement in &step.body {
            let mut here = Vec::new();
            match statement {
                Statement::Assign { place: Place::Variable(Var::Local(_)), value, .. } => {
                    value.symbols(&mut here);
                }
                Statement::Malloc { .. } => {}
                other => other.symbols(&mut here),
            }
            used.extend(here.into_iter().filter(|id| !written.contains(id)));
            if let Statement::Assign { place: Place::Variable(Var::Local(to)), .. }
            | Statement::Malloc { var: Var::Local(to), .. } = statement
            {
                written.push(*to);
            }
        }
        let mut here = Vec::new();
        step.result.iter().flatten().for_each(|term| term.symbols(&mut here));
        used.extend(here.into_iter().filter(|id| !written.contains(id)));
        for id in &used {
            if !set.contains(id) && !pinned.contains(id) && operation.locals[id.0].ty == Type::Int {
                return Some(format!("`{}` of {}", operation.locals[id.0].name, operation.name));
            }
        }
        set.extend(used);
        set.extend(written);
    }
    None
}

fn rename(operation: &mut Operation, renamed: &dyn Fn(Var) -> Var) {
    for step in &mut operation.sub_operations {
        rename_condition(&mut step.precondition, renamed);
        for statement in &mut step.body {
            match statement {
                Statement::Assign { place, value, .. } => {
                    rename_place(place, renamed);
                    rename_term(value, renamed);
                }
                Statement::Malloc { var, .. } | Statement::Free { var, .. } => *var = renamed(*var),
                Statement::Read { place, .. } => rename_place(place, renamed),
            }
        }
        step.result.iter_mut().flatten().for_each(|term| rename_term(term, renamed));
    }
}

/// Where a symbol of a path went in its operation.
pub fn local_of(path: &Path, id: LocalId) -> Option<LocalId> {
    used(path).iter().position(|known| *known == id).map(LocalId)
}

/// The symbols that steps mention, in the order of their locals: arguments first.
fn used(path: &Path) -> Vec<LocalId> {
    let mut used: Vec<LocalId> = (0..path.arguments).map(LocalId).collect();
    for id in path.steps.iter().flat_map(Step::symbols) {
        if !used.contains(&id) {
            used.push(id);
        }
    }
    used
}

/// A condition of a path as one of its operation.
pub fn condition_of(path: &Path, condition: &Condition) -> Option<Condition> {
    let mut condition = condition.clone();
    if symbols_of(&condition).iter().any(|id| local_of(path, *id).is_none()) {
        return None;
    }
    rename_condition(&mut condition, &|var| match var {
        Var::Local(id) => Var::Local(local_of(path, id).unwrap_or(id)),
        other => other,
    });
    Some(condition)
}

pub fn rename_condition(condition: &mut Condition, renamed: &dyn Fn(Var) -> Var) {
    match condition {
        Condition::All(parts) | Condition::Any(parts) => {
            parts.iter_mut().for_each(|part| rename_condition(part, renamed));
        }
        Condition::Atom(atom) => {
            rename_term(&mut atom.left, renamed);
            rename_term(&mut atom.right, renamed);
        }
    }
}

fn rename_term(term: &mut Term, renamed: &dyn Fn(Var) -> Var) {
    if let Term::Place(place) | Term::Plus(place, _) = term {
        rename_place(place, renamed);
    }
}

fn rename_place(place: &mut Place, renamed: &dyn Fn(Var) -> Var) {
    use linchpin_subop::model::Index;
    match place {
        Place::Variable(var) | Place::Field(var, ..) => *var = renamed(*var),
        Place::Element(_, Index::Variable(var) | Index::Plus(var, _)) => *var = renamed(*var),
        Place::Element(_, Index::Int(_)) => {}
    }
}
