//! The values of a path: what every local word holds, in terms of what the operation was passed,
//! what it read and what it allocated.
//!
//! Each of those is a *symbol*, a local of the sub-operations that is set once. So a condition on
//! symbols, once true, stays true.

use linchpin_diagnostic::Span;
use linchpin_subop::model::{
    Atom, Condition, Index, LocalId, Place, Relation, Statement, Term, Var,
};

/// A word of a local variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    Term(Term),
    Truth(Condition),
}

pub fn truth(value: bool) -> Condition {
    if value { Condition::All(Vec::new()) } else { Condition::Any(Vec::new()) }
}

/// The truth value, if it is the same whatever the symbols are.
pub fn known(condition: &Condition) -> Option<bool> {
    match condition {
        Condition::All(parts) if parts.is_empty() => Some(true),
        Condition::Any(parts) if parts.is_empty() => Some(false),
        _ => None,
    }
}

pub fn all(parts: impl IntoIterator<Item = Condition>) -> Condition {
    let mut kept = Vec::new();
    for part in parts {
        match known(&part) {
            Some(true) => {}
            Some(false) => return truth(false),
            None => match part {
                Condition::All(inner) => kept.extend(inner),
                other => kept.push(other),
            },
        }
    }
    if kept.len() == 1 { kept.remove(0) } else { Condition::All(kept) }
}

pub fn any(parts: impl IntoIterator<Item = Condition>) -> Condition {
    let mut kept = Vec::new();
    for part in parts {
        match known(&part) {
            Some(false) => {}
            Some(true) => return truth(true),
            None => match part {
                Condition::Any(inner) => kept.extend(inner),
                other => kept.push(other),
            },
        }
    }
    if kept.len() == 1 { kept.remove(0) } else { Condition::Any(kept) }
}

pub fn atom(left: Term, relation: Relation, right: Term) -> Condition {
    Condition::Atom(Atom { left, relation, right, span: Span::default() })
}

pub fn symbol(id: LocalId) -> Term {
    Term::Place(Place::Variable(Var::Local(id)))
}

/// The symbol that a term is.
pub fn as_symbol(term: &Term) -> Option<LocalId> {
    match term {
        Term::Place(Place::Variable(Var::Local(id))) => Some(*id),
        _ => None,
    }
}

/// Compares two terms; what is known of constants, of equal terms and of allocated objects is
/// decided at once.
pub fn compare(left: Term, relation: Relation, right: Term, new: &[LocalId]) -> Condition {
    let order = |left: i64, right: i64| match relation {
        Relation::Equal => left == right,
        Relation::NotEqual => left != right,
        Relation::Less => left < right,
        Relation::LessOrEqual => left <= right,
        Relation::Greater => left > right,
        Relation::GreaterOrEqual => left >= right,
    };
    let is_new = |term: &Term| as_symbol(term).is_some_and(|id| new.contains(&id));
    let equality = matches!(relation, Relation::Equal | Relation::NotEqual);
    match (&left, &right) {
        (Term::Int(a), Term::Int(b)) => truth(order(*a, *b)),
        (Term::Null, Term::Null) if equality => truth(relation == Relation::Equal),
        (Term::Int(_), Term::Null) | (Term::Null, Term::Int(_)) if equality => {
            truth(relation == Relation::NotEqual)
        }
        (Term::Null, other) | (other, Term::Null) if equality && is_new(other) => {
            truth(relation == Relation::NotEqual)
        }
        _ if left == right && equality => truth(relation == Relation::Equal),
        // Symbols are numbered as they come: what was there before an object was allocated is not
        // that object.
        _ if equality && is_before(&left, &right, new) => truth(relation == Relation::NotEqual),
        _ => atom(left, relation, right),
    }
}

/// Whether one of the terms is a new object and the other a symbol from before, or another new
/// object.
fn is_before(left: &Term, right: &Term, new: &[LocalId]) -> bool {
    match (as_symbol(left), as_symbol(right)) {
        (Some(a), Some(b)) => {
            let (old, young) = if a < b { (a, b) } else { (b, a) };
            old != young && new.contains(&young)
        }
        _ => false,
    }
}

/// Replaces symbols.
pub trait Substitute {
    /// Everywhere, `from` by `to`. `Err` if an object or index would be `NULL` or a computed value:
    /// no such state is defined.
    fn substitute(&mut self, from: LocalId, to: &Term) -> Result<(), Undefined>;
    /// Every symbol that is mentioned.
    fn symbols(&self, into: &mut Vec<LocalId>);
}

/// An access to a field of `NULL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undefined;

