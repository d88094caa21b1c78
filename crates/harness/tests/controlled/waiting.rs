//! Operations that wait.

use crate::objects::Channel;
use linchpin_harness::{Covered, Failure, Kind, NamedCall, Plan, Test, fresh};

fn channel(early: bool, calls: &[&[&str]]) -> Result<Covered, Box<Failure>> {
    channel_in(Plan::exhaustive(), early, calls)
}

fn channel_in(plan: Plan, early: bool, calls: &[&[&str]]) -> Result<Covered, Box<Failure>> {
    let mut sent = 0;
    let mut call = |name: &&str| {
        let mut arguments = Vec::new();
        if *name == "enqueue" {
            sent += 1;
            arguments.push(linchpin_spec::Value::Int(sent));
        }
        NamedCall::new(name, arguments)
    };
    let threads = calls.iter().map(|calls| calls.iter().map(&mut call).collect()).collect();
    let name = format!("controlled-channel-{:?}-{early}-{}", plan.mode, calls.len());
    Test::new(&name, move || Channel::new(early))
        .spec("queue")
        .plan(plan)
        .scenario(threads)
        .op("enqueue", (fresh,), |channel, (value,): (u64,)| channel.send(value))
        .blocking_op("dequeue", (), |channel, ()| channel.receive())
        .check()
}

#[test]
fn a_receiver_waits_for_the_sender() {
    let covered = channel(false, &[&["enqueue"], &["dequeue"]]).expect("it is right");
    assert!(covered.complete, "{covered}");
}

#[test]
fn one_receiver_too_many_waits_rightly() {
    let covered = channel(false, &[&["enqueue"], &["dequeue"], &["dequeue"]]).expect("it is right");
    assert!(covered.complete, "{covered}");
}

#[test]
fn a_lost_wake_up_is_found() {
    let failure = channel(true, &[&["enqueue"], &["dequeue"]]).expect_err("a wake-up is lost");
    assert_eq!(failure.kind, Kind::Stuck, "{failure}");
    // Its steps are those of the test, in the words of people.
    let said = failure.to_string();
    assert!(said.contains("begins to wait") && said.contains("unlocks"), "{said}");
    assert!(!said.contains("condvar.rs") && !said.contains("ptr/mod.rs"), "{said}");
    assert!(!said.contains("the first thread waits"), "{said}");
}

#[test]
fn under_weak_memory_a_lost_wake_up_is_found_too() {
    let failure = channel_in(Plan::weak(), true, &[&["enqueue"], &["dequeue"]])
        .expect_err("a wake-up is lost");
    assert_eq!(failure.kind, Kind::Stuck, "{failure}");
}

#[test]
fn under_weak_memory_one_receiver_too_many_waits_rightly() {
    let calls: &[&[&str]] = &[&["enqueue"], &["dequeue"], &["dequeue"]];
    let covered = channel_in(Plan::weak(), false, calls).expect("it is right");
    assert!(covered.complete, "{covered}");
}

/// The call of an operation cannot be delayed until it waits for the thread that does its work.
#[test]
fn an_operation_may_leave_its_work_to_a_thread() {
    use linchpin_sync::sync::atomic::{AtomicU64, Ordering};

    for plan in [Plan::exhaustive(), Plan::weak(), Plan::random()] {
        let name = format!("controlled-helper-{:?}", plan.mode);
        let covered = Test::new(&name, || AtomicU64::new(0))
            .spec("counter")
            .plan(plan.threads(2).ops(2))
            .op("add", (1..3u64,), |count: &AtomicU64, (more,): (u64,)| {
                linchpin_sync::thread::scope(|scope| {
                    scope.spawn(|| count.fetch_add(more, Ordering::SeqCst));
                });
            })
            .op("read", (), |count: &AtomicU64, ()| count.load(Ordering::SeqCst))
            .check();
        if let Err(failure) = covered {
            panic!("{failure}");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn memory_that_waiting_threads_keep_is_limited() {
    // Less than the process has already: it is looked at every 1,024 executions.
    let plan = Plan::random().runs(1_000_000).time(60).memory(1 << 20);
    let calls: &[&[&str]] = &[&["enqueue"], &["dequeue"], &["dequeue"]];
    let covered = channel_in(plan, false, calls).expect("it is right");
    assert!(covered.notes.iter().any(|note| note.contains("memory limit")), "{covered}");
}
