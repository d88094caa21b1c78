//! Orderings that are too weak are found, and right ones pass: the classics.

use linchpin_sync::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use linchpin_sync::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering, fence};

/// Peterson's lock around a counter: store buffering lets both threads in.
pub mod peterson {
    use super::*;

    /// A counter behind the lock of two threads.
    pub struct Counter {
        wants: [AtomicBool; 2],
        turn: AtomicUsize,
        count: AtomicU64,
        order: Ordering,
    }

    impl Counter {
        /// The order is that of the accesses between which nothing may move.
        pub fn new(order: Ordering) -> Counter {
            let wants = [AtomicBool::new(false), AtomicBool::new(false)];
            Counter { wants, turn: AtomicUsize::new(0), count: AtomicU64::new(0), order }
        }

        fn store_order(&self) -> Ordering {
            if self.order == SeqCst { SeqCst } else { Release }
        }

        fn load_order(&self) -> Ordering {
            if self.order == SeqCst { SeqCst } else { Acquire }
        }

        /// Adds one and answers what was there.
        pub fn add(&self, me: usize) -> u64 {
            let other = 1 - me;
            self.wants[me].store(true, self.store_order());
            self.turn.store(other, self.store_order());
            while self.wants[other].load(self.load_order())
                && self.turn.load(self.load_order()) == other
            {
                linchpin_sync::hint::spin_loop();
            }
            let count = self.count.load(Relaxed);
            self.count.store(count + 1, Relaxed);
            self.wants[me].store(false, Release);
            count
        }
    }

    linchpin_harness::test! {
        fn peterson_with_seq_cst_is_right() {
            object: Counter = Counter::new(SeqCst);
            model: u64 = 0;
            mode: weak();
            scenario { add(0) } | { add(1) };
            op add(me: 0..2usize) = |c| c.add(me), |m| { let _ = me; *m += 1; *m - 1 };
        }
    }

    linchpin_harness::test! {
        #[should_panic(expected = "not linearizable")]
        fn peterson_with_acquire_and_release_is_found() {
            object: Counter = Counter::new(AcqRel);
            model: u64 = 0;
            mode: weak();
            scenario { add(0) } | { add(1) };
            op add(me: 0..2usize) = |c| c.add(me), |m| { let _ = me; *m += 1; *m - 1 };
        }
    }

    linchpin_harness::test! {
        /// Interleavings alone do not show it.
        fn interleavings_do_not_show_it() {
            object: Counter = Counter::new(AcqRel);
            model: u64 = 0;
            mode: exhaustive();
            scenario { add(0) } | { add(1) };
            op add(me: 0..2usize) = |c| c.add(me), |m| { let _ = me; *m += 1; *m - 1 };
        }
    }
}

/// The deque of Chase and Lev, with the orderings of Lê, Pop, Cohen and Zappa Nardelli (PPoPP 2013).
mod chase_lev {
    use super::*;

    /// For so many values that it never grows.
    pub struct Deque {
        top: AtomicI64,
        bottom: AtomicI64,
        slots: [AtomicU64; 4],
        fenced: bool,
    }

    impl Deque {
        /// `fenced` says whether `take` has its fence.
        pub fn new(fenced: bool) -> Deque {
            let slots = [const { AtomicU64::new(0) }; 4];
            Deque { top: AtomicI64::new(0), bottom: AtomicI64::new(0), slots, fenced }
        }

        /// Puts a value at the bottom; only the owner does.
        pub fn push(&self, value: u64) {
            let bottom = self.bottom.load(Relaxed);
            self.slots[bottom as usize % 4].store(value, Relaxed);
            fence(Release);
            self.bottom.store(bottom + 1, Relaxed);
        }

        /// Takes the value at the bottom; only the owner does.
        pub fn take(&self) -> Option<u64> {
            let bottom = self.bottom.load(Relaxed) - 1;
            self.bottom.store(bottom, Relaxed);
            if self.fenced {
                fence(SeqCst);
            }
            let top = self.top.load(Relaxed);
            if top > bottom {
                self.bottom.store(bottom + 1, Relaxed);
                return None;
            }
            let value = self.slots[bottom as usize % 4].load(Relaxed);
            if top < bottom {
                return Some(value);
            }
            let won = self.top.compare_exchange(top, top + 1, SeqCst, Relaxed).is_ok();
            self.bottom.store(bottom + 1, Relaxed);
            won.then_some(value)
        }

        /// Takes the value at the top; any thread may.
        pub fn steal(&self) -> Option<u64> {
            loop {
                let top = self.top.load(Acquire);
                fence(SeqCst);
                let bottom = self.bottom.load(Acquire);
                if top >= bottom {
                    return None;
                }
                let value = self.slots[top as usize % 4].load(Relaxed);
                if self.top.compare_exchange(top, top + 1, SeqCst, Relaxed).is_ok() {
                    return Some(value);
                }
            }
        }
    }

    type Model = std::collections::VecDeque<u64>;

    linchpin_harness::test! {
        fn chase_lev_is_right() {
            object: Deque = Deque::new(true);
            model: Model = Model::new();
            mode: weak();
            scenario { push(1), push(2), take } | { steal, steal };
            op push(v: fresh) = |d| d.push(v), |m| m.push_back(v);
            op take() = |d| d.take(), |m| m.pop_back();
            op steal() = |d| d.steal(), |m| m.pop_front();
        }
    }

