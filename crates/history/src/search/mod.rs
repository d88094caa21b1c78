//! The general search.
