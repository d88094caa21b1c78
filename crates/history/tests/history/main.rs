//! All integration tests of `linchpin-history`: one binary, so that it is linked once.

mod collections;
mod collections_cases;
mod mwcas;
mod online;
mod scalars;
mod search;
