//! All integration tests of `linchpin-monitor`: one binary, so that it is linked once.

mod collections;
mod collections_cases;
mod mwcas;
mod scalars;
