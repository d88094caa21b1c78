//! Judges `.subop` models by brute force, and writes random ones to judge. For tests only; shares
//! no code with the prover.
//!
//! [`judge`] explores every interleaving of a few operation instances and compares what they
//! observe with the sequential runs of the same operations; [`mixes`] enumerates which instances to
//! try; [`generate`] and [`generate_rich`] write random models; [`mutants`] breaks one.

mod brute;
mod generate;
mod mix;
mod mutate;
mod rich;

pub use brute::{Case, Comparison, Counterexample, Judged, Report, explore, judge};
pub use generate::generate;
pub use mix::{judge_all, mixes};
pub use mutate::{Mutant, mutants};
pub use rich::generate_rich;
