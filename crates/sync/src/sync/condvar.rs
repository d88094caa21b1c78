//! As `std::sync::Condvar`.
//!
//! The word has a bit for each wait (low half) and a bit for each that is over (high half).
//! `notify_one` may take any thread that waits, not only the first; but never one that came later,
//! so a notification is not lost to it. A thread whose time is up ends its wait in one step: if it
//! was notified before, it says so.
//!
//! A thread that was notified only reads its bit, where it could take it back: one write less is
//! one less that notifications conflict with. So the first waits on a condition variable keep their
//! bits for good, and only the later ones share the rest.

use super::mutex::{MutexGuard, poisoned_if};
use crate::runtime::{self, PlaceKind};
use crate::thread::time_is_up;
use crate::word::Word;
use std::fmt;
use std::panic::Location;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{LockResult, PoisonError};
use std::time::Duration;

const HALF: u32 = 32;
/// Bits that are used once.
const OWN: u64 = 0x0000_ffff;
/// Bits that are used again.
const SHARED: u64 = 0xffff_0000;

/// As [`std::sync::Condvar`]. Under control there are no spurious wake-ups, and time is whatever it
/// wants to be: a wait with a time-out ends at any moment, notified or not.
pub struct Condvar {
    word: Word,
    /// The one outside of control.
    real: std::sync::Condvar,
}

/// As [`std::sync::WaitTimeoutResult`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// As in std.
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Condvar {
    /// As in std.
    pub const fn new() -> Condvar {
        Condvar { word: Word::new(PlaceKind::Condvar, 0), real: std::sync::Condvar::new() }
    }

    /// As in std.
    #[track_caller]
    pub fn wait<'a, T>(&self, mut guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        if let Some(real) = guard.real.take() {
            let result = self.real.wait(real);
            let poisoned = result.is_err();
            guard.real = Some(result.unwrap_or_else(PoisonError::into_inner));
            return poisoned_if(poisoned, guard);
        }
        let mine = self.register(OWN | SHARED);
        guard.lock.release();
        // Without a bit, or while unwinding, this is a spurious wake-up.
        let change = |mine| move |word| notified(word, mine).then(|| leave(word, mine));
        // No closures here: they would not know where they are called.
        let is_notified = match mine {
            Some(mine) => self.word.wait(&change(mine), Relaxed).is_some(),
            None => false,
        };
        if !is_notified {
            runtime::waited_in_vain();
        }
        guard.lock.acquire();
        Ok(guard)
    }

    /// As in std.
    #[track_caller]
    pub fn wait_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<MutexGuard<'a, T>> {
        while condition(&mut *guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// As in std; under control the time may be up at any moment.
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        duration: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        if let Some(real) = guard.real.take() {
            let result = self.real.wait_timeout(real, duration);
            let poisoned = result.is_err();
            let (real, result) = result.unwrap_or_else(PoisonError::into_inner);
            guard.real = Some(real);
            return poisoned_if(poisoned, (guard, WaitTimeoutResult(result.timed_out())));
        }
        // A turn of a loop must leave everything as it was, or the loop is not seen to be one.
        let mine = self.register(SHARED);
        guard.lock.release();
        let timed_out = match mine {
            Some(mine) => {
                let give_up = |word| Some(leave(word, mine));
                !notified(self.word.update(&give_up, Relaxed, Relaxed), mine)
            }
            None => true,
        };
        time_is_up(timed_out);
        guard.lock.acquire();
        Ok((guard, WaitTimeoutResult(timed_out)))
    }

    /// As in std; under control the time may be up at any moment.
    #[track_caller]
    pub fn wait_timeout_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        duration: Duration,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let start = std::time::Instant::now();
        loop {
            if !condition(&mut *guard) {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            // Under control, clocks decide nothing.
            let left = if guard.real.is_none() {
                duration
            } else {
                let Some(left) = duration.checked_sub(start.elapsed()) else {
                    return Ok((guard, WaitTimeoutResult(true)));
                };
                left
            };
            let result;
            (guard, result) = self.wait_timeout(guard, left)?;
            if result.timed_out() && guard.real.is_none() {
                let result = WaitTimeoutResult(condition(&mut *guard));
                return Ok((guard, result));
            }
        }
    }

    /// As in std; under control any thread that waits may be the one.
    #[track_caller]
    pub fn notify_one(&self) {
        let site = Location::caller();
        if !runtime::is_controlled() {
            return self.real.notify_one();
        }
        // Only if several wait there is a choice, and only then this takes more than one step.
        let mut chosen = None;
        loop {
            let word = self.word.update(&|word| notify(word, chosen), Relaxed, Relaxed);
            let count = waiting(word).count_ones();
            if count == 0 || notify(word, chosen).is_some() {
                return;
            }
            let alternatives = count as usize;
            let Some(index) = runtime::with(|runtime| runtime.choose(alternatives, site)) else {
                return;
            };
            chosen = Some((waiting(word), index));
        }
    }

    /// As in std.
    #[track_caller]
    pub fn notify_all(&self) {
        if !runtime::is_controlled() {
            return self.real.notify_all();
        }
        let change = |word| (waiting(word) != 0).then(|| word | waiting(word) << HALF);
        self.word.update(&change, Relaxed, Relaxed);
    }

    /// One of these bits for the thread that runs, if one is left.
    #[track_caller]
    fn register(&self, bits: u64) -> Option<u64> {
        let free = |word: u64| {
            let free = !word & bits;
            Some(free & free.wrapping_neg()).filter(|bit| *bit != 0)
        };
        free(self.word.update(&|word| Some(word | free(word)?), Relaxed, Relaxed))
    }
}

