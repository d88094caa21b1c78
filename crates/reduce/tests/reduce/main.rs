//! All integration tests of `linchpin-reduce`: one binary, so that it is linked once.

mod cases;
mod fuzz;
mod objects;
mod pitfalls;
mod smt;
mod table_1;
mod written;
