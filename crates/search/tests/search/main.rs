//! The general search, its parts and the register monitor against the brute-force judge, on random
//! small histories.
//!
//! `LINCHPIN_SEED` and `LINCHPIN_CASES` make a long fuzzer of the same tests.

mod cas_register;
mod general;
mod generate;
mod judge;
mod limits;
mod lockstep;
mod online;
mod quick;
mod split;
