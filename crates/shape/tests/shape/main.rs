//! The shape engine against what judges it.

mod concrete;
mod picture;
