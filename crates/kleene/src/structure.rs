//! Three-valued logical structures: individuals, some of them summaries, and the truth values of
//! the predicates on them, packed into words.

use smallvec::SmallVec;

use crate::truth::{Truth, Truths, bit, bits};
use crate::{Binary, KleeneError, Nullary, Predicate, Unary, Vocabulary};

/// An individual of a structure: a position, valid until the structure changes its individuals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Individual(u8);

impl Individual {
    /// Its position.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    pub(crate) fn bit(self) -> u64 {
        bit(self.index())
    }

    /// The individual at a position, in the order in which they were added. There may be none.
    #[must_use]
    pub fn at(position: usize) -> Self {
        Self(u8::try_from(position).unwrap_or(u8::MAX))
    }
}

/// A three-valued logical structure with at most sixty-four individuals.
///
/// A summary individual stands for one or more individuals of the structures that are meant, any
/// other for exactly one. Equality of structures is that of their words: for isomorphism compare
/// [`Canonical`](crate::Canonical) forms.
// INVARIANT: no word has a bit for an individual or predicate that does not exist.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Structure {
    pub(crate) nullary: Truths,
    /// The individuals that are summaries.
    pub(crate) summary: u64,
    /// Per individual, the unary predicates.
    pub(crate) names: SmallVec<[Truths; 12]>,
    /// Per individual and binary predicate, the second individuals.
    pub(crate) rows: SmallVec<[Truths; 24]>,
    /// How many binary predicates there are.
    pub(crate) binaries: usize,
}

impl Clone for Structure {
    fn clone(&self) -> Self {
        // Copies words; the derived clone would go element by element.
        let (names, rows) = (SmallVec::from_slice(&self.names), SmallVec::from_slice(&self.rows));
        Self { names, rows, ..*self }
    }
}

impl Structure {
    /// The structure without individuals, all nullary predicates 0.
    #[must_use]
    pub fn new(vocabulary: &Vocabulary) -> Self {
        let binaries = vocabulary.counts().2;
        let (names, rows) = (SmallVec::new(), SmallVec::new());
        Self { nullary: Truths::ZERO, summary: 0, names, rows, binaries }
    }

    /// How many individuals it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether it has no individual.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The individuals.
    pub fn individuals(&self) -> impl Iterator<Item = Individual> + use<> {
        (0..self.len()).map(Individual::at)
    }

    /// Adds an individual on which all predicates are 0, instrumentation predicates too.
    ///
    /// For building structures; a step of a program uses [`allocate`](Self::allocate).
    pub fn add(&mut self) -> Result<Individual, KleeneError> {
        if self.len() >= 64 {
            return Err(KleeneError::TooManyIndividuals);
        }
        let fresh = Individual::at(self.len());
        self.names.push(Truths::ZERO);
        self.rows.extend(std::iter::repeat_n(Truths::ZERO, self.binaries));
        Ok(fresh)
    }

    /// Whether `u` may stand for more than one individual.
    #[must_use]
    pub fn is_summary(&self, u: Individual) -> bool {
        self.summary & u.bit() != 0
    }

    /// Makes `u` a summary or not.
    pub fn set_summary(&mut self, u: Individual, summary: bool) {
        if summary {
            self.summary |= u.bit() & self.all();
        } else {
            self.summary &= !u.bit();
        }
    }

    /// The value of a nullary predicate.
    #[must_use]
    pub fn nullary(&self, p: Nullary) -> Truth {
        self.nullary.get(p.index())
    }

    /// Sets a nullary predicate.
    pub fn set_nullary(&mut self, p: Nullary, value: Truth) {
        self.nullary.set(p.index(), value);
    }

    /// The value of `p(u)`; 1/2 for an individual that does not exist.
    #[must_use]
    pub fn unary(&self, p: Unary, u: Individual) -> Truth {
        self.names.get(u.index()).map_or(Truth::Half, |name| name.get(p.index()))
    }

    /// Sets `p(u)`.
    pub fn set_unary(&mut self, p: Unary, u: Individual, value: Truth) {
        if let Some(name) = self.names.get_mut(u.index()) {
            name.set(p.index(), value);
        }
    }

    /// The value of `p(u, v)`; 1/2 for an individual that does not exist.
    #[must_use]
    pub fn binary(&self, p: Binary, u: Individual, v: Individual) -> Truth {
        if v.index() >= self.len() {
            return Truth::Half;
        }
        self.row(p, u).get(v.index())
    }

    /// Sets `p(u, v)`.
    pub fn set_binary(&mut self, p: Binary, u: Individual, v: Individual, value: Truth) {
        let lane = v.bit() & self.all();
        self.put_row(p, u, Truths::splat(value, lane), lane);
    }

    /// The individual of which `p` is 1; for a unique predicate there is at most one.
    #[must_use]
    pub fn holder(&self, p: Unary) -> Option<Individual> {
        let column = self.column(p);
        crate::truth::first(column.must).map(Individual::at)
    }

