//! Futures in models.

pub use linchpin_sync::future::{AtomicWaker, block_on};
