//! Treiber's stack: right with Release and Acquire, and broken with a relaxed publication.

use super::{executions, problems};
use crate::execution::Problem;
use crate::options::{Options, Strategy};
use crate::weak::explore;
use linchpin_sync::cell::UnsafeCell;
use linchpin_sync::sync::atomic::{
    AtomicPtr,
    Ordering::{self, Acquire, Relaxed, Release, SeqCst},
};
use linchpin_sync::thread;
use std::ops::ControlFlow;
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

struct Node {
    value: UnsafeCell<u64>,
    next: UnsafeCell<*mut Node>,
}

struct Stack {
    head: AtomicPtr<Node>,
    publish: Ordering,
    take: Ordering,
}

// SAFETY: the engine stops at races.
unsafe impl Send for Node {}

impl Stack {
    fn push(&self, value: u64) {
        let node = Node { value: UnsafeCell::new(0), next: UnsafeCell::new(ptr::null_mut()) };
        let node = Box::into_raw(Box::new(node));
        // SAFETY: it is freed when all threads have ended.
        unsafe { (*node).value.with_mut(|place| *place = value) };
        let mut head = self.head.load(Relaxed);
        loop {
            // SAFETY: as above.
            unsafe { (*node).next.with_mut(|next| *next = head) };
            match self.head.compare_exchange(head, node, self.publish, Relaxed) {
                Ok(_) => return,
                Err(other) => head = other,
            }
        }
    }

    /// Nodes are not freed: that is another story.
    fn pop(&self) -> Option<u64> {
        let mut head = self.head.load(self.take);
        while !head.is_null() {
            // SAFETY: nodes are not freed.
            let next = unsafe { (*head).next.with(|next| *next) };
            match self.head.compare_exchange(head, next, self.take, self.take) {
                // SAFETY: as above.
                Ok(_) => return Some(unsafe { (*head).value.with(|value| *value) }),
                Err(other) => head = other,
            }
        }
        None
    }
}

fn run(threads: u64, publish: Ordering, take: Ordering) {
    let stack = Arc::new(Stack { head: AtomicPtr::default(), publish, take });
    let threads: Vec<_> = (1..=threads)
        .map(|value| {
            let stack = Arc::clone(&stack);
            thread::spawn(move || {
                stack.push(value);
                stack.pop()
            })
        })
        .collect();
    let mut popped: Vec<_> =
        threads.into_iter().map(|thread| thread.join().unwrap().unwrap()).collect();
    popped.sort_unstable();
    assert!(popped.windows(2).all(|pair| pair[0] < pair[1]), "popped twice: {popped:?}");
}

#[test]
fn a_right_stack_is_never_called_broken() {
    for (publish, take) in [(Release, Acquire), (SeqCst, SeqCst)] {
        let start = Instant::now();
        let (all, exploration) = executions(move || run(2, publish, take));
        assert!(exploration.complete);
        let wrong = all.iter().find(|execution| execution.problem.is_some());
        assert!(wrong.is_none(), "{:?}", wrong.unwrap().problem);
        println!("{publish:?}: {exploration:?} in {:?}", start.elapsed());
    }
}

#[test]
fn a_relaxed_publication_or_pop_races() {
    for (publish, take) in [(Relaxed, Acquire), (Release, Relaxed)] {
        let found = problems(move || run(2, publish, take));
        assert!(matches!(found[..], [Problem::Race { .. }, ..]), "{found:?}");
    }
}

#[test]
fn three_threads_are_right() {
    for (publish, take) in [(Release, Acquire), (SeqCst, SeqCst)] {
        let start = Instant::now();
        let body: Rc<dyn Fn()> = Rc::new(move || run(3, publish, take));
        let exploration = explore(&Options::new(Strategy::Weak), &body, &mut |execution| {
            assert_eq!(execution.problem, None);
            ControlFlow::Continue(())
        });
        assert!(exploration.complete, "{publish:?}: {exploration:?}");
        println!("{publish:?}: {exploration:?} in {:?}", start.elapsed());
    }
}
