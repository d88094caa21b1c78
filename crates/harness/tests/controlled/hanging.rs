//! Code that never comes back is said to hang, with where it stands; the test ends.

use linchpin_harness::{Failure, Kind, Plan, Test};
use linchpin_sync::hint;
use linchpin_sync::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use linchpin_sync::thread;
use std::sync::Mutex;

/// A counter behind a lock of std that is held across an access.
#[derive(Default)]
struct Foreign {
    lock: Mutex<()>,
    count: AtomicU64,
}

impl Foreign {
    fn add(&self, n: u64) -> u64 {
        let _held = self.lock.lock();
        let before = self.count.load(SeqCst);
        self.count.store(before + n, SeqCst);
        before
    }
}

fn foreign(plan: Plan) -> Box<Failure> {
    Test::new("hanging-foreign", Foreign::default)
        .spec("counter")
        .plan(plan.threads(2).ops(1).patience(0.4))
        .folder(None)
        .op("fetch_add", (1..2u64,), |o, (n,): (u64,)| o.add(n))
        .check()
        .expect_err("it hangs")
}

#[test]
fn a_lock_of_std_across_an_access_hangs_and_is_named() {
    for plan in [Plan::exhaustive(), Plan::random().seed(1)] {
        let failure = foreign(plan);
        let Kind::Hung(said) = &failure.kind else { panic!("{failure}") };
        assert!(said.contains("in `fetch_add`"), "{said}");
        assert!(said.contains("A lock of std"), "{said}");
        let text = failure.to_string();
        // The other one is in the middle of it.
        assert!(text.contains("stands at crates/harness/tests/controlled/hanging.rs:19"), "{text}");
    }
}

/// A lock that spins, and says so or not.
struct Spinning<const SAYS_SO: bool> {
    taken: AtomicBool,
    count: AtomicU64,
}

impl<const SAYS_SO: bool> Spinning<SAYS_SO> {
    fn add(&self, n: u64) -> u64 {
        while self.taken.swap(true, SeqCst) {
            if SAYS_SO {
                hint::spin_loop();
            }
        }
        let before = self.count.load(SeqCst);
        self.count.store(before + n, SeqCst);
        self.taken.store(false, SeqCst);
        before
    }
}

fn spinning<const SAYS_SO: bool>() -> Result<linchpin_harness::Covered, Box<Failure>> {
    let make = || Spinning::<SAYS_SO> { taken: AtomicBool::new(false), count: AtomicU64::new(0) };
    Test::new("hanging-spinning", make)
        .spec("counter")
        .plan(Plan::exhaustive().threads(2).ops(1))
        .folder(None)
        .op("fetch_add", (1..2u64,), |o, (n,): (u64,)| o.add(n))
        .check()
}

#[test]
fn a_loop_that_does_not_say_that_it_waits_gets_a_hint() {
    let covered = spinning::<true>().unwrap_or_else(|failure| panic!("{failure}"));
    assert!(covered.complete, "{covered}");
    let failure = spinning::<false>().expect_err("it may never end");
    let Kind::Endless(said) = &failure.kind else { panic!("{failure}") };
    assert!(said.contains("of process 1 at crates/harness/tests/controlled/hanging.rs:"), "{said}");
    assert!(said.contains("`hint::spin_loop`"), "{said}");
}

/// An object with a thread of its own, which is started before those of the test.
struct Assisted(AtomicU64);

#[test]
fn a_thread_of_the_object_is_no_process() {
    let make = || {
        thread::spawn(|| ()).join().ok();
        Assisted(AtomicU64::new(0))
    };
    let failure = Test::new("hanging-assisted", make)
        .spec("counter")
        .plan(Plan::exhaustive().threads(2).ops(1))
        .folder(None)
        .op("fetch_add", (1..2u64,), |o, (n,): (u64,)| {
            let before = o.0.load(SeqCst);
            o.0.store(before + n, SeqCst);
            before
        })
        .check()
        .expect_err("an update is lost");
    let text = failure.to_string();
    assert!(text.contains("process 0") && text.contains("process 1"), "{text}");
    assert!(!text.contains("process 2"), "{text}");
}

/// Needs about this much of the stack.
fn deep(left: usize) -> usize {
    let room = std::hint::black_box([left; 1024]);
    if left == 0 { room[0] } else { deep(left - 1) + room[1023] }
}

#[test]
fn a_stack_can_be_larger() {
    // 400 frames of 8 KiB at least, which is more than 2 MiB.
    let covered = Test::new("hanging-deep", || AtomicU64::new(0))
        .spec("counter")
        .plan(Plan::exhaustive().threads(2).ops(1).stack(16 << 20))
        .op("fetch_add", (1..2u64,), |o, (n,): (u64,)| {
            assert!(deep(400) > 0);
            o.fetch_add(n, SeqCst)
        })
        .check()
        .unwrap_or_else(|failure| panic!("{failure}"));
    assert!(covered.complete, "{covered}");
}

#[test]
fn a_test_without_calls_or_threads_cannot_be_run() {
    let test = |plan: Plan| {
        Test::new("hanging-nothing", || AtomicU64::new(0))
            .spec("counter")
            .plan(plan)
            .folder(None)
            .op("fetch_add", (1..2u64,), |o, (n,): (u64,)| o.fetch_add(n, SeqCst))
            .check()
    };
    let failure = test(Plan::exhaustive().ops(0)).expect_err("nothing is called");
    assert!(failure.to_string().contains("`ops` is 0"), "{failure}");
    let failure = test(Plan::native().threads(0)).expect_err("there are no threads");
    assert!(failure.to_string().contains("no threads"), "{failure}");
}

#[test]
fn one_scenario_on_all_cores_is_the_same_as_on_one() {
    let test = |right: bool| {
        Test::new("hanging-cores", || AtomicU64::new(0))
            .spec("counter")
            .plan(Plan::exhaustive())
            .folder(None)
            .scenario(vec![
                vec![linchpin_harness::NamedCall::new("fetch_add", vec![1.into()]); 2];
                3
            ])
            .op("fetch_add", (1..2u64,), move |o: &AtomicU64, (n,): (u64,)| {
                if right {
                    return o.fetch_add(n, SeqCst);
                }
                let before = o.load(SeqCst);
                o.store(before + n, SeqCst);
                before
            })
            .check()
    };
    // The orders of six updates, two a thread.
    let covered = test(true).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!((covered.rounds, covered.complete), (90, true), "{covered}");
    let failures: Vec<_> = (0..5)
        .map(|_| test(false).expect_err("an update is lost"))
        .map(|failure| (failure.shown_scenario.clone(), failure.interleaving.clone()))
        .collect();
    assert!(failures.windows(2).all(|two| two[0] == two[1]), "{failures:#?}");
}
