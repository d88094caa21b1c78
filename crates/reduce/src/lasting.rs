//! Lasting conditions of a prefix: once true, they stay true as long as the instance does nothing.
//!
//! A member of a closure may make one true: it removed the node that the instance stands on. Then every later member finds it true.
//! Executions in which all operations complete are meant, so live facts may be used.

use linchpin_diagnostic::Span;
use linchpin_subop::model::{
    Atom, Condition, FieldId, LocalId, Place, Relation, Statement, Term, Type, Var,
};

use crate::candidates::same_condition;
use crate::context::Context;
use crate::footprint::Footprint;
use crate::search::explore;
use crate::world::{Env, Mode};

/// As many as a set of them holds.
const MOST: usize = 64;

/// The lasting conditions of a proper prefix that some step can make true.
pub fn find(context: &Context, prefix: usize) -> Vec<Condition> {
    let mut found = candidates(context, prefix);
    found.retain(|condition| lasts(context, prefix, condition));
    found.truncate(MOST);
    found
}

/// Comparisons of the fields of what the instance's locals refer to, and those that the operation makes itself.
fn candidates(context: &Context, prefix: usize) -> Vec<Condition> {
    let data = &context.prefixes.all[prefix];
    let operation = &context.model.operations[data.operation.0];
    let mut found: Vec<Condition> = Vec::new();
    let mut propose = |condition: Condition| {
        let stable =
            context.facts.conditions(prefix).any(|known| same_condition(known, &condition));
        if !stable && !found.iter().any(|known| same_condition(known, &condition)) {
            found.push(condition);
        }
    };
    for (at, variable) in operation.locals.iter().enumerate() {
        let Type::Ref(of) = variable.ty else { continue };
        if !data.set[at] {
            continue;
        }
        for (field, variable) in context.model.structs[of.0].fields.iter().enumerate() {
            let place = Place::Field(Var::Local(LocalId(at)), of, FieldId(field));
            let constants = match variable.ty {
                Type::Ref(_) => vec![Term::Null],
                Type::Int => assigned_constants(context, &place),
            };
            for constant in constants {
                for relation in [Relation::Equal, Relation::NotEqual] {
                    let left = Term::Place(place);
                    propose(Condition::Atom(Atom {
                        left,
                        relation,
                        right: constant,
                        span: Span::default(),
                    }));
                }
            }
        }
    }
    for candidate in &context.facts.at[prefix] {
        if let (crate::facts::Statement::Condition(condition), Some(_)) =
            (&candidate.statement, &candidate.dropped)
        {
            propose(condition.clone());
        }
    }
    found
}

/// The constants that are ever stored in such a location.
fn assigned_constants(context: &Context, place: &Place) -> Vec<Term> {
    let mut found = vec![Term::Int(0)];
    for step in context.model.operations.iter().flat_map(|operation| &operation.sub_operations) {
        for statement in &step.body {
            if let Statement::Assign { place: to, value: value @ Term::Int(_), .. } = statement
                && crate::footprint::kind(to) == crate::footprint::kind(place)
                && !found.contains(value)
            {
                found.push(*value);
            }
        }
    }
    found
}

fn lasts(context: &Context, prefix: usize, condition: &Condition) -> bool {
    let reads = Footprint::of_condition(condition).reads;
    let mut written = false;
    for other in context.prefixes.nonempty() {
        let Some(parent) = context.prefixes.all[other].parent else { continue };
        if !context.step_footprint(other).writes.iter().any(|kind| reads.contains(kind)) {
            continue;
        }
        written = true;
        let mut kept = true;
        let outcome = explore(context, &[prefix, parent], &mut |world, before| {
            world.assume(before, Env::of(0), condition)?;
            let mut after = before.clone();
            world.execute(&mut after, 1, other, Mode::Assume)?;
            world.assume_facts(&after, 0, prefix)?;
            world.assume_live(&after, 0, prefix)?;
            kept &= world.require(&after, Env::of(0), condition)?;
            Ok(kept)
        });
        if !kept || outcome.is_err() {
            return false;
        }
    }
    written
}