impl Substitute for Place {
    fn substitute(&mut self, from: LocalId, to: &Term) -> Result<(), Undefined> {
        let from = Var::Local(from);
        match self {
            Place::Field(base, ..) if *base == from => match to {
                Term::Place(Place::Variable(var)) => *base = *var,
                _ => return Err(Undefined),
            },
            Place::Element(_, index) => match (*index, to) {
                (Index::Variable(var), Term::Int(value)) if var == from => {
                    *index = Index::Int(*value)
                }
                (Index::Plus(var, plus), Term::Int(value)) if var == from => {
                    *index = Index::Int(value.checked_add(plus).ok_or(Undefined)?);
                }
                (Index::Variable(var), Term::Place(Place::Variable(to))) if var == from => {
                    *index = Index::Variable(*to);
                }
                (Index::Plus(var, plus), Term::Place(Place::Variable(to))) if var == from => {
                    *index = Index::Plus(*to, plus);
                }
                (Index::Variable(var), Term::Plus(Place::Variable(to), plus)) if var == from => {
                    *index = Index::Plus(*to, *plus);
                }
                (Index::Variable(var) | Index::Plus(var, _), _) if var == from => {
                    return Err(Undefined);
                }
                _ => {}
            },
            _ => {}
        }
        Ok(())
    }

    fn symbols(&self, into: &mut Vec<LocalId>) {
        let mut var = |var: &Var| {
            if let Var::Local(id) = var {
                into.push(*id);
            }
        };
        match self {
            Place::Variable(of) | Place::Field(of, ..) => var(of),
            Place::Element(_, Index::Variable(of) | Index::Plus(of, _)) => var(of),
            Place::Element(_, Index::Int(_)) => {}
        }
    }
}

impl Substitute for Term {
    fn substitute(&mut self, from: LocalId, to: &Term) -> Result<(), Undefined> {
        let variable = Place::Variable(Var::Local(from));
        match self {
            Term::Place(place) if *place == variable => *self = *to,
            Term::Plus(place, plus) if *place == variable => {
                *self = match to {
                    Term::Int(value) => Term::Int(value.checked_add(*plus).ok_or(Undefined)?),
                    Term::Place(place) => Term::Plus(*place, *plus),
                    Term::Plus(place, more) => {
                        Term::Plus(*place, plus.checked_add(*more).ok_or(Undefined)?)
                    }
                    Term::Null | Term::Id => return Err(Undefined),
                }
            }
            Term::Place(place) | Term::Plus(place, _) => place.substitute(from, to)?,
            Term::Int(_) | Term::Null | Term::Id => {}
        }
        Ok(())
    }

    fn symbols(&self, into: &mut Vec<LocalId>) {
        if let Term::Place(place) | Term::Plus(place, _) = self {
            place.symbols(into);
        }
    }
}

impl Substitute for Condition {
    fn substitute(&mut self, from: LocalId, to: &Term) -> Result<(), Undefined> {
        match self {
            Condition::All(parts) | Condition::Any(parts) => {
                parts.iter_mut().try_for_each(|part| part.substitute(from, to))
            }
            Condition::Atom(atom) => {
                // A comparison with what is not defined does not hold; what else stands beside it
                // may.
                if atom.left.substitute(from, to).is_err()
                    || atom.right.substitute(from, to).is_err()
                {
                    *self = truth(false);
                    return Ok(());
                }
                let known = match (atom.left, atom.right) {
                    (Term::Place(_) | Term::Plus(..), _) | (_, Term::Place(_) | Term::Plus(..)) => {
                        None
                    }
                    (left, right) => known(&compare(left, atom.relation, right, &[])),
                };
                if let Some(value) = known {
                    *self = truth(value);
                }
                Ok(())
            }
        }
    }

    fn symbols(&self, into: &mut Vec<LocalId>) {
        for atom in self.atoms() {
            atom.left.symbols(into);
            atom.right.symbols(into);
        }
    }
}

impl Substitute for Statement {
    fn substitute(&mut self, from: LocalId, to: &Term) -> Result<(), Undefined> {
        match self {
            Statement::Assign { place, value, .. } => {
                value.substitute(from, to)?;
                place.substitute(from, to)
            }
            // INVARIANT: allocated objects are never replaced.
            Statement::Malloc { .. } | Statement::Free { .. } | Statement::Read { .. } => Ok(()),
        }
    }

    fn symbols(&self, into: &mut Vec<LocalId>) {
        match self {
            Statement::Assign { place, value, .. } => {
                place.symbols(into);
                value.symbols(into);
            }
            Statement::Malloc { var: Var::Local(id), .. }
            | Statement::Free { var: Var::Local(id), .. } => {
                into.push(*id);
            }
            Statement::Malloc { .. } | Statement::Free { .. } => {}
            Statement::Read { place, .. } => place.symbols(into),
        }
    }
}

pub fn symbols_of(what: &impl Substitute) -> Vec<LocalId> {
    let mut found = Vec::new();
    what.symbols(&mut found);
    found
}

/// Whether a condition is about symbols only, not about shared locations.
pub fn is_local(condition: &Condition) -> bool {
    let local = |term: &Term| match term {
        Term::Place(place) | Term::Plus(place, _) => {
            matches!(place, Place::Variable(Var::Local(_)))
        }
        Term::Int(_) | Term::Null | Term::Id => true,
    };
    condition.atoms().iter().all(|atom| local(&atom.left) && local(&atom.right))
}

/// The same condition without parts that are known.
pub fn simplified(condition: Condition) -> Condition {
    match condition {
        Condition::All(parts) => all(parts.into_iter().map(simplified)),
        Condition::Any(parts) => any(parts.into_iter().map(simplified)),
        other => other,
    }
}
