//! Programs as people read them.
//!
//! [`steps`] prints the steps of every operation; [`describe`] gives the same as data, for other
//! formats. [`Names`] prints the small parts, an action or an expression, with the names that the
//! model uses.

mod describe;
mod formula;
mod layout;
mod names;
mod operators;
mod temporaries;
mod values;

pub use describe::{EdgeDescription, OperationSteps, StepDescription, describe};
pub use layout::steps;
pub use names::Names;
