//! The refinement engine against the brute-force oracle, the bundled models and a naive explorer.

mod any_calls;
mod any_values;
mod crash_generator;
mod crashes;
mod disk;
mod generator;
mod models;
mod naive;
mod no_crashes;
mod own_specs;
mod points;
mod preemptions;
mod preload;
mod reductions;
mod references;
mod returns;
mod strategies;
mod stuck;
mod support;
mod traps;
