//! The value of a formula on a three-valued structure (Kleene evaluation).
//!
//! By the embedding theorem a definite value holds in every structure that embeds. One variable,
//! the *lane*, takes all individuals at once: the connectives then work on words.

use crate::Binary;
use crate::formula::{Atom, Formula, Variable};
use crate::structure::{Individual, Structure};
use crate::truth::{Truth, Truths, bits};

/// Which individual each variable stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Assignment([Option<Individual>; Variable::ALL.len()]);

impl Assignment {
    /// No variable has a value.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The assignment with `v` standing for `u`.
    #[must_use]
    pub fn with(mut self, v: Variable, u: Individual) -> Self {
        self.0[v.index()] = Some(u);
        self
    }

    /// What `v` stands for.
    #[must_use]
    pub fn get(&self, v: Variable) -> Option<Individual> {
        self.0[v.index()]
    }
}

impl Structure {
    /// The value of `formula`. A variable without a value makes its atoms 1/2.
    #[must_use]
    pub fn evaluate(&self, formula: &Formula, assignment: &Assignment) -> Truth {
        let scalar = Lanes { structure: self, lane: None, all: 1 };
        scalar.value(formula, assignment).get(0)
    }

    /// The values of `formula`, by the individual that `lane` stands for.
    pub(crate) fn evaluate_lanes(
        &self,
        formula: &Formula,
        assignment: &Assignment,
        lane: Variable,
    ) -> Truths {
        Lanes::over(self, lane).value(formula, assignment)
    }

    /// The values of `p*(u, ·)`, or of `p*(·, u)` if not `forward`.
    ///
    /// A definite path consists of definite edges; `u` reaches itself for certain only if it is one
    /// individual.
    fn reach(&self, p: Binary, u: Individual, forward: bool) -> Truths {
        let next = |v: usize| {
            let v = Individual::at(v);
            if forward { self.row(p, v) } else { self.column_to(p, v) }
        };
        let start = next(u.index());
        let may = closed(start.may | u.bit() & self.all(), |v| next(v).may);
        let must = closed(start.must, |v| next(v).must) | u.bit() & self.all() & !self.summary;
        Truths { may, must }
    }
}

/// The least set that contains `seen` and the successors of its members.
fn closed(mut seen: u64, next: impl Fn(usize) -> u64) -> u64 {
    let mut fresh = seen;
    while fresh != 0 {
        let found = bits(fresh).fold(0, |found, v| found | next(v));
        fresh = found & !seen;
        seen |= found;
    }
    seen
}

/// An evaluation in which one variable stands for all individuals at once.
struct Lanes<'s> {
    structure: &'s Structure,
    /// `None`: a single value, in lane 0.
    lane: Option<Variable>,
    all: u64,
}

impl<'s> Lanes<'s> {
    fn over(structure: &'s Structure, lane: Variable) -> Self {
        Self { structure, lane: Some(lane), all: structure.all() }
    }

    fn splat(&self, value: Truth) -> Truths {
        Truths::splat(value, self.all)
    }

    fn value(&self, formula: &Formula, assignment: &Assignment) -> Truths {
        match formula {
            Formula::Constant(value) => self.splat(*value),
            Formula::Atom(atom) => self.atom(*atom, assignment),
            Formula::Closure(p, v, w) => self.closure(*p, *v, *w, assignment),
            Formula::Not(inner) => self.value(inner, assignment).negated(self.all),
            Formula::And(parts) => {
                let mut found = Truths::definite(self.all);
                for part in parts {
                    found = found.and(self.value(part, assignment));
                    if found.may == 0 {
                        break;
                    }
                }
                found
            }
            Formula::Or(parts) => {
                let mut found = Truths::ZERO;
                for part in parts {
                    found = found.or(self.value(part, assignment));
                    if found.must == self.all {
                        break;
                    }
                }
                found
            }
            Formula::Exists(v, body) => self.quantified(*v, body, assignment, true),
            Formula::Forall(v, body) => self.quantified(*v, body, assignment, false),
        }
    }

    fn quantified(&self, v: Variable, body: &Formula, env: &Assignment, exists: bool) -> Truths {
        let structure = self.structure;
        let inner_only = self.lane.is_none_or(|lane| lane == v || !body.mentions(lane));
        if inner_only {
            let values = structure.evaluate_lanes(body, env, v);
            return self.splat(if exists { values.any() } else { values.all(structure.all()) });
        }
        let mut found = if exists { Truths::ZERO } else { Truths::definite(self.all) };
        for u in structure.individuals() {
            let value = self.value(body, &env.with(v, u));
            found = if exists { found.or(value) } else { found.and(value) };
        }
        found
    }

    fn atom(&self, atom: Atom, env: &Assignment) -> Truths {
        match atom {
            Atom::Nullary(p) => self.splat(self.structure.nullary(p)),
            Atom::Unary(p, v) if self.lane == Some(v) => self.structure.column(p),
            Atom::Unary(p, v) => {
                self.splat(env.get(v).map_or(Truth::Half, |u| self.structure.unary(p, u)))
            }
            Atom::Binary(p, v, w) => self.binary(p, v, w, env),
            Atom::Equal(v, w) => self.equal(v, w, env),
        }
    }

    fn binary(&self, p: Binary, v: Variable, w: Variable, env: &Assignment) -> Truths {
        let structure = self.structure;
        match (self.lane == Some(v), self.lane == Some(w)) {
            (true, true) => {
                let mut diagonal = Truths::ZERO;
                for u in structure.individuals() {
                    diagonal.set(u.index(), structure.binary(p, u, u));
                }
                diagonal
            }
            (false, true) => env.get(v).map_or(self.unknown(), |u| structure.row(p, u)),
            (true, false) => env.get(w).map_or(self.unknown(), |u| structure.column_to(p, u)),
            (false, false) => self.splat(match (env.get(v), env.get(w)) {
                (Some(u), Some(u2)) => structure.binary(p, u, u2),
                _ => Truth::Half,
            }),
        }
    }

    /// A variable is equal to itself, even when it stands for a summary; two variables that stand
    /// for the same summary may differ.
    fn equal(&self, v: Variable, w: Variable, env: &Assignment) -> Truths {
        if v == w {
            return self.splat(Truth::True);
        }
        let same = |u: Individual| {
            if self.structure.is_summary(u) { Truth::Half } else { Truth::True }
        };
        match (self.lane == Some(v), self.lane == Some(w)) {
            (false, false) => self.splat(match (env.get(v), env.get(w)) {
                (Some(u), Some(u2)) if u == u2 => same(u),
                (Some(_), Some(_)) => Truth::False,
                _ => Truth::Half,
            }),
            (first, _) => match env.get(if first { w } else { v }) {
                Some(u) => Truths::splat(same(u), u.bit() & self.all),
                None => self.unknown(),
            },
        }
    }

    fn closure(&self, p: Binary, v: Variable, w: Variable, env: &Assignment) -> Truths {
        if v == w {
            return self.splat(Truth::True);
        }
        let reach = |from: Variable, forward: bool| {
            env.get(from).map(|u| self.structure.reach(p, u, forward))
        };
        let found = match (self.lane == Some(v), self.lane == Some(w)) {
            (true, _) => reach(w, false),
            (_, true) => reach(v, true),
            _ => {
                reach(v, true).and_then(|from| env.get(w).map(|u| self.splat(from.get(u.index()))))
            }
        };
        found.unwrap_or(self.unknown())
    }

    fn unknown(&self) -> Truths {
        self.splat(Truth::Half)
    }
}
