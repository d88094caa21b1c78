//! As `std::sync`.

pub use linchpin_sync::sync::{
    Arc, Barrier, BarrierWaitResult, Condvar, LazyLock, LockResult, Mutex, MutexGuard, Notify,
    Once, OnceLock, OnceState, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
    TryLockError, TryLockResult, WaitTimeoutResult, Weak, mpsc,
};

/// As `std::sync::atomic`.
pub mod atomic {
    pub use linchpin_sync::hint::spin_loop as spin_loop_hint;
    pub use linchpin_sync::sync::atomic::*;
}
