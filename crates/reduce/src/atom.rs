//! Terms and comparisons, assumed, required or decided by cases.

use linchpin_subop::model::{Relation, Term};

use crate::solver::{NULL, POISON, Value, ZERO};
use crate::symbolic::{Env, Memory, Mode, Run, Stop, Symbolic};

impl Symbolic<'_> {
    /// The value of a term; `None` if it is not defined (or, when required, may not be).
    pub fn term(
        &mut self,
        memory: &Memory,
        env: Env,
        term: &Term,
        mode: Mode,
    ) -> Run<Option<Value>> {
        match term {
            Term::Int(value) => Ok(Some(Value { plus: *value, ..ZERO })),
            Term::Null => Ok(Some(NULL)),
            Term::Id => Ok(Some(self.identity(env.who))),
            Term::Place(place) => self.place(memory, env, place, mode),
            Term::Plus(place, plus) => {
                let Some(value) = self.place(memory, env, place, mode)? else { return Ok(None) };
                if self.decide_proper(value)? {
                    Ok(Some(Value { plus: value.plus + plus, ..value }))
                } else {
                    Ok(Some(POISON))
                }
            }
        }
    }

    pub(crate) fn assume_atom(
        &mut self,
        memory: &Memory,
        env: Env,
        left: Term,
        relation: Relation,
        right: Term,
    ) -> Run<()> {
        let left = self.term(memory, env, &left, Mode::Assume)?.ok_or(Stop::Prune)?;
        let right = self.term(memory, env, &right, Mode::Assume)?.ok_or(Stop::Prune)?;
        match relation {
            Relation::Equal => self.solver.assert_same(left, right)?,
            Relation::NotEqual => self.solver.assert_different(left, right)?,
            _ => {
                let (low, high, slack) = ordered(left, relation, right);
                self.solver.assert_at_most(low, high, slack)?;
            }
        }
        Ok(())
    }

    pub(crate) fn require_atom(
        &mut self,
        memory: &Memory,
        env: Env,
        left: Term,
        relation: Relation,
        right: Term,
    ) -> Run<bool> {
        let Some(left) = self.term(memory, env, &left, Mode::Require)? else { return Ok(false) };
        let Some(right) = self.term(memory, env, &right, Mode::Require)? else { return Ok(false) };
        Ok(match relation {
            Relation::Equal => {
                self.solver.same(left, right) == Some(true) || self.fits(left, right)?
            }
            Relation::NotEqual => self.solver.same(left, right) == Some(false),
            _ => {
                let (low, high, slack) = ordered(left, relation, right);
                self.solver.proper(left) == Some(true)
                    && self.solver.proper(right) == Some(true)
                    && self.solver.at_most(low, high, slack) == Some(true)
            }
        })
    }

    pub(crate) fn decide_atom(
        &mut self,
        memory: &Memory,
        env: Env,
        left: Term,
        relation: Relation,
        right: Term,
    ) -> Run<bool> {
        let Some(left) = self.decide_term(memory, env, &left)? else { return Ok(false) };
        let Some(right) = self.decide_term(memory, env, &right)? else { return Ok(false) };
        match relation {
            Relation::Equal => self.equal(left, right),
            Relation::NotEqual => Ok(!self.equal(left, right)?),
            _ => {
                if !self.decide_proper(left)? || !self.decide_proper(right)? {
                    return Ok(false);
                }
                let (low, high, slack) = ordered(left, relation, right);
                if let Some(known) = self.solver.at_most(low, high, slack) {
                    return Ok(known);
                }
                if self.choose(2) == 0 {
                    self.solver.assert_at_most(low, high, slack)?;
                    Ok(true)
                } else {
                    self.solver.assert_at_most(high, low, -slack - 1)?;
                    Ok(false)
                }
            }
        }
    }

    fn decide_term(&mut self, memory: &Memory, env: Env, term: &Term) -> Run<Option<Value>> {
        use linchpin_subop::model::{Index, Place};
        if let Term::Place(place) | Term::Plus(place, _) = term {
            let base = match place {
                Place::Variable(_) | Place::Element(_, Index::Int(_)) => None,
                Place::Field(var, ..) => Some(*var),
                Place::Element(_, Index::Variable(var) | Index::Plus(var, _)) => Some(*var),
            };
            if let Some(var) = base {
                let Some(value) = self.variable(memory, env, var)? else { return Ok(None) };
                if !self.decide_proper(value)? {
                    return Ok(None);
                }
            }
        }
        self.term(memory, env, term, Mode::Require)
    }

    /// Chooses a guess that nothing is known of to be what the comparison needs.
    fn fits(&mut self, left: Value, right: Value) -> Run<bool> {
        if !self.choosing {
            return Ok(false);
        }
        if !self.may_choose(left, right) && !self.may_choose(right, left) {
            return Ok(false);
        }
        Ok(self.solver.assert_same(left, right).is_ok())
    }
}

/// `left relation right` as `low <= high + slack`.
pub(crate) fn ordered(left: Value, relation: Relation, right: Value) -> (Value, Value, i64) {
    match relation {
        Relation::Less => (left, right, -1),
        Relation::LessOrEqual => (left, right, 0),
        Relation::Greater => (right, left, -1),
        _ => (right, left, 0),
    }
}
