//! What is known of a condition already, without deciding or reading anything anew.

use linchpin_subop::model::{Atom, Condition, Index, Place, Relation, Term, Var};

use crate::atom::ordered;
use crate::footprint::Kind;
use crate::solver::{NULL, Value, ZERO};
use crate::symbolic::{Env, Memory, Symbolic};

impl Symbolic<'_> {
    /// Whether a condition is known to hold, or not to.
    pub fn known(&self, memory: &Memory, env: Env, condition: &Condition) -> Option<bool> {
        match condition {
            Condition::All(parts) => {
                let mut all = Some(true);
                for part in parts {
                    match self.known(memory, env, part) {
                        Some(false) => return Some(false),
                        Some(true) => {}
                        None => all = None,
                    }
                }
                all
            }
            Condition::Any(parts) => {
                let mut any = Some(false);
                for part in parts {
                    match self.known(memory, env, part) {
                        Some(true) => return Some(true),
                        Some(false) => {}
                        None => any = None,
                    }
                }
                any
            }
            Condition::Atom(atom) => self.known_atom(memory, env, atom),
        }
    }

    fn known_atom(&self, memory: &Memory, env: Env, atom: &Atom) -> Option<bool> {
        let left = self.known_term(memory, env, &atom.left)?;
        let right = self.known_term(memory, env, &atom.right)?;
        match atom.relation {
            Relation::Equal => self.solver.same(left, right),
            Relation::NotEqual => self.solver.same(left, right).map(|same| !same),
            relation => {
                if !self.solver.proper(left)? || !self.solver.proper(right)? {
                    return Some(false);
                }
                let (low, high, slack) = ordered(left, relation, right);
                self.solver.at_most(low, high, slack)
            }
        }
    }

    fn known_term(&self, memory: &Memory, env: Env, term: &Term) -> Option<Value> {
        match term {
            Term::Int(value) => Some(Value { plus: *value, ..ZERO }),
            Term::Null => Some(NULL),
            Term::Id => Some(self.identity(env.who)),
            Term::Place(place) => self.known_place(memory, env, place),
            Term::Plus(place, plus) => {
                let value = self.known_place(memory, env, place)?;
                let sum = Value { plus: value.plus.checked_add(*plus)?, ..value };
                (self.solver.proper(value) == Some(true)).then_some(sum)
            }
        }
    }

    fn known_place(&self, memory: &Memory, env: Env, place: &Place) -> Option<Value> {
        let (kind, base) = match place {
            Place::Variable(var) => return self.known_variable(memory, env, *var),
            Place::Field(var, of, field) => {
                (Kind::Field(*of, *field), self.known_variable(memory, env, *var)?)
            }
            Place::Element(array, Index::Int(at)) => {
                (Kind::Array(*array), Value { plus: *at, ..ZERO })
            }
            Place::Element(array, Index::Variable(var)) => {
                (Kind::Array(*array), self.known_variable(memory, env, *var)?)
            }
            Place::Element(_, Index::Plus(..)) => return None,
        };
        if self.beginning || self.solver.proper(base) != Some(true) {
            return None;
        }
        // The last one that may be this location must be known to be it.
        let cells = memory.writes.iter().rev().chain(&self.cells);
        for cell in cells.filter(|cell| cell.kind == kind) {
            match self.solver.same(cell.base, base) {
                Some(true) => return Some(cell.value),
                Some(false) => {}
                None => return None,
            }
        }
        None
    }

    fn known_variable(&self, memory: &Memory, env: Env, var: Var) -> Option<Value> {
        let local = |who: usize, local: usize| *memory.instances.get(who)?.locals.get(local)?;
        match var {
            Var::Global(global) => {
                let written = memory.globals[global.0];
                written.or(self.given.places[global.0]).or(self.globals[global.0])
            }
            Var::Local(at) => local(env.who, at.0),
            Var::Peer(at) => local(env.peer, at.0),
            Var::Bound(at) => env.bound.get(at).copied(),
        }
    }
}
