//! Positive controls: five broken objects in every mode, with ten seeds each. Is each one found,
//! and how long does it take until the failure is there, made small?
//!
//! ```console
//! $ cargo run -p linchpin-harness --example controls
//! ```
//!
//! The objects are those of the tests. Outside of a controlled execution their atomics and locks
//! are those of std, so native mode runs the same code. Modes that cover everything do not use the
//! seed.

#[allow(dead_code)]
#[path = "../tests/controlled/objects.rs"]
mod objects;

use linchpin_harness::{Covered, Failure, Kind, Plan, Specification, Test, fresh};
use objects::{Bounded, LazySet, Map, Queue, Stack};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const SEEDS: u64 = 10;

/// So long each is looked for.
const TIME: f64 = 10.0;

type Case = fn(Plan) -> Result<Covered, Box<Failure>>;

const CASES: [(&str, Case); 5] = [
    ("stack that checks, then stores", stack),
    ("queue whose dequeue gives up", queue),
    ("map that removes and inserts", map),
    ("bounded queue, wrongly full", bounded),
    ("lazy set, unmarked removal", set),
];

const MODES: [fn() -> Plan; 6] =
    [Plan::native, Plan::exhaustive, Plan::preemptions, Plan::random, Plan::pct, Plan::weak];

fn main() {
    let names: Vec<String> = MODES.iter().map(|plan| format!("`{}`", plan().mode)).collect();
    println!("| object | {} |", names.join(" | "));
    println!("| --- |{}", " --- |".repeat(MODES.len()));
    let mut worst = Duration::ZERO;
    let mut missed = 0;
    for (name, case) in CASES {
        let mut row = format!("| {name} |");
        for plan in MODES {
            let mut found = 0;
            let mut longest = Duration::ZERO;
            for seed in 0..SEEDS {
                let began = Instant::now();
                let result = case(plan().threads(2).seed(seed).time(TIME));
                longest = longest.max(began.elapsed());
                found += u64::from(is_violation(result));
            }
            missed += SEEDS - found;
            worst = worst.max(longest);
            row += &format!(" {found}/{SEEDS}, {:.2} |", longest.as_secs_f64());
        }
        println!("{row}");
    }
    println!("\nThe longest took {:.2} s; {missed} were missed.", worst.as_secs_f64());
    assert_eq!(missed, 0, "each is to be found with each seed");
}

fn is_violation(result: Result<Covered, Box<Failure>>) -> bool {
    result.is_err_and(|failure| failure.kind == Kind::NotLinearizable)
}

fn stack(plan: Plan) -> Result<Covered, Box<Failure>> {
    Test::new("stack", || Stack::new(true))
        .spec("stack")
        .plan(plan)
        .op("push", (fresh,), |stack, (value,): (u64,)| stack.push(value))
        .op("pop", (), |stack, ()| stack.pop())
        .folder(None)
        .check()
}

fn queue(plan: Plan) -> Result<Covered, Box<Failure>> {
    Test::new("queue", || Queue::new(true))
        .spec("queue")
        .plan(plan)
        .op("enqueue", (fresh,), |queue, (value,): (u64,)| queue.enqueue(value))
        .op("dequeue", (), |queue, ()| queue.dequeue())
        .folder(None)
        .check()
}

fn map(plan: Plan) -> Result<Covered, Box<Failure>> {
    Test::new("map", || Map::new(true))
        .model(BTreeMap::<u64, u64>::new())
        .plan(plan)
        .op(
            "put",
            (0..1u64, fresh),
            |map, (key, value): (u64, u64)| map.put(key, value),
            |model, (key, value)| model.insert(key, value),
        )
        .op(
            "get",
            (0..1u64,),
            |map, (key,): (u64,)| map.get(key),
            |model, (key,)| model.get(&key).copied(),
        )
        .folder(None)
        .check()
}

fn bounded(plan: Plan) -> Result<Covered, Box<Failure>> {
    Test::new("bounded", || Bounded::new(true))
        .spec(Specification::from("bounded-queue").starting_from(Bounded::CAPACITY as u64))
        .plan(plan)
        .op("enqueue", (fresh,), |queue, (value,): (u64,)| queue.enqueue(value))
        .op("dequeue", (), |queue, ()| queue.dequeue())
        .folder(None)
        .check()
}

fn set(plan: Plan) -> Result<Covered, Box<Failure>> {
    Test::new("set", || LazySet::new(true))
        .spec("set")
        .plan(plan)
        .op("add", (0..1usize,), |set, (key,): (usize,)| set.add(key))
        .op("remove", (0..1usize,), |set, (key,): (usize,)| set.remove(key))
        .op("contains", (0..1usize,), |set, (key,): (usize,)| set.contains(key))
        .folder(None)
        .check()
}
