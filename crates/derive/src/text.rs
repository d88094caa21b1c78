//! Derived sub-operations as a `.subop` file.

use crate::form::Form;
use linchpin_spec::Value;
use linchpin_subop::model::{
    Index, LARGEST_CONSTANT, Model, Operation, Place, SpecTerm, Statement, Term,
};

/// `31, 33-35`
pub fn lines(lines: &[u32]) -> String {
    let mut sorted: Vec<u32> = lines.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let mut parts: Vec<String> = Vec::new();
    let mut at = 0;
    while at < sorted.len() {
        let mut end = at;
        while end + 1 < sorted.len() && sorted[end + 1] == sorted[end] + 1 {
            end += 1;
        }
        parts.push(match end - at {
            0 => sorted[at].to_string(),
            _ => format!("{}-{}", sorted[at], sorted[end]),
        });
        at = end + 1;
    }
    parts.join(", ")
}

/// Whether two operations are the same but for their names.
pub fn is_same(one: &Operation, other: &Operation) -> bool {
    let unnamed = |operation: &Operation| {
        let mut operation = operation.clone();
        operation.name.clear();
        operation.sub_operations.iter_mut().for_each(|step| step.name.clear());
        operation.locals.iter_mut().for_each(|local| local.name.clear());
        operation
    };
    unnamed(one) == unnamed(other)
}

/// The initial value of a built-in specification as terms; none if it cannot be written so.
pub fn initial(value: Option<&Value>) -> Option<Vec<SpecTerm>> {
    let term = |value: &Value| match value {
        Value::Int(value) => Some(SpecTerm::Int(*value)),
        Value::Bool(value) => Some(SpecTerm::Bool(*value)),
        Value::Null => Some(SpecTerm::Null),
        _ => None,
    };
    match value {
        None => Some(Vec::new()),
        Some(Value::List(parts)) => parts.iter().map(term).collect(),
        Some(value) => term(value).map(|term| vec![term]),
    }
}

pub fn print(form: &Form) -> String {
    let mut text = String::new();
    for note in &form.notes {
        text += &format!("// {note}\n");
    }
    let plain = linchpin_subop::print(&form.model);
    let mut at = 0;
    for line in plain.lines() {
        if let Some(operation) = form.model.operations.get(at)
            && line.starts_with(&format!("{}(", operation.name))
        {
            for reason in &form.reasons[at] {
                text += &format!("// {reason}\n");
            }
            at += 1;
        }
        text += line;
        text.push('\n');
    }
    text
}

/// Whether the model has constants that a `.subop` file cannot have.
pub fn has_large_constants(model: &Model) -> bool {
    constants(model).iter().any(|value| value.unsigned_abs() > LARGEST_CONSTANT.unsigned_abs())
}

/// The integers that a model mentions.
fn constants(model: &Model) -> Vec<i64> {
    let mut found = Vec::new();
    terms(model).iter().for_each(|term| see(term, &mut found));
    found.sort_unstable();
    found.dedup();
    found
}

/// The terms of a model, and the places that it assigns.
fn terms(model: &Model) -> Vec<Term> {
    let mut found = Vec::new();
    let steps = model.operations.iter().flat_map(|operation| &operation.sub_operations);
    let mut statements: Vec<&Statement> = model.initially.statements.iter().collect();
    for step in steps {
        statements.extend(&step.body);
        for atom in step.precondition.atoms() {
            found.extend([atom.left, atom.right]);
        }
        found.extend(step.result.iter().flatten());
    }
    for statement in statements {
        if let Statement::Assign { place, value, .. } = statement {
            found.extend([Term::Place(*place), *value]);
        }
    }
    found
}

fn see(term: &Term, found: &mut Vec<i64>) {
    match term {
        Term::Int(value) => found.push(*value),
        Term::Plus(_, plus) => found.push(*plus),
        Term::Place(_) | Term::Null | Term::Id => {}
    }
    if let Term::Place(Place::Element(_, index)) | Term::Plus(Place::Element(_, index), _) = term
        && let Index::Int(value) | Index::Plus(_, value) = index
    {
        found.push(*value);
    }
}
