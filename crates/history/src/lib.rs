//! Is this history linearizable?
//!
//! [`Builder`] makes a [`History`], [`check`](fn@check) judges it and answers a [`Verdict`]. The monitors (one module a data type, under
//! [`monitor`]) are exact and take about as long as sorting; the general [`search`] takes any specification; [`online`] judges while events
//! still arrive; [`crash`] says what crashed operations may still do.

mod check;
pub mod crash;
mod history;
pub mod monitor;
pub mod online;
mod part;
pub mod search;
mod value_table;
mod verdict;

pub use check::{CheckOptions, Judgement, Object, check};
pub use crash::Property;
pub use history::{Argument, Builder, Crash, History, HistoryError, NEVER, OpId, Operation, Rank};
pub use value_table::{ValueId, ValueTable};
pub use verdict::{Limits, Monitored, NotApplicable, STOPPED, Verdict, Violation, Witness};
