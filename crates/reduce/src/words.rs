//! Facts, prefixes and aliases in words.

use linchpin_subop::Names;
use linchpin_subop::model::Condition;

use crate::context::Context;
use crate::facts::{Invariant, Reach, Statement};
use crate::relate::Alias;

/// A condition about an instance of the operation that `prefix` belongs to.
pub fn condition(context: &Context, prefix: usize, condition: &Condition) -> String {
    let operation = &context.model.operations[context.prefixes.all[prefix].operation.0];
    Names::of(context.model, operation).condition(condition)
}

pub fn statement(context: &Context, prefix: usize, statement: &Statement) -> String {
    match statement {
        Statement::Condition(known) => condition(context, prefix, known),
        Statement::Reach(known) => reach(context, prefix, known),
    }
}

fn reach(context: &Context, prefix: usize, reach: &Reach) -> String {
    let operation = &context.model.operations[context.prefixes.all[prefix].operation.0];
    let names = Names::of(context.model, operation);
    let places: Vec<String> = reach.places.iter().map(|place| names.place(*place)).collect();
    let local = &operation.locals[reach.local.0].name;
    match places.as_slice() {
        [] => format!("no shared location holds {local}"),
        places => format!("no shared location but {} holds {local}", places.join(", ")),
    }
}

/// Which variables of the two instances are equal, as Figure 13 writes it.
pub fn alias(context: &Context, first: usize, second: usize, alias: &Alias) -> String {
    let operation =
        |prefix: usize| &context.model.operations[context.prefixes.all[prefix].operation.0];
    let (one, two) = (operation(first), operation(second));
    let name = |equal: &&(usize, usize, bool)| {
        let (left, right, _) = **equal;
        format!("{}₁ = {}₂", one.locals[left].name, two.locals[right].name)
    };
    let equal: Vec<String> =
        alias.pairs.iter().filter(|pair| pair.2).collect::<Vec<_>>().iter().map(name).collect();
    if equal.is_empty() { "not related".to_owned() } else { equal.join(", ") }
}

/// An invariant as the model's language writes it.
pub fn invariant(context: &Context, invariant: &Invariant) -> String {
    let bound =
        |(at, of): (usize, &linchpin_subop::model::StructId)| linchpin_subop::model::Variable {
            name: if at == 0 { "n".to_owned() } else { format!("n{at}") },
            ty: linchpin_subop::model::Type::Ref(*of),
            span: Default::default(),
        };
    let line = linchpin_subop::model::Invariant {
        bound: invariant.bound.iter().enumerate().map(bound).collect(),
        after: None,
        condition: invariant.condition.clone(),
        span: Default::default(),
    };
    linchpin_subop::print_invariant(context.model, &line)
}
