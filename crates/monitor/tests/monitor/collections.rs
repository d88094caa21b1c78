//! Queues, stacks and priority queues against the brute-force judge, on random small histories.
//!
//! `LINCHPIN_SEED` and `LINCHPIN_CASES` make this the long fuzzer.

use linchpin_history_data::{
    Argument, Builder, History, Judgement, Monitored, NEVER, OpId, Rank, ValueId, Violation,
};
use linchpin_monitor::{priority_queue, queue, stack};
use linchpin_oracle::is_linearizable;
use linchpin_spec::{Call, PriorityQueue, Queue, Spec, Stack, Value};
use linchpin_verdict::Limits;
use std::env;

type Check = fn(&History, &[ValueId], &Limits) -> Monitored;

/// What kind of histories to make.
#[derive(Clone, Copy, Debug)]
struct Kind {
    /// The operations that are called, the adding one first, the removing one second.
    operations: &'static [&'static str],
    /// How many operations at most.
    length: usize,
    /// One in about how many calls never returns; 0 for none.
    crashes: u32,
    /// Whether the collection may have contents at the start.
    initial: bool,
}

/// A process calls, or is answered.
type Event = (usize, Result<Call, Value>);

/// Operations at random: each value is added and perhaps removed and looked at somewhat later,
/// whatever the others do. Answers are far from obviously wrong, and hardly ever obviously right.
fn scatter<S: Spec>(
    random: &mut fastrand::Rng,
    new: &dyn Fn(Vec<Value>) -> S,
    kind: Kind,
) -> (History, Vec<Value>) {
    let mut fresh: Vec<i64> = (0..20).collect();
    random.shuffle(&mut fresh);
    let initial: Vec<Value> =
        if kind.initial && random.bool() { vec![Value::Int(fresh[19])] } else { Vec::new() };
    let spec = new(initial.clone());
    let (lengths, reach) = (random.f64() * 6.0, random.f64() * 8.0);
    // (call, answer if it has one, when, for how long)
    let mut operations: Vec<(Call, Option<Value>, f64, f64)> = Vec::new();
    let mut put = |random: &mut fastrand::Rng,
                   which: usize,
                   value: Value,
                   answer: Value,
                   at: f64| {
        let operation = spec.operation(kind.operations[which]).unwrap();
        let pending = kind.crashes > 0 && random.u32(..kind.crashes) == 0;
        let argument = if which == 0 { value } else { Value::Null };
        let call = Call { operation, argument };
        let length = random.f64() * lengths;
        operations.push((call, (!pending).then_some(answer), at - random.f64() * length, length));
    };
    let mut values = initial.clone();
    for value in fresh.into_iter().take(random.usize(1..=kind.length / 2)).map(Value::Int) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    for (at, value) in values.into_iter().enumerate() {
        let added = if at < initial.len() { -1.0 } else { random.f64() * 10.0 };
        if at >= initial.len() {
            put(random, 0, value.clone(), Value::Null, added);
        }
        for which in 1..kind.operations.len() {
            if random.u8(..6) > 0 && (which == 1 || random.u8(..3) > 0) {
                let when = added + random.f64() * reach;
                put(random, which, Value::Null, value.clone(), when);
            }
        }
        if random.u8(..8) == 0 {
            let when = random.f64() * 10.0;
            put(random, 1, Value::Null, Value::Null, when);
        }
    }
    let mut ends: Vec<(f64, usize, bool)> = Vec::new();
    for (process, (_, _, start, length)) in operations.iter().enumerate() {
        ends.extend([(*start, process, true), (start + length, process, false)]);
    }
    ends.sort_by(|a, b| a.partial_cmp(b).unwrap());
    let mut events: Vec<Event> = Vec::new();
    for (_, process, is_call) in ends {
        let (call, answer, ..) = &operations[process];
        match answer {
            _ if is_call => events.push((process, Ok(call.clone()))),
            Some(answer) => events.push((process, Err(answer.clone()))),
            None => {}
        }
    }
    (build(&spec, events), initial)
}

fn build<S: Spec>(spec: &S, events: Vec<Event>) -> History {
    let mut builder = Builder::new(spec.operations());
    for (process, event) in events {
        let process = process.to_string();
        match event {
            Ok(call) => {
                let name = &spec.operations()[call.operation].name;
                builder.invoke(&process, name, call.argument).unwrap();
            }
            Err(answer) => builder.ok(&process, answer).unwrap(),
        }
    }
    builder.finish()
}

