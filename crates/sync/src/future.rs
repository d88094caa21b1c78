//! Futures on threads: `block_on`, and the `AtomicWaker` of the futures crates.

use crate::sync::{Arc, Mutex, Notify, PoisonError, TryLockError};
use crate::thread::yield_now;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::pin;
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

/// Waits for a future. Under control it may be polled once without having been woken, as futures
/// must expect.
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    match block_on_unless(future, || false) {
        Some(output) => output,
        None => unreachable!("it does not give up"),
    }
}

/// Waits for a future, but for one that is not ready may give up instead: then it is dropped.
#[track_caller]
pub fn block_on_unless<F: Future>(
    future: F,
    mut gives_up: impl FnMut() -> bool,
) -> Option<F::Output> {
    let woken = Arc::new(Notify::new());
    // SAFETY: the functions of the table do with the pointer what a waker asks for.
    let waker = unsafe { Waker::from_raw(raw_waker(Arc::clone(&woken))) };
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return Some(output),
            Poll::Pending if gives_up() => return None,
            Poll::Pending => woken.wait(),
        }
    }
}

/// A waker. Its count is one that an execution sees: which thread drops the last one is part of
/// what happens, and one that is never dropped is a leak.
fn raw_waker(notify: Arc<Notify>) -> RawWaker {
    RawWaker::new(Arc::into_raw(notify).cast(), &WAKER)
}

static WAKER: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_waker);

#[track_caller]
unsafe fn clone(notify: *const ()) -> RawWaker {
    // SAFETY: the pointer is one of `raw_waker`, and the waker that it belongs to stays.
    let notify = ManuallyDrop::new(unsafe { Arc::<Notify>::from_raw(notify.cast()) });
    raw_waker(Arc::clone(&notify))
}

#[track_caller]
unsafe fn wake(notify: *const ()) {
    // SAFETY: the pointer is one of `raw_waker`, and the waker that it belongs to goes.
    unsafe { Arc::<Notify>::from_raw(notify.cast()) }.notify();
}

#[track_caller]
unsafe fn wake_by_ref(notify: *const ()) {
    // SAFETY: as in `clone`.
    ManuallyDrop::new(unsafe { Arc::<Notify>::from_raw(notify.cast()) }).notify();
}

#[track_caller]
unsafe fn drop_waker(notify: *const ()) {
    // SAFETY: as in `wake`.
    drop(unsafe { Arc::<Notify>::from_raw(notify.cast()) });
}

/// As `AtomicWaker` of the futures crates.
#[derive(Debug, Default)]
pub struct AtomicWaker {
    waker: Mutex<Option<Waker>>,
}

impl AtomicWaker {
    /// Without a waker.
    pub const fn new() -> AtomicWaker {
        AtomicWaker { waker: Mutex::new(None) }
    }

    /// Wakes this waker the next time. If another thread wakes right now, it is woken at once.
    #[track_caller]
    pub fn register(&self, waker: Waker) {
        match self.waker.try_lock() {
            Ok(mut registered) => *registered = Some(waker),
            Err(TryLockError::Poisoned(poisoned)) => *poisoned.into_inner() = Some(waker),
            Err(TryLockError::WouldBlock) => {
                waker.wake();
                yield_now();
            }
        }
    }

    /// As [`AtomicWaker::register`].
    #[track_caller]
    pub fn register_by_ref(&self, waker: &Waker) {
        self.register(waker.clone());
    }

    /// Wakes the waker that was registered last, if it was not woken yet.
    #[track_caller]
    pub fn wake(&self) {
        if let Some(waker) = self.take_waker() {
            waker.wake();
        }
    }

    /// Takes the waker that was registered last.
    #[track_caller]
    pub fn take_waker(&self) -> Option<Waker> {
        self.waker.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn a_future_is_waited_for() {
        static READY: (AtomicBool, AtomicWaker) = (AtomicBool::new(false), AtomicWaker::new());
        let thread = std::thread::spawn(|| {
            READY.0.store(true, Ordering::SeqCst);
            READY.1.wake();
        });
        block_on(std::future::poll_fn(|context| {
            READY.1.register_by_ref(context.waker());
            if READY.0.load(Ordering::SeqCst) { Poll::Ready(()) } else { Poll::Pending }
        }));
        thread.join().unwrap();
        assert_eq!(block_on(async { 1 }), 1);
    }
}
