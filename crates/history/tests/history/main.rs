//! All integration tests of `linchpin-history`: one binary, so that it is linked once.

mod detectable;
mod door;
mod keys;
mod online;
mod partial;
mod recoverable;

#[path = "../../../search/tests/search/generate.rs"]
#[allow(dead_code)] // Not everything in it is for this crate.
mod generate;
#[path = "../../../search/tests/search/judge.rs"]
#[allow(dead_code)]
mod judge;
