//! Queues whose values repeat.

use crate::generate::{Sort, cases, history, seed};
use crate::judge::check;
use linchpin_history_data::Builder;
use linchpin_search::lockstep;
use linchpin_spec::{Call, Outcomes, Queue, Signature, Spec, Value};
use linchpin_verdict::Limits;

/// A queue into which no operation looks.
struct Blind(Queue);

impl Spec for Blind {
    type State = Value;

    fn operations(&self) -> &[Signature] {
        &self.0.operations()[..2]
    }

    fn initial(&self) -> Value {
        self.0.initial()
    }

    fn apply(&self, state: &Value, call: &Call, response: Option<&Value>) -> Outcomes<Value> {
        self.0.apply(state, call, response)
    }
}

fn compare(name: &str, init: &[Value], sort: Sort) {
    let spec = Blind(Queue::new(init.iter().cloned()));
    let mut random = fastrand::Rng::with_seed(seed(name));
    let (rounds, mut violated) = (cases(3000), 0);
    for _ in 0..rounds {
        let operations = random.usize(1..=sort.operations);
        let processes = random.usize(2..=sort.processes);
        let history = history(&mut random, &spec, Sort { operations, processes, ..sort });
        let judgement = lockstep::queue(&history, init, &Limits::default()).unwrap();
        violated += usize::from(check(name, &spec, &history, &judgement));
    }
    println!("{name}: {violated} of {rounds} are violated");
    assert!((rounds / 10..=rounds * 9 / 10).contains(&violated), "{name}: {violated} of {rounds}");
}

#[test]
fn agrees_with_the_judge() {
    let sort = Sort {
        processes: 5,
        operations: 10,
        crashes: 0,
        deadlines: false,
        corrupted: 60,
        values: 2,
    };
    compare("complete", &[], sort);
    compare("complete, not empty", &[1.into(), 0.into(), 5.into()], sort);
    compare("three values", &[], Sort { values: 3, processes: 4, operations: 12, ..sort });
    compare("crashed", &[], Sort { crashes: 20, corrupted: 95, ..sort });
    compare("crashed, not empty", &[1.into()], Sort { crashes: 20, corrupted: 95, ..sort });
}

#[test]
fn peeks_are_not_judged() {
    let mut builder = Builder::new(Queue::default().operations());
    builder.invoke("a", "peek", Value::Null).unwrap();
    builder.ok("a", Value::Null).unwrap();
    let answer = lockstep::queue(&builder.finish(), &[], &Limits::default());
    assert!(answer.unwrap_err().reason.contains("`peek` by process a"));
}
