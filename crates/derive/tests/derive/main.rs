//! Derivation against the refinement engine: what is proved from code must hold within bounds.

mod faults;
mod fuzz;
mod generator;
mod helping;
mod models;
mod reasons;
mod refusals;
mod refuted;
mod sequential;
