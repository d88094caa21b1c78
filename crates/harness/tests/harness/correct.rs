//! Objects that are not broken: no alarm. A short run here; a long one is
//!
//! ```console
//! $ LINCHPIN_TIME=60 cargo test -p linchpin-harness --test harness correct -- --nocapture
//! ```

use concurrent_queue::ConcurrentQueue;
use crossbeam_queue::{ArrayQueue, SegQueue};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, RwLock, mpsc};

/// A queue with room for two, one operation at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Bounded(VecDeque<u64>);

impl Bounded {
    fn push(&mut self, value: u64) -> bool {
        let has_room = self.0.len() < 2;
        if has_room {
            self.0.push_back(value);
        }
        has_room
    }

    /// Puts a value in, and takes the oldest out if there is no room.
    fn force(&mut self, value: u64) -> Option<u64> {
        let oldest = if self.0.len() < 2 { None } else { self.0.pop_front() };
        self.0.push_back(value);
        oldest
    }

    fn pop(&mut self) -> Option<u64> {
        self.0.pop_front()
    }
}

/// A channel whose receiver is shared.
struct Channel {
    sender: mpsc::Sender<u64>,
    receiver: Mutex<mpsc::Receiver<u64>>,
}

impl Channel {
    fn new() -> Channel {
        let (sender, receiver) = mpsc::channel();
        Channel { sender, receiver: Mutex::new(receiver) }
    }
}

linchpin_harness::test! {
    fn crossbeam_seg_queue() {
        object: SegQueue<u64> = SegQueue::new();
        spec: "queue";
        mode: native(time = 0.2);
        op enqueue(v: fresh) = |q| q.push(v);
        op dequeue() = |q| q.pop();
    }

    fn crossbeam_array_queue() {
        object: ArrayQueue<u64> = ArrayQueue::new(2);
        model: Bounded = Bounded::default();
        mode: native(time = 0.2);
        op push(v: fresh) = |q| q.push(v), |m| m.push(v);
        op pop() = |q| q.pop(), |m| m.pop();
    }

    fn crossbeam_array_queue_by_force() {
        object: ArrayQueue<u64> = ArrayQueue::new(2);
        model: Bounded = Bounded::default();
        mode: native(time = 0.2);
        op force(v: fresh) = |q| q.force_push(v), |m| m.force(v);
        op pop() = |q| q.pop(), |m| m.pop();
    }

    fn concurrent_queue_unbounded() {
        object: ConcurrentQueue<u64> = ConcurrentQueue::unbounded();
        spec: "queue";
        mode: native(time = 0.2);
        op enqueue(v: fresh) = |q| q.push(v).unwrap();
        op dequeue() = |q| q.pop();
    }

    fn concurrent_queue_bounded() {
        object: ConcurrentQueue<u64> = ConcurrentQueue::bounded(2);
        model: Bounded = Bounded::default();
        mode: native(time = 0.2);
        op push(v: fresh) = |q| q.push(v), |m| m.push(v);
        op pop() = |q| q.pop(), |m| m.pop();
    }

    fn mutex_queue() {
        object: Mutex<VecDeque<u64>> = Mutex::default();
        spec: "queue";
        mode: native(time = 0.2);
        op enqueue(v: fresh) = |q| q.lock().unwrap().push_back(v);
        op dequeue() = |q| q.lock().unwrap().pop_front();
        op peek() = |q| q.lock().unwrap().front().copied();
    }

    fn mutex_stack() {
        object: Mutex<Vec<u64>> = Mutex::default();
        spec: "stack";
        mode: native(time = 0.2);
        op push(v: fresh) = |s| s.lock().unwrap().push(v);
        op pop() = |s| s.lock().unwrap().pop();
    }

    fn std_channel() {
        object: Channel = Channel::new();
        spec: "queue";
        mode: native(time = 0.2);
        op enqueue(v: fresh) = |c| c.sender.send(v).unwrap();
        op dequeue() = |c| c.receiver.lock().unwrap().try_recv();
    }

    fn rwlock_map() {
        object: RwLock<HashMap<u8, u64>> = RwLock::default();
        spec: "map";
        mode: native(time = 0.2);
        op put(k: 0..2u8, v: fresh) = |m| m.write().unwrap().insert(k, v);
        op get(k: 0..2u8) = |m| m.read().unwrap().get(&k).copied();
        op remove(k: 0..2u8) = |m| m.write().unwrap().remove(&k);
    }

    fn scc_map() {
        object: scc::HashMap<u8, u64> = scc::HashMap::new();
        spec: "map";
        mode: native(time = 0.2);
        op put(k: 0..2u8, v: fresh) = |m| m.upsert_sync(k, v);
        op get(k: 0..2u8) = |m| m.read_sync(&k, |_, v| *v);
        op remove(k: 0..2u8) = |m| m.remove_sync(&k).map(|(_, v)| v);
    }

    fn scc_queue() {
        object: scc::Queue<u64> = scc::Queue::default();
        spec: "queue";
        mode: native(time = 0.2);
        op enqueue(v: fresh) = |q| { q.push(v); };
        op dequeue() = |q| q.pop().map(|entry| **entry);
    }

    fn mutex_set() {
        object: Mutex<BTreeSet<u8>> = Mutex::default();
        spec: "set";
        mode: native(time = 0.2);
        op add(k: 0..3u8) = |s| s.lock().unwrap().insert(k);
        op remove(k: 0..3u8) = |s| s.lock().unwrap().remove(&k);
        op contains(k: 0..3u8) = |s| s.lock().unwrap().contains(&k);
    }

    /// Release and acquire are enough for a register, and stamps that are no barriers would call it
    /// broken.
    fn release_register() {
        object: AtomicI64 = AtomicI64::new(0);
        spec: "register", init = 0;
        mode: native(time = 0.2);
        op write(v: fresh) = |r| r.store(v, Ordering::Release);
        op read() = |r| r.load(Ordering::Acquire);
    }
}
