//! Atomics, locks, threads and cells like those of std. Outside of a controlled execution they
//! *are* those of std; inside of one, every access asks the [`Runtime`](runtime::Runtime) what
//! happens.
//!
//! Start with [`runtime`]: it is the seam between these types and the engines that explore
//! executions (`linchpin-explore`). Every other module is the mirror of one of std, with one file a
//! primitive; what blocks is one word that a thread waits to change. [`lazy`] and [`future`] mirror
//! what other crates offer: `lazy_static!`, `block_on` and `AtomicWaker`. [`persistent`] is memory
//! that survives a crash of the system.

pub mod alloc;
pub mod cell;
pub mod future;
pub mod hint;
pub mod lazy;
pub mod persistent;
pub mod runtime;
pub mod sync;
pub mod thread;
mod word;
