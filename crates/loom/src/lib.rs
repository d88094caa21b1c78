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

use linchpin_sync::runtime::{self, Exploring};

/// As in loom, where it is the most threads that a model has. Here it is no limit.
pub const MAX_THREADS: usize = 5;

/// Other executions are explored from here on.
///
/// With `LOOM_LINCHPIN=weak` they are explored everywhere.
pub fn explore() {
    runtime::with(|runtime| runtime.exploring(Exploring::On));
}

/// No other executions are explored from here on, until [`explore`] is called.
pub fn stop_exploring() {
    runtime::with(|runtime| runtime.exploring(Exploring::Off));
}

/// No other executions are explored from here on, to the end of this one.
pub fn skip_branch() {
    runtime::with(|runtime| runtime.exploring(Exploring::Never));
}
