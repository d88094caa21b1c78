//! Checkers for one data type each: exact, in about sorting time.
//!
//! Each answers a [`Judgement`], or says that it cannot judge the history ([`NotApplicable`]),
//! because a value is written twice, say; then the general search takes over. A good first one to
//! read is [`mutex`]; [`StopPoll`] is how all of them obey limits.
//!
//! [`Judgement`]: linchpin_history_data::Judgement
//! [`NotApplicable`]: linchpin_history_data::NotApplicable

mod bit;
mod chain;
mod chain_fault;
pub mod counter;
mod deadline;
mod fetch_add;
pub mod grow_set;
mod intervals;
pub mod kv;
pub mod map;
mod map_choice;
mod miss;
pub mod mutex;
pub mod mwcas;
mod poll;
pub mod priority_queue;
pub mod queue;
pub mod register;
pub mod semaphore;
pub mod set;
mod sorting;
pub mod stack;
mod timeline;
pub mod unordered_queue;
mod zone;

pub use poll::StopPoll;
pub use timeline::interleave;
