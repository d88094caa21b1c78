//! State spaces searched by several processes, on timely dataflow.
//!
//! Every process runs the same search ([`linchpin_refine::Cluster`]): states belong to workers by
//! the hash of their implementation state ([`linchpin_refine::Partition`]), and a level is an epoch
//! of a dataflow that brings successors to those they belong to. When its frontier has passed, all
//! have arrived. Then workers tell each other what they found, and all decide the same.
//!
//! Reading order: [`hosts`] (who takes part), `greeting.rs` and `mesh.rs` (who is there, whether
//! all have the same to do), `wire.rs` (a connection that notices when it breaks), `exchange.rs`
//! (the dataflow), `batch.rs` (states on their way), `worker.rs` (the search of one worker),
//! `processes.rs` (all of it together).
//!
//! Timely panics where a connection breaks. Here it never learns of it: the connection notes who
//! was lost, all workers stop soon, and the search says so.

mod batch;
mod exchange;
mod greeting;
pub mod hosts;
mod mesh;
mod processes;
mod wire;
mod worker;

pub use hosts::{HostsError, hosts};
pub use processes::Processes;
