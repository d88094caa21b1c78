//! Is this history linearizable?
//!
//! [`Builder`] makes a [`History`]; the checkers answer a [`Verdict`]. The monitors (one module a data type, under [`monitor`])
//! are exact and take about as long as sorting; the general [`search`] takes any specification.

pub mod crash;
mod history;
pub mod monitor;
pub mod search;
mod value_table;
mod verdict;

pub use history::{
    Argument, Builder, Crash, History, HistoryError, NEVER, OpId, Operation, Rank,
};
pub use value_table::{ValueId, ValueTable};
pub use verdict::{Limits, Monitored, NotApplicable, Verdict, Violation, Witness};
