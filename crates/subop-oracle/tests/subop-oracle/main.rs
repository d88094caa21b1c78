//! All integration tests of `linchpin-subop-oracle`: one binary, so that it is linked once.

mod generator;
mod models;
mod naive;
mod page;
mod pitfalls;
