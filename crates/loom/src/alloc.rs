//! As `std::alloc`, with leaks seen.

pub use linchpin_sync::alloc::{Layout, Track, alloc, alloc_zeroed, dealloc};
