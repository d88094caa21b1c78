//! A model as atomic steps, and the reference interpreter.
//!
//! [`program`] is the data; [`interpreter`] is what the steps mean: every engine is judged against
//! it. [`run`] executes a whole model under a random scheduler, [`domain`] says which arguments
//! clients pass, [`persistence`] which words survive a crash, [`model_spec`] turns the
//! specification of a model into a [`Spec`](linchpin_spec::Spec), [`print`](mod@print) shows the
//! steps to people, and [`well_formed`] checks what every front end owes the interpreter.

pub mod branch;
pub mod domain;
pub mod interpreter;
pub mod liveness;
pub mod model_spec;
pub mod persistence;
pub mod print;
pub mod program;
pub mod run;
pub mod well_formed;

mod walk;
