//! Limits hold, long histories are explained, cores are small and the sentences say what a tester
//! would say.

use crate::judge::is_witness;
use linchpin_history_data::{Builder, History, Judgement, OpId, Rank, Violation};
use linchpin_search::cas_register;
use linchpin_search::{SearchOptions, Searched, lockstep, search};
use linchpin_spec::{Counter, Queue, Register, Spec, Value};
use linchpin_verdict::{Limits, StopFlag, StopReason};
use std::time::{Duration, Instant};

/// A queue whose enqueues all overlap, so that almost every order has to be tried.
fn hard() -> History {
    let mut builder = Builder::new(Queue::default().operations());
    for at in 0..24 {
        builder.invoke(&at.to_string(), "enqueue", Value::Int(at % 6)).unwrap();
    }
    for at in 0..24 {
        builder.ok(&at.to_string(), Value::Null).unwrap();
    }
    for at in 0..24 {
        builder.invoke("x", "dequeue", Value::Null).unwrap();
        builder.ok("x", if at == 23 { 9.into() } else { Value::Int(at * 5 % 6) }).unwrap();
    }
    builder.finish()
}

fn run(limits: &Limits) -> Searched {
    search(&Queue::default(), &hard(), limits, &SearchOptions::default())
}

#[test]
fn the_time_limit_holds() {
    let since = Instant::now();
    let deadline = Some(since + Duration::from_millis(200));
    let Searched { judgement, explained, .. } = run(&Limits { deadline, ..Limits::default() });
    let Judgement::Inconclusive(reason) = judgement else { panic!("{judgement:?}") };
    assert_eq!(reason.stopped_by(), Some(StopReason::Time));
    assert!(reason.to_string().contains(&explained.to_string()));
    assert!(explained.number() >= 24, "{reason}");
    assert!(since.elapsed() < Duration::from_secs(2), "{:?}", since.elapsed());
}

#[test]
fn the_memory_limit_holds() {
    let deadline = Some(Instant::now() + Duration::from_secs(20));
    let found = run(&Limits { memory: Some(20_000_000), deadline, ..Limits::default() });
    let Judgement::Inconclusive(reason) = found.judgement else { panic!("{:?}", found.judgement) };
    assert_eq!(reason.stopped_by(), Some(StopReason::Memory), "{reason}");
}

/// Counted, not timed: it ends at the same event every time, with one thread or two.
#[test]
fn the_budget_holds() {
    let limits = Limits { configurations: Some(3000), ..Limits::default() };
    let mut ends = Vec::new();
    for parallel in [true, true, false] {
        let options = SearchOptions { parallel, ..SearchOptions::default() };
        let found = search(&Queue::default(), &hard(), &limits, &options);
        let Judgement::Inconclusive(why) = found.judgement else { panic!("{:?}", found.judgement) };
        assert_eq!(why.stopped_by(), Some(StopReason::Budget), "{why}");
        ends.push(found.explained);
    }
    assert!(ends.iter().all(|end| *end == ends[0]), "{ends:?}");
}

#[test]
fn the_stop_flag_holds() {
    let stop = StopFlag::default();
    stop.ask(StopReason::Interrupt);
    let found = run(&Limits::until(stop));
    let Judgement::Inconclusive(unknown) = found.judgement else { panic!("{:?}", found.judgement) };
    assert_eq!(unknown.stopped_by(), Some(StopReason::Interrupt));
}

#[test]
fn a_long_history_is_explained_by_either_search() {
    let queue = Queue::default();
    let mut builder = Builder::new(queue.operations());
    for at in 0..50_000_i64 {
        builder.invoke("a", "enqueue", (at % 7).into()).unwrap();
        builder.invoke("b", "dequeue", Value::Null).unwrap();
        builder.ok("b", (at % 7).into()).unwrap();
        builder.ok("a", Value::Null).unwrap();
    }
    let history = builder.finish();
    for depth_first in [true, false] {
        let options = SearchOptions { depth_first, ..SearchOptions::default() };
        let found = search(&queue, &history, &Limits::default(), &options);
        let Judgement::Holds(witness) = found.judgement else { panic!("{:?}", found.judgement) };
        assert!(is_witness(&queue, &history, &witness.order));
    }
}

fn history<S: Spec>(spec: &S, events: &[(&str, &str, Value)]) -> History {
    let mut builder = Builder::new(spec.operations());
    for (process, name, value) in events {
        match *name {
            "ok" => builder.ok(process, value.clone()).unwrap(),
            name => builder.invoke(process, name, value.clone()).unwrap(),
        }
    }
    builder.finish()
}

fn violation<S: Spec + Sync>(spec: &S, events: &[(&str, &str, Value)]) -> Violation
where
    S::State: 'static,
{
    let history = history(spec, events);
    let found = search(spec, &history, &Limits::default(), &SearchOptions::default());
    let Judgement::Violated(violation) = found.judgement else { panic!("{:?}", found.judgement) };
    violation
}

