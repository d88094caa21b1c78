//! Refinement checking: does every trace of an implementation refine its linearizable specification?
//!
//! The engine of "Model Checking Linearizability via Refinement" (Liu, Chen, Liu, Sun): an on-the-fly search of the
//! product of the implementation with the normalised specification. Reading order: [`product`], [`search`], `sets.rs`
//! (the linearizable specification, normalised), [`model`] (a `.lin` model as an implementation), then
//! [`verify`](fn@verify), the whole job.

mod counterexample;
pub mod engine;
mod lossy;
pub mod model;
pub mod product;
pub mod search;
mod sets;
mod store;
mod suggest;
mod switches;
mod verify;

pub use counterexample::Counterexample;
pub use engine::Refine;
pub use lossy::explore_lossy;
pub use sets::{Cache, Place, Policy, Sets};
pub use suggest::{Advice, Where, suggest_points};
pub use verify::{Points, Report, Verdict, VerifyOptions, has_points, verify};
