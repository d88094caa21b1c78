//! All integration tests of `linchpin-subop`: one binary, so that it is linked once.

mod execution;
mod figures;
mod induction;
mod mistakes;
mod reference;
mod sequential;
