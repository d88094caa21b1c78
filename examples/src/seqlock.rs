//! A sequence lock: one thread writes, others read without ever making it wait.

use crate::primitives::{AtomicU64, AtomicUsize, Ordering, fence, spin_loop};

/// Two words that are read together.
pub struct SeqLock {
    /// Odd while the words are being written.
    sequence: AtomicUsize,
    words: [AtomicU64; 2],
    kind: Kind,
}

/// Which lock it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The right one.
    Right,
    /// The reader has no fence between the words and the second look at the sequence.
    NoReadFence,
    /// The reader does not look a second time.
    NoSecondLook,
}

impl SeqLock {
    /// Two zeros.
    pub fn new(kind: Kind) -> SeqLock {
        let words = [AtomicU64::new(0), AtomicU64::new(0)];
        SeqLock { sequence: AtomicUsize::new(0), words, kind }
    }

    /// Writes both words. Only one thread may do this.
    pub fn write(&self, first: u64, second: u64) {
        let sequence = self.sequence.load(Ordering::Relaxed);
        self.sequence.store(sequence + 1, Ordering::Relaxed);
        // No word is seen before the sequence is odd.
        fence(Ordering::Release);
        self.words[0].store(first, Ordering::Relaxed);
        self.words[1].store(second, Ordering::Relaxed);
        self.sequence.store(sequence + 2, Ordering::Release);
    }

    /// Both words, as they were at one instant.
    pub fn read(&self) -> (u64, u64) {
        loop {
            let before = self.sequence.load(Ordering::Acquire);
            if before % 2 == 1 {
                spin_loop();
                continue;
            }
            let first = self.words[0].load(Ordering::Relaxed);
            let second = self.words[1].load(Ordering::Relaxed);
            if self.kind == Kind::NoSecondLook {
                return (first, second);
            }
            if self.kind != Kind::NoReadFence {
                // If a word was new, so is the sequence.
                fence(Ordering::Acquire);
            }
            if self.sequence.load(Ordering::Relaxed) == before {
                return (first, second);
            }
            spin_loop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, SeqLock};

    /// What it must look like to threads.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
    struct Pair(u64, u64);

    linchpin::test! {
        fn the_lock_is_linearizable() {
            object: SeqLock = SeqLock::new(Kind::Right);
            model: Pair = Pair::default();
            mode: weak();
            scenario { write(1), write(2) } | { read, read };
            op write(v: fresh) = |l| l.write(v, v), |m| *m = Pair(v, v);
            op read() = |l| l.read(), |m| (m.0, m.1);
        }
    }

    linchpin::test! {
        #[should_panic(expected = "not linearizable")]
        fn a_missing_fence_is_found() {
            object: SeqLock = SeqLock::new(Kind::NoReadFence);
            model: Pair = Pair::default();
            mode: weak();
            scenario { write(1) } | { read };
            op write(v: fresh) = |l| l.write(v, v), |m| *m = Pair(v, v);
            op read() = |l| l.read(), |m| (m.0, m.1);
        }
    }

    linchpin::test! {
        #[should_panic(expected = "not linearizable")]
        fn a_reader_that_looks_once_is_found() {
            object: SeqLock = SeqLock::new(Kind::NoSecondLook);
            model: Pair = Pair::default();
            mode: exhaustive();
            scenario { write(1) } | { read };
            op write(v: fresh) = |l| l.write(v, v), |m| *m = Pair(v, v);
            op read() = |l| l.read(), |m| (m.0, m.1);
        }
    }
}
