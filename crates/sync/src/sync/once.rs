//! As `std::sync::Once`.
//!
//! One word serves both sides of control, because what was done outside is done inside too.

use crate::runtime::{self, Memory, PlaceKind};
use crate::word::Word;
use std::fmt;
use std::sync::atomic::Ordering::{Acquire, Release};

const NEW: u64 = 0;
const RUNNING: u64 = 1;
const DONE: u64 = 2;
const POISONED: u64 = 3;

/// As [`std::sync::Once`].
pub struct Once {
    word: Word,
    /// What threads wait at outside of control.
    real: std::sync::Once,
}

/// As [`std::sync::OnceState`].
#[derive(Debug)]
pub struct OnceState {
    poisoned: bool,
}

impl OnceState {
    /// As in std.
    pub fn is_poisoned(&self) -> bool {
        self.poisoned
    }
}

/// What becomes of the word if the call panics.
struct Running<'a>(&'a Word);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // Only reached if the call panics: nothing can be asked then.
        self.0.set(POISONED);
    }
}

impl Once {
    /// As in std.
    pub const fn new() -> Once {
        Once { word: Word::new(PlaceKind::Other, NEW), real: std::sync::Once::new() }
    }

    /// As in std.
    #[track_caller]
    pub fn call_once(&self, call: impl FnOnce()) {
        self.call(false, |_| call());
    }

    /// As in std.
    #[track_caller]
    pub fn call_once_force(&self, call: impl FnOnce(&OnceState)) {
        self.call(true, call);
    }

    /// As in std.
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        self.word.load(Acquire) == DONE
    }

    /// As in std.
    #[track_caller]
    pub fn wait(&self) {
        let done = |word| (word == DONE).then_some(word);
        if self.word.wait(&done, Acquire).is_none() && !runtime::is_unwinding() {
            while !self.is_completed() {
                std::thread::yield_now();
            }
        }
    }

    #[track_caller]
    fn call(&self, force: bool, call: impl FnOnce(&OnceState)) {
        // A load first: what is done is only read, and reads do not conflict.
        if self.is_completed() {
            return;
        }
        if !runtime::is_controlled() && !runtime::is_unwinding() {
            return self.call_real(force, call);
        }
        let start = |word| match word {
            NEW | POISONED => Some(RUNNING),
            DONE => Some(DONE),
            _ => None,
        };
        // While a panic unwinds nothing is waited for.
        match self.word.wait(&start, Acquire).unwrap_or_else(|| self.word.change(&start)) {
            DONE => {}
            POISONED if !force => {
                self.word.set(POISONED);
                panic!("Once instance has previously been poisoned");
            }
            before => {
                let running = Running(&self.word);
                call(&OnceState { poisoned: before == POISONED });
                std::mem::forget(running);
                self.word.store(DONE, Release);
            }
        }
    }

    fn call_real(&self, force: bool, call: impl FnOnce(&OnceState)) {
        let mut call = Some(call);
        let run = |poisoned| {
            if let Some(call) = call.take().filter(|_| self.word.load(Acquire) != DONE) {
                call(&OnceState { poisoned });
                self.word.store(DONE, Release);
            }
        };
        if force {
            let mut run = run;
            self.real.call_once_force(|state| run(state.is_poisoned()));
        } else {
            let mut run = run;
            self.real.call_once(|| run(false));
        }
    }

    /// Whether it is done, for the one who has it alone.
    #[track_caller]
    pub(super) fn is_done(&mut self) -> bool {
        *self.word.get_mut() == DONE
    }
}

impl Default for Once {
    fn default() -> Once {
        Once::new()
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Once { .. }")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn it_is_called_once() {
        static ONCE: Once = Once::new();
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    ONCE.call_once(|| assert_eq!(CALLS.fetch_add(1, Ordering::Relaxed), 0));
                    assert_eq!(CALLS.load(Ordering::Relaxed), 1);
                });
            }
            ONCE.wait();
        });
        assert!(ONCE.is_completed());
    }

    #[test]
    fn a_panic_poisons() {
        let once = Once::new();
        let panics = || once.call_once(|| resume_unwind(Box::new(())));
        assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
        assert!(catch_unwind(AssertUnwindSafe(|| once.call_once(|| ()))).is_err());
        once.call_once_force(|state| assert!(state.is_poisoned()));
        assert!(once.is_completed());
    }
}