#[test]
fn the_core_of_a_stale_read_has_the_writes() {
    let mut events = Vec::new();
    for at in 0..40 {
        events.extend([("a", "write", Value::Int(at)), ("a", "ok", Value::Null)]);
        events.extend([("b", "read", Value::Null), ("b", "ok", Value::Int(at))]);
    }
    events.extend([("c", "read", Value::Null), ("c", "ok", Value::Int(20))]);
    let Violation { core, explanation, at, .. } = violation(&Register::default(), &events);
    assert_eq!(at, Some(Rank::new(161)));
    assert!(
        core.contains(&OpId::new(40)) && core.contains(&OpId::new(80)) && core.len() <= 4,
        "{core:?}"
    );
    expect_test::expect!["read → 20 by process c cannot be explained: just before it returned, the object can only have been in the state 39, and that does not give this answer"].assert_eq(&explanation);
}

#[test]
fn the_core_of_a_wrong_order_has_both_values() {
    let mut events = Vec::new();
    for at in 0..20 {
        events.extend([("a", "enqueue", Value::Int(at)), ("a", "ok", Value::Null)]);
    }
    for at in (0..10).chain([11, 10]) {
        events.extend([("b", "dequeue", Value::Null), ("b", "ok", Value::Int(at))]);
    }
    // Who does not know that it is a queue has to say why no other operation dequeued the 10.
    let Violation { core, .. } = violation(&Queue::default(), &events);
    assert!(core.contains(&OpId::new(10)) && core.contains(&OpId::new(30)), "{core:?}");
    let judged = lockstep::queue(&history(&Queue::default(), &events), &[], &Limits::default());
    let Ok(Judgement::Violated(Violation { core, .. })) = judged else { panic!("{judged:?}") };
    assert!(core.contains(&OpId::new(10)) && core.contains(&OpId::new(30)), "{core:?}");
    assert!(core.len() <= 5, "{core:?}");
}

#[test]
fn the_core_of_a_counter_has_the_additions_that_count() {
    let mut events = Vec::new();
    for _ in 0..30 {
        events.extend([("a", "add", Value::Int(1)), ("a", "ok", Value::Null)]);
    }
    events.extend([("b", "read", Value::Null), ("b", "ok", Value::Int(5))]);
    let Violation { core, .. } = violation(&Counter::default(), &events);
    assert_eq!(core.len(), 7, "six additions and the read of 5: {core:?}");
}

#[test]
fn the_core_of_a_register_with_repeated_values_is_small() {
    let mut builder = Builder::new(Register::default().operations());
    for at in 0..300 {
        builder.invoke("a", "write", Value::Int(at % 3)).unwrap();
        builder.invoke("b", "write", Value::Int(at % 2)).unwrap();
        builder.ok("a", Value::Null).unwrap();
        builder.ok("b", Value::Null).unwrap();
    }
    builder.invoke("c", "read", Value::Null).unwrap();
    builder.ok("c", Value::Int(0)).unwrap();
    let history = builder.finish();
    let judgement = cas_register::check(&history, &Value::Null, &Limits::default()).unwrap();
    let Judgement::Violated(violation) = judgement else { panic!("{judgement:?}") };
    assert!(violation.core.len() <= 6, "{violation:?}");
    assert!(violation.explanation.contains("read → 0"), "{}", violation.explanation);
}

/// What had not returned and must have taken effect is named, with what it did.
#[test]
fn the_sentence_names_what_had_taken_effect() {
    let counter = Counter::default();
    let events = [
        ("a", "add", Value::Int(1)),
        ("b", "read", Value::Null),
        ("b", "ok", Value::Int(1)),
        ("b", "read", Value::Null),
        ("b", "ok", Value::Int(0)),
    ];
    let Violation { explanation, at, .. } = violation(&counter, &events);
    assert_eq!(at, Some(Rank::new(4)));
    expect_test::expect!["read → 0 by process b cannot be explained: just before it returned, the object can only have been in the state 1 (after add(1) by process a, still in progress), or in what others in progress make of that, and none of it gives this answer"].assert_eq(&explanation);
}

/// Where several can have led to a state, the fewest are named, and that there are others.
#[test]
fn the_sentence_says_that_others_may_have_taken_effect() {
    let counter = Counter::default();
    let events = [
        ("a", "add", Value::Int(1)),
        ("b", "add", Value::Int(2)),
        ("c", "add", Value::Int(3)),
        ("d", "read", Value::Null),
        ("d", "ok", Value::Int(3)),
        ("d", "read", Value::Null),
        ("d", "ok", Value::Int(2)),
    ];
    let Violation { explanation, at, .. } = violation(&counter, &events);
    assert_eq!(at, Some(Rank::new(6)));
    expect_test::expect!["read → 2 by process d cannot be explained: just before it returned, the object can only have been in the state 3 (after add(3) by process c or others, still in progress), or in what others in progress make of that, and none of it gives this answer"].assert_eq(&explanation);
}

/// The culprit is not said to be in progress beside itself: it had taken effect too early.
#[test]
fn the_sentence_says_that_the_culprit_had_taken_effect() {
    let events = [
        ("a", "dequeue", Value::Null),
        ("b", "enqueue", Value::Int(1)),
        ("b", "ok", Value::Null),
        ("b", "dequeue", Value::Null),
        ("b", "ok", Value::Null),
        ("a", "ok", Value::Null),
    ];
    let Violation { explanation, at, .. } = violation(&Queue::default(), &events);
    assert_eq!(at, Some(Rank::new(5)));
    expect_test::expect!["dequeue → null by process a cannot be explained: just before it returned, the object can only have been in the state [] (after dequeue by process a, still in progress), where it had taken effect itself, with another answer"].assert_eq(&explanation);
}
