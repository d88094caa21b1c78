//! The order of events: one counter that every call and every return takes a number from.

use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers events in the order in which they happen. It has its cache lines to itself.
///
/// A stamp must be a full barrier. A clock that is only read lets a thread stamp its return while
/// the store of its operation still sits in the store buffer: the next operation of another thread
/// then does not see it, and a correct object looks broken. An atomic addition is a full barrier,
/// gives no two events the same number, and costs less than reading the time.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Clock(AtomicU64);

impl Clock {
    /// A clock at zero.
    pub const fn new() -> Clock {
        Clock(AtomicU64::new(0))
    }

    /// The number of an event that happens now.
    #[inline]
    pub fn tick(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst)
    }

    /// The number that the next event gets, or a smaller one.
    #[inline]
    pub fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
