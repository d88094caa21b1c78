//! One file a command.

pub mod certify;
pub mod check;
pub mod fmt;
pub mod mutate;
pub mod reproduce;
pub mod roadmap;
pub mod run;
pub mod specs;
pub mod steps;
pub mod subops;
pub mod verify;
