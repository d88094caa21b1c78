//! Treiber's stack and the queue of Michael and Scott: how many executions there are.

use super::run;
use linchpin_explore::{Exploration, Strategy};
use linchpin_sync::sync::atomic::AtomicPtr;
use linchpin_sync::sync::atomic::Ordering::SeqCst;
use linchpin_sync::thread;
use std::ptr::null_mut;
use std::sync::Arc;

/// Treiber's stack. Nodes are freed with the stack.
struct Stack {
    head: AtomicPtr<Node>,
    /// All nodes, by address: those that were popped are freed at the end too.
    nodes: std::sync::Mutex<Vec<usize>>,
}

struct Node {
    value: u64,
    next: *mut Node,
}

impl Stack {
    fn new() -> Stack {
        Stack { head: AtomicPtr::new(null_mut()), nodes: std::sync::Mutex::default() }
    }

    fn push(&self, value: u64) {
        let node = Box::into_raw(Box::new(Node { value, next: null_mut() }));
        self.nodes.lock().unwrap().push(node as usize);
        loop {
            let head = self.head.load(SeqCst);
            // SAFETY: the node is not shared yet.
            unsafe { (*node).next = head };
            if self.head.compare_exchange(head, node, SeqCst, SeqCst).is_ok() {
                return;
            }
        }
    }

    fn pop(&self) -> Option<u64> {
        loop {
            let head = self.head.load(SeqCst);
            if head.is_null() {
                return None;
            }
            // SAFETY: nodes live as long as the stack, and do not change once they are shared.
            let (value, next) = unsafe { ((*head).value, (*head).next) };
            if self.head.compare_exchange(head, next, SeqCst, SeqCst).is_ok() {
                return Some(value);
            }
        }
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        for &node in self.nodes.get_mut().unwrap().iter() {
            // SAFETY: it was made by `Box::into_raw`, and no thread uses it any more.
            drop(unsafe { Box::from_raw(node as *mut Node) });
        }
    }
}

/// The queue of Michael and Scott. Nodes are freed with the queue.
struct Queue {
    head: AtomicPtr<Link>,
    tail: AtomicPtr<Link>,
    nodes: std::sync::Mutex<Vec<usize>>,
}

struct Link {
    value: u64,
    next: AtomicPtr<Link>,
}

impl Queue {
    fn new() -> Queue {
        let dummy = Box::into_raw(Box::new(Link { value: 0, next: AtomicPtr::new(null_mut()) }));
        Queue {
            head: AtomicPtr::new(dummy),
            tail: AtomicPtr::new(dummy),
            nodes: std::sync::Mutex::new(vec![dummy as usize]),
        }
    }

    fn enqueue(&self, value: u64) {
        let node = Box::into_raw(Box::new(Link { value, next: AtomicPtr::new(null_mut()) }));
        self.nodes.lock().unwrap().push(node as usize);
        loop {
            let tail = self.tail.load(SeqCst);
            // SAFETY: nodes live as long as the queue.
            let next = unsafe { (*tail).next.load(SeqCst) };
            if !next.is_null() {
                let _ = self.tail.compare_exchange(tail, next, SeqCst, SeqCst);
                continue;
            }
            // SAFETY: as above.
            let last = unsafe { &(*tail).next };
            if last.compare_exchange(null_mut(), node, SeqCst, SeqCst).is_ok() {
                let _ = self.tail.compare_exchange(tail, node, SeqCst, SeqCst);
                return;
            }
        }
    }

    fn dequeue(&self) -> Option<u64> {
        loop {
            let head = self.head.load(SeqCst);
            let tail = self.tail.load(SeqCst);
            // SAFETY: nodes live as long as the queue.
            let next = unsafe { (*head).next.load(SeqCst) };
            if next.is_null() {
                return None;
            }
            if head == tail {
                let _ = self.tail.compare_exchange(tail, next, SeqCst, SeqCst);
                continue;
            }
            // SAFETY: as above.
            let value = unsafe { (*next).value };
            if self.head.compare_exchange(head, next, SeqCst, SeqCst).is_ok() {
                return Some(value);
            }
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        for &node in self.nodes.get_mut().unwrap().iter() {
            // SAFETY: it was made by `Box::into_raw`, and no thread uses it any more.
            drop(unsafe { Box::from_raw(node as *mut Link) });
        }
    }
}

fn in_threads<T: Send + Sync + 'static>(
    threads: u64,
    new: fn() -> T,
    operations: fn(&T, u64),
) -> impl Fn() {
    move || {
        let object = Arc::new(new());
        let spawned: Vec<_> = (0..threads)
            .map(|number| {
                let object = Arc::clone(&object);
                thread::spawn(move || operations(&object, number))
            })
            .collect();
        for handle in spawned {
            handle.join().unwrap();
        }
    }
}

fn count(threads: u64, body: impl Fn() + 'static) -> Exploration {
    let started = std::time::Instant::now();
    let explored = run(Strategy::Exhaustive, body, |execution| {
        assert_eq!(execution.problem, None);
        assert_eq!(execution.threads as u64, threads + 1);
    });
    let rate = explored.executions as f64 / started.elapsed().as_secs_f64();
    eprintln!("{explored:?} {rate:.0} executions/s");
    assert!(explored.complete);
    explored
}

fn push_pop(stack: &Stack, number: u64) {
    stack.push(number);
    stack.pop();
}

fn enqueue_dequeue(queue: &Queue, number: u64) {
    queue.enqueue(number);
    queue.dequeue();
}

#[test]
fn treiber_two_threads() {
    let explored = count(2, in_threads(2, Stack::new, push_pop));
    assert_eq!(explored.executions, 46);
}

#[test]
fn treiber_two_threads_four_operations() {
    let operations = |stack: &Stack, number| {
        push_pop(stack, number);
        push_pop(stack, number + 2);
    };
    let explored = count(2, in_threads(2, Stack::new, operations));
    assert_eq!(explored.executions, 11_330);
}

#[test]
fn treiber_three_threads() {
    let explored = count(3, in_threads(3, Stack::new, push_pop));
    assert_eq!(explored.executions, 68_892);
}

#[test]
fn michael_scott_two_threads() {
    let explored = count(2, in_threads(2, Queue::new, enqueue_dequeue));
    assert!(explored.executions <= 110, "{explored:?}");
}
