//! The judge is judged by a still simpler one: every order of every choice of pending operations.

use super::*;
use linchpin_spec::{BUILTINS, Outcome, Outcomes, Shape, Signature, builtin};
use std::env;

/// Whether some order of all completed and some pending operations respects time and the
/// specification.
fn naively_linearizable<S: Spec + ?Sized>(spec: &S, history: &[Operation]) -> bool {
    choices(history)
        .into_iter()
        .any(|chosen| permutations(&chosen).iter().any(|order| explains(spec, history, order)))
}

/// All completed operations with each subset of the pending ones.
fn choices(history: &[Operation]) -> Vec<Vec<usize>> {
    let mut choices = vec![Vec::new()];
    for (index, operation) in history.iter().enumerate() {
        let without = choices.clone();
        for choice in &mut choices {
            choice.push(index);
        }
        if operation.response.is_none() {
            choices.extend(without);
        }
    }
    choices
}

fn permutations(items: &[usize]) -> Vec<Vec<usize>> {
    let Some((last, others)) = items.split_last() else {
        return vec![Vec::new()];
    };
    let insert_everywhere = |permutation: Vec<usize>| {
        (0..items.len()).map(move |place| {
            let mut longer = permutation.clone();
            longer.insert(place, *last);
            longer
        })
    };
    permutations(others).into_iter().flat_map(insert_everywhere).collect()
}

/// Whether `order` respects time, and the specification can answer so.
fn explains<S: Spec + ?Sized>(spec: &S, history: &[Operation], order: &[usize]) -> bool {
    for (position, &later) in order.iter().enumerate() {
        for &earlier in &order[..position] {
            let returned = history[later].returned.unwrap_or(usize::MAX);
            if returned < history[earlier].invoked {
                return false;
            }
        }
    }
    let mut states = vec![spec.initial()];
    for &index in order {
        let Operation { call, response, .. } = &history[index];
        let apply = |state: &S::State| spec.apply(state, call, response.as_ref());
        states = states.iter().flat_map(apply).map(|outcome| outcome.state).collect();
    }
    !states.is_empty()
}

/// A bag that gives back any of its elements: the object is not deterministic.
struct Bag {
    operations: [Signature; 2],
}

impl Spec for Bag {
    type State = Vec<Value>;

    fn operations(&self) -> &[Signature] {
        &self.operations
    }

    fn initial(&self) -> Vec<Value> {
        Vec::new()
    }

    fn apply(
        &self,
        state: &Vec<Value>,
        call: &Call,
        response: Option<&Value>,
    ) -> Outcomes<Vec<Value>> {
        let mut outcomes = Outcomes::new();
        let mut state = state.clone();
        if call.operation == 0 {
            state.push(call.argument.clone());
            outcomes.push(Outcome { state, response: Value::Null });
        } else {
            for index in 0..state.len() {
                let mut rest = state.clone();
                let taken = rest.remove(index);
                if response.is_none_or(|response| *response == taken) {
                    outcomes.push(Outcome { state: rest, response: taken });
                }
            }
        }
        outcomes
    }
}

/// A value of this shape; small ones, so that they meet.
fn random_value(random: &mut fastrand::Rng, shape: &Shape) -> Value {
    match shape {
        Shape::Unit => Value::Null,
        Shape::Bool => random.bool().into(),
        Shape::Int | Shape::Any => random.i64(0..2).into(),
        Shape::Str => (*random.choice(&["r", "w"]).unwrap()).into(),
        Shape::Word(words) => (*random.choice(*words).unwrap()).into(),
        Shape::Optional(_) if random.u8(..3) == 0 => Value::Null,
        Shape::Optional(inner) => random_value(random, inner),
        Shape::Tuple(items) => Value::list(items.iter().map(|item| random_value(random, item))),
        Shape::Record(fields) => {
            Value::list(fields.iter().map(|(_, item)| random_value(random, item)))
        }
        Shape::List(item) => {
            Value::list((0..random.usize(1..3)).map(|_| random_value(random, item)))
        }
    }
}

/// What a process is doing while a history is made.
#[derive(Clone)]
enum Doing {
    Nothing,
    /// The operation at this index of the history, which has not taken effect.
    Waiting(usize),
    /// The operation at this index of the history, which has taken effect with this answer.
    Answering(usize, Value),
}

/// The number of events of a random history.
const EVENTS: usize = 30;