    linchpin_harness::test! {
        #[should_panic(expected = "not linearizable")]
        fn a_missing_fence_in_take_is_found() {
            object: Deque = Deque::new(false);
            model: Model = Model::new();
            mode: weak();
            scenario { push(1), push(2), take } | { steal, steal };
            op push(v: fresh) = |d| d.push(v), |m| m.push_back(v);
            op take() = |d| d.take(), |m| m.pop_back();
            op steal() = |d| d.steal(), |m| m.pop_front();
        }
    }
}

/// Hazard pointers: the store that protects a node must be seen before the node is looked at again.
mod hazard {
    use super::*;

    const POISON: u64 = 999;

    /// A register whose values live in nodes that are reused.
    pub struct Register {
        /// Which node holds the value.
        current: AtomicUsize,
        hazard: AtomicUsize,
        nodes: [AtomicU64; 3],
        fenced: bool,
    }

    impl Register {
        /// `fenced` says whether `read` has its fence.
        pub fn new(fenced: bool) -> Register {
            let nodes = [const { AtomicU64::new(0) }; 3];
            let (current, hazard) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
            Register { current, hazard, nodes, fenced }
        }

        /// Publishes a node with this value, and spoils the old one unless it is protected.
        pub fn write(&self, value: u64) {
            let old = self.current.load(Relaxed);
            let new = (old + 1) % 3;
            self.nodes[new].store(value, Relaxed);
            self.current.store(new, Release);
            fence(SeqCst);
            if self.hazard.load(Acquire) != old {
                self.nodes[old].store(POISON, Relaxed);
            }
        }

        /// Reads the node while it is protected.
        pub fn read(&self) -> u64 {
            loop {
                let node = self.current.load(Acquire);
                self.hazard.store(node, Release);
                if self.fenced {
                    fence(SeqCst);
                }
                if self.current.load(Acquire) == node {
                    let value = self.nodes[node].load(Relaxed);
                    self.hazard.store(usize::MAX, Release);
                    return value;
                }
            }
        }
    }

    linchpin_harness::test! {
        fn hazard_pointers_are_right() {
            object: Register = Register::new(true);
            spec: "register", init = 0;
            mode: weak();
            scenario { write(1) } | { read };
            op write(v: fresh) = |r| r.write(v);
            op read() = |r| r.read();
        }
    }

    linchpin_harness::test! {
        #[should_panic(expected = "not linearizable")]
        fn a_hazard_without_a_fence_is_found() {
            object: Register = Register::new(false);
            spec: "register", init = 0;
            mode: weak();
            scenario { write(1) } | { read };
            op write(v: fresh) = |r| r.write(v);
            op read() = |r| r.read();
        }
    }
}

/// What is stored while the object is made happens before all threads, whatever the order says.
mod made {
    use super::*;

    /// A register whose value and number are stored, not given to `new`.
    pub struct Register {
        value: AtomicU64,
        number: AtomicUsize,
    }

    impl Register {
        /// With relaxed stores only.
        pub fn new() -> Register {
            let register = Register { value: AtomicU64::new(9), number: AtomicUsize::new(9) };
            register.value.store(8, Relaxed);
            register.value.store(0, Relaxed);
            register.number.store(0, Relaxed);
            register
        }

        /// The value, which is never older than the one that it was made with.
        pub fn read(&self) -> u64 {
            self.value.load(Relaxed) + self.number.load(Relaxed) as u64
        }
    }

    linchpin_harness::test! {
        fn an_object_is_made_before_threads_start() {
            object: Register = Register::new();
            spec: "register", init = 0;
            mode: weak(threads = 2, ops = 2);
            op read() = |r| r.read();
            op write(v: fresh) = |r| r.value.store(v, SeqCst);
            finally = |r| assert!(r.value.load(Relaxed) < 8);
        }
    }
}

/// What a judge cannot take in was not judged, and the test says so.
#[test]
fn too_many_operations_are_not_judged() {
    use linchpin_harness::{Plan, Test, pass};

    let covered = Test::new("controlled-many", || AtomicU64::new(0))
        .spec("counter")
        .plan(Plan::weak().threads(3).ops(20).runs(5).on_limit(pass))
        .folder(None)
        .op("read", (), |count: &AtomicU64, ()| count.load(SeqCst) + 1)
        .check()
        .expect("it is wrong, but that is not seen");
    assert!(!covered.complete, "{covered}");
    assert_eq!(covered.undecided, covered.rounds, "{covered}");
}

/// A limit is no failure of the object: there is nothing to repeat or to judge again.
#[test]
fn a_limit_leaves_no_files() {
    use linchpin_harness::{Kind, Plan, Test};

    let folder = std::env::temp_dir().join(format!("linchpin-limit-{}", std::process::id()));
    let failure = Test::new("controlled-limit", || AtomicU64::new(0))
        .spec("counter")
        .plan(Plan::exhaustive().threads(2).ops(2).runs(1))
        .folder(Some(folder.clone()))
        .op("add", (1..4u64,), |count: &AtomicU64, (more,): (u64,)| {
            count.fetch_add(more, SeqCst);
        })
        .check()
        .expect_err("one execution is not all");
    assert!(matches!(failure.kind, Kind::Limit(_)), "{failure}");
    assert!(!failure.to_string().contains("history:"), "{failure}");
    assert!(!folder.exists(), "{failure}");
}
