//! Predicate-update formulas, new individuals and the removal of individuals, with instrumentation
//! predicates kept up to date.
//!
//! An instrumentation predicate is evaluated anew only if its definition reads something that
//! changed; evaluation on a summary mostly loses what was known.

use smallvec::SmallVec;

use crate::evaluate::Assignment;
use crate::formula::{Atom, Footprint, Formula, Variable};
use crate::structure::{Individual, Structure};
use crate::truth::{Truths, bit, bits};
use crate::vocabulary::Instrumentation;
use crate::{Binary, KleeneError, Nullary, Predicate, Unary, Vocabulary};

/// A simultaneous change of predicates, each by the formula of its new value over the old
/// structure.
#[derive(Clone, Debug, Default)]
pub struct Update {
    changes: Vec<(Predicate, Formula)>,
}

impl Update {
    /// No change.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Also: the new value of `predicate` (of [`Variable::V`] and [`Variable::W`]) is `formula`.
    ///
    /// For an instrumentation predicate it replaces the evaluation of its definition: the formula
    /// must then agree with the definition in the new structure.
    #[must_use]
    pub fn set(mut self, predicate: impl Into<Predicate>, formula: Formula) -> Self {
        self.changes.push((predicate.into(), formula));
        self
    }

    /// What it may change, instrumentation predicates included.
    #[must_use]
    pub fn touches(&self, vocabulary: &Vocabulary) -> Footprint {
        let mut touched = Footprint::default();
        self.changes.iter().for_each(|(predicate, _)| touched.insert(*predicate));
        for instrumentation in &vocabulary.instrumentation {
            if instrumentation.footprint.meets(touched) {
                touched.insert(instrumentation.predicate);
            }
        }
        touched
    }
}

macro_rules! predicate {
    ($($name:ident),*) => {$(
        impl From<$name> for Predicate {
            fn from(predicate: $name) -> Self {
                Self::$name(predicate)
            }
        }
    )*};
}
predicate!(Nullary, Unary, Binary);

/// The values of one predicate: one word pair, or one for each first individual.
pub(crate) type Values = SmallVec<[Truths; 12]>;

impl Structure {
    /// The structure after `update`.
    #[must_use]
    pub fn update(&self, vocabulary: &Vocabulary, update: &Update) -> Self {
        let mut next = self.clone();
        let mut changed = Footprint::default();
        for (predicate, formula) in &update.changes {
            next.put_values(*predicate, &self.defined(*predicate, formula));
            changed.insert(*predicate);
        }
        for instrumentation in &vocabulary.instrumentation {
            let given = update.changes.iter().any(|(p, _)| *p == instrumentation.predicate);
            if !given && instrumentation.footprint.meets(changed) {
                next.reevaluate(instrumentation, &mut changed);
            }
        }
        next
    }

    /// Adds an individual on which all core predicates are 0.
    pub fn allocate(&mut self, vocabulary: &Vocabulary) -> Result<Individual, KleeneError> {
        let fresh = self.add()?;
        let core = vocabulary.core;
        let mut blank = Blank {
            unary: core.unary,
            out: core.binary,
            into: core.binary,
            unentered: core.binary,
        };
        let mut changed = Footprint::default();
        for instrumentation in &vocabulary.instrumentation {
            let Instrumentation { predicate, definition, footprint } = instrumentation;
            if footprint.meets(changed) || !blank.leaves(definition) {
                self.reevaluate(instrumentation, &mut changed);
                continue;
            }
            let defined = self.defined(*predicate, definition);
            match predicate {
                Predicate::Nullary(_) => {}
                Predicate::Unary(p) => {
                    self.put_column(*p, defined[0], fresh.bit());
                    if defined[0].may & fresh.bit() == 0 {
                        blank.unary |= bit(p.index());
                    }
                }
                Predicate::Binary(p) => {
                    for (u, row) in defined.iter().enumerate() {
                        let u = Individual::at(u);
                        let lanes = if u == fresh { self.all() } else { fresh.bit() };
                        self.put_row(*p, u, *row, lanes);
                    }
                }
            }
        }
        Ok(fresh)
    }

    /// The structure without the given individuals, as if they had never been.
    #[must_use]
    pub fn remove(&self, vocabulary: &Vocabulary, gone: &[Individual]) -> Self {
        let gone = gone.iter().fold(0, |all, u| all | u.bit()) & self.all();
        let kept: Vec<u64> = bits(self.all() & !gone).map(bit).collect();
        let blank = Blank::of(self, vocabulary, gone);
        let mut next = self.quotient(&kept);
        let mut changed = Footprint::default();
        for instrumentation in &vocabulary.instrumentation {
            let reads_changed = instrumentation.footprint.meets(changed);
            if reads_changed || !blank.leaves(&instrumentation.definition) {
                next.reevaluate(instrumentation, &mut changed);
            }
        }
        next
    }

    /// Gives an instrumentation predicate the values of its definition.
    fn reevaluate(&mut self, instrumentation: &Instrumentation, changed: &mut Footprint) {
        let predicate = instrumentation.predicate;
        let defined = self.defined(predicate, &instrumentation.definition);
        // 1/2 before and after does not mean that the value stayed: only definite values do.
        let stays = defined.iter().all(|values| values.halves() == 0);
        if !stays || defined != self.values(predicate) {
            self.put_values(predicate, &defined);
            changed.insert(predicate);
        }
    }

