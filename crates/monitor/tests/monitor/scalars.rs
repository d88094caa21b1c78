//! The monitors of registers, sets, maps, locks, semaphores and counters against the brute-force
//! judge, on random small histories. `LINCHPIN_SEED` and `LINCHPIN_CASES` make this a longer or
//! another fuzzing run.

use fastrand::Rng;
use linchpin_history_data::{Builder, History, Judgement, Monitored, NEVER, OpId, Rank, Violation};
use linchpin_monitor::{counter, grow_set, map, mutex, register, semaphore, set, unordered_queue};
use linchpin_oracle::{Operation, is_linearizable};
use linchpin_spec::{BuiltinSpec, Value, builtin};
use linchpin_verdict::Limits;
use std::env;

type Check = fn(&History, &Value, &Limits) -> Monitored;

/// What to fuzz.
struct Subject {
    spec: &'static str,
    init: Value,
    check: Check,
    /// A random call; the number is different each time.
    call: fn(&mut Rng, i64, &[Value]) -> (&'static str, Value),
    /// A random response to that call, given the values that were there.
    answer: fn(&mut Rng, &str, &[Value]) -> Value,
    /// How many of a hundred calls never return.
    pending: u32,
    /// Whether pending operations get deadlines.
    deadlines: bool,
    /// How many of a hundred histories the monitor may refuse.
    refusals: f64,
}

fn number(name: &str, default: u64) -> u64 {
    env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// What a process of the simulation is doing.
#[derive(Clone)]
enum Activity {
    Idle,
    Called(&'static str, Value),
    Done(&'static str, Value),
}

/// A history of an object that is correct, but for some wrong answers.
fn random_history(subject: &Subject, spec: &BuiltinSpec, rng: &mut Rng) -> History {
    let mut builder = Builder::new(spec.operations());
    let processes = rng.usize(1..=4);
    let count = rng.usize(1..=9);
    let lies = if rng.bool() { 0 } else { rng.u32(10..50) };
    let pending = if subject.pending == 0 || rng.bool() { 0 } else { subject.pending };
    let mut activities = vec![Activity::Idle; processes];
    let mut names: Vec<String> = (0..processes).map(|p| p.to_string()).collect();
    let mut state = spec.initial();
    let (mut calls, mut renamed) = (0, processes);
    let mut seen = vec![if subject.spec == "map" { Value::Null } else { subject.init.clone() }];
    for _ in 0..count * 12 {
        let process = rng.usize(0..processes);
        match activities[process].clone() {
            Activity::Idle if calls < count => {
                calls += 1;
                let (name, argument) = (subject.call)(rng, calls as i64, &seen);
                builder.invoke(&names[process], name, argument.clone()).unwrap();
                match (name, &argument) {
                    ("write", written) => seen.push(written.clone()),
                    ("put" | "cas", Value::List(pair)) => seen.push(pair[1].clone()),
                    _ => {}
                }
                activities[process] = Activity::Called(name, argument);
            }
            Activity::Idle => {}
            Activity::Called(name, argument) => {
                if rng.u32(0..100) < lies {
                    let answer = (subject.answer)(rng, name, &seen);
                    activities[process] = Activity::Done(name, answer);
                    continue;
                }
                if rng.u32(0..100) < pending / 2 {
                    (names[process], renamed) = (renamed.to_string(), renamed + 1);
                    activities[process] = Activity::Idle;
                    continue;
                }
                let operation = spec.operation(name).unwrap();
                let call = linchpin_spec::Call { operation, argument };
                if let Some(outcome) = spec.apply(&state, &call, None).pop() {
                    state = outcome.state;
                    if !matches!(outcome.response, Value::Bool(_)) {
                        seen.push(outcome.response.clone());
                    }
                    activities[process] = Activity::Done(name, outcome.response);
                }
            }
            Activity::Done(..) if rng.u32(0..100) < pending / 2 => {
                (names[process], renamed) = (renamed.to_string(), renamed + 1);
                activities[process] = Activity::Idle;
            }
            Activity::Done(name, mut response) => {
                if rng.u32(0..100) < lies {
                    response = (subject.answer)(rng, name, &seen);
                }
                builder.ok(&names[process], response).unwrap();
                activities[process] = Activity::Idle;
            }
        }
    }
    // The operation that is still in progress returns, unless pending operations are wanted.
    for (process, activity) in activities.into_iter().enumerate() {
        if let (Activity::Done(_, response), 0) = (activity, pending) {
            builder.ok(&names[process], response).unwrap();
        }
    }
    let mut history = builder.finish();
    if subject.pending == 0 {
        history.operations.retain(|operation| operation.completed);
    }
    if subject.deadlines {
        let end = history.events.number();
        for operation in history.operations.iter_mut().filter(|o| !o.completed) {
            // why odd: deadlines are at ranks that no event has.
            if rng.bool() {
                operation.returned = Rank::new(rng.u32(operation.invoked.number() + 1..=end));
            }
        }
        double_ranks(&mut history);
    }
    history
}

/// Makes room between events, so that deadlines have ranks of their own.
fn double_ranks(history: &mut History) {
    let mut deadlines = 0;
    for operation in &mut history.operations {
        let sixteenfold = |rank: Rank| Rank::new(16 * rank.number());
        operation.invoked = sixteenfold(operation.invoked);
        if operation.returned != NEVER {
            operation.returned = sixteenfold(operation.returned);
            if !operation.completed {
                deadlines += 1;
                operation.returned = operation.returned - deadlines;
            }
        }
    }
    history.events = Rank::new(16 * history.events.number());
}

fn oracle_operations(history: &History, ids: &[OpId]) -> Vec<Operation> {
    let convert = |id: &OpId| {
        let operation = &history[*id];
        Operation {
            process: operation.process as usize,
            call: history.call(*id),
            response: history.response(*id),
            invoked: operation.invoked.index(),
            returned: (operation.returned != NEVER).then_some(operation.returned.index()),
        }
    };
    ids.iter().map(convert).collect()
}

/// The judge knows no deadlines of optional operations: each is left out or must take effect.
fn judge(spec: &BuiltinSpec, history: &History, ids: &[OpId]) -> bool {
    let optional = |id: &&OpId| {
        let operation = &history[**id];
        !operation.completed && operation.returned != NEVER
    };
    let optional: Vec<OpId> = ids.iter().filter(optional).copied().collect();
    (0..1u32 << optional.len()).any(|chosen| {
        let left_out = |id: &OpId| {
            optional.iter().position(|o| o == id).is_some_and(|at| chosen & (1 << at) == 0)
        };
        let rest: Vec<OpId> = ids.iter().copied().filter(|id| !left_out(id)).collect();
        is_linearizable(&**spec, &oracle_operations(history, &rest))
    })
}

/// Whether an order explains the history, by replaying it.
fn explains(spec: &BuiltinSpec, history: &History, order: &[OpId]) -> Result<(), String> {
    let mut seen = vec![false; history.operations.len()];
    let mut state = spec.initial();
    let mut latest = Rank::FIRST;
    for id in order {
        let operation = &history[*id];
        if std::mem::replace(&mut seen[id.index()], true) {
            return Err(format!("{id} takes effect twice"));
        }
        latest = latest.max(operation.invoked);
        if operation.returned < latest {
            return Err(format!("{id} is out of order"));
        }
        match spec.apply(&state, &history.call(*id), history.response(*id).as_ref()).pop() {
            Some(outcome) => state = outcome.state,
            None => return Err(format!("{id} answers something else")),
        }
    }
    match history.operations.iter().zip(seen).position(|(o, seen)| o.completed && !seen) {
        Some(id) => Err(format!("{id} is missing")),
        None => Ok(()),
    }
}

/// Whether a core has, with each value that one of its operations found, the operation that wrote
/// that value: only then can no other operation help.
fn is_closed(subject: &Subject, history: &History, core: &[OpId]) -> bool {
    if ["grow-set", "unordered-queue"].contains(&subject.spec) {
        return stands_alone(subject, history, core);
    }
    if !["register", "cas-register", "map"].contains(&subject.spec) {
        return true;
    }
    let parts = |id: OpId| {
        let (call, response) = (history.call(id), history.response(id));
        let list = call.argument.as_list().map(<[Value]>::to_vec);
        match (subject.spec, call.operation, list) {
            // Key, what it found, what it wrote.
            ("map", _, Some(pair)) => (pair[0].clone(), response, Some(pair[1].clone())),
            ("map", _, None) => (call.argument, response, None),
            (_, 2, Some(pair)) if response != Some(Value::Bool(false)) => {
                (Value::Null, Some(pair[0].clone()), Some(pair[1].clone()))
            }
            (_, 0, _) => (Value::Null, None, Some(call.argument)),
            _ => (Value::Null, response, None),
        }
    };
    core.iter().all(|id| {
        let (key, found, _) = parts(*id);
        let Some(found) = found.filter(|found| !found.is_null()) else {
            return true;
        };
        history.ids().all(|other| {
            let (its_key, _, wrote) = parts(other);
            its_key != key || wrote.as_ref() != Some(&found) || core.contains(&other)
        })
    })
}

/// Whether no order explains the core even if all other operations may have taken effect in their
/// time, with any answer.
fn stands_alone(subject: &Subject, history: &History, core: &[OpId]) -> bool {
    let spec = builtin(subject.spec, Some(&subject.init)).unwrap();
    let all: Vec<OpId> = history.ids().collect();
    let mut weak = history.clone();
    all.iter().filter(|id| !core.contains(id)).for_each(|id| weak[*id].completed = false);
    !judge(&spec, &weak, &all)
}

fn show(history: &History) -> String {
    let line = |id: usize| {
        let o = &history.operations[id];
        let (call, response) = (history.call(OpId::new(id)), history.response(OpId::new(id)));
        let response = response.map_or("?".to_owned(), |response| response.to_string());
        format!(
            "{id}: [{}, {}] {} {} → {response}\n",
            o.invoked, o.returned, o.operation, call.argument
        )
    };
    (0..history.operations.len()).map(line).collect()
}

fn fuzz(name: &str, subject: &Subject) {
    let seed = number("LINCHPIN_SEED", 0x5ca1a2);
    let cases = number("LINCHPIN_CASES", 6000);
    println!("{name}: LINCHPIN_SEED={seed} LINCHPIN_CASES={cases}");
    let mut rng = Rng::with_seed(seed);
    let spec = builtin(subject.spec, Some(&subject.init)).unwrap();
    let (mut held, mut violated, mut refused) = (0u64, 0u64, 0u64);
    let (mut held_with_pending, mut core_length) = (0, 0);
    let mut refused_holds = 0;
    let mut example = None;
    for case in 0..cases {
        let history = random_history(subject, &spec, &mut rng);
        let all: Vec<OpId> = history.ids().collect();
        let truth = judge(&spec, &history, &all);
        let fail = |what: String| -> ! {
            panic!("{name} seed {seed} case {case}: {what}\n{}", show(&history))
        };
        match (subject.check)(&history, &subject.init, &Limits::default()) {
            Ok(Judgement::Holds(witness)) => {
                held += 1;
                let pending = |id: &&OpId| !history[**id].completed;
                held_with_pending += u64::from(witness.order.iter().filter(pending).count() > 0);
                if let Err(why) = explains(&spec, &history, &witness.order) {
                    fail(format!("(linearizable: {truth}) witness {:?}: {why}", witness.order));
                }
            }
            Ok(Judgement::Violated(Violation { core, explanation, .. })) => {
                violated += 1;
                core_length += core.len();
                if truth {
                    fail(format!("linearizable, but: {explanation} {core:?}"));
                }
                if !core.is_sorted_by(|a, b| a < b) || judge(&spec, &history, &core) {
                    fail(format!("the core {core:?} is no core: {explanation}"));
                }
                if !is_closed(subject, &history, &core) {
                    fail(format!("the core {core:?} leaves out who wrote: {explanation}"));
                }
                example = Some(explanation);
            }
            Ok(Judgement::Inconclusive(why)) => fail(why.to_string()),
            Err(why) => {
                refused += 1;
                if truth && env::var_os("LINCHPIN_SHOW").is_some() {
                    println!("{name}, refused: {}\n{}", why.reason, show(&history));
                }
                refused_holds += u64::from(truth);
            }
        }
    }
    println!(
        "{name}: {held} hold ({held_with_pending} by pending operations), {violated} violated (cores of {:.1}), {refused} refused (of which {refused_holds} hold)",
        core_length as f64 / violated.max(1) as f64
    );
    println!("{name}: {}", example.unwrap_or_default());
    assert!(
        held * 10 >= cases && violated * 10 >= cases,
        "one-sided: {held} hold, {violated} do not"
    );
    assert!(refused as f64 <= subject.refusals / 100.0 * cases as f64, "{refused} refused");
}

/// Runs with all operations completed, with pending ones, and with deadlines.
fn fuzz_all(name: &str, subject: Subject, refusals: [f64; 3]) {
    for (kind, pending, deadlines) in
        [("complete", 0, false), ("pending", 30, false), ("deadlines", 30, true)]
    {
        let at = if deadlines { 2 } else { usize::from(pending > 0) };
        let subject = Subject {
            pending,
            deadlines,
            refusals: refusals[at],
            init: subject.init.clone(),
            ..subject
        };
        fuzz(&format!("{name}, {kind}"), &subject);
    }
}

const fn subject(spec: &'static str, init: Value, check: Check) -> Subject {
    Subject {
        spec,
        init,
        check,
        call: |_, _, _| ("", Value::Null),
        answer: |_, _, _| Value::Null,
        pending: 0,
        deadlines: false,
        refusals: 0.0,
    }
}

/// One of the values that were there.
fn one_of(rng: &mut Rng, seen: &[Value]) -> Value {
    seen[rng.usize(0..seen.len())].clone()
}

/// A sum near one of those that were there.
fn sum_near(rng: &mut Rng, seen: &[Value], amount: i64) -> Value {
    let sums: Vec<i64> = seen.iter().filter_map(Value::as_int).collect();
    Value::Int(sums[rng.usize(0..sums.len())].wrapping_add(amount * rng.i64(-1..=1)))
}

#[test]
fn registers() {
    let call = |rng: &mut Rng, fresh, _: &[Value]| match rng.bool() {
        true => ("write", Value::Int(fresh)),
        false => ("read", Value::Null),
    };
    let answer = |rng: &mut Rng, name: &str, seen: &[Value]| match name {
        "read" => one_of(rng, seen),
        _ => Value::Null,
    };
    fuzz_all(
        "register",
        Subject { call, answer, ..subject("register", Value::Null, register::check) },
        [0.0; 3],
    );
}

fn cas_call(rng: &mut Rng, fresh: i64, seen: &[Value]) -> (&'static str, Value) {
    match rng.u8(0..5) {
        0 => ("write", Value::Int(fresh)),
        1 | 2 => ("read", Value::Null),
        _ => {
            let old = one_of(rng, seen);
            ("cas", Value::list([old, Value::Int(fresh)]))
        }
    }
}

#[test]
fn registers_with_successful_swaps() {
    // The failed ones of the simulation did not happen.
    let check =
        |history: &History, init: &Value, limits: &Limits| register::check(history, init, limits);
    let answer = |rng: &mut Rng, name: &str, seen: &[Value]| match name {
        "read" => one_of(rng, seen),
        "cas" => Value::Bool(true),
        _ => Value::Null,
    };
    fuzz_all(
        "cas-register",
        Subject { call: cas_call, answer, ..subject("cas-register", Value::Null, check) },
        [5.0; 3],
    );
}

#[test]
fn registers_with_failed_swaps() {
    let answer = |rng: &mut Rng, name: &str, seen: &[Value]| match name {
        "read" => one_of(rng, seen),
        "cas" => Value::Bool(rng.bool()),
        _ => Value::Null,
    };
    fuzz_all(
        "failed cas",
        Subject {
            call: cas_call,
            answer,
            ..subject("cas-register", Value::Int(77), register::check)
        },
        [10.0; 3],
    );
}

/// A list that is mostly one that was seen, with a value more or less.
fn members_near(rng: &mut Rng, seen: &[Value]) -> Value {
    let seen = one_of(rng, seen);
    let mut members = seen.as_list().map(<[Value]>::to_vec).unwrap_or_default();
    let at = rng.usize(0..=members.len());
    match rng.u8(0..4) {
        0 | 1 if at < members.len() => drop(members.remove(at)),
        3 => rng.shuffle(&mut members),
        _ => members.insert(at, Value::Int(rng.i64(0..6))),
    }
    Value::list(members)
}

#[test]
fn sets_that_grow() {
    let call = |rng: &mut Rng, fresh, _: &[Value]| match rng.u8(0..8) {
        0 => ("add", Value::Int(rng.i64(0..4))),
        1..4 => ("add", Value::Int(fresh)),
        _ => ("read", Value::Null),
    };
    let answer = |rng: &mut Rng, name: &str, seen: &[Value]| match name {
        "read" => members_near(rng, seen),
        _ => Value::Null,
    };
    for init in [vec![], vec![Value::Int(1), Value::Int(70)]] {
        let init = Value::list(init);
        let subject = Subject { call, answer, ..subject("grow-set", init, grow_set::check) };
        fuzz_all("grow-set", subject, [0.0, 0.0, 10.0]);
    }
}

#[test]
fn queues_without_order() {
    let call = |rng: &mut Rng, _, _: &[Value]| match rng.u8(0..5) {
        0..3 => ("enqueue", Value::Int(rng.i64(0..5))),
        _ => ("dequeue", Value::Null),
    };
    let answer = |rng: &mut Rng, name: &str, _: &[Value]| match name {
        "dequeue" => Value::Int(rng.i64(0..5)),
        _ => Value::Null,
    };
    let check: Check = |history, init, limits| {
        let initial = init.as_list().unwrap_or_default().iter();
        let known: Vec<_> = initial.filter_map(|value| history.values.find(value)).collect();
        unordered_queue::check(history, &known, limits)
    };
    let init = Value::list([Value::Int(1), Value::Int(1), Value::Int(9)]);
    let subject = Subject { call, answer, ..subject("unordered-queue", init, check) };
    fuzz_all("unordered-queue", subject, [10.0; 3]);
}

#[test]
fn sets() {
    let call = |rng: &mut Rng, _, _: &[Value]| {
        let name = ["add", "remove", "contains"][rng.usize(0..3)];
        (name, Value::Int(rng.i64(0..2)))
    };
    let answer = |rng: &mut Rng, _: &str, _: &[Value]| Value::Bool(rng.bool());
    let init = Value::list([Value::Int(1)]);
    fuzz_all("set", Subject { call, answer, ..subject("set", init, set::check) }, [0.0, 0.0, 50.0]);
}

#[test]
fn maps() {
    let call = |rng: &mut Rng, fresh, _: &[Value]| {
        let key = Value::Int(rng.i64(0..2));
        match rng.u8(0..6) {
            0 | 1 => ("put", Value::list([key, Value::Int(fresh)])),
            2 | 3 => ("get", key),
            4 => ("remove", key),
            _ => ("put", Value::list([key, Value::Null])),
        }
    };
    let answer = |rng: &mut Rng, _: &str, seen: &[Value]| one_of(rng, seen);
    let init = Value::map([(Value::Int(1), Value::Int(70))]);
    fuzz_all(
        "map",
        Subject { call, answer, ..subject("map", init, map::check) },
        [0.0, 10.0, 10.0],
    );
}

#[test]
fn maps_of_one_key() {
    let call = |rng: &mut Rng, fresh, _: &[Value]| match rng.u8(0..5) {
        0 | 1 => ("put", Value::list([Value::Int(0), Value::Int(fresh)])),
        2 | 3 => ("remove", Value::Int(0)),
        _ => ("get", Value::Int(0)),
    };
    let answer = |rng: &mut Rng, _: &str, seen: &[Value]| one_of(rng, seen);
    fuzz_all(
        "map key",
        Subject { call, answer, ..subject("map", Value::map([]), map::check) },
        [0.0, 10.0, 10.0],
    );
}

#[test]
fn mutexes() {
    let call =
        |rng: &mut Rng, _, _: &[Value]| (["acquire", "release"][rng.usize(0..2)], Value::Null);
    fuzz_all(
        "mutex",
        Subject { call, ..subject("mutex", Value::Bool(false), mutex::check) },
        [0.0, 0.0, 70.0],
    );
}

#[test]
fn semaphores() {
    let call =
        |rng: &mut Rng, _, _: &[Value]| (["acquire", "release"][rng.usize(0..7) / 5], Value::Null);
    fuzz_all(
        "semaphore",
        Subject { call, ..subject("semaphore", Value::Int(1), semaphore::check) },
        [0.0; 3],
    );
}

fn counting(rng: &mut Rng, amounts: &[i64]) -> (&'static str, Value) {
    let amount = Value::Int(amounts[rng.usize(0..amounts.len())]);
    match rng.u8(0..4) {
        0 | 1 => ("add", amount),
        2 => ("read", Value::Null),
        _ => ("fetch-add", amount),
    }
}

#[test]
fn counters_by_one() {
    let call = |rng: &mut Rng, _, _: &[Value]| match rng.bool() {
        true => ("add", Value::Int(1)),
        false => ("read", Value::Null),
    };
    let answer = |rng: &mut Rng, _: &str, seen: &[Value]| sum_near(rng, seen, 1);
    fuzz_all(
        "counter",
        Subject { call, answer, ..subject("counter", Value::Int(0), counter::check) },
        [0.0, 0.0, 70.0],
    );
}

#[test]
fn counters_by_the_same_amount() {
    let call = |rng: &mut Rng, _, _: &[Value]| counting(rng, &[-3, -3, -3, 0]);
    let answer = |rng: &mut Rng, _: &str, seen: &[Value]| sum_near(rng, seen, 3);
    fuzz_all(
        "counter by -3",
        Subject { call, answer, ..subject("counter", Value::Int(5), counter::check) },
        [0.0, 0.0, 70.0],
    );
}

#[test]
fn counters_by_fetch_add() {
    let call = |rng: &mut Rng, _, _: &[Value]| match rng.u8(0..4) {
        0 => ("read", Value::Null),
        1 => ("add", Value::Int(0)),
        _ => ("fetch-add", Value::Int(rng.i64(1..4))),
    };
    let answer = |rng: &mut Rng, _: &str, seen: &[Value]| sum_near(rng, seen, 1);
    fuzz_all(
        "fetch-add",
        Subject { call, answer, ..subject("counter", Value::Int(0), counter::check) },
        [0.0, 60.0, 60.0],
    );
}

#[test]
fn counters_by_fetch_add_up_and_down() {
    let call = |rng: &mut Rng, _, _: &[Value]| match rng.u8(0..4) {
        0 => ("read", Value::Null),
        _ => ("fetch-add", Value::Int([-5, 3, 7, 11][rng.usize(0..4)])),
    };
    let answer = |rng: &mut Rng, _: &str, seen: &[Value]| sum_near(rng, seen, 1);
    fuzz_all(
        "fetch-add, up and down",
        Subject { call, answer, ..subject("counter", Value::Int(0), counter::check) },
        [40.0, 70.0, 70.0],
    );
}

#[test]
fn counters_that_overflow() {
    let by_one = |rng: &mut Rng, _, _: &[Value]| counting(rng, &[1]);
    let by_any = |rng: &mut Rng, _, _: &[Value]| match rng.u8(0..4) {
        0 => ("read", Value::Null),
        _ => ("fetch-add", Value::Int([-5, 3, 7, 11][rng.usize(0..4)])),
    };
    let answer = |rng: &mut Rng, _: &str, seen: &[Value]| sum_near(rng, seen, 1);
    let init = Value::Int(i64::MAX - 2);
    let at_most = subject("counter", init, counter::check);
    let by_one = Subject { call: by_one, answer, init: at_most.init.clone(), ..at_most };
    fuzz_all("counter near the end", by_one, [60.0, 60.0, 80.0]);
    let by_any = Subject { call: by_any, answer, ..at_most };
    fuzz_all("fetch-add near the end", by_any, [80.0, 80.0, 80.0]);
}

#[test]
fn an_overflow_is_said_to_be_one() {
    let mut builder = Builder::new(builtin("counter", None).unwrap().operations());
    for (name, argument, answer) in [("add", 1, Value::Null), ("read", 0, i64::MIN.into())] {
        builder.invoke("a", name, Value::Int(argument)).unwrap();
        builder.ok("a", answer).unwrap();
    }
    let init = Value::Int(i64::MAX);
    match counter::check(&builder.finish(), &init, &Limits::default()) {
        Ok(Judgement::Violated(violation)) => {
            let said = "it is 9223372036854775808 after an overflow of 64 bits";
            assert!(violation.explanation.ends_with(said), "{violation:?}");
        }
        other => panic!("{other:?}"),
    }
}

/// Write 2 may take effect before write 1, which the swap of 1 follows at once: then 2 is gone when
/// the swap of 2 fails. The sweep over failed swaps does not find that order, and must not take its
/// failure for a proof.
#[test]
fn a_value_that_was_gone_before_anybody_could_tell() {
    let pair = |old, new| Value::list([Value::Int(old), Value::Int(new)]);
    let mut builder = Builder::new(builtin("cas-register", None).unwrap().operations());
    let events = [
        ("a", Some(("write", Value::Int(1))), Value::Null),
        ("b", Some(("write", Value::Int(2))), Value::Null),
        ("a", None, Value::Null),
        ("a", Some(("cas", pair(1, 3))), Value::Null),
        ("b", None, Value::Null),
        ("a", None, Value::Bool(true)),
        ("b", Some(("cas", pair(2, 4))), Value::Null),
        ("a", Some(("cas", pair(1, 5))), Value::Null),
        ("a", None, Value::Bool(false)),
        ("a", Some(("cas", Value::list([Value::Null, Value::Int(6)]))), Value::Null),
        ("b", None, Value::Bool(false)),
        ("c", Some(("write", Value::Int(7))), Value::Null),
        ("a", None, Value::Bool(false)),
        ("a", Some(("read", Value::Null)), Value::Null),
        ("c", None, Value::Null),
        ("a", None, Value::Int(7)),
    ];
    for (process, call, response) in events {
        match call {
            Some((name, argument)) => builder.invoke(process, name, argument).unwrap(),
            None => builder.ok(process, response).unwrap(),
        }
    }
    let answer = register::check(&builder.finish(), &Value::Null, &Limits::default());
    assert!(!matches!(answer, Ok(Judgement::Violated(_))), "{answer:?}");
}

/// What a key held at the start says nothing of the next key, even if no operation found it.
#[test]
fn a_value_from_the_start_of_one_key_is_not_there_under_another() {
    let init = Value::map([(0.into(), 3.into())]);
    let object = builtin("map", Some(&init)).unwrap();
    let mut builder = Builder::new(object.operations());
    builder.invoke("a", "get", 0.into()).unwrap();
    builder.invoke("b", "put", Value::list([1.into(), 3.into()])).unwrap();
    builder.ok("b", 3.into()).unwrap();
    let judgement = map::check(&builder.finish(), &init, &Limits::default());
    assert!(matches!(judgement, Ok(Judgement::Violated(_))), "{judgement:?}");
}
