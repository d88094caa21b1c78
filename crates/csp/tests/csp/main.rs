//! All integration tests of `linchpin-csp`: one binary, so that it is linked once.

mod errors;
mod models;
mod oracle;
mod reduction;
mod robust;
