//! The state space of a model, made for exploring it: the program compiled to flat words, states packed into few
//! bytes, in a canonical form.
//!
//! [`Space`] is the whole: the initial state, and for each packed state its successors with the events on the way.
//! Reading order: `layout.rs` (a state as words), `code.rs` and `execute.rs` (a step), `liveness.rs` and
//! `canonical.rs` (what two states have in common), `symmetry.rs` (which renamings change nothing), `space.rs` and `walk.rs` (the ways on).
//!
//! What a step means is defined by [`linchpin_ir::interpreter`]; the tests hold every step of this crate against it.

mod canonical;
mod code;
mod coverage;
mod execute;
mod flat;
mod layout;
mod liveness;
mod space;
mod symmetry;
mod walk;

pub use canonical::Renaming;
pub use code::Class;
pub use coverage::Unreached;
pub use flat::{Flat, Link};
pub use space::{
    Action, Bounds, Calls, Event, Reductions, Space, SpaceError, Stop, Successor, Visit, Workspace,
};
pub use symmetry::Symmetry;

use thiserror::Error;

/// Something in a model that flat states have no room for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("not supported here: {0}")]
pub struct Unsupported(pub String);
