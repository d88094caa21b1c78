//! The state space of a model, made for exploring it: the program compiled to flat words, states
//! packed into few bytes, in a canonical form.
//!
//! [`Space`] is the whole: the initial state, and for each packed state its successors with the
//! events on the way. Reading order: `layout.rs` (a state as words), `code.rs` and `execute.rs` (a
//! step), `liveness.rs` and `canonical.rs` (what two states have in common), `symmetry.rs` (which
//! renamings change nothing), `any_values.rs` (how many values stand for all), `space.rs` (the
//! whole) and `successors.rs` (the ways on), `private.rs` and `others.rs` (what is taken together),
//! `attempt.rs`, `doomed.rs` and `validated.rs` (attempts). `alone.rs` is for those who ask what
//! one thread would do by itself.
//!
//! What a step means is defined by [`linchpin_ir::interpreter`]; the tests hold every step of this
//! crate against it.

mod alone;
mod any_values;
mod attempt;
mod bounds;
mod canonical;
mod code;
mod coverage;
mod crash;
mod crash_part;
mod doomed;
mod error;
mod event;
mod execute;
mod facts;
mod flat;
mod known;
mod layout;
mod lines;
mod liveness;
mod marks;
mod others;
mod privacy;
mod private;
mod reach;
mod roles;
mod settled;
mod space;
mod spec_use;
mod successors;
mod symmetry;
mod validated;
mod workspace;

pub use alone::{Alone, AloneStep};
pub use any_values::{DataUse, NotAlike};
pub use bounds::{Bounds, Reductions};
pub use canonical::{Before, Renaming};
pub use code::Class;
pub use coverage::Unreached;
pub use crash::CrashCounts;
pub use crash_part::CrashPart;
pub use error::{SpaceError, Unsupported};
pub use event::{Action, Event, Made, Stop, Successor, Visit};
pub use flat::{Flat, Link};
pub use linchpin_verdict::{Calls, Values};
pub use lines::{CrashesLeft, Image, LineId};
pub use marks::{Marks, SpecMarks};
pub use space::Space;
pub use symmetry::Symmetry;
pub use workspace::Workspace;
