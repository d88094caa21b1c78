//! Volatile memory that threads share: std's, but linchpin's in tests.

#[cfg(test)]
pub(crate) use linchpin::{hint::spin_loop, sync::atomic::AtomicU64};

#[cfg(not(test))]
pub(crate) use std::{hint::spin_loop, sync::atomic::AtomicU64};
