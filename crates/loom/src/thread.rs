//! As `std::thread`.

pub use linchpin_sync::thread::{
    AccessError, Builder, JoinHandle, LocalKey, Result, Scope, ScopedJoinHandle, Thread, ThreadId,
    available_parallelism, current, panicking, park, park_timeout, scope, sleep, yield_now,
};

/// As [`std::thread::spawn`]. As in loom, nothing need be sendable: all threads of a model are the
/// same one for the system. Outside of a model what is not sendable must not be used so.
#[track_caller]
pub fn spawn<F, T>(body: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    // SAFETY: in a model nothing leaves the thread of the system, and nothing is borrowed. Outside,
    // code that compiles against std too sends only what can be sent.
    unsafe { Builder::new().spawn_unchecked(body) }.expect("failed to spawn thread")
}
