//! A path in its shortest form: symbols that are known to be equal become one, conditions on
//! symbols stand where their symbols are set, and a value that is only compared is compared where
//! it is read.
//!
//! All of this stays between two visible steps. An operation that stops in between has done nothing
//! that others could notice since the first of them, so it is not asked how it would have gone on;
//! conditions from further down may be used there. They are never used before a visible step, for
//! an operation may stop after it and never come to test them.

use crate::Refusal;
use crate::path::{End, Path, Step};
use crate::symbol::{Substitute, as_symbol, is_local, known, symbols_of};
use linchpin_subop::model::{Atom, Condition, LocalId, Place, Relation, Statement, Term, Var};

/// The path in its shortest form; none if it cannot be taken without a fault.
pub fn simplified_path(mut path: Path) -> Option<Path> {
    loop {
        let before = path.clone();
        unify(&mut path)?;
        hoist(&mut path);
        inline(&mut path);
        for step in &mut path.steps {
            let mut distinct: Vec<Condition> = Vec::new();
            for condition in step.conditions.drain(..) {
                match known(&condition) {
                    Some(true) => {}
                    Some(false) => return None,
                    None if distinct.contains(&condition) => {}
                    None => distinct.push(condition),
                }
            }
            step.conditions = distinct;
        }
        path.steps.retain(|step| !step.is_empty());
        if path == before {
            return Some(path);
        }
    }
}

/// Whether no step tests an object that it allocates itself: conditions are tested before there is
/// one.
pub fn is_expressible(path: &Path) -> Result<(), Refusal> {
    for step in &path.steps {
        let allocated: Vec<LocalId> = step
            .statements
            .iter()
            .filter_map(|statement| match statement {
                Statement::Malloc { var: Var::Local(id), .. } => Some(*id),
                _ => None,
            })
            .collect();
        let tested = step.conditions.iter().flat_map(symbols_of).any(|id| allocated.contains(&id));
        if tested {
            let reason = "compares a new object in the step that allocates it".to_owned();
            return Err(Refusal::at(step.line, reason));
        }
    }
    Ok(())
}

/// Replaces symbols by what a condition says they are equal to.
fn unify(path: &mut Path) -> Option<()> {
    let visible = path.visible();
    let set = path.set_at();
    for at in 0..path.steps.len() {
        let segment = path.segment(&visible, at);
        for position in 0..path.steps[at].conditions.len() {
            let Condition::Atom(Atom { left, relation: Relation::Equal, right, .. }) =
                path.steps[at].conditions[position].clone()
            else {
                continue;
            };
            if !is_local(&path.steps[at].conditions[position]) {
                continue;
            }
            // A symbol can be replaced if it is not used before this stretch of steps.
            let free = |term: &Term| {
                as_symbol(term).filter(|id| {
                    id.0 >= path.arguments
                        && !path.new.contains(id)
                        && set[id.0].is_none_or(|first| first >= segment)
                })
            };
            let order = |term: &Term| as_symbol(term).and_then(|id| set[id.0]);
            let (from, to) = match (free(&left), free(&right)) {
                (Some(a), Some(_)) if order(&left) > order(&right) => (a, right),
                (_, Some(b)) => (b, left),
                (Some(a), None) => (a, right),
                (None, None) => continue,
            };
            // A sum cannot stand wherever a symbol can.
            if symbols_of(&to).contains(&from) || matches!(to, Term::Plus(..)) {
                continue;
            }
            // INVARIANT: what replaces a symbol is set no later, or in the same stretch of steps.
            path.steps[at].conditions.remove(position);
            for step in &mut path.steps {
                step.substitute(from, &to).ok()?;
            }
            if let End::Return(terms) = &mut path.end {
                for term in terms {
                    term.substitute(from, &to).ok()?;
                }
            }
            return Some(());
        }
    }
    Some(())
}

