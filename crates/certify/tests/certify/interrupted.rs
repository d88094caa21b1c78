//! Cores of histories in which interrupted operations come before what their process did next,
//! against the brute-force judge: all operations are a core exactly if no order explains them.

use linchpin_certify::{Before, Budget, CoreError, Operation, confirm_core_ordered};
use linchpin_history::{
    Builder, CheckOptions, History, Judgement, NEVER, Object, OpId, Property, check, crash,
};
use linchpin_oracle::witness_in_order;
use linchpin_spec::{Call, Value};

const SPECS: [&str; 6] =
    ["register", "cas-register", "multi-register", "queue", "stack", "grow-set"];

/// An argument out of a few.
fn argument(name: &str, operation: &str, random: &mut fastrand::Rng) -> Value {
    let few = |random: &mut fastrand::Rng| Value::Int(random.i64(0..2));
    match (name, operation) {
        ("multi-register", _) => Value::list((0..random.usize(1..3)).map(|_| {
            let key = few(random);
            match random.bool() {
                true => Value::list(["r".into(), key, Value::Null]),
                false => Value::list(["w".into(), key, few(random)]),
            }
        })),
        (_, "cas") => Value::list([few(random), few(random)]),
        (_, "write" | "enqueue" | "push" | "add") => few(random),
        _ => Value::Null,
    }
}

/// A history with crashes of processes that go on. What was interrupted may take effect late, even
/// after what its process did next.
fn history(object: &Object, random: &mut fastrand::Rng) -> History {
    let spec = &object.spec;
    let mut builder = Builder::new(spec.operations());
    let mut open: Vec<Option<(Call, Option<Value>)>> = vec![None; 3];
    let (mut state, mut late, mut calls) = (spec.initial(), Vec::<Call>::new(), 0);
    for _ in 0..70 {
        if random.u8(..4) == 0
            && let Some(call) = late.pop()
            && let Some(outcome) = spec.apply(&state, &call, None).into_iter().next()
        {
            state = outcome.state;
        }
        let process = random.usize(..open.len());
        let name = process.to_string();
        open[process] = match open[process].take() {
            None if calls == 8 => None,
            None => {
                calls += 1;
                let operation = random.usize(..spec.operations().len());
                let called = &spec.operations()[operation].name;
                let argument = argument(&object.name, called, random);
                builder.invoke(&name, called, argument.clone()).expect("a call");
                Some((Call { operation, argument }, None))
            }
            Some((call, answer)) if random.u8(..5) == 0 => {
                let process = builder.process(&name);
                builder.crash(Some(process)).expect("a crash");
                if answer.is_none() {
                    late.push(call);
                }
                None
            }
            Some((call, None)) => {
                let outcome = spec.apply(&state, &call, None).into_iter().next();
                let outcome = outcome.expect("these objects answer always");
                state = outcome.state;
                // A wrong answer now and then: that of an object that is new.
                let fresh = spec.apply(&spec.initial(), &call, None).into_iter().next();
                let response = match fresh {
                    Some(fresh) if random.u8(..10) == 0 => fresh.response,
                    _ => outcome.response,
                };
                Some((call, Some(response)))
            }
            Some((_, Some(answer))) => {
                builder.ok(&name, answer).expect("an answer");
                None
            }
        };
    }
    builder.finish()
}

/// The operations as the checker knows them.
fn operation(history: &History, id: OpId) -> Operation {
    let it = &history[id];
    Operation {
        call: history.call(id),
        response: history.response(id),
        invoked: it.invoked.into(),
        returned: if it.returned == NEVER { u64::MAX } else { it.returned.into() },
    }
}

#[test]
fn interrupted_operations_against_the_oracle() {
    let number = |name: &str| std::env::var(name).ok().and_then(|number| number.parse().ok());
    let (seed, cases) =
        (number("LINCHPIN_SEED").unwrap_or(1), number("LINCHPIN_CASES").unwrap_or(1_500));
    println!("LINCHPIN_SEED={seed} LINCHPIN_CASES={cases}");
    let mut random = fastrand::Rng::with_seed(seed);
    for name in SPECS {
        let object = Object::builtin(name, None).expect("a built-in specification");
        let (mut held, mut by_order, mut cores) = (0, 0, 0);
        for case in 0..cases {
            let mut history = history(&object, &mut random);
            let options =
                CheckOptions { property: Property::Recoverable, ..CheckOptions::default() };
            let checked = check(&object, &mut history, &options).expect("crashes make sense");
            let applied = crash::apply(&mut history, Property::Recoverable).expect("the same");
            let pair = |pair: &crash::Interrupted| Before {
                operation: pair.operation.index(),
                next: pair.next.index(),
            };
            let before: Vec<Before> = applied.interrupted.iter().map(pair).collect();
            let operations: Vec<Operation> =
                history.ids().map(|id| operation(&history, id)).collect();
            let judged: Vec<linchpin_oracle::Operation> = history
                .iter()
                .map(|(id, it)| linchpin_oracle::Operation {
                    process: it.process as usize,
                    call: history.call(id),
                    response: history.response(id),
                    invoked: it.invoked.index(),
                    returned: (it.returned != NEVER).then(|| it.returned.index()),
                })
                .collect();
            // What was interrupted comes before all that its process did later.
            let mut pairs: Vec<(usize, usize)> = Vec::new();
            for (one, interrupted) in judged.iter().enumerate() {
                if interrupted.response.is_none() {
                    let is_later = |two: &usize| judged[*two].process == interrupted.process;
                    let later = (one + 1..judged.len()).filter(is_later);
                    pairs.extend(later.map(|two| (one, two)));
                }
            }
            let holds = witness_in_order(&*object.spec, &judged, &pairs).is_some();
            let all: Vec<usize> = (0..operations.len()).collect();
            let confirm = |core: &[usize], before: &[Before], at: Option<u64>| {
                let budget = Budget::default();
                confirm_core_ordered(&*object.spec, name, &operations, core, before, at, &budget)
            };
            let context = || format!("{name}, case {case}: {judged:#?} {pairs:?}");
            let found = confirm(&all, &before, None);
            assert_eq!(found.is_err(), holds, "{found:?} {}", context());
            held += u64::from(holds);
            by_order += u64::from(!holds && confirm(&all, &[], None).is_err());
            if let Err(CoreError::Explained(order)) = &found {
                let place = |id: usize| order.iter().position(|other| *other == id);
                let breaks = |(one, two): &(usize, usize)| match (place(*one), place(*two)) {
                    (Some(one), Some(two)) => one > two,
                    _ => false,
                };
                assert!(!pairs.iter().any(breaks), "{order:?} {}", context());
            }
            match checked.judgement {
                Judgement::Holds(_) => assert!(holds, "{}", context()),
                Judgement::Violated(violation) => {
                    assert!(!holds, "{}", context());
                    cores += 1;
                    let core: Vec<usize> = violation.core.iter().map(|id| id.index()).collect();
                    let confirmed = confirm(&core, &before, violation.at.map(u64::from));
                    assert_eq!(confirmed, Ok(()), "{core:?} {}", context());
                }
                Judgement::Inconclusive(why) => panic!("{why}"),
            }
        }
        println!("{name}: {held} hold, {cores} cores, {by_order} violated by the order only");
        assert!(held > cases / 10 && cores > cases / 50, "{name}: {held} {cores}");
        assert!(by_order > 0, "{name}");
    }
}
