//! As `std::thread`.
//!
//! `handle` says which thread runs and parks it, `packet` is how one waits for the end of another;
//! `scoped` and `local` are the mirrors of scoped threads and of thread-local variables.

mod handle;
mod local;
mod packet;
mod scoped;

pub use handle::{Thread, ThreadId, current, park, park_timeout};
pub use local::{AccessError, LocalKey};
pub use scoped::{Scope, ScopedJoinHandle, scope};
pub use std::thread::{Result, available_parallelism, panicking};

pub(crate) use handle::time_is_up;

use crate::runtime;
use packet::Packet;
use std::fmt;
use std::io;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

/// As [`std::thread::JoinHandle`].
pub struct JoinHandle<T>(Handle<T>);

enum Handle<T> {
    Real(std::thread::JoinHandle<Sent<T>>, Thread),
    Controlled(Joinable<T>, Thread),
}

// SAFETY: as std's: the handle only moves the result.
unsafe impl<T> Send for JoinHandle<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for JoinHandle<T> {}

/// As [`std::thread::spawn`].
#[track_caller]
pub fn spawn<F, T>(body: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Builder::new().spawn(body).expect("failed to spawn thread")
}

/// As [`std::thread::Builder`].
#[derive(Debug)]
pub struct Builder {
    name: Option<String>,
    stack_size: Option<usize>,
}

impl Builder {
    /// As in std.
    #[expect(clippy::new_without_default, reason = "as in std")]
    pub fn new() -> Builder {
        Builder { name: None, stack_size: None }
    }

    /// As in std.
    pub fn name(mut self, name: String) -> Builder {
        self.name = Some(name);
        self
    }

    /// As in std; under control all stacks have the same size.
    pub fn stack_size(mut self, size: usize) -> Builder {
        self.stack_size = Some(size);
        self
    }

    /// As in std.
    #[track_caller]
    pub fn spawn<F, T>(self, body: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        // SAFETY: both can be sent, and borrow nothing.
        unsafe { self.spawn_unchecked(body) }
    }

    /// As in std, and nothing need be sendable.
    ///
    /// # Safety
    ///
    /// As in std: what the thread borrows must live until it has ended. Outside of control, body
    /// and result must be good to send to another thread; under control all threads are the same
    /// one for the system.
    #[track_caller]
    pub unsafe fn spawn_unchecked<F, T>(self, body: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T,
    {
        if runtime::is_controlled() {
            // SAFETY: as the caller says.
            let (packet, thread) = unsafe { packet::start(self.name, body) };
            return Ok(JoinHandle(Handle::Controlled(Joinable(Some(packet)), thread)));
        }
        let body = Sent(body);
        // SAFETY: as the caller says.
        let handle = unsafe { self.real().spawn_unchecked(move || Sent(body.into_inner()())) }?;
        let thread = Thread::of_real(handle.thread().clone());
        Ok(JoinHandle(Handle::Real(handle, thread)))
    }

    fn real(&self) -> std::thread::Builder {
        let mut real = std::thread::Builder::new();
        if let Some(name) = &self.name {
            real = real.name(name.clone());
        }
        if let Some(size) = self.stack_size {
            real = real.stack_size(size);
        }
        real
    }
}

/// What a handle waits for, if the thread is controlled. A handle that is dropped detaches.
struct Joinable<T>(Option<Arc<Packet<T>>>);

impl<T> Joinable<T> {
    #[track_caller]
    fn join(mut self) -> Result<T> {
        match self.0.take() {
            Some(packet) => packet.join(),
            None => unreachable!("it is there until it is joined"),
        }
    }

    #[track_caller]
    fn is_finished(&self) -> bool {
        self.0.as_ref().is_none_or(|packet| packet.is_finished())
    }
}

impl<T> Drop for Joinable<T> {
    #[track_caller]
    fn drop(&mut self) {
        if let Some(packet) = &self.0 {
            packet.detach();
        }
    }
}

/// What is sent to another thread because the caller says that it may be.
struct Sent<T>(T);

// SAFETY: see `Builder::spawn_unchecked`.
unsafe impl<T> Send for Sent<T> {}

impl<T> Sent<T> {
    /// A function, so that a closure captures the whole.
    fn into_inner(self) -> T {
        self.0
    }
}

impl<T> JoinHandle<T> {
    /// As in std. Under control a thread that panics ends the execution, so this never fails.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        match self.0 {
            Handle::Real(handle, _) => handle.join().map(Sent::into_inner),
            Handle::Controlled(packet, _) => packet.join(),
        }
    }

    /// As in std.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Handle::Real(handle, _) => handle.is_finished(),
            Handle::Controlled(packet, _) => packet.is_finished(),
        }
    }

    /// As in std.
    pub fn thread(&self) -> &Thread {
        match &self.0 {
            Handle::Real(_, thread) | Handle::Controlled(_, thread) => thread,
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JoinHandle { .. }")
    }
}

/// As [`std::thread::yield_now`]: under control, the thread goes on when another one has written.
#[track_caller]
pub fn yield_now() {
    let site = Location::caller();
    if runtime::with(|runtime| runtime.pause(site)).is_none() {
        std::thread::yield_now();
    }
}

/// As [`std::thread::sleep`]: under control as [`yield_now`].
#[track_caller]
pub fn sleep(duration: Duration) {
    let site = Location::caller();
    if runtime::with(|runtime| runtime.pause(site)).is_none() {
        std::thread::sleep(duration);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_answer_and_have_names() {
        let named = Builder::new().name("worker".to_string()).stack_size(1 << 20);
        let handle = named.spawn(|| current().name().map(str::to_string)).unwrap();
        assert_eq!(handle.thread().name(), Some("worker"));
        assert_ne!(handle.thread().id(), current().id());
        assert_eq!(handle.join().unwrap().as_deref(), Some("worker"));
        assert_eq!(current().id(), current().id());
    }

    #[test]
    fn a_panic_is_the_result_of_a_thread() {
        let handle = spawn(|| std::panic::resume_unwind(Box::new(1)));
        let panic: Box<dyn std::any::Any + Send> = Result::<()>::unwrap_err(handle.join());
        assert_eq!(panic.downcast_ref(), Some(&1));
    }

    #[test]
    fn a_parked_thread_goes_on_when_it_is_unparked() {
        let handle = spawn(park);
        while !handle.is_finished() {
            handle.thread().unpark();
            yield_now();
        }
        park_timeout(Duration::from_millis(1));
        sleep(Duration::from_millis(1));
    }
}
