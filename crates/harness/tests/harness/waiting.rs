//! Operations that wait, panic or never return.

use linchpin_harness::{Kind, NamedCall, Plan, Test, fresh};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Condvar, Mutex};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

/// A channel whose `recv` waits for a value.
#[derive(Default)]
struct Channel {
    values: Mutex<VecDeque<u64>>,
    sent: Condvar,
    /// After so many values `send` forgets to wake those who wait.
    forgets: Option<u64>,
}

impl Channel {
    fn send(&self, value: u64) {
        self.values.lock().unwrap().push_back(value);
        if self.forgets.is_none_or(|known| value <= known) {
            self.sent.notify_one();
        }
    }

    fn recv(&self) -> u64 {
        let values = self.values.lock().unwrap();
        let mut values = self.sent.wait_while(values, |values| values.is_empty()).unwrap();
        values.pop_front().unwrap()
    }
}

linchpin_harness::test! {
    fn a_receiver_waits() {
        object: Channel = Channel::default();
        spec: "queue";
        mode: native(ops = 3, time = 0.3);
        op enqueue(v: fresh) = |c| c.send(v);
        op dequeue() blocking = |c| c.recv();
    }
}

#[test]
fn a_receiver_that_is_not_woken_is_stuck() {
    let make = || Channel { forgets: Some(0), ..Channel::default() };
    let recv = NamedCall::new("dequeue", vec![]);
    let send = NamedCall::new("enqueue", vec![7.into()]);
    let test = Test::new("forgets", make)
        .spec("queue")
        .plan(Plan::native().time(20))
        .op("enqueue", (fresh,), |channel, (value,)| {
            // Late enough for the receiver to wait.
            thread::sleep(Duration::from_millis(20));
            channel.send(value);
        })
        .blocking_op("dequeue", (), |channel, ()| channel.recv())
        .scenario(vec![vec![recv], vec![send]])
        .folder(None);
    let failure = test.check().expect_err("the receiver is not woken");
    assert_eq!(failure.kind, Kind::Stuck);
    assert!(failure.to_string().contains("dequeue by process 0 does not return"), "{failure}");
}

/// Fresh values are numbered in the order of threads, so this one forgets in long runs only.
#[test]
fn a_receiver_that_is_not_woken_in_a_long_run_is_stuck() {
    let failure = Test::new("forgets-late", || Channel { forgets: Some(64), ..Channel::default() })
        .spec("queue")
        .plan(Plan::native().time(60))
        .op("enqueue", (fresh,), |channel, (value,): (u64,)| {
            if (65..70).contains(&value) {
                // Late enough for a receiver to wait.
                thread::sleep(Duration::from_millis(5));
            }
            channel.send(value);
        })
        .blocking_op("dequeue", (), |channel, ()| channel.recv())
        .folder(None)
        .check()
        .expect_err("the receiver is not woken");
    assert_eq!(failure.kind, Kind::Stuck);
    let said = failure.to_string();
    assert!(said.contains("does not return"), "{said}");
    assert!(said.contains("calls by 2 threads"), "{said}");
}

#[test]
fn operations_that_wait_take_part_in_long_runs() {
    let covered = Test::new("waits-long", Channel::default)
        .spec("queue")
        .plan(Plan::native().time(1))
        .op("enqueue", (fresh,), |channel, (value,): (u64,)| channel.send(value))
        .blocking_op("dequeue", (), |channel, ()| channel.recv())
        .folder(None)
        .check()
        .unwrap_or_else(|failure| panic!("{failure}"));
    assert!(covered.long_runs > 0, "{covered}");
}

#[test]
fn those_who_wait_rightly_are_no_failure() {
    let recv = || vec![NamedCall::new("dequeue", vec![])];
    let test = Test::new("waits", Channel::default)
        .spec("queue")
        .plan(Plan::native().runs(2))
        .blocking_op("dequeue", (), |channel, ()| channel.recv())
        .scenario(vec![recv(), recv()])
        .folder(None);
    let covered = test.check().expect("no value was sent");
    assert_eq!(covered.rounds, 2);
}

/// Some scenarios end with a receiver that waits rightly. Those are played until enough threads were
/// left behind, and then the others.
#[test]
fn a_test_goes_on_when_many_were_left_waiting() {
    let covered = Test::new("waits-often", Channel::default)
        .spec("queue")
        .plan(Plan::native().ops(2).seed(1).runs(1_000))
        .op("enqueue", (fresh,), |channel, (value,): (u64,)| channel.send(value))
        .blocking_op("dequeue", (), |channel, ()| channel.recv())
        .folder(None)
        .check()
        .unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(covered.rounds, 1_000, "{covered}");
    assert!(!covered.to_string().contains("stopped early"), "{covered}");
}

/// A semaphore with one permit, whose `acquire` is a future.
struct Semaphore(Mutex<(bool, Vec<Waker>)>);

impl Semaphore {
    async fn acquire(&self) {
        poll_fn(|context| {
            let mut state = self.0.lock().unwrap();
            if state.0 {
                state.0 = false;
                return Poll::Ready(());
            }
            state.1.push(context.waker().clone());
            Poll::Pending
        })
        .await
    }

    fn release(&self) {
        let mut state = self.0.lock().unwrap();
        state.0 = true;
        state.1.drain(..).for_each(Waker::wake);
    }
}

linchpin_harness::test! {
    fn a_future_is_waited_for() {
        object: Semaphore = Semaphore(Mutex::new((true, Vec::new())));
        model: bool = true;
        mode: native(runs = 300);
        scenario { acquire, release, acquire, release } | { acquire, release };
        op acquire() async = |s| s.acquire(), |free| std::mem::take(free).then_some(());
        op release() = |s| s.release(), |free| *free = true;
    }
}

#[test]
fn a_panic_is_shown_with_the_history() {
    let test = Test::new("panics", || Mutex::new(VecDeque::<u64>::new()))
        .spec("queue")
        .plan(Plan::native().time(10))
        .op("enqueue", (fresh,), |queue, (value,)| queue.lock().unwrap().push_back(value))
        .op("dequeue", (), |queue, ()| {
            // Let go before the panic, for a mutex that is poisoned makes others panic.
            let taken = queue.lock().unwrap().pop_front();
            assert_ne!(taken, Some(3), "three is too much");
            taken
        })
        .folder(None);
    let failure = test.check().expect_err("it panics");
    let Kind::Panicked(message) = &failure.kind else { panic!("{failure}") };
    assert!(message.contains("three is too much"));
    assert!(failure.to_string().contains("dequeue does not return"), "{failure}");
}

#[test]
fn what_must_hold_afterwards_is_checked() {
    let test = Test::new("finally", || Mutex::new(Vec::<u64>::new()))
        .spec("stack")
        .plan(Plan::native().time(10))
        .op("push", (fresh,), |stack, (value,)| stack.lock().unwrap().push(value))
        .finally(|stack| assert!(stack.lock().unwrap().len() < 3, "too many"))
        .folder(None);
    let failure = test.check().expect_err("there are more");
    assert_eq!(failure.kind, Kind::FinallyFailed("too many".to_owned()));
    let scenario = failure.scenario.as_ref().expect("a scenario");
    assert!((3..8).contains(&scenario.len()), "it is smaller: {}", failure.shown_scenario);
}
