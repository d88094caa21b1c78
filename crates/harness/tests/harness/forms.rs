//! The forms of a test that people write.

use concurrent_queue::ConcurrentQueue;
use linchpin_harness::{Plan, Test, fail};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;

linchpin_harness::test! {
    /// A queue of another crate, untouched.
    fn unbounded_queue() {
        object: ConcurrentQueue<u64> = ConcurrentQueue::unbounded();
        spec: "queue";
        mode: native(threads = 2, ops = 4, time = 0.1);
        op enqueue(v: fresh) = |q| q.push(v).unwrap();
        op dequeue() = |q| q.pop().ok();
    }
}

/// A stack of our own.
mod stack {
    use std::sync::Mutex;

    pub struct Stack<T>(Mutex<Vec<T>>);

    impl<T> Stack<T> {
        pub fn new() -> Stack<T> {
            Stack(Mutex::default())
        }

        pub fn push(&self, value: T) {
            self.0.lock().unwrap().push(value);
        }

        pub fn pop(&self) -> Option<T> {
            self.0.lock().unwrap().pop()
        }

        pub fn len(&self) -> usize {
            self.0.lock().unwrap().len()
        }
    }
}

linchpin_harness::test! {
    fn stack_by_hand() {
        object: stack::Stack<u64> = stack::Stack::new();
        spec: "stack";
        mode: native(runs = 400);
        scenario { push(1), pop } | { push(2), pop };
        op push(v: fresh) = |s| s.push(v);
        op pop() = |s| s.pop();
        finally = |s| assert!(s.len() <= 2);
    }

    fn stack_with_something_in_it() {
        object: stack::Stack<u64> = stack::Stack::new();
        spec: "stack";
        mode: native(runs = 400);
        before { push(7), push(8) }
        scenario { pop, pop } | { pop };
        op push(v: fresh) = |s| s.push(v);
        op pop() = |s| s.pop();
        finally = |s| assert_eq!(s.len(), 0);
    }

    #[should_panic(expected = "the specification `stack` has no operation `enqueue`")]
    fn an_operation_that_is_none() {
        object: stack::Stack<u64> = stack::Stack::new();
        spec: "stack";
        op enqueue(v: fresh) = |s| s.push(v);
    }
}

/// A sequential type, which cannot be printed.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
struct Seq(BTreeMap<u8, i64>);

impl Seq {
    fn add(&mut self, k: u8, n: i64) -> i64 {
        let e = self.0.entry(k).or_default();
        *e += n;
        *e
    }

    fn clear(&mut self) -> i64 {
        std::mem::take(&mut self.0).values().sum()
    }
}

linchpin_harness::test! {
    fn ledger() {
        object: Mutex<Seq> = Mutex::new(Seq::default());
        model: Seq = Seq::default();
        mode: native(threads = 3, ops = 3, runs = 500);
        op add(k: 0..2u8, n: 1..3i64) = |l| l.lock().unwrap().add(k, n), |m| m.add(k, n);
        op clear() = |l| l.lock().unwrap().clear(), |m| m.clear();
    }

    fn words() {
        object: Mutex<VecDeque<String>> = Mutex::default();
        spec: "queue", init = ["a"];
        mode: native(runs = 100, on_limit = pass);
        scenario { dequeue };
        op enqueue(v: ["x".to_owned(), "y".to_owned()]) = |q| q.lock().unwrap().push_back(v);
        op dequeue() = |_| Some("a");
    }
}

#[test]
fn native_limits_hold() {
    let test = |plan: Plan| {
        Test::new("forms-limits", || Mutex::new(0_u64))
            .spec("counter")
            .plan(plan)
            .folder(None)
            .op("read", (), |o, ()| *o.lock().unwrap())
            .check()
    };
    // More memory than any process has; then so little that nothing is done.
    assert!(test(Plan::native().runs(50).memory(usize::MAX).on_limit(fail)).is_ok());
    let covered = test(Plan::native().runs(50).memory(1)).unwrap_or_else(|one| panic!("{one}"));
    if cfg!(target_os = "linux") {
        assert!(covered.to_string().contains("more memory than it may"), "{covered}");
        let failure = test(Plan::native().memory(1).on_limit(fail)).expect_err("it is a limit");
        assert!(failure.to_string().contains("stopped by a limit"), "{failure}");
    }
}
