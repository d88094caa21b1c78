//! The monitor of registers.

use crate::generate::{Sort, cases, crowded, history, seed};
use crate::judge::check;
use linchpin_history_data::{Builder, Judgement, OpId};
use linchpin_search::cas_register;
use linchpin_spec::{CasRegister, Register, Spec, Value};
use linchpin_verdict::Limits;

fn compare<S: Spec>(name: &str, spec: &S, init: &Value, sort: Sort, usual: usize) {
    let mut random = fastrand::Rng::with_seed(seed(name));
    let (rounds, mut violated) = (cases(usual), 0);
    for _ in 0..rounds {
        let operations = random.usize(1..=sort.operations);
        let processes = random.usize(2..=sort.processes);
        let history = history(&mut random, spec, Sort { operations, processes, ..sort });
        let judgement = cas_register::check(&history, init, &Limits::default()).unwrap();
        violated += usize::from(check(name, spec, &history, &judgement));
    }
    println!("{name}: {violated} of {rounds} are violated");
    assert!((rounds / 10..=rounds * 9 / 10).contains(&violated), "{name}: {violated} of {rounds}");
}

const SORT: Sort =
    Sort { processes: 5, operations: 10, crashes: 0, deadlines: false, corrupted: 95, values: 3 };

#[test]
fn complete_histories() {
    compare("cas-register", &CasRegister::new(0.into()), &0.into(), SORT, 2000);
    compare("register", &Register::default(), &Value::Null, SORT, 2000);
}

#[test]
fn histories_with_crashed_operations() {
    let sort = Sort { crashes: 16, ..SORT };
    compare("cas-register", &CasRegister::new(0.into()), &0.into(), sort, 2000);
    compare("register", &Register::default(), &Value::Null, sort, 2000);
}

#[test]
fn histories_with_deadlines() {
    let sort = Sort { crashes: 24, deadlines: true, ..SORT };
    compare("cas-register", &CasRegister::new(7.into()), &7.into(), sort, 2000);
    compare("register", &Register::default(), &Value::Null, sort, 2000);
}

#[test]
fn many_operations_in_progress() {
    let spec = CasRegister::new(0.into());
    let mut random = fastrand::Rng::with_seed(seed("crowded register"));
    for _ in 0..cases(300) {
        let history = history(&mut random, &spec, Sort { crashes: 16, ..SORT });
        let alone = cas_register::check(&history, &0.into(), &Limits::default()).unwrap();
        check("alone", &spec, &history, &alone);
        let mut crowded = crowded(history.clone(), CasRegister::WRITE as u16, 140);
        // Writes of a value that no operation reads, with a deadline after all else.
        let value = crowded.values.intern(99.into());
        for operation in &mut crowded.operations[..140.min(history.operations.len() * 140)] {
            operation.argument = linchpin_history_data::Argument::One(value);
            operation.returned = crowded.events + 5;
        }
        let among = cas_register::check(&crowded, &0.into(), &Limits::default()).unwrap();
        match (&alone, &among) {
            (Judgement::Holds(_), Judgement::Holds(_)) => {}
            // The 99 can make a failed cas right.
            (Judgement::Violated(_), Judgement::Holds(_)) => {}
            (Judgement::Violated(one), Judgement::Violated(two)) => {
                assert!(one.at.map(|at| at + 140) <= two.at, "{history:#?}");
            }
            _ => panic!("{alone:?} {among:?} {history:#?}"),
        }
    }
}

#[test]
fn what_is_no_register_is_not_judged() {
    let mut builder = Builder::new(CasRegister::default().operations());
    builder.invoke("a", "cas", Value::Int(1)).unwrap();
    builder.ok("a", Value::Bool(true)).unwrap();
    let answer = cas_register::check(&builder.finish(), &Value::Null, &Limits::default());
    assert!(answer.unwrap_err().reason.contains("process a"));
}

/// A value that was overwritten for good is seen to be so, however many operations are in progress.
#[test]
fn what_was_overwritten_is_seen_in_a_crowd() {
    let register = CasRegister::new(0.into());
    let mut random = fastrand::Rng::with_seed(seed("overwritten"));
    let mut builder = Builder::new(register.operations());
    for value in [9, 1] {
        builder.invoke("first", "write", value.into()).unwrap();
        builder.ok("first", Value::Null).unwrap();
    }
    let crowd: Vec<String> = (0..100).map(|process| process.to_string()).collect();
    for process in &crowd {
        let (old, new) = (random.i64(0..5), random.i64(0..5));
        builder.invoke(process, "cas", Value::list([old.into(), new.into()])).unwrap();
    }
    builder.invoke("last", "read", Value::Null).unwrap();
    builder.ok("last", 9.into()).unwrap();
    for process in &crowd {
        builder.ok(process, random.bool().into()).unwrap();
    }
    let limits = Limits {
        deadline: Some(std::time::Instant::now() + std::time::Duration::from_secs(60)),
        ..Limits::default()
    };
    match cas_register::check(&builder.finish(), &0.into(), &limits).unwrap() {
        Judgement::Violated(violation) => {
            assert_eq!(violation.core, [1, 102].map(OpId::new), "{}", violation.explanation);
        }
        other => panic!("{other:?}"),
    }
}
