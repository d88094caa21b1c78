//! Recorded histories as data: what was called, what was answered, in which order.
//!
//! [`Builder`] makes a [`History`]; [`crash`] says what interrupted operations may still do;
//! [`Judgement`] is what a checker answers; [`Object`] is what a history is judged against.
//! [`PartialBuilder`] makes a [`PartialHistory`], whose operations are ordered by no clock.
//! [`Sentences`] says it in words, [`Timeline`] draws it.

pub mod crash;
mod escape;
mod history;
mod ids;
mod judgement;
mod object;
mod part;
mod partial;
mod sentence;
mod timeline;
mod value_table;

pub use crash::Property;
pub use escape::{escaped, escaped_lines};
pub use history::{
    Argument, Builder, Crash, History, HistoryError, Operation, Origin, Recovered, RecoveredOutcome,
};
pub use ids::{NEVER, OpId, Rank};
pub use judgement::{Judgement, Monitored, NotApplicable, Violation, Witness, not_applicable};
pub use object::Object;
pub use part::{Import, Part};
pub use partial::{Intervals, PartialBuilder, PartialError, PartialHistory, Precedence};
pub use sentence::Sentences;
pub use timeline::{Bar, Timeline};
pub use value_table::{ValueId, ValueTable};
