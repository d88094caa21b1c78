//! The `.subop` language: the specification language of Singh, Neamtiu and Gupta, "Proving Concurrent Data Structures
//! Linearizable" (Figure 6), in which an operation is a list of guarded atomic sub-operations.
//!
//! [`model`] says what a file means, once its names are resolved.

pub mod model;
