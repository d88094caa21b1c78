//! Against the oracle: what is confirmed is true.

use super::*;
use linchpin_spec::{CasRegister, GrowSet, Kv, Queue, Shape, Stack};

fn random_history(spec: &dyn Spec<State = Value>, random: &mut fastrand::Rng) -> Vec<Operation> {
    let count = random.usize(2..7);
    let mut ranks: Vec<u64> = (0..2 * count as u64).collect();
    random.shuffle(&mut ranks);
    let value = |random: &mut fastrand::Rng| Value::Int(random.i64(1..4));
    let operation = |pair: &[u64]| {
        let operation = random.usize(..spec.operations().len());
        let signature = &spec.operations()[operation];
        let argument = match signature.name.as_str() {
            "cas" => Value::list([value(random), value(random)]),
            "write" | "enqueue" | "push" | "add" => value(random),
            _ => Value::Null,
        };
        let answer = match signature.name.as_str() {
            "cas" => Value::Bool(random.bool()),
            "write" | "enqueue" | "push" | "add" => Value::Null,
            "read" if signature.response == Shape::List(Box::new(Shape::Any)) => {
                Value::list((1..4).filter(|_| random.bool()).map(Value::Int))
            }
            _ if random.u8(..4) == 0 => Value::Null,
            _ => value(random),
        };
        let response = (random.u8(..6) > 0).then_some(answer);
        let returned = if response.is_some() { pair[0].max(pair[1]) } else { u64::MAX };
        Operation {
            call: Call { operation, argument },
            response,
            invoked: pair[0].min(pair[1]),
            returned,
        }
    };
    ranks.chunks(2).map(operation).collect()
}

fn explained(spec: &dyn Spec<State = Value>, history: &[Operation]) -> bool {
    let operations: Vec<linchpin_oracle::Operation> = history
        .iter()
        .enumerate()
        .map(|(process, operation)| linchpin_oracle::Operation {
            process,
            call: operation.call.clone(),
            response: operation.response.clone(),
            invoked: operation.invoked as usize,
            returned: operation.is_completed().then_some(operation.returned as usize),
        })
        .collect();
    linchpin_oracle::is_linearizable(spec, &operations)
}

/// Any core that is confirmed belongs to a history that the oracle rejects; the whole history is
/// always a core.
#[test]
fn confirmed_cores_are_violations() {
    let seed = std::env::var("LINCHPIN_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    println!("LINCHPIN_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let (queue, stack, register) = (Queue::default(), Stack::default(), CasRegister::default());
    let set = GrowSet::default();
    let specs: [(&dyn Spec<State = Value>, &str); 4] =
        [(&queue, "queue"), (&stack, "stack"), (&register, "cas-register"), (&set, "grow-set")];
    let (mut confirmed, mut smaller, mut good) = (0, 0, 0);
    for case in 0..20_000 {
        let (spec, name) = specs[case % specs.len()];
        let history = random_history(spec, &mut random);
        let all: Vec<usize> = (0..history.len()).collect();
        let holds = explained(spec, &history);
        good += usize::from(holds);
        assert_eq!(confirm_core(spec, name, &history, &all, None).is_err(), holds, "{history:?}");
        let core: Vec<usize> = all.iter().copied().filter(|_| random.bool()).collect();
        let at = random.bool().then(|| random.u64(..2 * history.len() as u64));
        if confirm_core(spec, name, &history, &core, at).is_ok() {
            confirmed += 1;
            smaller += usize::from(core.len() < history.len());
            assert!(!holds, "{name}: core {core:?} at {at:?} of {history:?}");
        }
    }
    println!(
        "{good} linearizable, {confirmed} cores confirmed, {smaller} of them smaller than the history"
    );
    assert!(good > 2_000 && smaller > 500);
}

/// What the oracle says explains a history is confirmed; changed orders are confirmed only if they
/// explain it too.
#[test]
fn witnesses_are_confirmed_exactly() {
    let mut random = fastrand::Rng::with_seed(2);
    let queue = Queue::default();
    let (mut confirmed, mut refused) = (0, 0);
    for _ in 0..5_000 {
        let history = random_history(&queue, &mut random);
        let mut order: Vec<usize> =
            (0..history.len()).filter(|id| history[*id].is_completed() || random.bool()).collect();
        random.shuffle(&mut order);
        let sequential = |order: &[usize]| {
            let mut state = queue.initial();
            order.iter().all(|id| {
                let outcomes =
                    queue.apply(&state, &history[*id].call, history[*id].response.as_ref());
                outcomes.into_iter().next().map(|outcome| state = outcome.state).is_some()
            })
        };
        let in_time = order.iter().enumerate().all(|(at, id)| {
            order[at + 1..].iter().all(|later| history[*later].returned >= history[*id].invoked)
        });
        let explains = sequential(&order) && in_time;
        assert_eq!(
            confirm_witness(&queue, &history, &order).is_ok(),
            explains,
            "{history:?} {order:?}"
        );
        confirmed += usize::from(explains);
        refused += usize::from(!explains);
    }
    assert!(confirmed > 50 && refused > 50, "{confirmed} {refused}");
}

/// Long histories have many puts that a get cannot show, whatever else it shows.
#[test]
fn two_gets_that_part_are_confirmed_among_many_puts() {
    let spec = Kv::default();
    let does = |name: &str, text: &str, (invoked, returned): (u64, u64), answer: Option<&str>| {
        let argument = match name {
            "get" => Value::str("k"),
            _ => Value::list([Value::str("k"), Value::str(text)]),
        };
        let call = Call { operation: spec.operation(name).expect("known"), argument };
        let response = Some(answer.map_or(Value::Null, Value::str));
        Operation { call, response, invoked, returned }
    };
    let late = (100_002, 100_010);
    let mut history: Vec<Operation> =
        (0..20_000).map(|n| does("put", &format!("p{n}"), (3 * n, 3 * n + 1), None)).collect();
    history.push(does("put", "a", late, None));
    for _ in 0..20 {
        history.extend([does("append", "b", late, None), does("append", "c", late, None)]);
    }
    let overwrites = history.len();
    history.push(does("put", "z", (100_000, 100_001), None));
    history.push(does("get", "", (100_003, 100_008), Some("abc")));
    history.push(does("get", "", (100_004, 100_009), Some("acb")));
    let core = [overwrites, overwrites + 1, overwrites + 2];
    assert_eq!(confirm_core(&spec, "kv", &history, &core, None), Ok(()));
    // One put more, and each get shows one of them.
    history.push(does("put", "a", late, None));
    let (operations, context) = (&history[overwrites..=overwrites + 2], &history[..overwrites]);
    let context = [context, &history[overwrites + 3..]].concat();
    assert!(!kv::no_order(&spec, operations, &context));
}
