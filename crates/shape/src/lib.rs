//! The shape engine: linearizability by comparison under abstraction (paper 001).
//!
//! The implementation and a sequential reference run side by side; their heaps are fused into
//! duo-objects; abstraction bounds them. Start with [`correlate`] (the semantics), then [`heap`]
//! and [`targets`] (the abstraction), then [`explore`] and [`views`] (so many threads, any number).

mod access;
pub mod alone;
pub mod analysis;
pub mod certificate;
pub mod coerce;
pub mod correlate;
mod descent;
pub mod engine;
pub mod evaluate;
pub mod execute;
pub mod explore;
pub mod failure;
pub mod frozen;
pub mod heap;
pub mod join;
pub mod list;
pub mod model;
pub mod picture;
pub mod predicates;
pub mod prepare;
mod preserve;
mod single;
pub mod state;
pub mod targets;
pub mod three_valued;
pub mod value;
pub mod views;

pub use alone::{AloneClaim, AloneRule, AloneStatus, Gap, GapCause, alone_claims};
pub use analysis::{
    Analysis, Domain, Found, Options, Threads, Trace, TraceMove, analyse, sequential,
};
pub use correlate::PureAnswers;
pub use engine::Shape;
pub use failure::{Cause, Failure, Fault};
pub use prepare::{NotApplicable, ReferenceChoice};
