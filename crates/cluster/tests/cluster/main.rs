//! Several processes answer as one does, and end when one of them does not go on.

#[path = "../../../refine/tests/refine/crash_generator.rs"]
mod crash_generator;
#[path = "../../../refine/tests/refine/generator.rs"]
mod generator;
mod processes;
mod same;
mod support;
