//! The predicates of the paper's domain (paper 001, Tables A.2 to A.5), and the rules by which a
//! structure is coerced.
//!
//! | here | the paper | |
//! | --- | --- | --- |
//! | `uncorrelated`, `nonuniform` | the same | A.2 |
//! | `reference` | a node of the reference that is not correlated | B |
//! | `n`, `r` | `n` and `nʳ` | A.2 |
//! | `number` | the unary predicate of each variable: a named node has a number | A.2 |
//! | `has`, `acyclic` | not in the paper: the link is not null; following it never leads back | |
//! | `locked` | `lockedBy[t]` | A.4 |
//! | `class` | `dle`, seen through one arbitrary key K | A.4 |
//! | `rt` | `rt[f]` for the variable from which the list starts | A.5 |
//! | rules 2 and 3 | `is` and `inOrder`: no node of the list is shared, keys are in order | A.5 |
//!
//! The paper's executions halt where null is dereferenced (Table C.2), ours fail. So it must be
//! known that the link of a node inside a queue is not null, and that is what `has` is for. Where
//! it is known, `xSuccessor` (Table A.3) is not needed: that keeps the successor of a variable
//! apart, so that its link is not taken for null. `acyclic` spares structures with rings that no
//! program made.
//!
//! `dle(o1, o2)` compares two nodes. Linearizability of a set is that of each key by itself, so one
//! arbitrary key K is enough, and of `dle` only what follows from the comparison of both with K is
//! kept: the class of a node. `member` is a bit of the reference, for K. `rt[x]` of local variables
//! and `bn` are not needed, because the place where K belongs has names: `before` and `after`.
//!
//! Rules of the list, each a theorem because `list.rs` checks what it rests on at every write:
//!
//! 1. The target of a node in the list is in the list; only the last node, above every key, has
//!    none.
//! 2. A node in the list, other than the first, has exactly one predecessor in it, which is another
//!    node; the first has none. All of them are reached from the first.
//! 3. Classes do not decrease along the list, and K, the bounds do not follow themselves.
//! 4. One edge of the list goes from below K to K or above: from `before` to `after`.

use crate::coerce::may_follow;
use crate::heap::{BOOLS, LINKS, LOCKS};
use crate::value::Class;
use linchpin_kleene::{
    Atom, Binary, Constraint, Declaration, Formula, Individual, KleeneError, Nullary, Structure,
    Truth, Unary, Variable, Vocabulary,
};
use std::sync::LazyLock;

const V: Variable = Variable::V;
const W: Variable = Variable::W;
const A: Variable = Variable::A;

/// The classes that have a predicate.
pub const CLASSES: [Class; 5] = [Class::Min, Class::Below, Class::At, Class::Above, Class::Max];

/// A number that an individual has: a predicate for each bit, the lowest first.
pub struct Code(Vec<Unary>);

impl Code {
    /// Gives an individual a number.
    pub fn set(&self, structure: &mut Structure, u: Individual, number: u16) {
        for (bit, p) in self.0.iter().enumerate() {
            structure.set_unary(*p, u, Truth::from(number >> bit & 1 == 1));
        }
    }

    /// The number of an individual.
    pub fn get(&self, structure: &Structure, u: Individual) -> u16 {
        let bits = self.0.iter().enumerate();
        bits.fold(0, |number, (bit, p)| {
            number | u16::from(structure.unary(*p, u) == Truth::True) << bit
        })
    }
}

/// One side of the delta heap: its links, and for each whether it is not null.
pub struct Links {
    /// The links.
    pub n: [Binary; LINKS],
    /// Whether they are not null: `∃w. n(v, w)`.
    pub has: [Unary; LINKS],
    /// Whether following the link never leads back.
    pub acyclic: [Nullary; LINKS],
}

