//! All integration tests of `linchpin-monitor`: one binary, so that it is linked once.

mod collections;
mod collections_cases;
mod kv;
mod mwcas;
mod pairing;
mod scalars;
