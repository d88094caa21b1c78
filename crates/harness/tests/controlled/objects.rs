//! Objects on linchpin's primitives, right and broken.

use linchpin_sync::cell::UnsafeCell;
use linchpin_sync::sync::atomic::Ordering::SeqCst;
use linchpin_sync::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize};
use linchpin_sync::sync::{Condvar, Mutex};
use std::collections::{BTreeMap, VecDeque};
use std::ptr::null_mut;

/// A node of a list. Nodes are never given back: what is tested is not reclamation.
struct Node {
    value: u64,
    next: AtomicPtr<Node>,
}

fn node(value: u64) -> *mut Node {
    Box::into_raw(Box::new(Node { value, next: AtomicPtr::new(null_mut()) }))
}

/// Treiber's stack.
pub struct Stack {
    top: AtomicPtr<Node>,
    /// `pop` looks and then stores, where it should compare and swap.
    pub check_then_store: bool,
}

impl Stack {
    pub fn new(check_then_store: bool) -> Stack {
        Stack { top: AtomicPtr::new(null_mut()), check_then_store }
    }

    pub fn push(&self, value: u64) {
        let new = node(value);
        loop {
            let top = self.top.load(SeqCst);
            // SAFETY: nodes are never given back.
            unsafe { (*new).next.store(top, SeqCst) };
            if self.top.compare_exchange(top, new, SeqCst, SeqCst).is_ok() {
                return;
            }
        }
    }

    pub fn pop(&self) -> Option<u64> {
        loop {
            let top = self.top.load(SeqCst);
            if top.is_null() {
                return None;
            }
            // SAFETY: as above.
            let next = unsafe { (*top).next.load(SeqCst) };
            let taken = if self.check_then_store {
                let same = self.top.load(SeqCst) == top;
                if same {
                    self.top.store(next, SeqCst);
                }
                same
            } else {
                self.top.compare_exchange(top, next, SeqCst, SeqCst).is_ok()
            };
            if taken {
                // SAFETY: as above.
                return Some(unsafe { (*top).value });
            }
        }
    }
}

/// The Michael–Scott queue.
pub struct Queue {
    head: AtomicPtr<Node>,
    tail: AtomicPtr<Node>,
    /// `dequeue` says that the queue is empty when another thread was faster.
    gives_up: bool,
}

impl Queue {
    pub fn new(gives_up: bool) -> Queue {
        let first = node(0);
        Queue { head: AtomicPtr::new(first), tail: AtomicPtr::new(first), gives_up }
    }

    pub fn enqueue(&self, value: u64) {
        let new = node(value);
        loop {
            let tail = self.tail.load(SeqCst);
            // SAFETY: nodes are never given back.
            let link = unsafe { &(*tail).next };
            let next = link.load(SeqCst);
            if tail != self.tail.load(SeqCst) {
                continue;
            }
            if !next.is_null() {
                let _ = self.tail.compare_exchange(tail, next, SeqCst, SeqCst);
            } else if link.compare_exchange(next, new, SeqCst, SeqCst).is_ok() {
                let _ = self.tail.compare_exchange(tail, new, SeqCst, SeqCst);
                return;
            }
        }
    }

    pub fn dequeue(&self) -> Option<u64> {
        loop {
            let head = self.head.load(SeqCst);
            let tail = self.tail.load(SeqCst);
            // SAFETY: as above.
            let next = unsafe { (*head).next.load(SeqCst) };
            if head != self.head.load(SeqCst) {
                continue;
            }
            if head == tail {
                if next.is_null() {
                    return None;
                }
                let _ = self.tail.compare_exchange(tail, next, SeqCst, SeqCst);
                continue;
            }
            // SAFETY: as above.
            let value = unsafe { (*next).value };
            if self.head.compare_exchange(head, next, SeqCst, SeqCst).is_ok() {
                return Some(value);
            }
            if self.gives_up {
                return None;
            }
        }
    }
}

/// A map whose `put` may remove and insert in two critical sections.
pub struct Map {
    entries: Mutex<BTreeMap<u64, u64>>,
    in_two: bool,
}

impl Map {
    pub fn new(in_two: bool) -> Map {
        Map { entries: Mutex::new(BTreeMap::new()), in_two }
    }

