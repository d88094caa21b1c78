//! All integration tests of `linchpin-ingest`: one binary, so that it is linked once.

mod after;
mod common;
mod equivalence;
mod etcd;
mod etcd_random;
mod fastlin;
mod formats;
mod limo;
mod memory;
mod mutation;
mod places;
mod readings;
mod s2;
mod test_jepsen;
mod tipocket;
mod workloads;
