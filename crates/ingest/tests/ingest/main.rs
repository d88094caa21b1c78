//! All integration tests of `linchpin-ingest`: one binary, so that it is linked once.

mod common;
mod equivalence;
mod fastlin;
mod formats;
mod limo;
mod memory;
mod mutation;
mod places;
mod readings;
