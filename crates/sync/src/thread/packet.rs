//! How a thread under control starts, and how others wait for its end.

use super::handle::Thread;
use crate::runtime::{self, PlaceKind, Site};
use crate::word::Word;
use std::panic::Location;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::sync::{Arc, Mutex, PoisonError};

/// The thread has ended.
const ENDED: u64 = 1;
/// No thread will ask for the result.
const DETACHED: u64 = 2;

/// What a thread leaves behind.
pub(super) struct Packet<T> {
    ended: Arc<Word>,
    result: Mutex<Option<T>>,
}

/// Waits until a thread has ended.
#[track_caller]
pub(super) fn wait(ended: &Word) {
    ended.wait(&|word| (word & ENDED != 0).then_some(word), Acquire);
}

impl<T> Packet<T> {
    pub(super) fn ended(&self) -> Arc<Word> {
        Arc::clone(&self.ended)
    }

    #[track_caller]
    pub(super) fn join(&self) -> std::thread::Result<T> {
        wait(&self.ended);
        // Nothing is waited for while a panic unwinds.
        self.take().ok_or_else(|| Box::new("the thread has not ended") as _)
    }

    #[track_caller]
    pub(super) fn is_finished(&self) -> bool {
        self.ended.load(Acquire) & ENDED != 0
    }

    fn take(&self) -> Option<T> {
        self.result.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The thread ends. If no other wants its result it is dropped here: which thread drops it is
    /// part of what happens, if anything can see that.
    fn end(&self, result: T, site: Site) {
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        if !std::mem::needs_drop::<T>() {
            self.ended.store_at(ENDED, Release, site);
        } else if self.ended.update_at(&|word| Some(word | ENDED), AcqRel, Acquire, site) & DETACHED
            != 0
        {
            drop(self.take());
        }
    }

    /// No thread will ask for the result.
    #[track_caller]
    pub(super) fn detach(&self) {
        if std::mem::needs_drop::<T>() {
            let detach = |word| Some(word | DETACHED);
            if self.ended.update(&detach, AcqRel, Acquire) & ENDED != 0 {
                drop(self.take());
            }
        }
    }
}

/// Starts a thread under control.
///
/// # Safety
///
/// What the thread borrows must live until it has ended.
#[track_caller]
pub(super) unsafe fn start<F, T>(name: Option<String>, body: F) -> (Arc<Packet<T>>, Thread)
where
    F: FnOnce() -> T,
{
    let site = Location::caller();
    let ended = Arc::new(Word::new(PlaceKind::Join, 0));
    let packet = Arc::new(Packet { ended, result: Mutex::new(None) });
    let thread = Thread::controlled(name.clone());
    let (theirs, handle) = (Arc::clone(&packet), thread.clone());
    let run = move || {
        handle.begin();
        let result = body();
        runtime::with(|runtime| runtime.with_locals(&mut |locals| locals.destroy()));
        // For people, the thread ends where it was started.
        theirs.end(result, site);
    };
    let run: Box<dyn FnOnce() + '_> = Box::new(run);
    // SAFETY: only the lifetime changes, and what it borrows lives long enough, as the caller says.
    let run = unsafe { std::mem::transmute::<Box<dyn FnOnce() + '_>, Box<dyn FnOnce()>>(run) };
    let index = runtime::with(|runtime| runtime.spawn(name, run, site));
    thread.is_thread(index.unwrap_or(0));
    (packet, thread)
}
