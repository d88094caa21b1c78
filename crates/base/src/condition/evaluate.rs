//! The evaluation of a compiled formula, on words.

use super::formula::Term;
use crate::outcome::Words;
use linchpin_ir::program::BinaryOp;
use linchpin_space::{Flat, Space};

/// What a formula is evaluated in, with one value for each of its locals.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub space: &'a Space,
    pub flat: &'a Flat,
    pub thread: usize,
    pub locals: &'a [Words],
}

/// The object that a reference names, if there is one of the struct in the state.
fn object_of(scope: Scope, word: i64, of: usize) -> Option<usize> {
    let object = usize::try_from(word).ok()?.checked_sub(1)?;
    let is_there = object < scope.space.objects(scope.flat)
        && scope.space.object_words(scope.flat, object).0 == of as i64 + 1;
    is_there.then_some(object)
}

/// The words of a term; none where a null reference is in the way.
fn value(term: &Term, scope: Scope, bound: &mut Vec<i64>) -> Option<Words> {
    Some(match term {
        Term::Constant(words) => words.clone(),
        Term::Local(slot) => scope.locals.get(*slot)?.clone(),
        Term::Me => Words::from_slice(&[scope.thread as i64 + 1]),
        Term::Bound(at) => Words::from_slice(&[*bound.get(*at)?]),
        Term::Shared(variable) => {
            Words::from_slice(scope.space.shared_variable(scope.flat, *variable))
        }
        Term::SharedElement { variable, width, index } => {
            let index = usize::try_from(word(index, scope, bound)?).ok()?;
            let words = scope.space.shared_variable(scope.flat, *variable);
            let start = index.checked_mul(*width)?;
            Words::from_slice(words.get(start..start.checked_add(*width)?)?)
        }
        Term::Field { object, of, field } => {
            let object = object_of(scope, word(object, scope, bound)?, *of)?;
            Words::from_slice(scope.space.field(scope.flat, object, *of, *field))
        }
        Term::Part { of, start, width } => {
            let words = value(of, scope, bound)?;
            Words::from_slice(words.get(*start..start + width)?)
        }
        Term::Tagged(inner) => {
            let mut words = value(inner, scope, bound)?;
            words.insert(0, 1);
            words
        }
        Term::Negate(inner) => Words::from_slice(&[word(inner, scope, bound)?.checked_neg()?]),
        Term::Arithmetic(operator, left, right) => {
            let (left, right) = (word(left, scope, bound)?, word(right, scope, bound)?);
            let result = match operator {
                BinaryOp::Add => left.checked_add(right),
                BinaryOp::Subtract => left.checked_sub(right),
                BinaryOp::Multiply => left.checked_mul(right),
                BinaryOp::Divide => left.checked_div(right),
                BinaryOp::Remainder => left.checked_rem(right),
                bits => bits.on_bits(left, right),
            };
            Words::from_slice(&[result?])
        }
        _ => Words::from_slice(&[i64::from(truth(term, scope, bound)?)]),
    })
}

fn word(term: &Term, scope: Scope, bound: &mut Vec<i64>) -> Option<i64> {
    value(term, scope, bound)?.first().copied()
}

/// The truth of a term; none where it is a field of null, or the negation of one.
pub(super) fn truth(term: &Term, scope: Scope, bound: &mut Vec<i64>) -> Option<bool> {
    match term {
        Term::Not(inner) => truth(inner, scope, bound).map(|holds| !holds),
        Term::And(left, right) => {
            let left = truth(left, scope, bound) == Some(true);
            Some(left && truth(right, scope, bound) == Some(true))
        }
        Term::Or(left, right) => {
            let left = truth(left, scope, bound) == Some(true);
            Some(left || truth(right, scope, bound) == Some(true))
        }
        Term::Compare(operator, left, right) => {
            let (left, right) = (value(left, scope, bound), value(right, scope, bound));
            let (Some(left), Some(right)) = (left, right) else { return Some(false) };
            Some(match operator {
                BinaryOp::Equal => left == right,
                BinaryOp::NotEqual => left != right,
                BinaryOp::Less => left < right,
                BinaryOp::LessEqual => left <= right,
                BinaryOp::Greater => left > right,
                BinaryOp::GreaterEqual => left >= right,
                _ => false,
            })
        }
        Term::Reach { from, of, field, at, to } => {
            let (from, to) = (word(from, scope, bound), word(to, scope, bound));
            let (Some(mut here), Some(to)) = (from, to) else { return Some(false) };
            for _ in 0..=scope.space.objects(scope.flat) {
                if here == to {
                    return Some(true);
                }
                let Some(object) = object_of(scope, here, *of) else { break };
                here = scope.space.field(scope.flat, object, *of, *field)[*at];
            }
            Some(false)
        }
        Term::Quantified { forall, of, body } => {
            for object in 0..scope.space.objects(scope.flat) {
                if scope.space.object_words(scope.flat, object).0 != *of as i64 + 1 {
                    continue;
                }
                bound.push(object as i64 + 1);
                let holds = truth(body, scope, bound) == Some(true);
                bound.pop();
                if holds != *forall {
                    return Some(!forall);
                }
            }
            Some(*forall)
        }
        _ => word(term, scope, bound).map(|word| word != 0),
    }
}
