//! Refinement checking: does every trace of an implementation refine its linearizable
//! specification?
//!
//! The engine of "Model Checking Linearizability via Refinement" (Liu, Chen, Liu, Sun): an
//! on-the-fly search of the product of the implementation with the normalised specification.
//! Reading order: [`product`], [`search`], `sets.rs` (the linearizable specification, normalised),
//! [`model`] (a `.lin` model as an implementation), then [`verify`](fn@verify), the whole job.
//! Apart from that, `stuck.rs`, `graph.rs`, `extension.rs` and `influence.rs` look for operations
//! that can never return.

mod along;
mod buffered;
mod byte_values;
mod cache;
mod chunked;
mod components;
mod counterexample;
mod crew;
mod disk;
mod durability;
pub mod engine;
mod extension;
mod graph;
mod index;
mod influence;
mod interned;
mod level;
mod linearize;
mod lossy;
pub mod model;
mod options;
mod orphans;
mod pairs;
mod partition;
mod portable;
mod preemptions;
mod preload;
pub mod product;
mod renaming;
mod repair;
mod rows;
mod runs;
pub mod search;
mod sets;
mod store;
mod stuck;
mod suggest;
mod switches;
mod together;
mod verify;
mod walk;

pub use cache::Cache;
pub use counterexample::{Counterexample, Failure, Holder, KeptBy, StuckOperation};
pub use disk::{DiskError, DiskOptions, explore_on_disk, states_to_come};
pub use durability::CrashReport;
pub use engine::{Refine, RefineTogether, data_use};
pub use lossy::explore_lossy;
pub use options::{Strategy, VerifyOptions};
pub use partition::{KeptState, Leaving, NotTaken, Partition, StateAt};
pub use portable::Portable;
pub use repair::Change;
pub use sets::{Place, Policy, Renamable, Sets};
pub use stuck::{NotMade, StuckCheck};
pub use suggest::{Advice, Together, Where, suggest_points};
pub use together::{Cluster, ClusterError, Peer, Task, Traffic};
pub use verify::{Points, Report, has_points, verify};
pub use walk::{Walk, Walks};

pub use linchpin_space::DataUse;
