//! Checkers for one data type each: exact, in about sorting time.
//!
//! Each answers a [`Verdict`](crate::Verdict), or says that it cannot judge the history
//! ([`NotApplicable`](crate::NotApplicable)), because a value is written twice, say; then the general search takes over.

pub mod cas_register;
pub mod counter;
mod intervals;
pub mod mwcas;
pub mod priority_queue;
pub mod queue;
pub mod register;
pub mod set;
pub mod stack;