    /// A bit for each individual.
    pub(crate) fn all(&self) -> u64 {
        bit(self.len()).wrapping_sub(1)
    }

    /// The values of a unary predicate, by individual.
    pub(crate) fn column(&self, p: Unary) -> Truths {
        let mut found = Truths::ZERO;
        for (lane, name) in self.names.iter().enumerate() {
            found.may |= (name.may >> p.index() & 1) << lane;
            found.must |= (name.must >> p.index() & 1) << lane;
        }
        found
    }

    /// Writes a unary predicate on the individuals of `lanes`.
    pub(crate) fn put_column(&mut self, p: Unary, values: Truths, lanes: u64) {
        for lane in bits(lanes & self.all()) {
            self.names[lane].set(p.index(), values.get(lane));
        }
    }

    /// The values of `p(u, ·)`; all 1/2 for an individual that does not exist.
    // INVARIANT: what is read as 1/2 of an existing individual can be made definite, or focus and
    // coerce would not end. So a predicate of another vocabulary is 0.
    pub(crate) fn row(&self, p: Binary, u: Individual) -> Truths {
        if p.index() >= self.binaries {
            return Truths::ZERO;
        }
        let row = self.rows.get(u.index() * self.binaries + p.index()).copied();
        row.unwrap_or(Truths { may: self.all(), must: 0 })
    }

    /// Writes `p(u, ·)` on the individuals of `lanes`.
    pub(crate) fn put_row(&mut self, p: Binary, u: Individual, values: Truths, lanes: u64) {
        if p.index() < self.binaries
            && let Some(row) = self.rows.get_mut(u.index() * self.binaries + p.index())
        {
            row.put(values, lanes);
        }
    }

    /// The values of `p(·, v)`.
    pub(crate) fn column_to(&self, p: Binary, v: Individual) -> Truths {
        let mut found = Truths::ZERO;
        for u in self.individuals() {
            found.set(u.index(), self.binary(p, u, v));
        }
        found
    }

    /// Adds a copy of `u`: what holds of `u`, holds of the copy, and between the two what holds of
    /// `u` and itself.
    pub(crate) fn duplicate(&mut self, u: Individual) -> Result<Individual, KleeneError> {
        let copy = self.add()?;
        for row in &mut self.rows {
            row.set(copy.index(), row.get(u.index()));
        }
        self.names[copy.index()] = self.names[u.index()];
        let (from, to) = (u.index() * self.binaries, copy.index() * self.binaries);
        self.rows.copy_within(from..from + self.binaries, to);
        self.set_summary(copy, self.is_summary(u));
        Ok(copy)
    }

    /// The structure whose individuals are the given classes of individuals, in this order, with
    /// the joined values. Individuals in no class are left out.
    pub(crate) fn quotient(&self, classes: &[u64]) -> Self {
        let mut merged = Self {
            nullary: self.nullary,
            summary: 0,
            names: SmallVec::with_capacity(classes.len()),
            rows: SmallVec::with_capacity(classes.len() * self.binaries),
            binaries: self.binaries,
        };
        for (position, &class) in classes.iter().enumerate() {
            let joined = |of: &dyn Fn(usize) -> Truths| {
                bits(class).map(of).reduce(Truths::join).unwrap_or_default()
            };
            if class.count_ones() > 1 || class & self.summary != 0 {
                merged.summary |= bit(position);
            }
            merged.names.push(joined(&|u| self.names[u]));
            for p in 0..self.binaries {
                let row = joined(&|u| self.rows[u * self.binaries + p]);
                merged.rows.push(renamed(row, classes));
            }
        }
        merged
    }

    /// The structure in words, for tests and messages.
    #[must_use]
    pub fn describe(&self, vocabulary: &Vocabulary) -> String {
        let mut lines = Vec::new();
        let shown = |name: &str, value: Truth| match value {
            Truth::False => None,
            Truth::Half => Some(format!("{name}?")),
            Truth::True => Some(name.to_owned()),
        };
        for u in self.individuals() {
            let mut parts = Vec::new();
            for p in vocabulary.unaries() {
                parts.extend(shown(vocabulary.name(Predicate::Unary(p)), self.unary(p, u)));
            }
            for p in vocabulary.binaries() {
                let name = vocabulary.name(Predicate::Binary(p));
                for v in self.individuals() {
                    parts.extend(shown(&format!("{name}->{}", v.0), self.binary(p, u, v)));
                }
            }
            let mark = if self.is_summary(u) { "*" } else { "" };
            lines.push(format!("{}{mark}: {}", u.0, parts.join(" ")));
        }
        lines.join("\n")
    }
}

/// A row over individuals as a row over classes of them.
fn renamed(row: Truths, classes: &[u64]) -> Truths {
    let mut found = Truths::ZERO;
    for (position, &class) in classes.iter().enumerate() {
        if row.may & class != 0 {
            found.may |= bit(position);
            if row.must & class == class {
                found.must |= bit(position);
            }
        }
    }
    found
}
