//! All interleavings of small scenarios.

use crate::objects::{Bounded, LazySet, Lossy, Map, Queue, Racy, Stack};
use linchpin_harness::{Covered, Failure, Kind, Plan, Test, fresh};
use linchpin_sync::sync::atomic::{AtomicU64, Ordering};
use std::collections::BTreeMap;

fn stack(plan: Plan, broken: bool) -> Result<Covered, Box<Failure>> {
    Test::new(&format!("controlled-stack-{}-{broken}", plan.mode), move || Stack::new(broken))
        .spec("stack")
        .plan(plan)
        .op("push", (fresh,), |stack, (value,): (u64,)| stack.push(value))
        .op("pop", (), |stack, ()| stack.pop())
        .check()
}

fn queue(plan: Plan, broken: bool) -> Result<Covered, Box<Failure>> {
    Test::new(&format!("controlled-queue-{}-{broken}", plan.mode), move || Queue::new(broken))
        .spec("queue")
        .plan(plan)
        .op("enqueue", (fresh,), |queue, (value,): (u64,)| queue.enqueue(value))
        .op("dequeue", (), |queue, ()| queue.dequeue())
        .check()
}

fn map(plan: Plan, broken: bool) -> Result<Covered, Box<Failure>> {
    Test::new(&format!("controlled-map-{}-{broken}", plan.mode), move || Map::new(broken))
        .model(BTreeMap::<u64, u64>::new())
        .plan(plan)
        .op(
            "put",
            (0..1u64, fresh),
            |map, (k, v): (u64, u64)| map.put(k, v),
            |m, (k, v)| m.insert(k, v),
        )
        .op("get", (0..1u64,), |map, (k,): (u64,)| map.get(k), |m, (k,)| m.get(&k).copied())
        .check()
}

fn bounded(plan: Plan, broken: bool) -> Result<Covered, Box<Failure>> {
    Test::new(&format!("controlled-bounded-{}-{broken}", plan.mode), move || Bounded::new(broken))
        .spec(linchpin_harness::Specification::from("bounded-queue").starting_from(1))
        .plan(plan)
        .op("enqueue", (fresh,), |queue, (value,): (u64,)| queue.enqueue(value))
        .op("dequeue", (), |queue, ()| queue.dequeue())
        .check()
}

fn set(plan: Plan, broken: bool) -> Result<Covered, Box<Failure>> {
    Test::new(&format!("controlled-set-{}-{broken}", plan.mode), move || LazySet::new(broken))
        .spec("set")
        .plan(plan)
        .op("add", (0..1usize,), |set, (key,): (usize,)| set.add(key))
        .op("remove", (0..1usize,), |set, (key,): (usize,)| set.remove(key))
        .op("contains", (0..1usize,), |set, (key,): (usize,)| set.contains(key))
        .check()
}

type Case = fn(Plan, bool) -> Result<Covered, Box<Failure>>;

const CASES: [(&str, Case); 5] =
    [("stack", stack), ("queue", queue), ("map", map), ("bounded", bounded), ("set", set)];

fn plans() -> Vec<Plan> {
    vec![Plan::exhaustive().threads(2).ops(2), Plan::preemptions().bound(2).threads(2).ops(2)]
}

#[test]
fn right_objects_pass_and_everything_is_covered() {
    for (name, case) in CASES {
        for plan in plans() {
            let covered = case(plan, false).unwrap_or_else(|failure| panic!("{name}: {failure}"));
            println!("{covered}");
            assert!(covered.complete, "{covered}");
        }
    }
}

#[test]
fn broken_objects_are_found_in_every_mode() {
    for (name, case) in CASES {
        for seed in 0..10 {
            let sampled = [Plan::random().threads(2).ops(2), Plan::pct().threads(2).ops(2)];
            let sampled = sampled.map(|plan| plan.seed(seed).runs(100_000));
            let all = plans().into_iter().filter(|_| seed == 0).chain(sampled);
            for plan in all {
                let mode = plan.mode;
                let failure = case(plan, true).err();
                let failure = failure.unwrap_or_else(|| panic!("{name} in {mode}, seed {seed}"));
                assert_eq!(failure.kind, Kind::NotLinearizable, "{failure}");
            }
        }
    }
}

#[test]
fn weak_memory_finds_what_interleavings_find() {
    for (name, case) in CASES {
        let plan = Plan::weak().threads(2).ops(2);
        let covered =
            case(plan.clone(), false).unwrap_or_else(|failure| panic!("{name}: {failure}"));
        assert!(covered.complete, "{covered}");
        let failure = case(plan, true).err().unwrap_or_else(|| panic!("{name}"));
        assert_eq!(failure.kind, Kind::NotLinearizable, "{failure}");
    }
}

#[test]
fn a_failure_is_small_and_says_where() {
    let failure = stack(Plan::exhaustive().threads(2).ops(3), true).expect_err("it is broken");
    println!("{failure}");
    let scenario = failure.scenario.as_ref().expect("a scenario");
    assert!(scenario.len() <= 3, "{failure}");
    let steps = failure.interleaving.as_deref().expect("steps");
    assert!(steps.contains("objects.rs:"), "{steps}");
    assert!(steps.contains("self.top.store(next, SeqCst);"), "{steps}");
}

#[test]
fn a_data_race_is_found() {
    let failure = Test::new("racy", Racy::new)
        .spec("counter")
        .plan(Plan::exhaustive().threads(2).ops(1))
        .op("add", (1..2u64,), |counter, (n,): (u64,)| counter.add(n))
        .check()
        .expect_err("it races");
    assert!(matches!(failure.kind, Kind::Race(_)), "{failure}");
    assert!(failure.to_string().contains("use that of linchpin::sync"), "{failure}");
}

#[test]
fn what_must_hold_at_the_end_is_looked_at() {
    let failure = Test::new("lossy", || Lossy(AtomicU64::new(0)))
        .spec("counter")
        .plan(Plan::exhaustive().threads(2).ops(1))
        .op("add", (1..2u64,), |counter, (n,): (u64,)| counter.add(n))
        .finally(|counter| assert_eq!(counter.0.load(Ordering::SeqCst), 2))
        .check()
        .expect_err("an addition is lost");
    assert!(matches!(failure.kind, Kind::FinallyFailed(_)), "{failure}");
}

/// Operations have as much of the system's stack as threads of std have.
#[test]
fn an_operation_may_call_deeply() {
    use linchpin_harness::{Plan, Test};

    fn sum(depth: u64) -> u64 {
        let frame = std::hint::black_box([depth; 64]);
        if depth == 0 { 0 } else { frame[0] + sum(depth - 1) }
    }
    Test::new("controlled-deep", || AtomicU64::new(800))
        .model(())
        .plan(Plan::exhaustive().threads(2).ops(1))
        .op("sum", (), |depth, ()| sum(depth.load(Ordering::SeqCst)), |(), ()| 800 * 801 / 2_u64)
        .check()
        .expect("it is right");
}
