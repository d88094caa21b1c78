//! Coerce: sharpens a structure by what its vocabulary demands, or finds that it means nothing
//! (SRW).
//!
//! Every rule is of one form: if the structure definitely satisfies the premise, every concrete
//! structure that embeds satisfies it, and so the conclusion; a stored 1/2 becomes definite, and a
//! stored value to the contrary shows that no concrete structure embeds.

use crate::constraint::Constraint;
use crate::evaluate::Assignment;
use crate::formula::{Atom, Footprint, Literal, Variable};
use crate::structure::{Individual, Structure};
use crate::truth::{Truth, Truths, bits};
use crate::update::Values;
use crate::{Predicate, Vocabulary};

/// No concrete structure embeds.
struct Contradiction;

impl Structure {
    /// Sharpens the structure by all constraints, to a fixpoint. `None` if it contradicts one.
    ///
    /// The constraints are those of unique and functional predicates, the definitions of the
    /// instrumentation predicates with what follows from them, and the user's.
    #[must_use]
    pub fn coerce(self, vocabulary: &Vocabulary) -> Option<Self> {
        self.coerce_after(vocabulary, Footprint::ALL)
    }

    /// As [`coerce`](Self::coerce), for a structure in which only `changed` has changed since it
    /// was coerced. Constraints about other predicates are looked at only if they are affected.
    #[must_use]
    pub fn coerce_after(mut self, vocabulary: &Vocabulary, changed: Footprint) -> Option<Self> {
        let mut dirty = changed;
        while !dirty.is_empty() {
            dirty = self.round(vocabulary, dirty).ok()?;
        }
        Some(self)
    }

    /// One round over the constraints that read something `dirty`; returns what it sharpened.
    // INVARIANT: each round sharpens finitely many values and widens none, so the rounds end.
    fn round(
        &mut self,
        vocabulary: &Vocabulary,
        dirty: Footprint,
    ) -> Result<Footprint, Contradiction> {
        let mut changed = Footprint::default();
        if vocabulary.unique & dirty.unary != 0 {
            self.coerce_unique(vocabulary, &mut changed)?;
        }
        if vocabulary.functional & dirty.binary != 0 {
            self.coerce_functional(vocabulary, &mut changed)?;
        }
        for instrumentation in &vocabulary.instrumentation {
            let mut reads = instrumentation.footprint;
            reads.insert(instrumentation.predicate);
            if reads.meets(dirty) || reads.meets(changed) {
                let stored = self.values(instrumentation.predicate);
                let defined = self.defined(instrumentation.predicate, &instrumentation.definition);
                let met: Option<Values> =
                    stored.iter().zip(&defined).map(|(s, d)| s.meet(*d)).collect();
                let met = met.ok_or(Contradiction)?;
                if met != stored {
                    self.put_values(instrumentation.predicate, &met);
                    changed.insert(instrumentation.predicate);
                }
            }
        }
        for constraint in &vocabulary.constraints {
            let reads = constraint.footprint;
            if reads.meets(dirty) || reads.meets(changed) {
                let start = Assignment::new();
                self.apply(constraint, &constraint.variables, start, &mut changed)?;
            }
        }
        Ok(changed)
    }

    /// Unique predicates: where one is 1, that is one individual, and it is 0 everywhere else.
    fn coerce_unique(
        &mut self,
        vocabulary: &Vocabulary,
        changed: &mut Footprint,
    ) -> Result<(), Contradiction> {
        let mut taken = 0;
        for (u, name) in self.names.iter().enumerate() {
            let here = name.must & vocabulary.unique;
            if here & taken != 0 {
                return Err(Contradiction);
            }
            taken |= here;
            let single = if here == 0 { 0 } else { Individual::at(u).bit() };
            changed.summary |= self.summary & single != 0;
            self.summary &= !single;
        }
        for name in &mut self.names {
            let impossible = name.halves() & taken;
            changed.unary |= impossible;
            name.may &= !impossible;
        }
        Ok(())
    }

    /// Functional predicates: where one is 1, the target is one individual, and there is no other.
    fn coerce_functional(
        &mut self,
        vocabulary: &Vocabulary,
        changed: &mut Footprint,
    ) -> Result<(), Contradiction> {
        for p in vocabulary.binaries().filter(|p| vocabulary.is_functional(*p)) {
            for u in self.individuals() {
                let row = self.row(p, u);
                if row.must == 0 {
                    continue;
                }
                if row.must.count_ones() > 1 {
                    return Err(Contradiction);
                }
                if row.may != row.must {
                    changed.insert(Predicate::Binary(p));
                    self.put_row(p, u, Truths::definite(row.must), self.all());
                }
                changed.summary |= self.summary & row.must != 0;
                self.summary &= !row.must;
            }
        }
        Ok(())
    }

    /// Enforces the head of a constraint wherever its body is 1. A variable without a value leaves
    /// the body at 1/2 or decides it, so a body that is 0 already ends the enumeration.
    fn apply(
        &mut self,
        constraint: &Constraint,
        variables: &[Variable],
        env: Assignment,
        changed: &mut Footprint,
    ) -> Result<(), Contradiction> {
        let Some((&lane, rest)) = variables.split_first() else {
            if self.evaluate(&constraint.body, &env) == Truth::True {
                self.enforce(constraint.head, &env, changed)?;
            }
            return Ok(());
        };
        let values = self.evaluate_lanes(&constraint.body, &env, lane);
        let candidates = if rest.is_empty() { values.must } else { values.may };
        for u in bits(candidates) {
            let env = env.with(lane, Individual::at(u));
            if rest.is_empty() {
                self.enforce(constraint.head, &env, changed)?;
            } else {
                self.apply(constraint, rest, env, changed)?;
            }
        }
        Ok(())
    }

    fn enforce(
        &mut self,
        head: Literal,
        env: &Assignment,
        changed: &mut Footprint,
    ) -> Result<(), Contradiction> {
        let wanted = Truth::from(head.holds);
        let stored = self.evaluate(&crate::Formula::Atom(head.atom), env);
        if stored == wanted {
            return Ok(());
        }
        if stored.is_definite() {
            return Err(Contradiction);
        }
        match head.atom {
            Atom::Nullary(p) => {
                self.set_nullary(p, wanted);
                changed.insert(Predicate::Nullary(p));
            }
            Atom::Unary(p, v) => {
                let Some(u) = env.get(v) else { return Ok(()) };
                self.set_unary(p, u, wanted);
                changed.insert(Predicate::Unary(p));
            }
            Atom::Binary(p, v, w) => {
                let (Some(u), Some(u2)) = (env.get(v), env.get(w)) else { return Ok(()) };
                // `p(v, v)` says nothing of two different individuals of one summary.
                if v != w || !self.is_summary(u) {
                    self.set_binary(p, u, u2, wanted);
                    changed.insert(Predicate::Binary(p));
                }
            }
            // Two variables that stand for one summary. Equal: it is one individual. Different: no
            // individual is different from itself.
            Atom::Equal(v, _) => {
                let (true, Some(u)) = (head.holds, env.get(v)) else { return Err(Contradiction) };
                self.set_summary(u, false);
                changed.insert_summary();
            }
        }
        Ok(())
    }
}