/// A history that processes could have recorded on a correct object, after which perhaps some
/// events and answers are exchanged; and the contents at the start.
fn make<S: Spec>(
    random: &mut fastrand::Rng,
    new: &dyn Fn(Vec<Value>) -> S,
    kind: Kind,
) -> (History, Vec<Value>) {
    let mut fresh: Vec<i64> = (0..kind.length as i64 + 10).collect();
    random.shuffle(&mut fresh);
    let mut fresh = fresh.into_iter().map(Value::Int);
    let contents = if kind.initial { random.usize(..3) } else { 0 };
    let initial: Vec<Value> = fresh.by_ref().take(contents).collect();
    let spec = new(initial.clone());
    let mut state = spec.initial();

    // For each process its name, and what it has open, with the answer once it took effect.
    let mut names: Vec<usize> = (0..random.usize(2..=4)).collect();
    let mut open: Vec<Option<(Call, Option<Value>)>> = vec![None; names.len()];
    let mut events: Vec<Event> = Vec::new();
    let length = random.usize(2..=kind.length);
    let mut calls = 0;
    let adding = random.u32(30..70);
    for _ in 0..200.max(5 * length) {
        let process = random.usize(..open.len());
        open[process] = match open[process].take() {
            None if calls == length => None,
            None => {
                let adds = random.u32(..100) < adding;
                let which = if adds { 0 } else { random.usize(1..kind.operations.len()) };
                let operation = spec.operation(kind.operations[which]).unwrap();
                let argument = if adds { fresh.next().unwrap() } else { Value::Null };
                let call = Call { operation, argument };
                events.push((names[process], Ok(call.clone())));
                calls += 1;
                Some((call, None))
            }
            Some(_) if kind.crashes > 0 && random.u32(..2 * kind.crashes) == 0 => {
                names[process] = names.iter().max().unwrap() + 1;
                None
            }
            Some((call, None)) => {
                let outcome = spec.apply(&state, &call, None).remove(0);
                state = outcome.state;
                Some((call, Some(outcome.response)))
            }
            Some((_, Some(answer))) => {
                events.push((names[process], Err(answer)));
                None
            }
        };
    }
    if random.bool() {
        mutate(random, &spec, &mut events);
    }

    (build(&spec, events), initial)
}

/// Exchanges neighbouring events of different processes, and answers of operations that have some.
fn mutate<S: Spec>(random: &mut fastrand::Rng, spec: &S, events: &mut [Event]) {
    for _ in 0..random.usize(..8) {
        let at = random.usize(..events.len());
        if at + 1 < events.len() && events[at].0 != events[at + 1].0 {
            events.swap(at, at + 1);
        }
    }
    let processes = events.iter().map(|(process, _)| process + 1).max().unwrap_or(0);
    let mut open = vec![0; processes];
    let mut answers = Vec::new();
    for (at, (process, event)) in events.iter().enumerate() {
        match event {
            Ok(call) => open[*process] = call.operation,
            Err(_) if spec.operations()[open[*process]].response == linchpin_spec::Shape::Unit => {}
            Err(_) => answers.push(at),
        }
    }
    for _ in 0..random.usize(..3) {
        let (Some(&a), Some(&b)) = (random.choice(&answers), random.choice(&answers)) else {
            return;
        };
        if random.u8(..4) == 0 {
            let answer = if random.bool() { Value::Null } else { Value::Int(random.i64(..20)) };
            events[a].1 = Err(answer);
        } else {
            let answer = events[a].1.clone();
            events[a].1 = std::mem::replace(&mut events[b].1, answer);
        }
    }
}

/// Some operations of a history up to an event, for the judge.
fn judged(history: &History, ids: &[OpId], cut: Rank) -> Vec<linchpin_oracle::Operation> {
    let ids = ids.iter().filter(|&&id| history[id].invoked < cut);
    let operation = |&id: &OpId| {
        let operation = &history[id];
        let completed = operation.completed && operation.returned < cut;
        linchpin_oracle::Operation {
            process: operation.process as usize,
            call: history.call(id),
            response: history.response(id).filter(|_| completed),
            invoked: operation.invoked.index(),
            returned: completed.then_some(operation.returned.index()),
        }
    };
    ids.map(operation).collect()
}

/// What is wrong with a witness.
fn fault<S: Spec>(history: &History, spec: &S, order: &[OpId]) -> Option<String> {
    let mut state = spec.initial();
    let mut seen = vec![false; history.operations.len()];
    let mut latest_call = linchpin_history_data::Rank::FIRST;
    for &id in order {
        let operation = &history[id];
        if std::mem::replace(&mut seen[id.index()], true) {
            return Some(format!("{id} occurs twice"));
        }
        if operation.returned < latest_call {
            return Some(format!("{id} returned before one that comes earlier was called"));
        }
        latest_call = latest_call.max(operation.invoked);
        match spec.apply(&state, &history.call(id), history.response(id).as_ref()).pop() {
            Some(outcome) => state = outcome.state,
            None => return Some(format!("{id} cannot answer that in {state:?}")),
        }
    }
    let missing = history.operations.iter().zip(seen).position(|(op, seen)| op.completed && !seen);
    missing.map(|id| format!("{id} is missing"))
}

