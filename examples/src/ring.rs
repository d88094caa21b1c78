//! A ring for one producer and one consumer.

use crate::primitives::{AtomicUsize, Ordering, UnsafeCell};
use std::mem::MaybeUninit;

/// A bounded queue for one thread that pushes and one that pops.
pub struct Ring<T, const N: usize> {
    slots: [UnsafeCell<MaybeUninit<T>>; N],
    /// How many values were popped; only the consumer writes it.
    head: AtomicUsize,
    /// How many values were pushed; only the producer writes it.
    tail: AtomicUsize,
    kind: Kind,
}

/// Which ring it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The right one.
    Right,
    /// The indices are accessed with `Acquire` and `Release`, as in most rings. Values arrive well,
    /// but `push` may say full and `pop` empty at the same time, which no order explains.
    AcquireRelease,
    /// The producer publishes with `Relaxed`: the consumer may read a slot that is being written.
    RelaxedTail,
    /// The ring says that it is full while one slot is free.
    FullTooEarly,
}

// SAFETY: a slot is accessed by the producer before it is published, and by the consumer after.
unsafe impl<T: Send, const N: usize> Sync for Ring<T, N> {}

impl<T: Copy, const N: usize> Ring<T, N> {
    /// An empty ring.
    pub fn new(kind: Kind) -> Ring<T, N> {
        Ring {
            slots: [const { UnsafeCell::new(MaybeUninit::uninit()) }; N],
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
            kind,
        }
    }

    /// Puts a value in, unless the ring is full. Only one thread may do this.
    pub fn push(&self, value: T) -> bool {
        let tail = self.tail.load(Ordering::Relaxed);
        let head = self.head.load(self.look());
        let room = if self.kind == Kind::FullTooEarly { N - 1 } else { N };
        if tail - head >= room {
            return false;
        }
        // SAFETY: the consumer is done with this slot, or has never seen it.
        self.slots[tail % N].with_mut(|slot| unsafe { (*slot).write(value) });
        let publish = match self.kind {
            Kind::RelaxedTail => Ordering::Relaxed,
            _ => self.publish(),
        };
        self.tail.store(tail + 1, publish);
        true
    }

    /// Takes the oldest value. Only one thread may do this.
    pub fn pop(&self) -> Option<T> {
        let head = self.head.load(Ordering::Relaxed);
        if self.tail.load(self.look()) == head {
            return None;
        }
        // SAFETY: the producer has written this slot, and does not touch it until `head` moves on.
        let value = self.slots[head % N].with(|slot| unsafe { (*slot).assume_init_read() });
        self.head.store(head + 1, self.publish());
        Some(value)
    }

    /// How a thread looks at the index of the other. `SeqCst`, with that of [`Ring::publish`]: of a
    /// thread that pushed and then found the ring full, and one that popped and then found it empty,
    /// one must have seen what the other did.
    fn look(&self) -> Ordering {
        if self.kind == Kind::AcquireRelease { Ordering::Acquire } else { Ordering::SeqCst }
    }

    /// How a thread moves its own index.
    fn publish(&self) -> Ordering {
        if self.kind == Kind::AcquireRelease { Ordering::Release } else { Ordering::SeqCst }
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Ring};

    linchpin::test! {
        fn the_ring_is_linearizable() {
            object: Ring<u64, 2> = Ring::new(Kind::Right);
            spec: "bounded-queue", init = 2;
            mode: weak();
            scenario { enqueue(1), enqueue(2), enqueue(3) } | { dequeue, dequeue, dequeue };
            op enqueue(v: fresh) = |r| r.push(v);
            op dequeue() = |r| r.pop();
        }
    }

    linchpin::test! {
        /// Interleavings alone do not show it.
        #[should_panic(expected = "not linearizable")]
        fn full_and_empty_at_once_is_found() {
            object: Ring<u64, 2> = Ring::new(Kind::AcquireRelease);
            spec: "bounded-queue", init = 2;
            mode: weak();
            scenario { enqueue(1), enqueue(2), enqueue(3) } | { dequeue, dequeue };
            op enqueue(v: fresh) = |r| r.push(v);
            op dequeue() = |r| r.pop();
        }
    }

    linchpin::test! {
        #[should_panic(expected = "data race")]
        fn a_relaxed_tail_is_a_data_race() {
            object: Ring<u64, 2> = Ring::new(Kind::RelaxedTail);
            spec: "bounded-queue", init = 2;
            mode: weak();
            scenario { enqueue(1) } | { dequeue };
            op enqueue(v: fresh) = |r| r.push(v);
            op dequeue() = |r| r.pop();
        }
    }

    linchpin::test! {
        #[should_panic(expected = "not linearizable")]
        fn a_ring_that_is_full_too_early_is_found() {
            object: Ring<u64, 2> = Ring::new(Kind::FullTooEarly);
            spec: "bounded-queue", init = 2;
            mode: exhaustive();
            scenario { enqueue(1), enqueue(2) } | { dequeue };
            op enqueue(v: fresh) = |r| r.push(v);
            op dequeue() = |r| r.pop();
        }
    }
}
