//! The API of loom 0.7 on Linchpin's engines, to be used by `[patch.crates-io]`: see the README for
//! what differs.
//!
//! [`model`](model()) explores the executions of a closure and panics where loom does, with its
//! words. The primitives are those of `linchpin-sync`; only what has another shape in loom is here.

pub mod alloc;
pub mod cell;
pub mod hint;
pub mod lazy_static;
pub mod model;
mod report;
pub mod sync;
pub mod thread;

#[cfg(feature = "futures")]
pub mod future;

#[doc(inline)]
pub use model::model;

#[doc(inline)]
pub use linchpin_sync::{lazy_static, thread_local};

/// As in loom, where it is the most threads that a model has. Here it is no limit.
pub const MAX_THREADS: usize = 5;

/// Does nothing: everything is explored.
pub fn explore() {}

/// Does nothing: everything is explored.
pub fn stop_exploring() {}

/// Does nothing: everything is explored.
pub fn skip_branch() {}
