//! Detectability: what recovery says of interrupted operations, for every built-in object against
//! the brute-force judge, which is told of each operation what recovery said.

use crate::generate::{cases, random_value, seed};
use linchpin_history::search::SearchOptions;
use linchpin_history::{
    Builder, CheckOptions, History, Judgement, Object, Property, RecoveredOutcome, check, crash,
};
use linchpin_oracle::{Operation, is_linearizable};
use linchpin_spec::{BUILTINS, Call, Spec, Value};
use std::time::Duration;

/// What a process is doing.
#[derive(Clone)]
enum Doing {
    Nothing,
    /// Called, with no effect so far.
    Waiting(Call),
    /// It took effect, and this is the answer.
    Done(Call, Value),
    /// Interrupted; the answer, if it took effect.
    Interrupted(Call, Option<Value>),
}

/// A history in the making, for the engine and for the judge.
struct Making<'a> {
    object: &'a Object,
    builder: Builder,
    /// As the judge is told: without what recovery said to have no effect.
    judged: Vec<Option<Operation>>,
    /// The last operation of each process.
    last: Vec<usize>,
    events: usize,
    /// How often recovery said one thing and the other.
    said: [usize; 2],
}

impl Making<'_> {
    fn tick(&mut self) -> usize {
        self.events += 1;
        self.events - 1
    }

    fn invoke(&mut self, process: usize, call: &Call) {
        let name = &self.object.spec.operations()[call.operation].name;
        self.builder.invoke(&process.to_string(), name, call.argument.clone()).expect("a call");
        let invoked = self.tick();
        let call = call.clone();
        self.last[process] = self.judged.len();
        let (response, returned) = (None, None);
        self.judged.push(Some(Operation { process, call, response, invoked, returned }));
    }

    fn answer(&mut self, process: usize, answer: Value) {
        let returned = Some(self.tick());
        if let Some(operation) = &mut self.judged[self.last[process]] {
            (operation.response, operation.returned) = (Some(answer), returned);
        }
    }

    fn recovered(&mut self, process: usize, call: &Call, answer: Option<Value>) {
        let shape = &self.object.spec.operations()[call.operation].response;
        let outcome = match &answer {
            Some(answer) => {
                RecoveredOutcome::TookEffect(self.builder.argument(answer.clone(), shape))
            }
            None => RecoveredOutcome::NoEffect,
        };
        self.said[usize::from(answer.is_some())] += 1;
        let number = self.builder.process(&process.to_string());
        self.builder.recovered(number, outcome).expect("it was interrupted");
        match answer {
            Some(answer) => self.answer(process, answer),
            None => {
                self.tick();
                self.judged[self.last[process]] = None;
            }
        }
    }
}

/// Crashes of processes and of the system; recovery mostly tells the truth.
fn history<'a>(random: &mut fastrand::Rng, object: &'a Object) -> Making<'a> {
    let (spec, builder) = (&object.spec, Builder::new(object.spec.operations()));
    let (judged, last) = (Vec::new(), vec![0; 3]);
    let mut making = Making { object, builder, judged, last, events: 0, said: [0; 2] };
    let mut doing = vec![Doing::Nothing; 3];
    let mut state = spec.initial();
    let corrupted = random.u8(..5) < 2;
    for _ in 0..70 {
        let process = random.usize(..doing.len());
        if random.u8(..9) == 0 {
            let alone = random.bool();
            let number = making.builder.process(&process.to_string());
            making.builder.crash(alone.then_some(number)).expect("a crash");
            making.tick();
            let crashed = |(at, _): &(usize, &mut Doing)| !alone || *at == process;
            for (_, doing) in doing.iter_mut().enumerate().filter(crashed) {
                *doing = match doing.clone() {
                    Doing::Waiting(call) => Doing::Interrupted(call, None),
                    Doing::Done(call, answer) => Doing::Interrupted(call, Some(answer)),
                    other => other,
                };
            }
            continue;
        }
        let lie = corrupted && random.u8(..3) == 0;
        let shape = |call: &Call| &spec.operations()[call.operation].response;
        doing[process] = match doing[process].clone() {
            Doing::Nothing if making.judged.len() == 8 => Doing::Nothing,
            Doing::Nothing => {
                let operation = random.usize(..spec.operations().len());
                let argument = random_value(random, &spec.operations()[operation].argument, 2);
                let call = Call { operation, argument };
                making.invoke(process, &call);
                Doing::Waiting(call)
            }
            Doing::Waiting(call) => match random.choice(spec.apply(&state, &call, None)) {
                Some(outcome) => {
                    state = outcome.state;
                    Doing::Done(call, outcome.response)
                }
                None => Doing::Waiting(call),
            },
            Doing::Done(call, answer) => {
                let answer = if lie { random_value(random, shape(&call), 2) } else { answer };
                making.builder.ok(&process.to_string(), answer.clone()).expect("an answer");
                making.answer(process, answer);
                Doing::Nothing
            }
            // It may go on without a word, and what was interrupted may still take effect.
            Doing::Interrupted(..) if random.u8(..6) == 0 => Doing::Nothing,
            Doing::Interrupted(call, None) if random.u8(..4) == 0 => {
                match random.choice(spec.apply(&state, &call, None)) {
                    Some(outcome) => {
                        state = outcome.state;
                        Doing::Interrupted(call, Some(outcome.response))
                    }
                    None => Doing::Interrupted(call, None),
                }
            }
            Doing::Interrupted(call, outcome) => {
                let outcome = match (lie, random.bool()) {
                    (true, true) => None,
                    (true, false) => Some(random_value(random, shape(&call), 2)),
                    (false, _) => outcome,
                };
                making.recovered(process, &call, outcome);
                Doing::Nothing
            }
        };
    }
    making
}

