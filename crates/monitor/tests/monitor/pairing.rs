//! Stacks and priority queues whose values repeat, against the brute-force judge: an order that is
//! guessed explains the history, and there is none where nothing does.
//!
//! `LINCHPIN_SEED` and `LINCHPIN_CASES` make this the long fuzzer.

use linchpin_history_data::{Builder, History, NEVER, OpId, Witness};
use linchpin_monitor::{priority_queue, stack};
use linchpin_oracle::{Operation, is_linearizable};
use linchpin_spec::{Call, PriorityQueue, Spec, Stack, Value};
use linchpin_verdict::Limits;

type Guess = fn(&History, &Limits) -> Option<Witness>;

/// What a process has called, and the answer once that took effect.
type Open = Option<(Call, Option<Value>)>;

/// How many different values there are.
const VALUES: i64 = 3;

/// A history on a correct object, some answers of which may have been exchanged for others. The
/// first operation adds, the second removes.
fn history<S: Spec>(random: &mut fastrand::Rng, spec: &S) -> History {
    let mut builder = Builder::new(spec.operations());
    let mut state = spec.initial();
    let mut names: Vec<usize> = (0..random.usize(2..=4)).collect();
    let mut open: Vec<Open> = vec![None; names.len()];
    let (mut calls, length) = (0, random.usize(2..=11));
    let (is_wrong, crashes) = (random.bool(), random.u8(..3) == 0);
    for _ in 0..80 {
        let process = random.usize(..open.len());
        let name = names[process].to_string();
        open[process] = match open[process].take() {
            None if calls == length => None,
            None => {
                calls += 1;
                let operation = usize::from(random.u8(..10) < 4);
                let argument = match operation {
                    0 => Value::Int(random.i64(0..VALUES)),
                    _ => Value::Null,
                };
                let called = &spec.operations()[operation].name;
                builder.invoke(&name, called, argument.clone()).expect("a call");
                Some((Call { operation, argument }, None))
            }
            Some(_) if crashes && random.u8(..8) == 0 => {
                names[process] = names.iter().max().expect("a process") + 1;
                None
            }
            Some((call, None)) => {
                let outcome = spec.apply(&state, &call, None).remove(0);
                state = outcome.state;
                Some((call, Some(outcome.response)))
            }
            Some((call, Some(answer))) => {
                let answer = match call.operation {
                    1 if is_wrong && random.u8(..4) == 0 => match random.i64(0..=VALUES) {
                        VALUES => Value::Null,
                        value => Value::Int(value),
                    },
                    _ => answer,
                };
                builder.ok(&name, answer).expect("an answer");
                None
            }
        };
    }
    builder.finish()
}

fn judged(history: &History, id: OpId) -> Operation {
    let operation = &history[id];
    Operation {
        process: operation.process as usize,
        call: history.call(id),
        response: history.response(id),
        invoked: operation.invoked.index(),
        returned: (operation.returned != NEVER).then(|| operation.returned.index()),
    }
}

/// Whether this order explains the history.
fn explains<S: Spec>(spec: &S, history: &History, order: &[OpId]) -> bool {
    let place = |id: OpId| order.iter().position(|other| *other == id);
    let all_there = history.iter().all(|(id, it)| !it.completed || place(id).is_some());
    let once = order.iter().enumerate().all(|(at, id)| place(*id) == Some(at));
    let in_time = order.iter().enumerate().all(|(at, one)| {
        order[..at].iter().all(|earlier| !history[*one].precedes(&history[*earlier]))
    });
    let mut states = vec![spec.initial()];
    for id in order {
        let (call, response) = (history.call(*id), history.response(*id));
        let step = |state: &S::State| spec.apply(state, &call, response.as_ref());
        states = states.iter().flat_map(step).map(|outcome| outcome.state).collect();
    }
    all_there && once && in_time && !states.is_empty()
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

fn compare<S: Spec>(name: &str, spec: &S, guess: Guess) {
    let seed = setting("LINCHPIN_SEED", 1);
    let cases = setting("LINCHPIN_CASES", 4_000);
    println!("{name}: LINCHPIN_SEED={seed} LINCHPIN_CASES={cases}");
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut found, mut missed, mut violated) = (0, 0, 0);
    for case in 0..cases {
        let history = history(&mut random, spec);
        let operations: Vec<Operation> = history.ids().map(|id| judged(&history, id)).collect();
        let holds = is_linearizable(spec, &operations);
        match guess(&history, &Limits::default()) {
            Some(Witness { order }) => {
                found += 1;
                let context = || format!("{name}, case {case}: {order:?} {operations:#?}");
                assert!(holds, "no order explains this: {}", context());
                assert!(explains(spec, &history, &order), "{}", context());
            }
            None if holds => missed += 1,
            None => violated += 1,
        }
    }
    println!("{name}: {found} found, {missed} missed, {violated} violated");
    assert!(violated >= cases / 10, "{violated} violated");
    // A guess need not be right, but it mostly is.
    assert!(found >= cases / 4 && found >= 5 * missed, "{found} found, {missed} missed");
}

#[test]
fn stacks_with_repeated_values() {
    compare("stack", &Stack::default(), stack::guess);
}

#[test]
fn priority_queues_with_repeated_values() {
    compare("priority queue", &PriorityQueue::default(), priority_queue::guess);
}
