//! Conditions, assumed, required or decided by cases; [`atom`](crate::atom) does the same for
//! comparisons.

use linchpin_subop::model::{Condition, Relation};

use crate::solver::{NULL, POISON, Value};
use crate::symbolic::{Env, Memory, Run, Stop, Symbolic};

impl<'c> Symbolic<'c> {
    /// Decides whether two values are equal.
    pub fn equal(&mut self, left: Value, right: Value) -> Run<bool> {
        if let Some(known) = self.solver.same(left, right) {
            return Ok(known);
        }
        if self.choose(2) == 0 {
            self.solver.assert_same(left, right)?;
            Ok(true)
        } else {
            self.solver.assert_different(left, right)?;
            Ok(false)
        }
    }

    /// Decides whether a value is neither `NULL` nor poison.
    pub fn decide_proper(&mut self, value: Value) -> Run<bool> {
        if let Some(known) = self.solver.proper(value) {
            return Ok(known);
        }
        match self.choose(3) {
            0 => self.solver.assert_proper(value)?,
            1 => self.solver.assert_same(value, NULL)?,
            _ => self.solver.assert_same(value, POISON)?,
        }
        Ok(self.solver.proper(value) == Some(true))
    }

    /// Assumes a condition.
    pub fn assume(&mut self, memory: &Memory, env: Env, condition: &Condition) -> Run<()> {
        match condition {
            Condition::All(parts) => {
                parts.iter().try_for_each(|part| self.assume(memory, env, part))
            }
            Condition::Any(parts) => {
                // What is known to be false is no case, and nothing is to be assumed if one part is
                // known to be true.
                let mut open = Vec::new();
                for part in parts {
                    match self.known(memory, env, part) {
                        Some(true) => return Ok(()),
                        Some(false) => {}
                        None => open.push(part),
                    }
                }
                match open[..] {
                    [] => Err(Stop::Prune),
                    [only] => self.assume(memory, env, only),
                    _ => {
                        let at = self.choose(open.len());
                        self.assume(memory, env, open[at])
                    }
                }
            }
            Condition::Atom(atom) => {
                self.assume_atom(memory, env, atom.left, atom.relation, atom.right)
            }
        }
    }

    /// Whether a condition is known to hold. Disjunctions are decided by cases.
    pub fn require(&mut self, memory: &Memory, env: Env, condition: &Condition) -> Run<bool> {
        match condition {
            Condition::All(parts) => {
                // Equalities first: they choose the guesses.
                let equality = |part: &&Condition| matches!(part, Condition::Atom(atom) if atom.relation == Relation::Equal);
                for part in
                    parts.iter().filter(equality).chain(parts.iter().filter(|part| !equality(part)))
                {
                    if !self.require(memory, env, part)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Condition::Any(parts) => {
                for part in parts {
                    if self.decide(memory, env, part)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Condition::Atom(atom) => {
                self.require_atom(memory, env, atom.left, atom.relation, atom.right)
            }
        }
    }

    /// Decides whether a condition holds, by cases.
    pub fn decide(&mut self, memory: &Memory, env: Env, condition: &Condition) -> Run<bool> {
        match condition {
            Condition::All(parts) => {
                for part in parts {
                    if !self.decide(memory, env, part)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Condition::Any(parts) => {
                for part in parts {
                    if self.decide(memory, env, part)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Condition::Atom(atom) => {
                self.decide_atom(memory, env, atom.left, atom.relation, atom.right)
            }
        }
    }
}