fn verdict(object: &Object, history: &mut History, property: Property, monitors: bool) -> bool {
    let search =
        SearchOptions { core_time: Duration::from_millis(100), ..SearchOptions::default() };
    let options = CheckOptions { property, monitors, search, ..CheckOptions::default() };
    match check(object, history, &options).expect("the crashes make sense").judgement {
        Judgement::Holds(_) => true,
        Judgement::Violated(_) => false,
        Judgement::Inconclusive(reason) => panic!("{}: {reason}: {history:#?}", object.name),
    }
}

/// What came of the histories of one object.
#[derive(Default)]
struct Tally {
    violated: usize,
    /// Violated only because of what recovery said.
    by_recovery: usize,
    said: [usize; 2],
}

fn compare(object: &Object, random: &mut fastrand::Rng, tally: &mut Tally) {
    for round in 0..cases(60) {
        let made = history(random, object);
        (0..2).for_each(|at| tally.said[at] += made.said[at]);
        let history = made.builder.finish();
        let judged: Vec<Operation> = made.judged.into_iter().flatten().collect();
        let expected = is_linearizable(&*object.spec, &judged);
        let mut answered = history.clone();
        let found = verdict(object, &mut answered, Property::Detectable, round % 2 == 0);
        assert_eq!(found, expected, "{}: {judged:#?}", object.name);
        // What was judged may be judged again.
        let again = verdict(object, &mut answered, Property::Detectable, round % 2 == 1);
        assert_eq!(again, expected, "{}: {judged:#?}", object.name);
        tally.violated += usize::from(!expected);
        let mut ignored = history.clone();
        let durable = verdict(object, &mut ignored, Property::Durable, true);
        assert!(durable || !expected, "{}: detectable and not durable", object.name);
        tally.by_recovery += usize::from(durable && !expected);
    }
}

#[test]
fn every_builtin_object_exactly() {
    let mut random = fastrand::Rng::with_seed(seed("detectable"));
    let mut all = Tally::default();
    for info in BUILTINS {
        let init = match info.name {
            "snapshot" => Some(Value::list([0.into(), 0.into()])),
            "bounded-queue" => Some(Value::Int(2)),
            "bank" => Some(Value::map((0..3).map(|account| (account.into(), 1.into())))),
            _ => None,
        };
        let object = Object::builtin(info.name, init).expect("a built-in");
        compare(&object, &mut random, &mut all);
    }
    let Tally { violated, by_recovery, said: [none, some] } = all;
    let cases = cases(60) * BUILTINS.len();
    println!("{violated} of {cases} are violated, {by_recovery} because of what recovery said");
    println!("recovery said {none} times that there was no effect, {some} times an answer");
    assert!(violated > cases / 20 && violated < cases * 19 / 20, "{violated} of {cases}");
    assert!(by_recovery > cases / 100, "{by_recovery} of {cases}");
}

/// Process 0 was interrupted in its write.
fn interrupted_write(outcome: RecoveredOutcome) -> (Object, History) {
    let object = Object::builtin("register", None).expect("a built-in");
    let mut builder = Builder::new(object.spec.operations());
    builder.invoke("0", "write", Value::Int(1)).expect("a call");
    builder.crash(None).expect("a crash");
    let process = builder.process("0");
    builder.recovered(process, outcome).expect("it was interrupted");
    builder.invoke("1", "read", Value::Null).expect("a call");
    builder.ok("1", Value::Int(1)).expect("an answer");
    (object, builder.finish())
}

#[test]
fn other_properties_say_that_they_do_not_look() {
    let (object, history) = interrupted_write(RecoveredOutcome::NoEffect);
    assert!(!verdict(&object, &mut history.clone(), Property::Detectable, true));
    for property in [Property::Linearizable, Property::Durable, Property::Strict] {
        let mut history = history.clone();
        assert!(verdict(&object, &mut history, property, true), "{property:?}");
        let applied = crash::apply(&mut history, property).expect("it makes sense");
        let said: Vec<String> = applied.assumptions.iter().map(ToString::to_string).collect();
        assert!(said.iter().any(|said| said.contains("`detectable`")), "{said:?}");
    }
}

#[test]
fn recovery_answers_once_and_only_for_what_was_interrupted() {
    let mut builder = Builder::new(Object::builtin("register", None).unwrap().spec.operations());
    let process = builder.process("0");
    let outcome = RecoveredOutcome::NoEffect;
    assert!(builder.recovered(process, outcome).is_err(), "nothing was called");
    builder.invoke("0", "write", Value::Int(1)).expect("a call");
    assert!(builder.recovered(process, outcome).is_err(), "nothing crashed");
    builder.crash(Some(process)).expect("a crash");
    builder.crash(None).expect("a crash");
    assert!(builder.recovered(process, outcome).is_ok(), "still the one to ask about");
    assert!(builder.recovered(process, outcome).is_err(), "it was told already");
    builder.invoke("0", "write", Value::Int(2)).expect("a call");
    builder.crash(None).expect("a crash");
    builder.invoke("0", "write", Value::Int(3)).expect("a call");
    assert!(builder.recovered(process, outcome).is_err(), "it went on");
}
