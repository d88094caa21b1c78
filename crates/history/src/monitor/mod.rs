//! Checkers for one data type each: exact, in about sorting time.
//!
//! Each answers a [`Verdict`](crate::Verdict), or says that it cannot judge the history
//! ([`NotApplicable`](crate::NotApplicable)), because a value is written twice, say; then the general search takes over.

mod bit;
pub mod cas_register;
mod chain;
mod chain_fault;
pub mod counter;
mod deadline;
mod fetch_add;
mod intervals;
pub mod map;
mod map_choice;
mod miss;
pub mod mutex;
pub mod mwcas;
pub(crate) mod pace;
pub mod priority_queue;
pub mod queue;
pub mod register;
pub mod semaphore;
pub(crate) mod sentence;
pub mod set;
mod sorting;
pub mod stack;
pub(crate) mod timeline;
mod zone;
