//! Progress and temporal properties of a model within bounds: deadlock freedom, obstruction, lock
//! and wait freedom, progress under fair scheduling, and linear temporal logic over events.
//!
//! A property of this kind is violated by a run that goes on for ever: a way into a cycle of the
//! state graph, and the cycle (a *lasso*). [`check_progress`] and [`check_ltl`] look for one; every
//! lasso is made again by the reference interpreter, and held against the definition of the
//! property, before it is shown.
//!
//! Reading order: [`graph`] (the state graph), [`cycles`] (cycles that meet demands), [`property`]
//! (the progress properties as such cycles), [`ltl`] (formulas, automata, products), then
//! `lasso.rs` and `check.rs` (the whole job).

mod check;
pub mod cycles;
pub mod graph;
mod lasso;
pub mod ltl;
pub mod property;
mod slice;

pub use check::{OfOperation, ProgressError, Report, Stats, check_ltl, check_progress};
pub use lasso::{Lasso, Line};
pub use property::Property;