/// The predicates.
pub struct Predicates {
    /// A node of the candidate that is not correlated.
    pub uncorrelated: Unary,
    /// A node of the reference that is not correlated.
    pub reference: Unary,
    /// A duo-object whose links may differ.
    pub nonuniform: Unary,
    /// The struct.
    pub of: Code,
    /// The class of the key, in the order of [`CLASSES`].
    pub class: [Unary; 5],
    /// The truth values.
    pub bools: [Unary; BOOLS],
    /// In the list.
    pub rt: Unary,
    /// 0, or one more than the thread that owns the node.
    pub owner: Code,
    /// Who holds the locks.
    pub locked: [Code; LOCKS],
    /// The number of a named node; [`UNNAMED`] for the others.
    pub number: Code,
    /// The node whose link is read.
    pub here: Unary,
    /// The first node of the list.
    pub first: Unary,
    /// The last node of the list below K.
    pub before: Unary,
    /// The node after it.
    pub after: Unary,
    /// The links of the candidate; of a uniform duo-object, those of both sides.
    pub candidate: Links,
    /// The links of the reference, of a nonuniform duo-object or a reference node.
    pub other: Links,
    /// These predicates, with what is known where no list is walked.
    pub plain: Vocabulary,
    /// The same with the rules of the list that is walked along a link.
    pub walked: [Vocabulary; LINKS],
}

/// The number of nodes that no variable names. It is above all others, so that canonical
/// abstraction puts named nodes first.
pub const UNNAMED: u16 = 64;

/// The predicates: always the same.
pub fn predicates() -> &'static Predicates {
    static PREDICATES: LazyLock<Predicates> = LazyLock::new(|| {
        // A constant: that it can be made does not depend on any input.
        Predicates::declare().expect("fewer than 64 predicates, each declared once")
    });
    &PREDICATES
}

/// Declares predicates one after the other.
struct Declaring(Vocabulary);

impl Declaring {
    /// On which individuals are told apart.
    fn flag(&mut self, name: &str) -> Result<Unary, KleeneError> {
        self.0.unary(Declaration::named(name).abstraction())
    }

    /// For one individual, inside a step.
    fn mark(&mut self, name: &str) -> Result<Unary, KleeneError> {
        self.0.unary(Declaration::named(name).unique())
    }

    fn code(&mut self, name: &str, bits: usize) -> Result<Code, KleeneError> {
        let bits = (0..bits).map(|bit| self.flag(&format!("{name}{bit}")));
        Ok(Code(bits.collect::<Result<_, _>>()?))
    }

    fn links(&mut self, name: &str) -> Result<Links, KleeneError> {
        let mut n = Vec::new();
        let mut has = Vec::new();
        let mut acyclic = Vec::new();
        for link in 0..LINKS {
            let p = self.0.binary(Declaration::named(&format!("{name}{link}")).functional())?;
            let some = Formula::exists(W, p.between(V, W));
            let named = Declaration::named(&format!("has-{name}{link}"));
            let has_p = self.0.unary(named.defined_by(some))?;
            // The only place where a link that is not null can go.
            let nowhere_else = Formula::forall(A, Formula::equal(A, W).or(not(p.between(V, A))));
            self.rule(has_p.at(V).and(nowhere_else), Atom::Binary(p, V, W), true)?;
            // No cycle: what reaches a node is not where its link goes.
            let no_cycle = self.0.nullary(Declaration::named(&format!("acyclic-{name}{link}")))?;
            self.rule(no_cycle.holds().and(p.reaches(W, V)), Atom::Binary(p, V, W), false)?;
            n.push(p);
            has.push(has_p);
            acyclic.push(no_cycle);
        }
        Ok(Links { n: array(n)?, has: array(has)?, acyclic: array(acyclic)? })
    }

    /// Where `body` is true, `head` is.
    fn rule(&mut self, body: Formula, head: Atom, holds: bool) -> Result<(), KleeneError> {
        self.0.constrain(Constraint::new(body, head.literal(holds)))
    }
}

impl Predicates {
    fn declare() -> Result<Predicates, KleeneError> {
        let mut all = Declaring(Vocabulary::new());
        let here = all.mark("here")?;
        let (first, before, after) = (all.mark("first")?, all.mark("before")?, all.mark("after")?);
        let (candidate, other) = (all.links("n")?, all.links("r")?);
        let (uncorrelated, reference) = (all.flag("uncorrelated")?, all.flag("reference")?);
        let nonuniform = all.flag("nonuniform")?;
        let of = all.code("of", 8)?;
        let class = CLASSES.iter().map(|class| all.flag(&format!("{class:?}")));
        let class = array(class.collect::<Result<_, _>>()?)?;
        let bools = (0..BOOLS).map(|bit| all.flag(&format!("bool{bit}")));
        let bools = array(bools.collect::<Result<_, _>>()?)?;
        let rt = all.flag("rt")?;
        let owner = all.code("owner", 9)?;
        let locked = (0..LOCKS).map(|lock| all.code(&format!("locked{lock}"), 9));
        let locked = array(locked.collect::<Result<_, _>>()?)?;
        // Declared last: individuals are put in the order of this number first.
        let number = all.code("number", 7)?;
        let list = Walked { first, before, after, rt, class };
        let walked = candidate.n.iter().zip(&candidate.has);
        let walked = walked.map(|(n, has)| list.rules(Declaring(all.0.clone()), *n, *has));
        let walked = array(walked.collect::<Result<_, _>>()?)?;
        Ok(Predicates {
            uncorrelated,
            reference,
            nonuniform,
            of,
            class,
            bools,
            rt,
            owner,
            locked,
            number,
            here,
            first,
            before,
            after,
            candidate,
            other,
            plain: all.0,
            walked,
        })
    }
}

