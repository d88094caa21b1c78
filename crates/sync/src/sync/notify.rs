//! Park and unpark, as an object.

use crate::runtime::{self, PlaceKind};
use crate::word::Word;
use std::panic::Location;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, Ordering};

/// A token that one thread waits for. It is not in std, but tests of code that parks use it.
///
/// Under control the first wait may end without a token, because park may.
#[derive(Debug)]
pub struct Notify {
    word: Word,
    /// Where a thread waits outside of control.
    real: (std::sync::Mutex<()>, std::sync::Condvar),
    /// Whether a thread waits: there may be only one.
    waits: AtomicBool,
    /// Whether a wait has ended without a token. Only the thread that waits uses it.
    spurious: AtomicBool,
}

impl Notify {
    /// Without a token.
    pub const fn new() -> Notify {
        Notify {
            word: Word::new(PlaceKind::Park, 0),
            real: (std::sync::Mutex::new(()), std::sync::Condvar::new()),
            waits: AtomicBool::new(false),
            spurious: AtomicBool::new(false),
        }
    }

    /// Puts a token there, if there is none.
    #[track_caller]
    pub fn notify(&self) {
        let controlled = runtime::is_controlled();
        // The lock keeps the notification from falling between the look at the word and the wait.
        let _locked = (!controlled).then(|| self.real.0.lock());
        self.word.update(&|_| Some(1), Release, Relaxed);
        if !controlled {
            self.real.1.notify_all();
        }
    }

    /// Waits for a token and takes it.
    ///
    /// # Panics
    ///
    /// If another thread waits already.
    #[track_caller]
    pub fn wait(&self) {
        let alone = !self.waits.swap(true, Ordering::Acquire);
        assert!(alone, "only a single thread may wait on `Notify`");
        self.take();
        self.waits.store(false, Ordering::Release);
    }

    #[track_caller]
    fn take(&self) {
        let site = Location::caller();
        if runtime::is_controlled() && !self.spurious.load(Relaxed) {
            let spurious = runtime::with(|runtime| runtime.choose(2, site)) == Some(1);
            self.spurious.store(spurious, Relaxed);
            if spurious {
                return;
            }
        }
        let take = |word| (word == 1).then_some(0);
        if self.word.wait(&take, Acquire).is_some() {
            return;
        }
        if runtime::is_unwinding() {
            return runtime::waited_in_vain();
        }
        let mut locked = self.real.0.lock();
        while self.word.change(&take) == 0 {
            let Ok(guard) = locked else { return };
            locked = self.real.1.wait(guard);
        }
    }
}

impl Default for Notify {
    fn default() -> Notify {
        Notify::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_waits_for_a_token() {
        static NOTIFY: Notify = Notify::new();
        let thread = std::thread::spawn(|| (0..100).for_each(|_| NOTIFY.wait()));
        while !thread.is_finished() {
            NOTIFY.notify();
        }
        thread.join().unwrap();
    }
}
