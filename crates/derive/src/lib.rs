//! From a model to sub-operations: what [`linchpin_reduce`] proves about those it proves about the
//! model.
//!
//! The paper leaves this to its reader (Section IV): one operation for each way in which a call
//! ends, the last round of each loop, reads that a later `cas` validates turned into guesses,
//! immutable fields read later than the code does. Here each of these is an argument that is
//! checked; the direction that matters is that everything the code can do, the sub-operations can
//! do too, in the same shared states:
//!
//! 1. [`explore`]: all paths from call to return, without the rounds of loops that change nothing;
//! 2. [`help`]: steps that are done on behalf of another operation belong to that one;
//! 3. [`simplify`], [`merge`]: steps that only observe are merged with the next one where what they
//!    saw is still true there.
//!
//! Start reading at [`derive`] (`derivation`) and [`prove`] (`proof`). The argument in full is in
//! `docs/theory/reduce.md`.

mod action;
mod build;
mod derivation;
mod engine;
mod evaluate;
mod execution;
mod explore;
mod explorer;
mod failing;
mod fault;
mod form;
mod help;
mod integers;
mod layout;
mod merge;
mod observed;
mod path;
mod proof;
mod refusal;
mod replay;
mod response;
mod rounds;
mod simplify;
mod symbol;
mod symbolic_spec;
mod text;
mod uninterrupted;

pub use derivation::{Derivation, derive, derive_within};
pub use engine::Reduce;
pub use explorer::Fault;
pub use failing::Failing;
pub use form::Form;
pub use proof::{Attempt, Conclusion, Obstacle, Passed, Tries, prove};
pub use refusal::Refusal;