fn setting(name: &str, default: u64) -> u64 {
    env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

#[derive(Default, Debug)]
struct Tally {
    holds: u64,
    violated: u64,
    not_applicable: u64,
    /// Of the violated ones: whose first bad event is known, and whose core is smaller than the
    /// history.
    with_event: u64,
    with_small_core: u64,
    /// How many explanations need an operation without an answer, and how many refutations consider
    /// one.
    holds_with_pending: u64,
    violated_with_pending: u64,
}

fn compare<S: Spec>(name: &str, check: Check, new: impl Fn(Vec<Value>) -> S, kind: Kind) -> Tally {
    let seed = setting("LINCHPIN_SEED", 1);
    let cases = setting("LINCHPIN_CASES", 4_000);
    println!("{name}: LINCHPIN_SEED={seed} LINCHPIN_CASES={cases}");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut tally = Tally::default();
    for case in 0..cases {
        let make = if case % 2 == 0 { make::<S> } else { scatter::<S> };
        let (mut history, initial) = make(&mut random, &new, kind);
        let spec = new(initial.clone());
        let initial: Vec<ValueId> =
            initial.into_iter().map(|value| history.values.intern(value)).collect();
        let all: Vec<OpId> = history.ids().collect();
        let context = || {
            let start = spec.initial();
            format!("{name}, case {case}: {start:?} {:#?}", judged(&history, &all, NEVER))
        };
        let holds = |ids: &[OpId], cut| is_linearizable(&spec, &judged(&history, ids, cut));
        let is_pending = |id: &OpId| {
            let operation = &history[*id];
            !operation.completed && operation.argument == Argument::None
        };
        match check(&history, &initial, &Limits::default()) {
            Err(_) => tally.not_applicable += 1,
            Ok(Judgement::Inconclusive(why)) => panic!("{why}"),
            Ok(Judgement::Holds(witness)) => {
                tally.holds += 1;
                let fault = fault(&history, &spec, &witness.order);
                let order = &witness.order;
                tally.holds_with_pending += u64::from(order.iter().any(is_pending));
                assert!(holds(&all, NEVER), "holds? {order:?} has {fault:?} {}", context());
                assert_eq!(fault, None, "{order:?} {}", context());
            }
            Ok(Judgement::Violated(violation)) => {
                tally.violated += 1;
                let Violation { core, explanation, at, .. } = violation;
                assert!(!holds(&all, NEVER), "{explanation}: {core:?} {}", context());
                assert!(!holds(&core, NEVER), "{explanation}: {core:?} {}", context());
                // The argument is closed: no removal without an answer is an excuse.
                let with_pending: Vec<OpId> =
                    all.iter().copied().filter(|id| core.contains(id) || is_pending(id)).collect();
                assert!(!holds(&with_pending, NEVER), "{explanation}: {core:?} {}", context());
                assert!(explanation.len() > 20, "{explanation}");
                tally.violated_with_pending += u64::from(core.iter().any(is_pending));
                tally.with_small_core += u64::from(core.len() < all.len());
                if let Some(at) = at {
                    tally.with_event += 1;
                    assert!(holds(&all, at), "not the first: {at} {}", context());
                    assert!(!holds(&all, at + 1), "too early: {at} {}", context());
                }
            }
        }
    }
    println!("{name}: {tally:?}");
    assert!(tally.holds >= cases / 10, "{name}: {tally:?}");
    assert!(tally.violated >= cases / 10, "{name}: {tally:?}");
    assert!(tally.with_small_core >= cases / 20, "{name}: {tally:?}");
    tally
}

/// Histories that are too long for the judge: explanations must replay, and cores must convince the
/// judge.
fn explain_long<S: Spec>(name: &str, check: Check, new: impl Fn(Vec<Value>) -> S, kind: Kind) {
    let seed = setting("LINCHPIN_SEED", 1);
    println!("{name}: LINCHPIN_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut holds, mut violated) = (0, 0);
    for case in 0..60 {
        let (mut history, initial) = make(&mut random, &new, Kind { length: 1_000, ..kind });
        let spec = new(initial.clone());
        let initial: Vec<ValueId> =
            initial.into_iter().map(|value| history.values.intern(value)).collect();
        match check(&history, &initial, &Limits::default()) {
            Ok(Judgement::Holds(witness)) => {
                holds += 1;
                assert_eq!(fault(&history, &spec, &witness.order), None, "{name}, case {case}");
            }
            Ok(Judgement::Violated(Violation { core, explanation, .. })) => {
                violated += 1;
                let core = judged(&history, &core, NEVER);
                assert!(!is_linearizable(&spec, &core), "{name}, case {case}: {explanation}");
            }
            other => assert!(kind.crashes > 0, "{name}, case {case}: {other:?}"),
        }
    }
    println!("{name}: {holds} hold, {violated} do not");
    assert!(holds > 10 && violated > 5, "{name}: {holds} hold, {violated} do not");
}

const COMPLETE: Kind = Kind { operations: &[], length: 9, crashes: 0, initial: true };
const QUEUE: Kind = Kind { operations: &["enqueue", "dequeue"], ..COMPLETE };
const STACK: Kind = Kind { operations: &["push", "pop"], ..COMPLETE };
const PRIORITY_QUEUE: Kind = Kind { operations: &["insert", "remove-min"], ..COMPLETE };

#[test]
fn queues() {
    compare("queue", queue::check, Queue::new, QUEUE);
    let longer = Kind { length: 13, initial: false, ..QUEUE };
    let tally = compare("queue, longer", queue::check, Queue::new, longer);
    assert_eq!(tally.not_applicable, 0);
}

#[test]
fn queues_with_peeks() {
    let operations = &["enqueue", "dequeue", "peek"];
    compare("queue, peeks", queue::check, Queue::new, Kind { operations, ..QUEUE });
    let longer = Kind { operations, length: 13, initial: false, ..QUEUE };
    let tally = compare("queue, peeks, longer", queue::check, Queue::new, longer);
    assert_eq!(tally.not_applicable, 0);
    let operations = &["enqueue", "dequeue", "peek", "peek", "peek"];
    compare("queue, many peeks", queue::check, Queue::new, Kind { operations, ..QUEUE });
}

#[test]
fn queues_with_pending_operations() {
    let pending = Kind { crashes: 4, ..QUEUE };
    let tally = compare("queue, pending", queue::check, Queue::new, pending);
    assert_eq!(tally.not_applicable, 0);
    let operations = &["enqueue", "dequeue", "peek"];
    let pending = Kind { crashes: 4, operations, ..QUEUE };
    compare("queue, peeks, pending", queue::check, Queue::new, pending);
}

#[test]
fn stacks() {
    compare("stack", stack::check, Stack::new, STACK);
    let longer = Kind { length: 13, initial: false, ..STACK };
    let tally = compare("stack, longer", stack::check, Stack::new, longer);
    assert_eq!(tally.not_applicable, 0);
}

#[test]
fn stacks_with_peeks() {
    let operations = &["push", "pop", "peek"];
    compare("stack, peeks", stack::check, Stack::new, Kind { operations, ..STACK });
    let longer = Kind { operations, length: 13, initial: false, ..STACK };
    let tally = compare("stack, peeks, longer", stack::check, Stack::new, longer);
    assert_eq!(tally.not_applicable, 0);
    let operations = &["push", "pop", "peek", "peek", "peek"];
    compare("stack, many peeks", stack::check, Stack::new, Kind { operations, ..STACK });
}

#[test]
fn stacks_with_pending_operations() {
    compare("stack, pending", stack::check, Stack::new, Kind { crashes: 4, ..STACK });
    let operations = &["push", "pop", "peek"];
    let pending = Kind { crashes: 4, operations, ..STACK };
    compare("stack, peeks, pending", stack::check, Stack::new, pending);
}

#[test]
fn priority_queues() {
    let check = priority_queue::check;
    compare("priority queue", check, PriorityQueue::new, PRIORITY_QUEUE);
    let longer = Kind { length: 13, initial: false, ..PRIORITY_QUEUE };
    let tally = compare("priority queue, longer", check, PriorityQueue::new, longer);
    assert_eq!(tally.not_applicable, 0);
}

#[test]
fn priority_queues_with_pending_operations() {
    let pending = Kind { crashes: 4, ..PRIORITY_QUEUE };
    compare("priority queue, pending", priority_queue::check, PriorityQueue::new, pending);
}

#[test]
fn long_histories() {
    let operations = &["enqueue", "dequeue", "peek"];
    explain_long("long queue", queue::check, Queue::new, QUEUE);
    explain_long("long queue, peeks", queue::check, Queue::new, Kind { operations, ..QUEUE });
    let pending = Kind { crashes: 40, ..QUEUE };
    explain_long("long queue, pending", queue::check, Queue::new, pending);
    let operations = &["push", "pop", "peek"];
    explain_long("long stack", stack::check, Stack::new, STACK);
    explain_long("long stack, peeks", stack::check, Stack::new, Kind { operations, ..STACK });
    let new = PriorityQueue::new;
    explain_long("long priority queue", priority_queue::check, new, PRIORITY_QUEUE);
}
