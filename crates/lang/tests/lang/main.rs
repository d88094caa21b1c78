//! All integration tests of `linchpin-lang`: one binary, so that it is linked once.

mod big_step;
mod errors;
mod models;
mod reference;
mod robust;
