//! Formulas, in the few connectives that the rest is short for.

use std::fmt;

/// A formula. Positions are moves of a run; an atom, by number, holds at a move that shows its
/// event.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Formula {
    /// Holds everywhere.
    True,
    /// Holds nowhere.
    False,
    /// The event with this number.
    Atom(usize),
    /// Not.
    Not(Box<Formula>),
    /// Both.
    And(Box<Formula>, Box<Formula>),
    /// At least one.
    Or(Box<Formula>, Box<Formula>),
    /// At the next move.
    Next(Box<Formula>),
    /// The second at some move from now on, and the first at every move before it.
    Until(Box<Formula>, Box<Formula>),
    /// The second at every move from now on, up to and including the first at which the first
    /// holds, if there is one.
    Release(Box<Formula>, Box<Formula>),
}

impl Formula {
    /// `not f`.
    pub fn negated(self) -> Formula {
        Formula::Not(Box::new(self))
    }

    /// `eventually f`.
    pub fn eventually(self) -> Formula {
        Formula::Until(Box::new(Formula::True), Box::new(self))
    }

    /// `always f`.
    pub fn always(self) -> Formula {
        Formula::Release(Box::new(Formula::False), Box::new(self))
    }

    /// `f implies g`.
    pub fn implies(self, then: Formula) -> Formula {
        Formula::Or(Box::new(self.negated()), Box::new(then))
    }

    /// One more than the largest number of an atom.
    pub fn atoms(&self) -> usize {
        use Formula::{And, Atom, False, Next, Not, Or, Release, True, Until};
        match self {
            True | False => 0,
            Atom(number) => number.saturating_add(1),
            Not(of) | Next(of) => of.atoms(),
            And(a, b) | Or(a, b) | Until(a, b) | Release(a, b) => a.atoms().max(b.atoms()),
        }
    }

    /// The same formula with `not` before atoms only.
    pub fn normal(&self) -> Formula {
        self.normal_form(false)
    }

    fn normal_form(&self, negated: bool) -> Formula {
        use Formula::{And, Atom, False, Next, Not, Or, Release, True, Until};
        let inner = |of: &Formula| Box::new(of.normal_form(negated));
        match (self, negated) {
            (True, false) | (False, true) => True,
            (False, false) | (True, true) => False,
            (Atom(_), false) => self.clone(),
            (Atom(_), true) => Not(Box::new(self.clone())),
            (Not(of), _) => of.normal_form(!negated),
            (And(a, b), false) | (Or(a, b), true) => And(inner(a), inner(b)),
            (Or(a, b), false) | (And(a, b), true) => Or(inner(a), inner(b)),
            (Next(of), _) => Next(inner(of)),
            (Until(a, b), false) | (Release(a, b), true) => Until(inner(a), inner(b)),
            (Release(a, b), false) | (Until(a, b), true) => Release(inner(a), inner(b)),
        }
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Formula::True => f.write_str("true"),
            Formula::False => f.write_str("false"),
            Formula::Atom(number) => write!(f, "p{number}"),
            Formula::Not(of) => write!(f, "!{of}"),
            Formula::And(a, b) => write!(f, "({a} && {b})"),
            Formula::Or(a, b) => write!(f, "({a} || {b})"),
            Formula::Next(of) => write!(f, "X {of}"),
            Formula::Until(a, b) => write!(f, "({a} U {b})"),
            Formula::Release(a, b) => write!(f, "({a} R {b})"),
        }
    }
}
