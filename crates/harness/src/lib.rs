#![doc = include_str!("../README.md")]

mod argument;
mod assert;
pub mod controlled;
mod covered;
mod definition;
mod enumerate;
mod error;
mod execution;
mod failure;
mod files;
mod generate;
mod json;
mod judge;
mod macros;
mod model;
pub mod native;
mod page;
mod persistent;
mod plan;
mod print;
mod recorded;
mod resolve;
mod scenario;
mod specification;
mod stuck;
mod test;

pub use argument::{Argument, Arguments};
pub use assert::{Recorded, assert_linearizable};
pub use covered::Covered;
pub use definition::{
    Answer, Calling, Check, Definition, Make, OperationInfo, Run, Start, Subject,
};
pub use enumerate::{Alphabet, Scenarios};
pub use error::DefinitionError;
pub use execution::{Execution, Timed};
pub use failure::{Failure, Files, Kind, Repair, Repairs};
pub use files::{Regression, last_failure};
pub use generate::{Fresh, FreshValue, Generate, Generator, Generators, fresh};
pub use judge::{Judge, Violated};
pub use linchpin_explore::crash::Instruction;
pub use linchpin_record::{Process, Recorder, ToValue};
pub use model::{Model, ModelState, Print, State};
pub use persistent::{MakeIn, Persistent, durable, recoverable, strict};
pub use plan::{Mode, OnLimit, Options, Plan, Time, fail, pass};
pub use scenario::{Call, NamedCall, Scenario};
pub use specification::{Source, Specification, lin};
pub use stuck::{may_wait, waits_rightly};
pub use test::{Specified, Test};

#[doc(hidden)]
pub mod __private {
    pub use crate::model::{Printed, Probe, Unprinted};
}
