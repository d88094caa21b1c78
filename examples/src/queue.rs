//! The Michael–Scott queue, with epoch-based reclamation (`crossbeam-epoch`).
//!
//! That crate has its own atomics, so every interleaving cannot be explored: the tests run on the
//! threads of the machine.

use crossbeam_epoch::{Atomic, Guard, Owned, Shared, pin};
use std::mem::MaybeUninit;
use std::sync::atomic::Ordering;

/// A queue that threads share.
pub struct Queue<T> {
    head: Atomic<Node<T>>,
    tail: Atomic<Node<T>>,
    kind: Kind,
}

/// Which queue it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The right one.
    Right,
    /// `dequeue` says that the queue is empty when another thread was faster.
    GivesUp,
}

struct Node<T> {
    /// Not there in the node before the first.
    value: MaybeUninit<T>,
    next: Atomic<Node<T>>,
}

impl<T: Copy> Queue<T> {
    /// An empty queue.
    pub fn new(kind: Kind) -> Queue<T> {
        let queue = Queue { head: Atomic::null(), tail: Atomic::null(), kind };
        let first = Owned::new(Node { value: MaybeUninit::uninit(), next: Atomic::null() });
        let guard = pin();
        let first = first.into_shared(&guard);
        queue.head.store(first, Ordering::Relaxed);
        queue.tail.store(first, Ordering::Relaxed);
        queue
    }

    /// Puts a value at the end.
    pub fn enqueue(&self, value: T) {
        let guard = pin();
        let node = Owned::new(Node { value: MaybeUninit::new(value), next: Atomic::null() });
        let node = node.into_shared(&guard);
        loop {
            let tail = self.tail.load(Ordering::Acquire, &guard);
            // SAFETY: nodes are given back only when no thread can see them.
            let link = unsafe { &tail.deref().next };
            let next = link.load(Ordering::Acquire, &guard);
            if !next.is_null() {
                self.move_on(&self.tail, tail, next, &guard);
                continue;
            }
            if self.move_on(link, Shared::null(), node, &guard) {
                self.move_on(&self.tail, tail, node, &guard);
                return;
            }
        }
    }

    /// Takes the oldest value.
    pub fn dequeue(&self) -> Option<T> {
        let guard = pin();
        loop {
            let head = self.head.load(Ordering::Acquire, &guard);
            // SAFETY: as above.
            let next = unsafe { head.deref().next.load(Ordering::Acquire, &guard) };
            // SAFETY: as above.
            let first = unsafe { next.as_ref() }?;
            let tail = self.tail.load(Ordering::Acquire, &guard);
            if head == tail {
                self.move_on(&self.tail, tail, next, &guard);
            }
            if self.move_on(&self.head, head, next, &guard) {
                // SAFETY: only this thread has moved the head past this node, and its value was
                // written before it was linked.
                return unsafe {
                    guard.defer_destroy(head);
                    Some(first.value.assume_init())
                };
            }
            if self.kind == Kind::GivesUp {
                return None;
            }
        }
    }

    fn move_on(
        &self,
        link: &Atomic<Node<T>>,
        from: Shared<'_, Node<T>>,
        to: Shared<'_, Node<T>>,
        guard: &Guard,
    ) -> bool {
        link.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed, guard).is_ok()
    }
}

impl<T> Drop for Queue<T> {
    fn drop(&mut self) {
        // SAFETY: this thread has the queue alone.
        let guard = unsafe { crossbeam_epoch::unprotected() };
        let mut node = self.head.load(Ordering::Relaxed, guard);
        while !node.is_null() {
            // SAFETY: as above; each node is in the queue once.
            let owned = unsafe { node.into_owned() };
            node = owned.next.load(Ordering::Relaxed, guard);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Queue};

    linchpin::test! {
        fn the_queue_is_linearizable() {
            object: Queue<u64> = Queue::new(Kind::Right);
            spec: "queue";
            mode: native(threads = 2, ops = 4);
            op enqueue(v: fresh) = |q| q.enqueue(v);
            op dequeue() = |q| q.dequeue();
        }
    }

    linchpin::test! {
        #[should_panic(expected = "not linearizable")]
        fn a_dequeue_that_gives_up_is_found() {
            object: Queue<u64> = Queue::new(Kind::GivesUp);
            spec: "queue";
            mode: native(threads = 2, ops = 4);
            op enqueue(v: fresh) = |q| q.enqueue(v);
            op dequeue() = |q| q.dequeue();
        }
    }
}
