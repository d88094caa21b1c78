//! Is this history linearizable?
//!
//! [`Builder`] makes a [`History`], [`check`](fn@check) judges it; [`online`] judges while events
//! still arrive. [`PartialBuilder`] and [`check_partial`] are for histories without a clock. Which
//! methods there are for which object is said in one place (`data_type`): the exact [`monitor`]s,
//! the general [`search`], and rules for streams.

mod check;
mod data_type;
mod first;
pub mod online;

pub use check::{
    CheckOptions, Checked, KeyChecked, KeyObserver, KeyVerdict, PartialJudge, check, check_partial,
    check_partial_with,
};
pub use linchpin_history_data::{
    Argument, Builder, Crash, History, HistoryError, Judgement, Monitored, NEVER, NotApplicable,
    Object, OpId, Operation, Origin, PartialBuilder, PartialError, PartialHistory, Precedence,
    Property, Rank, Recovered, RecoveredOutcome, Sentences, ValueId, ValueTable, Violation,
    Witness, crash,
};
pub use linchpin_monitor as monitor;
pub use linchpin_search as search;
