//! What an engine may answer, and what may stop it: the bottom of every engine.
//!
//! Start at [`Verdict`], the words that people read; [`Outcome`] is what an engine returns before
//! it is put in words; [`Limits`] is what every engine takes. Sentences are made at the very end,
//! by what prints: everything that another part decides on is an enum here.

mod assumption;
mod bound;
mod crash_property;
mod limits;
mod memory;
mod outcome;
mod verdict;
mod words;

pub use assumption::{Assumption, Sequential};
pub use bound::{Bound, Calls, Values};
pub use crash_property::CrashProperty;
pub use limits::{Limits, StopFlag, StopReason};
pub use memory::peak_memory;
pub use outcome::{Inconclusive, Outcome};
pub use verdict::Verdict;
pub use words::{counted, grouped};
