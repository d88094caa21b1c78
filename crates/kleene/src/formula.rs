//! Formulas of first-order logic with reflexive transitive closure, over the predicates of a
//! [`Vocabulary`](crate::Vocabulary). What they mean on a structure is in `evaluate.rs`.

use crate::{Binary, Nullary, Predicate, Truth, Unary};

/// A variable of a formula.
///
/// `V` and `W` are by convention the arguments of the predicate that a formula defines or updates;
/// the others are for quantifiers and constraints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variable {
    /// The first argument.
    V,
    /// The second argument.
    W,
    /// A further variable.
    A,
    /// A further variable.
    B,
    /// A further variable.
    C,
    /// A further variable.
    D,
}

impl Variable {
    /// All variables.
    pub const ALL: [Self; 6] = [Self::V, Self::W, Self::A, Self::B, Self::C, Self::D];

    pub(crate) fn index(self) -> usize {
        match self {
            Self::V => 0,
            Self::W => 1,
            Self::A => 2,
            Self::B => 3,
            Self::C => 4,
            Self::D => 5,
        }
    }

    fn bit(self) -> u8 {
        1 << self.index()
    }
}

/// An atomic formula whose truth a structure stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Atom {
    /// A predicate without arguments.
    Nullary(Nullary),
    /// `p(v)`.
    Unary(Unary, Variable),
    /// `p(v, w)`.
    Binary(Binary, Variable, Variable),
    /// `v = w`; 1/2 for a summary individual and itself.
    Equal(Variable, Variable),
}

impl Atom {
    /// The atom or its negation.
    #[must_use]
    pub fn literal(self, holds: bool) -> Literal {
        Literal { atom: self, holds }
    }

    fn variables(self) -> u8 {
        match self {
            Self::Nullary(_) => 0,
            Self::Unary(_, v) => v.bit(),
            Self::Binary(_, v, w) | Self::Equal(v, w) => v.bit() | w.bit(),
        }
    }
}

/// An atom or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Literal {
    /// The atom.
    pub atom: Atom,
    /// Whether it is said to hold.
    pub holds: bool,
}

/// A formula. Made with [`Unary::at`], [`Binary::between`], [`Nullary::holds`] and the functions
/// here.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Formula {
    /// A truth value.
    Constant(Truth),
    /// An atom.
    Atom(Atom),
    /// `p*(v, w)`: `v = w`, or a path of `p` leads from `v` to `w`.
    Closure(Binary, Variable, Variable),
    /// Negation.
    Not(Box<Formula>),
    /// Conjunction; 1 when empty.
    And(Vec<Formula>),
    /// Disjunction; 0 when empty.
    Or(Vec<Formula>),
    /// There is an individual.
    Exists(Variable, Box<Formula>),
    /// For all individuals.
    Forall(Variable, Box<Formula>),
}

impl Nullary {
    /// The formula that this predicate holds.
    #[must_use]
    pub fn holds(self) -> Formula {
        Formula::Atom(Atom::Nullary(self))
    }
}

impl Unary {
    /// The formula `p(v)`.
    #[must_use]
    pub fn at(self, v: Variable) -> Formula {
        Formula::Atom(Atom::Unary(self, v))
    }
}

impl Binary {
    /// The formula `p(v, w)`.
    #[must_use]
    pub fn between(self, v: Variable, w: Variable) -> Formula {
        Formula::Atom(Atom::Binary(self, v, w))
    }

    /// The formula `p*(v, w)`.
    #[must_use]
    pub fn reaches(self, v: Variable, w: Variable) -> Formula {
        Formula::Closure(self, v, w)
    }
}

impl From<Literal> for Formula {
    fn from(literal: Literal) -> Self {
        let atom = Self::Atom(literal.atom);
        if literal.holds { atom } else { atom.negated() }
    }
}

impl Formula {
    /// `v = w`.
    #[must_use]
    pub fn equal(v: Variable, w: Variable) -> Self {
        Self::Atom(Atom::Equal(v, w))
    }