    pub fn put(&self, key: u64, value: u64) -> Option<u64> {
        if self.in_two {
            let old = self.entries.lock().unwrap().remove(&key);
            self.entries.lock().unwrap().insert(key, value);
            return old;
        }
        self.entries.lock().unwrap().insert(key, value)
    }

    pub fn get(&self, key: u64) -> Option<u64> {
        self.entries.lock().unwrap().get(&key).copied()
    }
}

/// A bounded queue that may decide whether it is full before it takes the lock.
pub struct Bounded {
    values: Mutex<VecDeque<u64>>,
    length: AtomicUsize,
    early: bool,
}

impl Bounded {
    pub const CAPACITY: usize = 1;

    pub fn new(early: bool) -> Bounded {
        Bounded { values: Mutex::new(VecDeque::new()), length: AtomicUsize::new(0), early }
    }

    pub fn enqueue(&self, value: u64) -> bool {
        if self.early {
            // Counted before it is there: another thread sees a queue that is full of nothing.
            if self.length.fetch_add(1, SeqCst) >= Bounded::CAPACITY {
                self.length.fetch_sub(1, SeqCst);
                return false;
            }
            self.values.lock().unwrap().push_back(value);
            return true;
        }
        let mut values = self.values.lock().unwrap();
        let room = values.len() < Bounded::CAPACITY;
        if room {
            values.push_back(value);
        }
        room
    }

    pub fn dequeue(&self) -> Option<u64> {
        let value = self.values.lock().unwrap().pop_front();
        if self.early && value.is_some() {
            self.length.fetch_sub(1, SeqCst);
        }
        value
    }
}

/// A set of two keys, each with a mark: `remove` may forget to mark before it unlinks.
pub struct LazySet {
    present: [AtomicBool; 2],
    locks: [Mutex<()>; 2],
    unmarked: bool,
}

impl LazySet {
    pub fn new(unmarked: bool) -> LazySet {
        let present = [AtomicBool::new(false), AtomicBool::new(false)];
        LazySet { present, locks: [Mutex::new(()), Mutex::new(())], unmarked }
    }

    pub fn add(&self, key: usize) -> bool {
        let _lock = self.locks[key].lock().unwrap();
        !self.present[key].swap(true, SeqCst)
    }

    pub fn remove(&self, key: usize) -> bool {
        if self.unmarked {
            // Looks without the lock, and unlinks with it.
            let present = self.present[key].load(SeqCst);
            if present {
                let _lock = self.locks[key].lock().unwrap();
                self.present[key].store(false, SeqCst);
            }
            return present;
        }
        let _lock = self.locks[key].lock().unwrap();
        self.present[key].swap(false, SeqCst)
    }

    pub fn contains(&self, key: usize) -> bool {
        self.present[key].load(SeqCst)
    }
}

/// A channel whose receiver waits.
pub struct Channel {
    values: Mutex<VecDeque<u64>>,
    arrived: Condvar,
    /// The sender notifies before it has sent.
    early: bool,
}

impl Channel {
    pub fn new(early: bool) -> Channel {
        Channel { values: Mutex::new(VecDeque::new()), arrived: Condvar::new(), early }
    }

    pub fn send(&self, value: u64) {
        if self.early {
            self.arrived.notify_one();
        }
        self.values.lock().unwrap().push_back(value);
        if !self.early {
            self.arrived.notify_one();
        }
    }

    pub fn receive(&self) -> u64 {
        let mut values = self.values.lock().unwrap();
        loop {
            match values.pop_front() {
                Some(value) => return value,
                None => values = self.arrived.wait(values).unwrap(),
            }
        }
    }
}

/// A counter in a cell without a lock.
pub struct Racy(UnsafeCell<u64>);

// SAFETY: none; that is what is found.
unsafe impl Sync for Racy {}

impl Racy {
    pub fn new() -> Racy {
        Racy(UnsafeCell::new(0))
    }

    pub fn add(&self, n: u64) {
        // SAFETY: none.
        self.0.with_mut(|count| unsafe { *count += n });
    }
}

/// A counter that loads and stores.
pub struct Lossy(pub AtomicU64);

impl Lossy {
    pub fn add(&self, n: u64) {
        let count = self.0.load(SeqCst);
        self.0.store(count + n, SeqCst);
    }
}
