//! The base point engine against an oracle, against refinement, and on the bundled models.

mod against_oracle;
mod compare;
mod generator;
mod oracle;
mod oracle_itself;
mod support;
