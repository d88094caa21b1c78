//! Candidate facts: the comparisons that the operations make, what their assignments establish,
//! what `malloc` leaves behind, where allocated objects were stored, and the author's `invariant`
//! lines.

use linchpin_subop::model::{
    Atom, Condition, FieldId, GlobalId, GlobalKind, LocalId, Place, Relation, Statement as Action,
    SubOperationId, Term, Type, Var,
};
use linchpin_syntax::Span;

use crate::context::Context;
use crate::facts::{Candidate, Invariant, Reach, Reason, Statement};
use crate::footprint::{Footprint, Kind};
use crate::prefix;

/// Fills [`Context::facts`] with candidates.
pub fn propose(context: &mut Context) {
    let pools: Vec<Vec<Condition>> =
        (0..context.model.operations.len()).map(|operation| pool(context, operation)).collect();
    for at in 0..context.prefixes.all.len() {
        let data = &context.prefixes.all[at];
        // Nothing is asked of an instance that has nothing left to do, or has done nothing.
        if data.steps.is_empty() || data.next.is_empty() {
            continue;
        }
        let mut found: Vec<Candidate> = pools[data.operation.0]
            .iter()
            .filter(|condition| condition.atoms().iter().all(|atom| is_set(atom, &data.set)))
            .map(|condition| candidate(Statement::Condition(condition.clone()), false))
            .collect();
        found.extend(
            reaches(context, at).into_iter().map(|reach| candidate(Statement::Reach(reach), false)),
        );
        let last =
            SubOperationId { operation: data.operation, index: data.steps[data.steps.len() - 1] };
        for invariant in &context.model.invariants {
            if invariant.after == Some(last) {
                let mut written =
                    candidate(Statement::Condition(invariant.condition.clone()), true);
                if !invariant.bound.is_empty()
                    || !invariant.condition.atoms().iter().all(|atom| is_set(atom, &data.set))
                {
                    written.dropped = Some(Reason::Unsupported);
                }
                found.push(written);
            }
        }
        context.facts.at[at] = found;
    }
    context.facts.invariants = invariants(context);
}

fn candidate(statement: Statement, written: bool) -> Candidate {
    let footprint = match &statement {
        Statement::Condition(condition) => Footprint::of_condition(condition),
        Statement::Reach(_) => Footprint::default(),
    };
    Candidate { statement, footprint, written, dropped: None }
}

fn is_set(atom: &Atom, set: &[bool]) -> bool {
    let mut locals = Vec::new();
    prefix::term(&atom.left, &mut locals);
    prefix::term(&atom.right, &mut locals);
    locals.iter().all(|local| set.get(local.0) == Some(&true))
}

fn atom(left: Term, relation: Relation, right: Term) -> Condition {
    Condition::Atom(Atom { left, relation, right, span: Span::default() })
}

/// The conditions that may hold at some prefix of an operation.
fn pool(context: &Context, operation: usize) -> Vec<Condition> {
    let body = &context.model.operations[operation];
    let mut pool: Vec<Condition> = Vec::new();
    for step in &body.sub_operations {
        conjuncts(&step.precondition, &mut pool);
        for statement in &step.body {
            match statement {
                Action::Assign { place, value, .. } => {
                    let (place_term, value) = (Term::Place(*place), *value);
                    if mentions(&value, place) {
                        continue;
                    }
                    pool.push(atom(place_term, Relation::Equal, value));
                    let compared = matches!(value, Term::Place(_) | Term::Plus(..));
                    if context.uses_order
                        && compared
                        && type_of(context, operation, place) == Some(Type::Int)
                    {
                        pool.push(atom(place_term, Relation::LessOrEqual, value));
                        pool.push(atom(place_term, Relation::GreaterOrEqual, value));
                        pool.push(atom(place_term, Relation::Less, value));
                        pool.push(atom(place_term, Relation::Greater, value));
                    }
                }
                Action::Malloc { var, of, .. } => {
                    for (field, variable) in context.model.structs[of.0].fields.iter().enumerate() {
                        let initial =
                            if variable.ty == Type::Int { Term::Int(0) } else { Term::Null };
                        pool.push(atom(
                            Term::Place(Place::Field(*var, *of, FieldId(field))),
                            Relation::Equal,
                            initial,
                        ));
                    }
                }
                Action::Free { .. } | Action::Read { .. } => {}
            }
        }
    }
    // A comparison that fails for good tells as much as one that holds.
    for condition in pool.clone() {
        if let Condition::Atom(Atom { relation: Relation::Equal | Relation::NotEqual, .. }) =
            condition
        {
            pool.push(condition.negated());
        }
    }
    let mut distinct: Vec<Condition> = Vec::new();
    for condition in pool {
        if !distinct.iter().any(|known| same_condition(known, &condition)) {
            distinct.push(condition);
        }
    }
    distinct
}

/// Equal but for where they stand in the source.
pub fn same_condition(one: &Condition, other: &Condition) -> bool {
    match (one, other) {
        (Condition::All(a), Condition::All(b)) | (Condition::Any(a), Condition::Any(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_condition(a, b))
        }
        (Condition::Atom(a), Condition::Atom(b)) => {
            (a.left, a.relation, a.right) == (b.left, b.relation, b.right)
        }
        _ => false,
    }
}

/// The parts of a conjunction.
pub fn conjuncts(condition: &Condition, into: &mut Vec<Condition>) {
    match condition {
        Condition::All(parts) => parts.iter().for_each(|part| conjuncts(part, into)),
        other => into.push(other.clone()),
    }
}

