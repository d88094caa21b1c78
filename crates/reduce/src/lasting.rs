//! Lasting conditions of a prefix: once true, they stay true as long as the instance does nothing.
//!
//! A member of a closure may make one true: it removed the node that the instance stands on. Then
//! every later member finds it true. Executions in which all operations complete are meant, so live
//! facts may be used.

use linchpin_subop::model::{
    Atom, Condition, FieldId, LocalId, Place, Relation, Statement, Term, Type, Var,
};
use linchpin_syntax::Span;

use crate::candidates::same_condition;
use crate::context::Context;
use crate::footprint::{Footprint, Kind};
use crate::search::{Stage, explore, explore_from};
use crate::symbolic::{Env, Memory, Mode, Symbolic};

/// As many as a set of them holds.
const MOST: usize = 64;

/// The lasting conditions of a proper prefix that some step can make true.
pub fn find(context: &Context, prefix: usize) -> Vec<Condition> {
    let mut open: Vec<Open> = candidates(context, prefix)
        .into_iter()
        .map(|condition| Open {
            reads: Footprint::of_condition(&condition).reads,
            condition,
            written: false,
        })
        .collect();
    for other in context.prefixes.nonempty() {
        drop_broken(context, prefix, other, &mut open);
    }
    let written = open.into_iter().filter(|open| open.written);
    written.map(|open| open.condition).take(MOST).collect()
}

/// Comparisons of the fields of what the instance's locals refer to, and those that the operation
/// makes itself.
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
        if let (crate::facts::Statement::Condition(condition), Some(reason)) =
            (&candidate.statement, &candidate.dropped)
            && *reason != crate::facts::Reason::Unsupported
        {
            propose(condition.clone());
            // What fails may fail for good: the time that was noted is past.
            if let Condition::Atom(atom) = condition {
                propose(Condition::Atom(Atom { relation: atom.relation.negated(), ..*atom }));
            }
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

/// A candidate that no step has broken yet.
struct Open {
    condition: Condition,
    reads: Vec<Kind>,
    /// Whether some step writes what it reads.
    written: bool,
}

/// Drops the candidates that the last step of `other`, by another instance, may make false.
fn drop_broken(context: &Context, prefix: usize, other: usize, open: &mut Vec<Open>) {
    let Some(parent) = context.prefixes.all[other].parent else { return };
    let writes = &context.step_footprint(other).writes;
    let mut kept = vec![true; open.len()];
    for candidate in open.iter_mut() {
        candidate.written |= writes.iter().any(|kind| candidate.reads.contains(kind));
    }
    let touched: Vec<usize> = (0..open.len())
        .filter(|at| writes.iter().any(|kind| open[*at].reads.contains(kind)))
        .collect();
    if touched.is_empty() {
        return;
    }
    let outcome = explore(context, &[prefix, parent], &mut |symbolic, before| {
        for at in &touched {
            if kept[*at] {
                kept[*at] = lasts(symbolic, before, prefix, other, &open[*at].condition);
            }
        }
        Ok(touched.iter().any(|at| kept[*at]))
    });
    let mut at = 0;
    open.retain(|_| {
        at += 1;
        kept[at - 1] && (outcome.is_ok() || !touched.contains(&(at - 1)))
    });
}

/// Whether the condition, if true before the step, is true after it.
fn lasts<'c>(
    symbolic: &Symbolic<'c>,
    before: &Memory,
    prefix: usize,
    other: usize,
    condition: &Condition,
) -> bool {
    let stages: [Stage<'_, 'c>; 4] = [
        Box::new(|symbolic, memory| symbolic.assume(memory, Env::of(0), condition)),
        Box::new(|symbolic, memory| symbolic.execute(memory, 1, other, Mode::Assume)),
        Box::new(|symbolic, memory| symbolic.assume_facts(memory, 0, prefix)),
        Box::new(|symbolic, memory| symbolic.assume_live(memory, 0, prefix)),
    ];
    let mut kept = true;
    let outcome = explore_from(symbolic, before, &stages, &mut |symbolic, after| {
        kept &= symbolic.require(after, Env::of(0), condition)?;
        Ok(kept)
    });
    kept && outcome.is_ok()
}
