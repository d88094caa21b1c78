//! The limits of engines that have not moved to `linchpin_verdict::Limits` yet.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The reason to give up when it was asked for.
pub const STOPPED: &str = "stopped";

/// When to give up.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Stop at this instant.
    pub deadline: Option<Instant>,
    /// Stop when the search keeps about so many bytes.
    pub memory: Option<usize>,
    /// Stop when this is set.
    pub stop: Option<Arc<AtomicBool>>,
}

impl Limits {
    /// Why to give up, if it is time to; `bytes` is about what the search keeps.
    pub fn exceeded(&self, bytes: usize) -> Option<String> {
        if self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Some(STOPPED.to_owned());
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Some("the time limit was reached".to_owned());
        }
        if self.memory.is_some_and(|limit| bytes > limit) {
            return Some("the memory limit was reached".to_owned());
        }
        None
    }
}