/// Whether the value is computed from the place itself, or from what the place's base is.
fn mentions(value: &Term, place: &Place) -> bool {
    match value {
        Term::Place(from) | Term::Plus(from, _) => {
            from == place
                || match (place, from) {
                    (Place::Variable(var), Place::Field(base, ..)) => var == base,
                    _ => false,
                }
        }
        _ => false,
    }
}

fn type_of(context: &Context, operation: usize, place: &Place) -> Option<Type> {
    match place {
        Place::Variable(Var::Local(local)) => {
            Some(context.model.operations[operation].locals[local.0].ty)
        }
        other => crate::footprint::kind(other).and_then(|kind| context.type_of(kind)),
    }
}

/// Where each object that was allocated and then stored may stand.
fn reaches(context: &Context, at: usize) -> Vec<Reach> {
    let data = &context.prefixes.all[at];
    let body = &context.model.operations[data.operation.0];
    let mut found = Vec::new();
    for (local, of) in &data.owned {
        if data.private.contains(&(*local, *of)) {
            continue;
        }
        let mut places: Vec<Place> = Vec::new();
        let mut lost = false;
        for step in &data.steps {
            for statement in &body.sub_operations[*step].body {
                match statement {
                    Action::Malloc { var: Var::Local(again), .. } if again == local => {
                        places.clear();
                        lost = false;
                    }
                    Action::Malloc { var: Var::Local(again), .. } => {
                        lost |= mentions_local(&places, *again)
                    }
                    Action::Assign {
                        place,
                        value: Term::Place(Place::Variable(Var::Local(source))),
                        ..
                    } if source == local => match place {
                        Place::Variable(Var::Global(_)) => places.push(*place),
                        Place::Field(Var::Local(_), ..) => places.push(*place),
                        Place::Field(Var::Global(global), ..) if is_place(context, *global) => {
                            places.push(*place)
                        }
                        _ => lost = true,
                    },
                    Action::Assign { place: Place::Variable(Var::Local(changed)), .. } => {
                        lost |= mentions_local(&places, *changed)
                    }
                    _ => {}
                }
            }
        }
        if !lost {
            places.dedup();
            found.push(Reach { local: *local, of: *of, places });
        }
    }
    found
}

fn mentions_local(places: &[Place], local: LocalId) -> bool {
    places.iter().any(|place| matches!(place, Place::Field(Var::Local(base), ..) if *base == local))
}

fn is_place(context: &Context, global: GlobalId) -> bool {
    matches!(context.model.globals[global.0].kind, GlobalKind::Place(_))
}

/// The author's invariants, and that globals keep a value or a reference.
fn invariants(context: &Context) -> Vec<Invariant> {
    let model = context.model;
    let mut found = Vec::new();
    for invariant in model.invariants.iter().filter(|invariant| invariant.after.is_none()) {
        let structs: Option<Vec<_>> = invariant
            .bound
            .iter()
            .map(|variable| match variable.ty {
                Type::Ref(of) => Some(of),
                Type::Int => None,
            })
            .collect();
        let supported = structs.as_ref().is_some_and(|structs| structs.len() <= 2);
        found.push(Invariant {
            bound: structs.unwrap_or_default(),
            condition: invariant.condition.clone(),
            footprint: Footprint::of_condition(&invariant.condition),
            written: true,
            dropped: (!supported).then_some(Reason::Unsupported),
        });
    }
    // No object refers to itself.
    for (of, structure) in model.structs.iter().enumerate() {
        for (field, variable) in structure.fields.iter().enumerate() {
            let of = linchpin_subop::model::StructId(of);
            if variable.ty == Type::Ref(of) {
                let place = Place::Field(Var::Bound(0), of, FieldId(field));
                let condition = atom(
                    Term::Place(place),
                    Relation::NotEqual,
                    Term::Place(Place::Variable(Var::Bound(0))),
                );
                let footprint = Footprint::of_condition(&condition);
                found.push(Invariant {
                    bound: vec![of],
                    condition,
                    footprint,
                    written: false,
                    dropped: None,
                });
            }
        }
    }
    let mut propose = |condition: Condition| {
        let footprint = Footprint::of_condition(&condition);
        found.push(Invariant {
            bound: Vec::new(),
            condition,
            footprint,
            written: false,
            dropped: None,
        });
    };
    for (at, global) in model.globals.iter().enumerate() {
        let var = Var::Global(GlobalId(at));
        // What no operation names only multiplies the cases.
        if !is_named(context, GlobalId(at)) {
            continue;
        }
        match global.kind {
            GlobalKind::Scalar(ty) => starting(&mut propose, Place::Variable(var), ty, context),
            GlobalKind::Place(of) => {
                for (field, variable) in model.structs[of.0].fields.iter().enumerate() {
                    starting(
                        &mut propose,
                        Place::Field(var, of, FieldId(field)),
                        variable.ty,
                        context,
                    );
                }
            }
            GlobalKind::Array(_) => {}
        }
    }
    found
}

fn is_named(context: &Context, global: GlobalId) -> bool {
    let reads = |kinds: &[Kind]| kinds.contains(&Kind::Global(global));
    context
        .prefixes
        .all
        .iter()
        .any(|prefix| reads(&prefix.footprint.reads) || reads(&prefix.footprint.writes))
}

fn starting(propose: &mut dyn FnMut(Condition), place: Place, ty: Type, context: &Context) {
    match ty {
        Type::Ref(_) => propose(atom(Term::Place(place), Relation::NotEqual, Term::Null)),
        Type::Int => {
            for constant in &context.constants {
                propose(atom(Term::Place(place), Relation::Equal, Term::Int(*constant)));
                if context.uses_order {
                    propose(atom(
                        Term::Place(place),
                        Relation::GreaterOrEqual,
                        Term::Int(*constant),
                    ));
                }
            }
        }
    }
}
