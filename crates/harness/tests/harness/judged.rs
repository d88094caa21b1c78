//! Random executions: the judge says what the oracle says, whatever it remembers.

use linchpin_harness::{Call, Execution, Judge, Scenario, Subject, Test, Timed, fresh};
use linchpin_oracle::{Operation, is_linearizable};
use linchpin_spec::Value;
use std::sync::Mutex;

fn subject() -> Subject {
    let test = Test::new("queue", || Mutex::new(Vec::<u64>::new()))
        .spec("queue")
        .op("enqueue", (fresh,), |_, (_,): (u64,)| ())
        .op("dequeue", (), |_, ()| None::<u64>);
    test.definition().expect("a test").0.subject
}

/// Threads take turns at random, and answer what they like. The last call may be pending.
fn execution(random: &mut fastrand::Rng, scenario: &Scenario) -> Execution {
    let mut threads: Vec<Vec<Timed>> = vec![Vec::new(); scenario.threads.len()];
    let most = scenario.len() as i64;
    for stamp in 0..random.u64(2..=2 * scenario.len() as u64) {
        let thread = random.usize(0..threads.len());
        let calls = &scenario.threads[thread];
        let done = threads[thread].len();
        match threads[thread].last_mut() {
            Some(open) if open.answer.is_none() => {
                let answer = match (calls[done - 1].operation, random.i64(0..=most)) {
                    (0, _) | (_, 0) => Value::Null,
                    (_, value) => Value::Int(value),
                };
                open.answer = Some((stamp, answer));
            }
            _ if done < calls.len() => {
                threads[thread].push(Timed { invoked: stamp, answer: None, dropped: false })
            }
            _ => {}
        }
    }
    Execution { before: Vec::new(), threads }
}

fn explained(subject: &Subject, scenario: &Scenario, execution: &Execution) -> bool {
    let mut operations = Vec::new();
    for (process, (timed, calls)) in execution.threads.iter().zip(&scenario.threads).enumerate() {
        let operation = |(timed, call): (&Timed, &Call)| Operation {
            process,
            call: subject.spec_call(call),
            response: timed.answer.as_ref().map(|(_, answer)| answer.clone()),
            invoked: timed.invoked as usize,
            returned: timed.answer.as_ref().map(|(at, _)| *at as usize),
        };
        operations.extend(timed.iter().zip(calls).map(operation));
    }
    is_linearizable(&subject.object.spec, &operations)
}

#[test]
fn the_judge_agrees_with_the_oracle() {
    let subject = subject();
    let mut judge = Judge::new(&subject);
    let seed = std::env::var("LINCHPIN_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut right, mut wrong) = (0, 0);
    for case in 0..20_000 {
        let alphabet = linchpin_harness::Alphabet::new(&subject.operations);
        let scenario = alphabet.scenario(&mut random, 2, 2, 1);
        let execution = execution(&mut random, &scenario);
        let violated = judge.judge(&scenario, &execution).is_some();
        let expected = !explained(&subject, &scenario, &execution);
        assert_eq!(violated, expected, "seed {seed}, case {case}: {scenario:?} {execution:?}");
        if violated { wrong += 1 } else { right += 1 }
    }
    assert!(right > 1_000 && wrong > 1_000, "{right} right, {wrong} wrong");
    assert!(judge.different() < right, "some were the same");
}

/// With a core to spare, rounds are judged beside the next ones: none is left out.
#[test]
fn every_round_is_judged() {
    let test = |lost: u64| {
        linchpin_harness::Test::new("beside", || Mutex::new(0_u64))
            .spec("counter")
            .plan(linchpin_harness::Plan::native().threads(1).ops(4).runs(500))
            .op("fetch_add", (1..3_u64,), move |count, (n,): (u64,)| {
                let mut count = count.lock().unwrap();
                *count += n;
                if *count - n == lost { lost + 1 } else { *count - n }
            })
            .folder(None)
            .check()
    };
    let covered = test(u64::MAX - 1).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(covered.rounds, 500, "{covered}");
    let failure = test(5).expect_err("a sum is wrong");
    assert_eq!(failure.kind, linchpin_harness::Kind::NotLinearizable, "{failure}");
}
