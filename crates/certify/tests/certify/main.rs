//! All integration tests of `linchpin-certify`: one binary, so that it is linked once.

mod cores;
mod reduction;
mod tampering;
