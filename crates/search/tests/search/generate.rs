//! Random histories: recorded from a sequential object with random linearization points, some then
//! corrupted.

use linchpin_history_data::{Builder, History, NEVER, Rank};
use linchpin_spec::{Call, Outcome, Outcomes, Shape, Signature, Spec, Value};
use std::env;

/// The seed of a test, printed.
pub fn seed(test: &str) -> u64 {
    let seed = env::var("LINCHPIN_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(7);
    println!("{test}: LINCHPIN_SEED={seed}");
    seed
}

/// How many cases a test tries.
pub fn cases(usual: usize) -> usize {
    env::var("LINCHPIN_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

/// What histories look like.
#[derive(Clone, Copy)]
pub struct Sort {
    pub processes: usize,
    pub operations: usize,
    /// Of a hundred calls, how many never return.
    pub crashes: u32,
    /// Whether operations that do not return may have a deadline.
    pub deadlines: bool,
    /// Of a hundred histories, how many are corrupted.
    pub corrupted: u32,
    pub values: i64,
}

/// A value of this shape; small ones, so that they meet.
pub fn random_value(random: &mut fastrand::Rng, shape: &Shape, values: i64) -> Value {
    match shape {
        Shape::Unit => Value::Null,
        Shape::Bool => random.bool().into(),
        Shape::Int | Shape::Any => random.i64(0..values).into(),
        Shape::Str => (*random.choice(&["r", "w"]).unwrap()).into(),
        Shape::Word(words) => (*random.choice(*words).unwrap()).into(),
        Shape::Optional(_) if random.u8(..4) == 0 => Value::Null,
        Shape::Optional(inner) => random_value(random, inner, values),
        Shape::Tuple(items) => {
            Value::list(items.iter().map(|item| random_value(random, item, values)))
        }
        Shape::Record(fields) => {
            Value::list(fields.iter().map(|(_, item)| random_value(random, item, values)))
        }
        Shape::List(item) => {
            let count = random.usize(1..3);
            Value::list((0..count).map(|_| random_value(random, item, values)))
        }
    }
}

#[derive(Clone)]
enum Doing {
    Nothing,
    Waiting(Call),
    Answering(Value),
    Stopped,
}

/// A history.
pub fn history<S: Spec + ?Sized>(random: &mut fastrand::Rng, spec: &S, shape: Sort) -> History {
    let mut builder = Builder::new(spec.operations());
    let mut doing = vec![Doing::Nothing; shape.processes];
    let corrupted = random.u32(..100) < shape.corrupted;
    let mut state = spec.initial();
    let mut called = 0;
    for _ in 0..20 * shape.operations {
        let process = random.usize(..shape.processes);
        let name = process.to_string();
        doing[process] = match doing[process].clone() {
            Doing::Nothing if called == shape.operations => Doing::Nothing,
            Doing::Nothing => {
                called += 1;
                let operation = random.usize(..spec.operations().len());
                let signature = &spec.operations()[operation];
                let argument = random_value(random, &signature.argument, shape.values);
                builder.invoke(&name, &signature.name, argument.clone()).unwrap();
                Doing::Waiting(Call { operation, argument })
            }
            Doing::Waiting(_) if random.u32(..100) < shape.crashes / 2 => Doing::Stopped,
            Doing::Waiting(call) => {
                let outcomes = spec.apply(&state, &call, None);
                match random.choice(outcomes) {
                    Some(outcome) => {
                        state = outcome.state;
                        let shape_of = &spec.operations()[call.operation].response;
                        match corrupted && random.u8(..5) < 2 {
                            true => Doing::Answering(random_value(random, shape_of, shape.values)),
                            false => Doing::Answering(outcome.response),
                        }
                    }
                    None if corrupted && random.u8(..5) < 2 => {
                        let shape_of = &spec.operations()[call.operation].response;
                        Doing::Answering(random_value(random, shape_of, shape.values))
                    }
                    None => Doing::Waiting(call),
                }
            }
            Doing::Answering(_) if random.u32(..100) < shape.crashes / 2 => Doing::Stopped,
            Doing::Answering(response) => {
                builder.ok(&name, response).unwrap();
                Doing::Nothing
            }
            Doing::Stopped => Doing::Stopped,
        };
    }
    let mut history = builder.finish();
    for operation in &mut history.operations {
        if shape.deadlines && !operation.completed && random.bool() {
            operation.returned =
                Rank::new(random.u32((operation.invoked + 1).number()..=history.events.number()));
        }
        assert!(operation.completed || operation.returned > operation.invoked);
    }
    history
}

/// The same history with operations beside it that never return and never take effect.
pub fn crowded(mut history: History, operation: u16, count: usize) -> History {
    let Some(mut beside) = history.operations.first().copied() else {
        return history;
    };
    for other in &mut history.operations {
        other.invoked += count as u32;
        if other.returned != NEVER {
            other.returned += count as u32;
        }
    }
    history.events += count as u32;
    beside.operation = operation;
    beside.argument = linchpin_history_data::Argument::None;
    beside.completed = false;
    beside.returned = NEVER;
    for at in (0..count).rev() {
        beside.invoked = Rank::at(at);
        history.operations.insert(0, beside);
    }
    history
}

/// A bag that gives back any of its elements, sorted: the object is not deterministic.
pub struct Bag {
    operations: [Signature; 3],
}

impl Default for Bag {
    fn default() -> Bag {
        let put = Signature::new("put", Shape::Any, Shape::Unit);
        let take = Signature::new("take", Shape::Unit, Shape::Any.or_null());
        let shake = Signature::new("shake", Shape::Unit, Shape::Unit);
        Bag { operations: [put, take, shake] }
    }
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
        known: Option<&Value>,
    ) -> Outcomes<Vec<Value>> {
        let mut outcomes = Outcomes::new();
        match call.operation {
            0 => {
                let mut state = state.clone();
                let at = state.partition_point(|value| *value < call.argument);
                state.insert(at, call.argument.clone());
                outcomes.push(Outcome { state, response: Value::Null });
            }
            1 => {
                for index in 0..state.len() {
                    let mut rest = state.clone();
                    let taken = rest.remove(index);
                    if known.is_none_or(|known| *known == taken) {
                        outcomes.push(Outcome { state: rest, response: taken });
                    }
                }
                if state.is_empty() && known.is_none_or(Value::is_null) {
                    outcomes.push(Outcome { state: state.clone(), response: Value::Null });
                }
            }
            // Something may fall out.
            _ => {
                outcomes.push(Outcome { state: state.clone(), response: Value::Null });
                for index in 0..state.len() {
                    let mut rest = state.clone();
                    rest.remove(index);
                    outcomes.push(Outcome { state: rest, response: Value::Null });
                }
            }
        }
        outcomes
    }
}

/// Makes one of the last operations answer what another answered, so that it is probably wrong.
pub fn answer_another(history: &mut History, random: &mut fastrand::Rng) {
    let completed = |at: &usize| history.operations[*at].completed;
    let all: Vec<usize> = (0..history.operations.len()).filter(completed).collect();
    let (Some(&one), Some(&other)) = (random.choice(&all[all.len() / 2..]), random.choice(&all))
    else {
        return;
    };
    if history.operations[one].operation == history.operations[other].operation {
        history.operations[one].response = history.operations[other].response;
    }
}

/// A specification that does not say which operations only look.
pub struct Untold<S>(pub S);

impl<S: Spec> Spec for Untold<S> {
    type State = S::State;

    fn operations(&self) -> &[Signature] {
        self.0.operations()
    }

    fn initial(&self) -> S::State {
        self.0.initial()
    }

    fn apply(&self, state: &S::State, call: &Call, response: Option<&Value>) -> Outcomes<S::State> {
        self.0.apply(state, call, response)
    }
}

/// An object in which `mark` changes something only after 80 steps.
pub struct Late([Signature; 3]);

impl Default for Late {
    fn default() -> Late {
        Late([
            Signature::new("step", Shape::Unit, Shape::Unit),
            Signature::new("mark", Shape::Unit, Shape::Unit),
            Signature::new("is-marked", Shape::Unit, Shape::Bool),
        ])
    }
}

impl Spec for Late {
    type State = (u32, bool);

    fn operations(&self) -> &[Signature] {
        &self.0
    }

    fn initial(&self) -> (u32, bool) {
        (0, false)
    }

    fn apply(
        &self,
        &(steps, marked): &(u32, bool),
        call: &Call,
        response: Option<&Value>,
    ) -> Outcomes<(u32, bool)> {
        let (state, answer) = match call.operation {
            0 => ((steps + 1, marked), Value::Null),
            1 => ((steps, marked || steps >= 80), Value::Null),
            _ => ((steps, marked), Value::Bool(marked)),
        };
        let fits = response.is_none_or(|response| *response == answer);
        fits.then_some(Outcome { state, response: answer }).into_iter().collect()
    }
}
