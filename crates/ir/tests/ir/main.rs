//! Tests of the program, its interpreter, its runner and its printer, on programs built by hand.

mod access;
mod choices;
mod faults;
mod memory;
mod model_spec;
mod models;
mod persistence;
mod print;
mod run;
mod steps;
mod support;
mod well_formed;