/// The threads that wait and were not notified.
fn waiting(word: u64) -> u64 {
    word & ((1 << HALF) - 1) & !(word >> HALF)
}

fn notified(word: u64, bit: u64) -> bool {
    word >> HALF & bit != 0
}

/// Without the bits of a wait that is over, if they are used again.
fn leave(word: u64, bit: u64) -> u64 {
    let bit = bit & SHARED;
    word & !(bit | bit << HALF)
}

/// Notifies the only thread that waits, or the chosen one if those wait among which it was chosen.
fn notify(word: u64, chosen: Option<(u64, usize)>) -> Option<u64> {
    let mut rest = waiting(word);
    let index = match chosen {
        Some((among, index)) if among == rest => index,
        _ if rest.count_ones() == 1 => 0,
        _ => return None,
    };
    (0..index).for_each(|_| rest &= rest.wrapping_sub(1));
    let bit = rest & rest.wrapping_neg();
    Some(word | bit << HALF)
}

impl Default for Condvar {
    fn default() -> Condvar {
        Condvar::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Condvar { .. }")
    }
}

#[cfg(test)]
mod tests {
    use super::super::Mutex;
    use super::*;

    #[test]
    fn the_chosen_thread_is_notified() {
        let word = 0b1101;
        assert_eq!(notify(word, None), None);
        assert_eq!(notify(word, Some((word, 1))), Some(word | 0b0100 << HALF));
        assert_eq!(notify(word | 0b1100 << HALF, None), Some(word | 0b1101 << HALF));
        assert_eq!(leave(1 << 16 | 1 << 16 << HALF | 0b1001, 1 << 16), 0b1001);
        assert_eq!(leave(word, 0b0001), word);
    }

    #[test]
    fn a_thread_waits_until_it_is_notified() {
        static READY: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());
        let thread = std::thread::spawn(|| {
            let ready = READY.0.lock().unwrap();
            assert!(*READY.1.wait_while(ready, |ready| !*ready).unwrap());
        });
        *READY.0.lock().unwrap() = true;
        READY.1.notify_one();
        READY.1.notify_all();
        thread.join().unwrap();
    }

    #[test]
    fn time_is_up_if_nothing_is_notified() {
        let (mutex, condvar) = (Mutex::new(()), Condvar::default());
        let guard = mutex.lock().unwrap();
        let (guard, result) =
            condvar.wait_timeout_while(guard, Duration::from_millis(1), |()| true).unwrap();
        assert!(result.timed_out());
        let (_, result) =
            condvar.wait_timeout_while(guard, Duration::from_millis(1), |()| false).unwrap();
        assert!(!result.timed_out());
    }
}