/// The predicates that the rules of the list are about.
struct Walked {
    first: Unary,
    before: Unary,
    after: Unary,
    rt: Unary,
    class: [Unary; 5],
}

impl Walked {
    /// The vocabulary with the rules of the list along `n`.
    fn rules(&self, mut all: Declaring, n: Binary, has: Unary) -> Result<Vocabulary, KleeneError> {
        let rt = |v: Variable| self.rt.at(v);
        let edge = Atom::Binary(n, V, W);
        let in_list = Atom::Unary(self.rt, V);
        // 1.
        all.rule(rt(V).and(not(rt(W))), edge, false)?;
        all.rule(rt(V).and(not(self.is(Class::Max, V))), Atom::Unary(has, V), true)?;
        all.rule(rt(V).and(self.is(Class::Max, V)), Atom::Unary(has, V), false)?;
        // 2. The negation of `is` (Table A.5), for predecessors in the list.
        let shared = n.between(V, W).and(not(Formula::equal(V, A)));
        let predecessor = Atom::Binary(n, A, W);
        all.rule(rt(V).and(rt(A)).and(shared), predecessor, false)?;
        all.rule(self.first.at(W).and(rt(V)), edge, false)?;
        all.rule(rt(V), Atom::Binary(n, V, V), false)?;
        let no_other = Formula::equal(A, V).or(not(rt(A))).or(not(n.between(A, W)));
        let only = rt(W).and(not(self.first.at(W))).and(Formula::forall(A, no_other));
        all.rule(only, edge, true)?;
        let unreached = Formula::forall(A, not(self.first.at(A)).or(not(n.reaches(A, V))));
        all.rule(rt(V).and(unreached), in_list, false)?;
        // 3. `inOrder` (Table A.5), of what can be said with K.
        all.rule(rt(V).and(rt(W)).and(self.out_of_order()), edge, false)?;
        // 4.
        let across = self.below(V).and(not(self.below(W))).and(not(self.before.at(V)));
        all.rule(rt(V).and(rt(W)).and(across), edge, false)?;
        all.rule(self.before.at(V).and(self.after.at(W)), edge, true)?;
        all.rule(self.before.at(V), in_list, true)?;
        all.rule(self.after.at(V), in_list, true)?;
        all.rule(self.first.at(V), in_list, true)?;
        all.rule(self.before.at(V).and(not(self.below(V))), in_list, false)?;
        all.rule(self.after.at(V).and(self.below(V)), in_list, false)?;
        all.rule(self.is(Class::At, V).and(not(self.after.at(V))), in_list, false)?;
        Ok(all.0)
    }

    fn is(&self, class: Class, v: Variable) -> Formula {
        let is = CLASSES.iter().zip(self.class).find(|(one, _)| **one == class);
        is.map_or(Formula::Constant(Truth::False), |(_, p)| p.at(v))
    }

    fn below(&self, v: Variable) -> Formula {
        self.is(Class::Min, v).or(self.is(Class::Below, v))
    }

    /// The key of `w` cannot come next after that of `v`.
    fn out_of_order(&self) -> Formula {
        let mut pairs = Vec::new();
        for (first, p) in CLASSES.iter().zip(self.class) {
            let next = CLASSES.iter().filter(|second| may_follow(*first, **second));
            let next = next.map(|second| self.is(*second, W)).collect();
            pairs.push(p.at(V).and(not(Formula::Or(next))));
        }
        Formula::Or(pairs)
    }
}

fn not(formula: Formula) -> Formula {
    formula.negated()
}

fn array<T, const N: usize>(items: Vec<T>) -> Result<[T; N], KleeneError> {
    let wrong = |items: Vec<T>| KleeneError::TooManyStructures(items.len());
    items.try_into().map_err(wrong)
}
