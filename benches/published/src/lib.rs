//! Nothing: see `tests/found.rs`.
