//! The same programs on the primitives of each explorer.
//!
//! Nodes are never given back, so the queue need not look at its ends a second time, and threads
//! are spawned and joined by the first one. All orderings are `SeqCst`, so that explorers with
//! other memory models look at the same program.

/// The two structures and their programs on the primitives of one explorer.
macro_rules! programs {
    ($name:ident, $package:ident) => {
        pub mod $name {
            use std::ptr::null_mut;
            use $package::sync::atomic::{AtomicPtr, Ordering::SeqCst};
            use $package::thread;

            struct Node {
                value: u64,
                next: AtomicPtr<Node>,
            }

            fn node(value: u64) -> *mut Node {
                Box::into_raw(Box::new(Node { value, next: AtomicPtr::new(null_mut()) }))
            }

            struct Stack {
                top: AtomicPtr<Node>,
            }

            impl Stack {
                fn push(&self, value: u64) {
                    let new = node(value);
                    loop {
                        let top = self.top.load(SeqCst);
                        unsafe { (*new).next.store(top, SeqCst) };
                        if self.top.compare_exchange(top, new, SeqCst, SeqCst).is_ok() {
                            return;
                        }
                    }
                }

                fn pop(&self) -> Option<u64> {
                    loop {
                        let top = self.top.load(SeqCst);
                        if top.is_null() {
                            return None;
                        }
                        let next = unsafe { (*top).next.load(SeqCst) };
                        if self.top.compare_exchange(top, next, SeqCst, SeqCst).is_ok() {
                            return Some(unsafe { (*top).value });
                        }
                    }
                }
            }

            struct Queue {
                head: AtomicPtr<Node>,
                tail: AtomicPtr<Node>,
            }

            impl Queue {
                fn enqueue(&self, value: u64) {
                    let new = node(value);
                    loop {
                        let tail = self.tail.load(SeqCst);
                        let next = unsafe { (*tail).next.load(SeqCst) };
                        if !next.is_null() {
                            let _ = self.tail.compare_exchange(tail, next, SeqCst, SeqCst);
                            continue;
                        }
                        let link = unsafe { &(*tail).next };
                        if link.compare_exchange(next, new, SeqCst, SeqCst).is_ok() {
                            let _ = self.tail.compare_exchange(tail, new, SeqCst, SeqCst);
                            return;
                        }
                    }
                }

                fn dequeue(&self) -> Option<u64> {
                    loop {
                        let head = self.head.load(SeqCst);
                        let tail = self.tail.load(SeqCst);
                        let next = unsafe { (*head).next.load(SeqCst) };
                        if head == tail {
                            if next.is_null() {
                                return None;
                            }
                            let _ = self.tail.compare_exchange(tail, next, SeqCst, SeqCst);
                            continue;
                        }
                        let value = unsafe { (*next).value };
                        if self.head.compare_exchange(head, next, SeqCst, SeqCst).is_ok() {
                            return Some(value);
                        }
                    }
                }
            }

            fn together(threads: usize, run: impl Fn(u64) + Send + Sync + Copy + 'static) {
                let handles: Vec<_> =
                    (0..threads as u64).map(|me| thread::spawn(move || run(me))).collect();
                handles.into_iter().for_each(|handle| handle.join().unwrap());
            }

            /// Threads that push and pop, so many calls each.
            pub fn stack(threads: usize, calls: usize) {
                let stack = Stack { top: AtomicPtr::new(null_mut()) };
                let stack: &'static Stack = Box::leak(Box::new(stack));
                together(threads, move |me| {
                    for call in 0..calls as u64 {
                        if call % 2 == 0 {
                            stack.push(10 * me + call);
                        } else {
                            stack.pop();
                        }
                    }
                });
            }

            /// Threads that enqueue and dequeue, so many calls each.
            pub fn queue(threads: usize, calls: usize) {
                let first = node(0);
                let queue = Queue { head: AtomicPtr::new(first), tail: AtomicPtr::new(first) };
                let queue: &'static Queue = Box::leak(Box::new(queue));
                together(threads, move |me| {
                    for call in 0..calls as u64 {
                        if call % 2 == 0 {
                            queue.enqueue(10 * me + call);
                        } else {
                            queue.dequeue();
                        }
                    }
                });
            }
        }
    };
}

programs!(linchpin, linchpin_sync);
programs!(with_loom, loom);
programs!(with_shuttle, shuttle);
