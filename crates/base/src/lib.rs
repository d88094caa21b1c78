//! Base point analysis (paper 004): what an operation would do alone from a shared state decides
//! which states are base points; from that, the conditions under which an object is linearizable
//! are checked on every execution within bounds.
//!
//! Reading order: `alone.rs` and `outcome.rs` (base points, Definitions 1 and 2), `shared.rs`
//! (shared states, preserving steps, Definition 3), `note.rs` (what is remembered of a pending
//! operation), `explore.rs` (every run), `theorem.rs` (Definitions 5 and 6, Theorem 2),
//! `commute.rs` (Definition 4), `confirm.rs` (the linearization that the proof of Theorem 2
//! builds). `condition/` is about stated and suggested base conditions. `analyse.rs` is the door;
//! `path.rs`, `witness.rs`, `roadmap.rs` and `engine.rs` tell what was found.

mod alone;
mod analyse;
mod code;
mod commute;
pub mod condition;
mod confirm;
mod engine;
mod explore;
mod finding;
mod note;
mod outcome;
mod path;
mod picture;
mod roadmap;
mod shared;
mod store;
mod tally;
mod theorem;
mod witness;

pub use alone::{Call, Follow, alone, follow};
pub use analyse::{Analysis, BaseError, Options, analyse};
pub use code::NotApplicable;
pub use engine::Base;
pub use explore::Treatment;
pub use finding::{Detail, Finding, Findings, Place};
pub use outcome::{Ending, Outcome, Term, Update, Words};
pub use picture::{LocalValue, picture};
pub use roadmap::roadmap;
pub use shared::SharedStates;
pub use tally::{Effects, Tally};
