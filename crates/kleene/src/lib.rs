//! Three-valued logical structures after Sagiv, Reps and Wilhelm, *Parametric shape analysis via
//! 3-valued logic* (TOPLAS 2002), called SRW in this crate: the abstract domain in which paper 001
//! was implemented.
//!
//! A [`Structure`] interprets the predicates of a [`Vocabulary`] on individuals; a summary
//! individual stands for one or more concrete ones. A [`Formula`] has one of three values on it
//! ([`Truth`]): a definite value is its value on every concrete structure that embeds. A step of a
//! program is [`focus`](Structure::focus) (make what it reads definite),
//! [`coerce`](Structure::coerce) (drop what cannot be), [`update`](Structure::update), coerce
//! again, and [`canonical`](Structure::canonical) abstraction.
//!
//! Reading order: `truth.rs`, `vocabulary.rs`, `structure.rs`, `formula.rs`, `evaluate.rs`, then
//! the steps: `focus.rs`, `constraint.rs` and `coerce.rs`, `update.rs`, `canonical.rs`.
//!
//! # Example
//!
//! A list of two or more nodes: `x` points to the first, one summary is the rest. All of it is
//! reachable from `x`, and that is what makes focus on `x.n` useful: the case in which `x.n` is
//! null contradicts it, so that coerce drops it. What is left: a list of exactly two, and a longer
//! one.
//!
//! ```
//! use linchpin_kleene::{Declaration, Focus, Formula, Structure, Truth, Variable, Vocabulary};
//! # fn main() -> Result<(), linchpin_kleene::KleeneError> {
//! let (v, a) = (Variable::V, Variable::A);
//! let mut vocabulary = Vocabulary::new();
//! let x = vocabulary.unary(Declaration::named("x").abstraction().unique())?;
//! let y = vocabulary.unary(Declaration::named("y").abstraction().unique())?;
//! let n = vocabulary.binary(Declaration::named("n").functional())?;
//! let reachable = Formula::exists(a, x.at(a).and(n.reaches(a, v)));
//! let r = vocabulary.unary(Declaration::named("r").abstraction().defined_by(reachable))?;
//!
//! let mut list = Structure::new(&vocabulary);
//! let (first, rest) = (list.add()?, list.add()?);
//! list.set_summary(rest, true);
//! list.set_unary(x, first, Truth::True);
//! list.set_unary(r, first, Truth::True);
//! list.set_unary(r, rest, Truth::True);
//! list.set_binary(n, first, rest, Truth::Half);
//! list.set_binary(n, rest, rest, Truth::Half);
//!
//! let cases = list.focus(&vocabulary, &Focus::Successor { from: x, along: n }, 100)?;
//! assert_eq!(cases.len(), 3); // null; the whole rest; one node of it
//! let kept: Vec<_> = cases.into_iter().filter_map(|case| case.coerce(&vocabulary)).collect();
//! let sizes: Vec<_> = kept.iter().map(Structure::len).collect();
//! assert_eq!(sizes, [2, 3]);
//!
//! // y = x.n: now `y` names a node of its own in each case.
//! let successor = Formula::exists(a, x.at(a).and(n.between(a, v)));
//! let update = linchpin_kleene::Update::new().set(y, successor);
//! for case in kept {
//!     let after = case.update(&vocabulary, &update).canonical(&vocabulary).structure(&vocabulary);
//!     let second = after.holder(y).expect("y is not null");
//!     assert!(!after.is_summary(second));
//! }
//! # Ok(())
//! # }
//! ```

mod canonical;
mod coerce;
mod constraint;
mod embed;
mod error;
mod evaluate;
mod focus;
mod formula;
mod structure;
mod truth;
mod update;
mod vocabulary;

pub use canonical::Canonical;
pub use constraint::Constraint;
pub use error::KleeneError;
pub use evaluate::Assignment;
pub use focus::Focus;
pub use formula::{Atom, Footprint, Formula, Literal, Variable};
pub use structure::{Individual, Structure};
pub use truth::Truth;
pub use update::Update;
pub use vocabulary::{Binary, Declaration, Nullary, Predicate, Unary, Vocabulary};
