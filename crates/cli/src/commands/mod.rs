//! One file a command.

pub mod certify;
pub mod check;
pub mod completions;
pub mod explain;
pub mod fmt;
pub mod lsp;
pub mod man;
pub mod mutate;
pub mod new;
pub mod reproduce;
pub mod roadmap;
pub mod run;
pub mod specs;
pub mod steps;
pub mod subops;
pub mod verify;
