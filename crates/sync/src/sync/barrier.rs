//! As `std::sync::Barrier`.

use crate::runtime::PlaceKind;
use crate::word::Word;
use std::fmt;
use std::sync::atomic::Ordering::{AcqRel, Acquire};

/// Bits of the number of threads that wait; the others are the number of times it opened.
const COUNT: u64 = (1 << 32) - 1;

/// As [`std::sync::Barrier`].
pub struct Barrier {
    word: Word,
    threads: usize,
    /// The one outside of control.
    real: std::sync::Barrier,
}

/// As [`std::sync::BarrierWaitResult`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// As in std.
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// As in std.
    pub const fn new(threads: usize) -> Barrier {
        let real = std::sync::Barrier::new(threads);
        Barrier { word: Word::new(PlaceKind::Other, 0), threads, real }
    }

    /// As in std.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        if !crate::runtime::is_controlled() && !crate::runtime::is_unwinding() {
            return BarrierWaitResult(self.real.wait().is_leader());
        }
        let opens = |word| (word & COUNT) + 1 >= self.threads as u64;
        let change = |word| Some(if opens(word) { (word | COUNT) + 1 } else { word + 1 });
        let word = self.word.update(&change, AcqRel, Acquire);
        if !opens(word) {
            let open = |now| (now & !COUNT != word & !COUNT).then_some(now);
            self.word.wait(&open, Acquire);
        }
        BarrierWaitResult(opens(word))
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Barrier { .. }")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_the_threads_is_the_leader() {
        static BARRIER: Barrier = Barrier::new(3);
        for _ in 0..3 {
            let threads = [(); 3].map(|()| std::thread::spawn(|| BARRIER.wait().is_leader()));
            let leaders = threads.map(|thread| thread.join().unwrap());
            assert_eq!(leaders.iter().filter(|leader| **leader).count(), 1);
        }
    }
}