    /// The values that `formula` gives to `predicate`.
    pub(crate) fn defined(&self, predicate: Predicate, formula: &Formula) -> Values {
        let start = Assignment::new();
        match predicate {
            Predicate::Nullary(_) => {
                SmallVec::from_iter([Truths::splat(self.evaluate(formula, &start), 1)])
            }
            Predicate::Unary(_) => {
                SmallVec::from_iter([self.evaluate_lanes(formula, &start, Variable::V)])
            }
            Predicate::Binary(_) => self
                .individuals()
                .map(|u| self.evaluate_lanes(formula, &start.with(Variable::V, u), Variable::W))
                .collect(),
        }
    }

    /// The stored values of `predicate`.
    pub(crate) fn values(&self, predicate: Predicate) -> Values {
        match predicate {
            Predicate::Nullary(p) => SmallVec::from_iter([Truths::splat(self.nullary(p), 1)]),
            Predicate::Unary(p) => SmallVec::from_iter([self.column(p)]),
            Predicate::Binary(p) => self.individuals().map(|u| self.row(p, u)).collect(),
        }
    }

    /// Writes all values of `predicate`.
    pub(crate) fn put_values(&mut self, predicate: Predicate, values: &[Truths]) {
        let all = self.all();
        match (predicate, values) {
            (Predicate::Nullary(p), [value]) => self.set_nullary(p, value.get(0)),
            (Predicate::Unary(p), [column]) => self.put_column(p, *column, all),
            (Predicate::Binary(p), rows) => {
                for (u, row) in rows.iter().enumerate() {
                    self.put_row(p, Individual::at(u), *row, all);
                }
            }
            _ => {}
        }
    }
}

/// What is 0 on some individuals that come or go: shows that a formula about the others does not
/// notice them.
struct Blank {
    /// Unary predicates that are 0 on them.
    unary: u64,
    /// Binary predicates that are 0 from them.
    out: u64,
    /// Binary predicates that are 0 to them.
    into: u64,
    /// Binary predicates that are 0 from the others to them.
    unentered: u64,
}

impl Blank {
    /// What is 0 on the individuals of `gone`.
    fn of(structure: &Structure, vocabulary: &Vocabulary, gone: u64) -> Self {
        let unary = bits(gone).fold(u64::MAX, |zero, u| zero & !structure.names[u].may);
        let mut found = Self { unary, out: u64::MAX, into: u64::MAX, unentered: u64::MAX };
        for p in vocabulary.binaries() {
            for u in structure.individuals() {
                let (row, from_gone) = (structure.row(p, u).may, u.bit() & gone != 0);
                if from_gone && row != 0 {
                    found.out &= !bit(p.index());
                }
                if row & gone != 0 {
                    found.into &= !bit(p.index());
                    if !from_gone {
                        found.unentered &= !bit(p.index());
                    }
                }
            }
        }
        found
    }

    /// Whether `formula` has the same value with and without the individuals, for all values of its
    /// free variables among the others: each quantified body is constant on them.
    fn leaves(&self, formula: &Formula) -> bool {
        match formula {
            Formula::Constant(_) | Formula::Atom(_) => true,
            Formula::Closure(p, ..) => self.unentered & bit(p.index()) != 0,
            Formula::Not(inner) => self.leaves(inner),
            Formula::And(parts) | Formula::Or(parts) => parts.iter().all(|part| self.leaves(part)),
            Formula::Exists(v, body) => self.constant(body, *v) == Some(false) && self.leaves(body),
            Formula::Forall(v, body) => self.constant(body, *v) == Some(true) && self.leaves(body),
        }
    }

    /// The value of `formula` if it is the same whenever `v` is one of the individuals.
    fn constant(&self, formula: &Formula, v: Variable) -> Option<bool> {
        let has = |set: u64, index: usize| set & bit(index) != 0;
        match formula {
            Formula::Atom(Atom::Unary(p, x)) if *x == v && has(self.unary, p.index()) => {
                Some(false)
            }
            Formula::Atom(Atom::Binary(p, x, _)) if *x == v && has(self.out, p.index()) => {
                Some(false)
            }
            Formula::Atom(Atom::Binary(p, _, x)) if *x == v && has(self.into, p.index()) => {
                Some(false)
            }
            Formula::Not(inner) => self.constant(inner, v).map(|value| !value),
            Formula::And(parts) => self.connective(parts, v, false),
            Formula::Or(parts) => self.connective(parts, v, true),
            Formula::Exists(x, body) if *x != v => self.constant(body, v).filter(|value| !value),
            Formula::Forall(x, body) if *x != v => self.constant(body, v).filter(|value| *value),
            _ => None,
        }
    }

    /// A part with the value `decides` decides; else all must be constant.
    fn connective(&self, parts: &[Formula], v: Variable, decides: bool) -> Option<bool> {
        let mut values = parts.iter().map(|part| self.constant(part, v));
        if values.clone().any(|value| value == Some(decides)) {
            return Some(decides);
        }
        values.all(|value| value.is_some()).then_some(!decides)
    }
}
