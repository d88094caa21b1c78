//! The base point engine against an oracle, against refinement, and on the bundled models.

mod against_oracle;
mod compare;
mod generator;
mod model;
mod mutants;
mod oracle;
mod oracle_itself;
mod sound;
mod soundness;
mod support;