/// A history that three processes could have recorded; three times in four, half of its operations
/// are then corrupted.
fn random_history<S: Spec + ?Sized>(random: &mut fastrand::Rng, spec: &S) -> Vec<Operation> {
    let operations = random.usize(2..=6);
    let mut history: Vec<Operation> = Vec::new();
    let mut doing = vec![Doing::Nothing; 3];
    let mut state = spec.initial();
    for now in 0..EVENTS {
        let process = random.usize(..doing.len());
        doing[process] = match doing[process].clone() {
            Doing::Nothing if history.len() == operations => Doing::Nothing,
            Doing::Nothing => {
                let operation = random.usize(..spec.operations().len());
                let argument = random_value(random, &spec.operations()[operation].argument);
                let call = Call { operation, argument };
                let pending =
                    Operation { process, call, response: None, invoked: now, returned: None };
                history.push(pending);
                Doing::Waiting(history.len() - 1)
            }
            Doing::Waiting(index) => {
                let outcomes = spec.apply(&state, &history[index].call, None);
                match random.choice(outcomes) {
                    Some(outcome) => {
                        state = outcome.state;
                        Doing::Answering(index, outcome.response)
                    }
                    None => Doing::Waiting(index),
                }
            }
            Doing::Answering(index, response) => {
                history[index].response = Some(response);
                history[index].returned = Some(now);
                Doing::Nothing
            }
        };
    }
    for operation in &mut history {
        if operation.response.is_none() && random.bool() {
            operation.returned = Some(random.usize(operation.invoked..EVENTS));
        }
    }
    if random.u8(..4) != 0 {
        for operation in &mut history {
            if random.bool() {
                corrupt(random, spec, operation);
            }
        }
    }
    history
}

/// Makes the operation return a random answer. One that answers nothing may become another
/// operation first.
fn corrupt<S: Spec + ?Sized>(random: &mut fastrand::Rng, spec: &S, operation: &mut Operation) {
    let signatures = spec.operations();
    if signatures[operation.call.operation].response == Shape::Unit {
        operation.call.operation = random.usize(..signatures.len());
        let argument = &signatures[operation.call.operation].argument;
        operation.call.argument = random_value(random, argument);
    }
    let shape = &signatures[operation.call.operation].response;
    operation.response = Some(random_value(random, shape));
    operation.returned.get_or_insert(EVENTS);
}

/// Compares both judges on random histories.
fn compare<S: Spec + ?Sized>(name: &str, spec: &S) {
    let seed = env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    println!("{name}: SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let rounds = 2_000;
    let mut linearizable = 0;
    for _ in 0..rounds {
        let history = random_history(&mut random, spec);
        let order = witness(spec, &history);
        let expected = naively_linearizable(spec, &history);
        assert_eq!(order.is_some(), expected, "{name}: {history:#?}");
        if let Some(order) = order {
            linearizable += 1;
            let everything_returned_is_there = (0..history.len())
                .all(|index| order.contains(&index) || history[index].response.is_none());
            assert!(everything_returned_is_there, "{name}: {order:?} of {history:#?}");
            assert!(explains(spec, &history, &order), "{name}: {order:?} of {history:#?}");
        }
    }
    println!("{name}: {linearizable} of {rounds} are linearizable");
    assert!((rounds / 10..=rounds * 9 / 10).contains(&linearizable), "{name}: {linearizable}");
}

#[test]
fn agrees_with_the_naive_judge_on_every_builtin() {
    for info in BUILTINS {
        compare(info.name, &*builtin(info.name, None).unwrap());
    }
}

#[test]
fn agrees_with_the_naive_judge_on_a_nondeterministic_object() {
    let put = Signature::new("put", Shape::Any, Shape::Unit);
    let take = Signature::new("take", Shape::Unit, Shape::Any);
    compare("bag", &Bag { operations: [put, take] });
}

#[test]
fn the_empty_history_is_linearizable() {
    assert_eq!(witness(&*builtin("queue", None).unwrap(), &[]), Some(Vec::new()));
}

#[test]
#[should_panic(expected = "at most 64 operations, and this history has 65")]
fn too_many_operations() {
    let read = Call { operation: 1, argument: Value::Null };
    let pending = Operation { process: 0, call: read, response: None, invoked: 0, returned: None };
    witness(&*builtin("register", None).unwrap(), &vec![pending; 65]);
}
