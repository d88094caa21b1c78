//! Base conditions: those that models state, judged against an oracle that shares nothing with the
//! engine, and those that are found.

mod brute;
mod mutated;
mod stated;
mod suggested;
mod support;
