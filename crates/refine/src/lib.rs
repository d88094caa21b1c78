//! Refinement checking: does every trace of an implementation refine its linearizable specification?
//!
//! The engine of "Model Checking Linearizability via Refinement" (Liu, Chen, Liu, Sun): an on-the-fly search of the
//! product of the implementation with the normalised specification. Reading order: [`product`], [`search`], `sets.rs`
//! (the linearizable specification, normalised), [`model`] (a `.lin` model as an implementation).

pub mod model;
pub mod product;
pub mod search;
mod sets;
mod store;

pub use sets::{Cache, Policy, Sets};
