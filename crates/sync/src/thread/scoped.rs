//! As `std::thread::scope`.

use super::handle::Thread;
use super::packet;
use super::{Builder, Joinable, Result};
use crate::runtime;
use crate::word::Word;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};

/// As [`std::thread::Scope`].
pub struct Scope<'scope, 'env: 'scope> {
    /// The scope of std, which is open as long as threads run in this one; null under control.
    real: AtomicPtr<()>,
    /// The ends of the threads under control that were started. They are waited for one after the
    /// other: a count of them would be one place that all of their ends conflict at.
    started: Mutex<Vec<Arc<Word>>>,
    scope: PhantomData<&'scope mut &'scope ()>,
    environment: PhantomData<&'env mut &'env ()>,
}

/// As [`std::thread::ScopedJoinHandle`].
pub struct ScopedJoinHandle<'scope, T> {
    handle: Handle<'scope, T>,
    thread: Thread,
}

enum Handle<'scope, T> {
    Real(std::thread::ScopedJoinHandle<'scope, T>),
    Controlled(Joinable<T>),
}

/// As [`std::thread::scope`].
#[track_caller]
pub fn scope<'env, F, T>(body: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let scope = Scope {
        real: AtomicPtr::new(std::ptr::null_mut()),
        started: Mutex::default(),
        scope: PhantomData,
        environment: PhantomData,
    };
    if !runtime::is_controlled() {
        return std::thread::scope(|real| {
            scope.real.store(std::ptr::from_ref(real).cast_mut().cast(), Relaxed);
            body(&scope)
        });
    }
    // A panic in the body ends the execution: then the threads never run again, and need no
    // waiting.
    let result = body(&scope);
    loop {
        let next = scope.started.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match next {
            Some(ended) => packet::wait(&ended),
            None => return result,
        }
    }
}

impl<'scope> Scope<'scope, '_> {
    /// As in std.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, body: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        Builder::new().spawn_scoped(self, body).expect("failed to spawn thread")
    }
}

impl Builder {
    /// As in std.
    #[track_caller]
    pub fn spawn_scoped<'scope, F, T>(
        self,
        scope: &'scope Scope<'scope, '_>,
        body: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let real = scope.real.load(Relaxed).cast_const().cast::<std::thread::Scope<'scope, '_>>();
        // SAFETY: std's scope is open while this one is; only its lifetime is shortened.
        if let Some(real) = unsafe { real.as_ref() } {
            let handle = self.real().spawn_scoped(real, body)?;
            let thread = Thread::of_real(handle.thread().clone());
            return Ok(ScopedJoinHandle { handle: Handle::Real(handle), thread });
        }
        // SAFETY: the scope waits for the thread before it ends, and so before what is borrowed
        // does.
        let (packet, thread) = unsafe { packet::start(self.name, body) };
        let mut started = scope.started.lock().unwrap_or_else(PoisonError::into_inner);
        started.push(packet.ended());
        Ok(ScopedJoinHandle { handle: Handle::Controlled(Joinable(Some(packet))), thread })
    }
}

impl<T> ScopedJoinHandle<'_, T> {
    /// As in std.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        match self.handle {
            Handle::Real(handle) => handle.join(),
            Handle::Controlled(packet) => packet.join(),
        }
    }

    /// As in std.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.handle {
            Handle::Real(handle) => handle.is_finished(),
            Handle::Controlled(packet) => packet.is_finished(),
        }
    }

    /// As in std.
    pub fn thread(&self) -> &Thread {
        &self.thread
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scope { .. }")
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ScopedJoinHandle { .. }")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_borrow_and_start_others() {
        let mut numbers = [1, 2, 3];
        let text = "text".to_string();
        let length = scope(|scope| {
            for number in &mut numbers {
                scope.spawn(|| {
                    *number += 1;
                    scope.spawn(|| assert_eq!(text.len(), 4));
                });
            }
            scope.spawn(|| text.len()).join().unwrap()
        });
        assert_eq!((numbers, length), ([2, 3, 4], 4));
    }
}
