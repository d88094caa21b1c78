//! One file a command.

pub mod certify;
pub mod check;
pub mod fmt;
pub mod run;
pub mod specs;
pub mod steps;
pub mod verify;
