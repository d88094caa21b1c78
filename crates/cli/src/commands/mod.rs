//! One file a command.

pub mod fmt;
pub mod run;
pub mod specs;
pub mod steps;
