//! Focus: makes a formula definite on all individuals by splitting a structure into several that
//! together mean the same (SRW).
//!
//! A summary individual on which the formula is 1/2 gives three: it is 0 on all that the summary
//! stands for, 1 on all, or 0 on some and 1 on others: then the summary is split (*bifurcation*).
//! So one individual is materialised out of a summary.

use crate::structure::{Individual, Structure};
use crate::truth::{Truth, Truths, first};
use crate::{Binary, KleeneError, Unary, Vocabulary};

/// A formula on which structures are brought into focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    /// `p(v)`.
    Unary(Unary),
    /// `∃u. from(u) ∧ along(u, v)`: where a pointer's field leads. `from` must be unique.
    Successor {
        /// The pointer.
        from: Unary,
        /// The field.
        along: Binary,
    },
    /// `∃u. from(u) ∧ along(u, v) ∧ to(v)`: how two named individuals are related. Both predicates
    /// must be unique.
    Pair {
        /// The first.
        from: Unary,
        /// The relation.
        along: Binary,
        /// The second.
        to: Unary,
    },
}

/// What a case says of the value in question.
#[derive(Clone, Copy)]
enum Fact {
    Unary(Unary),
    From(Individual, Binary),
}

impl Structure {
    /// Structures on which the formula of `focus` is definite, and which together mean what this
    /// one means. They are not coerced; what contradicts a unique or functional predicate is left
    /// out.
    ///
    /// More than `limit` structures are an error.
    pub fn focus(
        &self,
        vocabulary: &Vocabulary,
        focus: &Focus,
        limit: usize,
    ) -> Result<Vec<Self>, KleeneError> {
        let splitter = Splitter { vocabulary, limit };
        match *focus {
            Focus::Unary(p) => splitter.unary(vec![self.clone()], p),
            Focus::Successor { from, along } => {
                splitter.require_unique(&[from])?;
                let mut found = Vec::new();
                for structure in splitter.unary(vec![self.clone()], from)? {
                    match structure.holder(from) {
                        Some(u) => {
                            let fact = Fact::From(u, along);
                            found.extend(splitter.split(vec![structure], fact, u64::MAX)?);
                        }
                        None => found.push(structure),
                    }
                }
                splitter.bounded(found)
            }
            Focus::Pair { from, along, to } => {
                splitter.require_unique(&[from, to])?;
                let mut found = Vec::new();
                for structure in splitter.unary(splitter.unary(vec![self.clone()], from)?, to)? {
                    match (structure.holder(from), structure.holder(to)) {
                        (Some(u), Some(v)) => {
                            let fact = Fact::From(u, along);
                            found.extend(splitter.split(vec![structure], fact, v.bit())?);
                        }
                        _ => found.push(structure),
                    }
                }
                splitter.bounded(found)
            }
        }
    }
}

struct Splitter<'v> {
    vocabulary: &'v Vocabulary,
    limit: usize,
}

impl Splitter<'_> {
    fn require_unique(&self, predicates: &[Unary]) -> Result<(), KleeneError> {
        let unique = predicates.iter().all(|p| self.vocabulary.is_unique(*p));
        if unique { Ok(()) } else { Err(KleeneError::NotUnique) }
    }

    fn bounded(&self, found: Vec<Structure>) -> Result<Vec<Structure>, KleeneError> {
        let within = found.len() <= self.limit;
        if within { Ok(found) } else { Err(KleeneError::TooManyStructures(self.limit)) }
    }

    fn unary(&self, open: Vec<Structure>, p: Unary) -> Result<Vec<Structure>, KleeneError> {
        self.split(open, Fact::Unary(p), u64::MAX)
    }

    /// Splits until `fact` is definite on all individuals of `lanes`.
    fn split(
        &self,
        mut open: Vec<Structure>,
        fact: Fact,
        lanes: u64,
    ) -> Result<Vec<Structure>, KleeneError> {
        let mut done = Vec::new();
        while let Some(structure) = open.pop() {
            let halves = fact.values(&structure).halves() & lanes;
            let Some(v) = first(halves).map(Individual::at) else {
                let holder = first(fact.values(&structure).must & lanes).map(Individual::at);
                match holder {
                    Some(holder) => done.extend(self.holding(structure, fact, holder)),
                    None => done.push(structure),
                }
                if done.len() > self.limit {
                    break;
                }
                continue;
            };
            if structure.is_summary(v) {
                let mut both = structure.clone();
                let copy = both.duplicate(v)?;
                fact.set(&mut both, v, Truth::False);
                open.extend(self.holding(both, fact, copy));
            }
            let mut none = structure.clone();
            fact.set(&mut none, v, Truth::False);
            open.extend(self.holding(structure, fact, v));
            open.push(none);
        }
        self.bounded(done)
    }

    /// The structure in which the fact is 1 at `v`; `None` if that contradicts a unique or
    /// functional predicate. Such a fact is then 0 elsewhere and `v` is one individual, which keeps
    /// the number of cases linear.
    fn holding(&self, mut structure: Structure, fact: Fact, v: Individual) -> Option<Structure> {
        fact.set(&mut structure, v, Truth::True);
        let only_one = match fact {
            Fact::Unary(p) => self.vocabulary.is_unique(p),
            Fact::From(_, p) => self.vocabulary.is_functional(p),
        };
        if only_one {
            if fact.values(&structure).must != v.bit() {
                return None;
            }
            structure.set_summary(v, false);
            fact.put(&mut structure, Truths::definite(v.bit()));
        }
        Some(structure)
    }
}

impl Fact {
    fn values(self, structure: &Structure) -> Truths {
        match self {
            Self::Unary(p) => structure.column(p),
            Self::From(u, p) => structure.row(p, u),
        }
    }

    fn put(self, structure: &mut Structure, values: Truths) {
        let all = structure.all();
        match self {
            Self::Unary(p) => structure.put_column(p, values, all),
            Self::From(u, p) => structure.put_row(p, u, values, all),
        }
    }

    fn set(self, structure: &mut Structure, v: Individual, value: Truth) {
        match self {
            Self::Unary(p) => structure.set_unary(p, v, value),
            Self::From(u, p) => structure.set_binary(p, u, v, value),
        }
    }
}