    /// Negation.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::Not(inner) => *inner,
            other => Self::Not(Box::new(other)),
        }
    }

    /// Conjunction.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match self {
            Self::And(mut parts) => {
                parts.push(other);
                Self::And(parts)
            }
            first => Self::And(vec![first, other]),
        }
    }

    /// Disjunction.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match self {
            Self::Or(mut parts) => {
                parts.push(other);
                Self::Or(parts)
            }
            first => Self::Or(vec![first, other]),
        }
    }

    /// Implication.
    #[must_use]
    pub fn implies(self, other: Self) -> Self {
        self.negated().or(other)
    }

    /// There is a `v` with `body`.
    #[must_use]
    pub fn exists(v: Variable, body: Self) -> Self {
        Self::Exists(v, Box::new(body))
    }

    /// `body` for all `v`.
    #[must_use]
    pub fn forall(v: Variable, body: Self) -> Self {
        Self::Forall(v, Box::new(body))
    }

    /// Whether `v` occurs free.
    #[must_use]
    pub fn mentions(&self, v: Variable) -> bool {
        self.free() & v.bit() != 0
    }

    /// The free variables, in the order of [`Variable::ALL`].
    pub(crate) fn variables(&self) -> Vec<Variable> {
        let free = self.free();
        Variable::ALL.into_iter().filter(|v| free & v.bit() != 0).collect()
    }

    fn free(&self) -> u8 {
        match self {
            Self::Constant(_) => 0,
            Self::Atom(atom) => atom.variables(),
            Self::Closure(_, v, w) => v.bit() | w.bit(),
            Self::Not(inner) => inner.free(),
            Self::And(parts) | Self::Or(parts) => parts.iter().fold(0, |all, f| all | f.free()),
            Self::Exists(v, body) | Self::Forall(v, body) => body.free() & !v.bit(),
        }
    }

    /// What its value depends on.
    pub(crate) fn footprint(&self) -> Footprint {
        let mut found = Footprint::default();
        self.collect(&mut found);
        found
    }

    fn collect(&self, found: &mut Footprint) {
        match self {
            Self::Constant(_) => {}
            Self::Atom(Atom::Nullary(p)) => found.insert(Predicate::Nullary(*p)),
            Self::Atom(Atom::Unary(p, _)) => found.insert(Predicate::Unary(*p)),
            Self::Atom(Atom::Binary(p, ..)) => found.insert(Predicate::Binary(*p)),
            Self::Atom(Atom::Equal(..)) => found.summary = true,
            Self::Closure(p, ..) => {
                found.insert(Predicate::Binary(*p));
                found.summary = true;
            }
            Self::Not(body) | Self::Exists(_, body) | Self::Forall(_, body) => body.collect(found),
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(|f| f.collect(found)),
        }
    }
}

/// A set of predicates, and whether the summary bits are in it: what a formula reads, or what a
/// change touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    pub(crate) nullary: u64,
    pub(crate) unary: u64,
    pub(crate) binary: u64,
    pub(crate) summary: bool,
}

impl Footprint {
    /// Everything.
    pub const ALL: Self =
        Self { nullary: u64::MAX, unary: u64::MAX, binary: u64::MAX, summary: true };

    /// Adds a predicate.
    pub fn insert(&mut self, predicate: Predicate) {
        match predicate {
            Predicate::Nullary(p) => self.nullary |= crate::truth::bit(p.index()),
            Predicate::Unary(p) => self.unary |= crate::truth::bit(p.index()),
            Predicate::Binary(p) => self.binary |= crate::truth::bit(p.index()),
        }
    }

    /// Adds the summary bits.
    pub fn insert_summary(&mut self) {
        self.summary = true;
    }

    /// Adds all of `other`.
    pub fn extend(&mut self, other: Self) {
        self.nullary |= other.nullary;
        self.unary |= other.unary;
        self.binary |= other.binary;
        self.summary |= other.summary;
    }

    /// Whether the two have something in common.
    #[must_use]
    pub fn meets(self, other: Self) -> bool {
        self.nullary & other.nullary != 0
            || self.unary & other.unary != 0
            || self.binary & other.binary != 0
            || self.summary && other.summary
    }

    /// Whether it contains `predicate`.
    #[must_use]
    pub fn contains(self, predicate: Predicate) -> bool {
        let mut one = Self::default();
        one.insert(predicate);
        self.meets(one)
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }
}
