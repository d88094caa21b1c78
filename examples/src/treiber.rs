//! Treiber's stack.

use crate::primitives::{AtomicPtr, Ordering};
use std::ptr::null_mut;

/// A stack that threads share. What is popped is kept until the stack is dropped, so that no thread
/// looks at memory that was given back.
pub struct Stack<T> {
    top: AtomicPtr<Node<T>>,
    /// Not seen by the algorithm, so a plain lock will do.
    retired: std::sync::Mutex<Vec<*mut Node<T>>>,
    kind: Kind,
}

/// Which stack it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The right one.
    Right,
    /// `pop` looks whether the top is the same and then stores, where it should compare and swap.
    CheckThenStore,
    /// `push` publishes a node with `Relaxed`: another thread may not see what is in it.
    RelaxedPublication,
}

struct Node<T> {
    value: T,
    next: AtomicPtr<Node<T>>,
}

// SAFETY: values are handed from one thread to another, never shared.
unsafe impl<T: Send> Send for Stack<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Stack<T> {}

impl<T: Copy> Stack<T> {
    /// An empty stack.
    pub fn new(kind: Kind) -> Stack<T> {
        let retired = std::sync::Mutex::new(Vec::new());
        Stack { top: AtomicPtr::new(null_mut()), retired, kind }
    }

    /// Puts a value on top.
    pub fn push(&self, value: T) {
        let node = Box::into_raw(Box::new(Node { value, next: AtomicPtr::new(null_mut()) }));
        let publish = match self.kind {
            Kind::RelaxedPublication => Ordering::Relaxed,
            _ => Ordering::Release,
        };
        loop {
            let top = self.top.load(Ordering::Relaxed);
            // SAFETY: nodes live until the stack is dropped.
            unsafe { (*node).next.store(top, Ordering::Relaxed) };
            if self.top.compare_exchange(top, node, publish, Ordering::Relaxed).is_ok() {
                return;
            }
        }
    }

    /// Takes the value from the top.
    pub fn pop(&self) -> Option<T> {
        loop {
            let top = self.top.load(Ordering::Acquire);
            if top.is_null() {
                return None;
            }
            // SAFETY: nodes live until the stack is dropped.
            let next = unsafe { (*top).next.load(Ordering::Relaxed) };
            if self.replace(top, next) {
                self.retired.lock().expect("no thread panics with it").push(top);
                // SAFETY: as above.
                return Some(unsafe { (*top).value });
            }
        }
    }

    fn replace(&self, top: *mut Node<T>, next: *mut Node<T>) -> bool {
        if self.kind == Kind::CheckThenStore {
            let same = self.top.load(Ordering::Acquire) == top;
            if same {
                self.top.store(next, Ordering::Release);
            }
            return same;
        }
        // Acquire: the node below becomes the top, and a thread that sees it must see what is in it.
        self.top.compare_exchange(top, next, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}

impl<T> Drop for Stack<T> {
    fn drop(&mut self) {
        let mut nodes = std::mem::take(self.retired.get_mut().expect("no thread panics with it"));
        let mut node = *self.top.get_mut();
        while !node.is_null() {
            nodes.push(node);
            // SAFETY: a node is in the stack or retired, and this thread has the stack alone.
            node = unsafe { *(*node).next.get_mut() };
        }
        // The broken stack may pop a node twice.
        nodes.sort_unstable();
        nodes.dedup();
        // SAFETY: each node was made by `Box::into_raw`, and is given back once.
        nodes.into_iter().for_each(|node| drop(unsafe { Box::from_raw(node) }));
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Stack};

    linchpin::test! {
        /// Every interleaving of every scenario of two threads with two calls each.
        fn the_stack_is_linearizable() {
            object: Stack<u64> = Stack::new(Kind::Right);
            spec: "stack";
            mode: exhaustive(threads = 2, ops = 2);
            op push(v: fresh) = |s| s.push(v);
            op pop() = |s| s.pop();
        }
    }

    linchpin::test! {
        /// The orderings are strong enough.
        fn the_stack_is_linearizable_under_weak_memory() {
            object: Stack<u64> = Stack::new(Kind::Right);
            spec: "stack";
            mode: weak(threads = 2, ops = 2);
            op push(v: fresh) = |s| s.push(v);
            op pop() = |s| s.pop();
        }
    }

    linchpin::test! {
        /// The same on the threads of the machine.
        fn the_stack_is_linearizable_on_this_machine() {
            object: Stack<u64> = Stack::new(Kind::Right);
            spec: "stack";
            mode: native(threads = 2, ops = 4);
            op push(v: fresh) = |s| s.push(v);
            op pop() = |s| s.pop();
        }
    }

    linchpin::test! {
        #[should_panic(expected = "not linearizable")]
        fn a_pop_that_checks_and_stores_is_found() {
            object: Stack<u64> = Stack::new(Kind::CheckThenStore);
            spec: "stack";
            mode: exhaustive(threads = 2, ops = 2);
            op push(v: fresh) = |s| s.push(v);
            op pop() = |s| s.pop();
        }
    }

    linchpin::test! {
        #[should_panic(expected = "not linearizable")]
        fn a_relaxed_publication_is_found() {
            object: Stack<u64> = Stack::new(Kind::RelaxedPublication);
            spec: "stack";
            mode: weak(threads = 2, ops = 2);
            op push(v: fresh) = |s| s.push(v);
            op pop() = |s| s.pop();
        }
    }
}
