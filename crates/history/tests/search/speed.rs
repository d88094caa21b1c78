//! How long the searches take. `cargo test --release -p linchpin-history --test search speed -- --ignored --nocapture`

use linchpin_history::monitor::cas_register;
use linchpin_history::search::{SearchOptions, lockstep, search};
use linchpin_history::{Builder, History, Limits, Verdict};
use linchpin_spec::{Call, CasRegister, Queue, Spec, Stack, Value};
use std::time::{Duration, Instant};

#[derive(Clone)]
enum Doing {
    Nothing,
    Waiting(Call),
    Answering(Value),
}

/// A history of processes that are always busy.
fn record<S: Spec>(
    spec: &S,
    processes: usize,
    operations: usize,
    seed: u64,
    mut call: impl FnMut(&mut fastrand::Rng) -> Call,
) -> History {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut builder = Builder::new(spec.operations());
    let mut doing = vec![Doing::Nothing; processes];
    let (mut state, mut called) = (spec.initial(), 0);
    let mut busy = processes;
    while busy > 0 {
        let process = random.usize(..processes);
        let name = process.to_string();
        doing[process] = match doing[process].clone() {
            Doing::Nothing if called >= operations => {
                busy = doing.iter().filter(|doing| !matches!(doing, Doing::Nothing)).count();
                Doing::Nothing
            }
            Doing::Nothing => {
                called += 1;
                let call = call(&mut random);
                let name_of = &spec.operations()[call.operation].name;
                builder.invoke(&name, name_of, call.argument.clone()).unwrap();
                Doing::Waiting(call)
            }
            Doing::Waiting(call) => {
                let outcome = spec.apply(&state, &call, None).remove(0);
                state = outcome.state;
                Doing::Answering(outcome.response)
            }
            Doing::Answering(response) => {
                builder.ok(&name, response).unwrap();
                Doing::Nothing
            }
        };
    }
    builder.finish()
}

/// Makes one of the last answers wrong.
fn broken(mut history: History, operation: u16, value: Value) -> History {
    let value = history.values.intern(value);
    let from = history.operations.len() * 9 / 10;
    let last = &mut history.operations[from..];
    let found = last.iter_mut().find(|op| op.operation == operation);
    found.unwrap().response = linchpin_history::Argument::One(value);
    history
}

fn tell(what: &str, verdict: &Verdict, since: Instant) {
    let verdict = match verdict {
        Verdict::Holds(_) => "holds".to_owned(),
        Verdict::Violated(violation) => {
            format!("violated at {:?}, core {}", violation.at, violation.core.len())
        }
        Verdict::Inconclusive(reason) => reason.clone(),
    };
    println!("{what}: {verdict} in {:?}", since.elapsed());
}

fn limits() -> Limits {
    Limits { deadline: Some(Instant::now() + Duration::from_secs(20)), ..Limits::default() }
}

fn registers(processes: usize, operations: usize) -> History {
    let register = CasRegister::new(0.into());
    record(&register, processes, operations, 1, |random| {
        let operation = match random.u8(..100) {
            0..30 => CasRegister::CAS,
            30..65 => CasRegister::WRITE,
            _ => CasRegister::READ,
        };
        let mut value = || Value::Int(random.i64(0..5));
        let argument = match operation {
            CasRegister::CAS => Value::list([value(), value()]),
            CasRegister::WRITE => value(),
            _ => Value::Null,
        };
        Call { operation, argument }
    })
}

#[test]
#[ignore = "a benchmark"]
fn cas_registers() {
    for processes in [10, 20, 30] {
        let history = registers(processes, 20_000);
        let what = format!("cas-register, 20,000 operations, {processes} processes");
        let since = Instant::now();
        tell(&what, &cas_register::check(&history, &0.into(), &limits()).unwrap(), since);
        let since = Instant::now();
        let found =
            search(&CasRegister::new(0.into()), &history, &limits(), &SearchOptions::default());
        tell(&format!("{what}, general search"), &found.verdict, since);
        let history = broken(history, CasRegister::READ as u16, 9.into());
        let since = Instant::now();
        tell(&what, &cas_register::check(&history, &0.into(), &limits()).unwrap(), since);
    }
}

fn adds_and_takes(random: &mut fastrand::Rng) -> Call {
    match random.bool() {
        true => Call { operation: Queue::ENQUEUE, argument: random.i64(0..5).into() },
        false => Call { operation: Queue::DEQUEUE, argument: Value::Null },
    }
}

#[test]
#[ignore = "a benchmark"]
fn queues_in_lockstep() {
    for (processes, operations) in [(4, 1_000), (4, 1_000_000), (8, 100_000), (16, 10_000)] {
        let history = record(&Queue::default(), processes, operations, 1, adds_and_takes);
        let what = format!("queue, {operations} operations, {processes} processes, 5 values");
        let since = Instant::now();
        tell(&what, &lockstep::queue(&history, &[], &limits()).unwrap(), since);
        let history = broken(history, Queue::DEQUEUE as u16, 9.into());
        let since = Instant::now();
        tell(&what, &lockstep::queue(&history, &[], &limits()).unwrap(), since);
    }
}

#[test]
#[ignore = "a benchmark"]
fn queues_and_stacks() {
    for (processes, operations) in [(2, 1_000), (4, 200), (4, 1_000)] {
        let what =
            format!("{operations} operations, {processes} processes, 5 values, general search");
        let queue = record(&Queue::default(), processes, operations, 1, adds_and_takes);
        let stack = record(&Stack::default(), processes, operations, 1, adds_and_takes);
        let options = SearchOptions::default();
        let since = Instant::now();
        let found = search(&Queue::default(), &queue, &limits(), &options);
        tell(&format!("queue, {what}"), &found.verdict, since);
        let since = Instant::now();
        let found = search(&Stack::default(), &stack, &limits(), &options);
        tell(&format!("stack, {what}"), &found.verdict, since);
        let wrong = broken(queue, Queue::DEQUEUE as u16, 9.into());
        let since = Instant::now();
        let found = search(&Queue::default(), &wrong, &limits(), &options);
        tell(&format!("queue, {what}"), &found.verdict, since);
    }
}
