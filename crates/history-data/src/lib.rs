//! Recorded histories as data: what was called, what was answered, in which order.
//!
//! [`Builder`] makes a [`History`]; [`crash`] says what interrupted operations may still do;
//! [`Judgement`] is what a checker answers; [`Object`] is what a history is judged against.

pub mod crash;
mod history;
mod ids;
mod judgement;
mod object;
mod part;
mod sentence;
mod value_table;

pub use crash::Property;
pub use history::{Argument, Builder, Crash, History, HistoryError, Operation};
pub use ids::{NEVER, OpId, Rank};
pub use judgement::{Judgement, Monitored, NotApplicable, Violation, Witness, not_applicable};
pub use object::Object;
pub use part::{Import, Part};
pub use sentence::Sentences;
pub use value_table::{ValueId, ValueTable};