/// Moves conditions on symbols to the first step at which all of them are set.
fn hoist(path: &mut Path) {
    let visible = path.visible();
    let set = path.set_at();
    for at in 0..path.steps.len() {
        let segment = path.segment(&visible, at);
        let conditions = std::mem::take(&mut path.steps[at].conditions);
        for condition in conditions {
            let mut target = at;
            if is_local(&condition) {
                // A new object is there only after the step that allocates it.
                let from = |id: &LocalId| {
                    set[id.0].map(|first| first + usize::from(path.new.contains(id)))
                };
                let latest = symbols_of(&condition).iter().filter_map(from).max();
                // The test itself may be what mentions the symbol first: then it is a guess, and
                // stays where it is.
                target = latest.unwrap_or(at).max(segment).min(at);
            }
            path.steps[target].conditions.push(condition);
        }
    }
}

/// Compares shared locations directly where the value that was read is used for nothing else; drops
/// reads of what is not used at all.
fn inline(path: &mut Path) {
    let set = path.set_at();
    let visible = path.visible();
    for at in 0..path.steps.len() {
        for position in 0..path.steps[at].conditions.len() {
            let Some((place, id)) = reading(&path.steps[at].conditions[position]) else { continue };
            if id.0 < path.arguments || path.new.contains(&id) || set[id.0] != Some(at) {
                continue;
            }
            let Some(uses) = comparisons(path, id, at, position) else { continue };
            let end = (at + 1..path.steps.len())
                .find(|step| path.segment(&visible, *step) > at)
                .unwrap_or(path.steps.len());
            let others_set = |condition: &Condition| {
                symbols_of(condition).iter().all(|other| {
                    let new = usize::from(path.new.contains(other));
                    *other == id || set[other.0].is_some_and(|first| first + new <= at)
                })
            };
            let movable = uses.iter().all(|(step, position)| {
                *step < end
                    && is_plain(&path.steps[*step].conditions[*position], id)
                    && others_set(&path.steps[*step].conditions[*position])
            });
            if !movable {
                continue;
            }
            let mut moved = Vec::new();
            for (step, position) in uses.iter().rev() {
                moved.push(path.steps[*step].conditions.remove(*position));
            }
            let read = path.steps[at]
                .conditions
                .iter()
                .position(|known| reading(known) == Some((place, id)));
            if let Some(read) = read {
                path.steps[at].conditions.remove(read);
            }
            for mut condition in moved.into_iter().rev() {
                if condition.substitute(id, &Term::Place(place)).is_ok() {
                    path.steps[at].conditions.push(condition);
                }
            }
            return;
        }
    }
}

/// `place == symbol`.
pub fn reading(condition: &Condition) -> Option<(Place, LocalId)> {
    match condition {
        Condition::Atom(Atom {
            left: Term::Place(place),
            relation: Relation::Equal,
            right,
            ..
        }) if !matches!(place, Place::Variable(Var::Local(_))) => {
            as_symbol(right).map(|id| (*place, id))
        }
        _ => None,
    }
}

/// Where a symbol is used besides the read at `(at, position)`; none if it is used in anything but
/// conditions on symbols.
fn comparisons(
    path: &Path,
    id: LocalId,
    at: usize,
    position: usize,
) -> Option<Vec<(usize, usize)>> {
    if path.result_symbols().contains(&id) {
        return None;
    }
    let mut uses = Vec::new();
    for (step, Step { conditions, statements, attempt, .. }) in path.steps.iter().enumerate() {
        if statements.iter().any(|statement: &Statement| symbols_of(statement).contains(&id)) {
            return None;
        }
        if let Some(attempt) = attempt
            && [attempt.expected, attempt.new].iter().any(|term| symbols_of(term).contains(&id))
        {
            return None;
        }
        for (number, condition) in conditions.iter().enumerate() {
            if (step, number) == (at, position) || !symbols_of(condition).contains(&id) {
                continue;
            }
            if !is_local(condition) {
                return None;
            }
            uses.push((step, number));
        }
    }
    Some(uses)
}

/// Whether the condition compares the symbol itself, so that a location can stand in its place.
fn is_plain(condition: &Condition, id: LocalId) -> bool {
    let fits = |term: &Term| !symbols_of(term).contains(&id) || as_symbol(term) == Some(id);
    condition.atoms().iter().all(|atom| fits(&atom.left) && fits(&atom.right))
}
