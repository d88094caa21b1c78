//! The construction as it was published agrees with the monitor, except where it is known to be
//! wrong.

use crate::mwcas::generate::{Answers, Settings, random_history};
use crate::mwcas::judge::{is_linearizable, shown};
use crate::mwcas::{BASE, setting};
use linchpin_history_data::crash::{Property, apply};
use linchpin_history_data::{Builder, History, Judgement, OpId, Rank};
use linchpin_monitor::mwcas::{self, published};
use linchpin_spec::{Mwcas, Spec, Value};
use linchpin_verdict::Limits;
use published::{HappensBefore, Published};

/// Every history starts with a read of all locations, which assumption 2 asks for.
fn with_first_read(history: &History, locations: i64) -> History {
    let mut builder = Builder::new(Mwcas::default().operations());
    let asked = (0..locations).map(|at| Value::list([at.into(), Value::Null]));
    builder.invoke("first", "mwread", Value::list(asked)).unwrap();
    let answered = (0..locations).map(|at| Value::list([at.into(), 0.into()]));
    builder.ok("first", Value::list(answered)).unwrap();
    for event in (0..history.events.number()).map(Rank::new) {
        if let Some(crash) = history.crashes.iter().find(|crash| crash.at == event) {
            let process =
                crash.process.map(|process| builder.process(&history.processes[process as usize]));
            builder.crash(process).unwrap();
        }
        for (id, operation) in history.iter() {
            let process = &history.processes[operation.process as usize];
            if operation.invoked == event {
                let call = history.call(id);
                builder
                    .invoke(process, ["mwread", "mwcas"][call.operation], call.argument)
                    .unwrap();
            }
            if operation.completed && operation.returned == event {
                builder.ok(process, history.response(id).unwrap()).unwrap();
            }
        }
    }
    builder.finish()
}

#[test]
fn agrees_with_the_published_construction() {
    let seed = setting("LINCHPIN_SEED", 1);
    println!("LINCHPIN_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut agree, mut broken, mut false_alarms, mut fewer) = (0, 0, 0, 0);
    let init = Value::Int(0);
    for case in 0..setting("LINCHPIN_CASES", 4_000) * 2 {
        let settings = Settings {
            crashes: case % 2 == 0,
            answers: if case % 3 == 0 { Answers::Location } else { Answers::Mixed },
            ..BASE
        };
        let (history, _) = random_history(&mut random, &settings);
        let mut history = with_first_read(&history, settings.locations);
        let properties =
            [Property::Linearizable, Property::Strict, Property::Recoverable, Property::Durable];
        let property = *random.choice(&properties).unwrap();
        let applied = apply(&mut history, property).unwrap();
        let id = history.values.find(&init).unwrap();
        let [(published, reduced), (unreduced, all)] = [HappensBefore::Reduced, HappensBefore::All]
            .map(|which| published::analyse(&history, &applied.interrupted, id, which));
        assert_eq!(published, unreduced, "all happens-before edges say the same");
        assert!(reduced.happens_before <= all.happens_before);
        fewer += usize::from(reduced.happens_before < all.happens_before);
        if published == Published::NotCovered {
            continue;
        }
        let judgement = mwcas::check_interrupted(
            &history,
            &applied.interrupted,
            Some(&init),
            &Limits::default(),
        );
        let text = || {
            format!("case {case}, {property:?}: {judgement:?}\n{}", shown(&history, Some(&init)))
        };
        // What the publication covers the monitor covers, but for values that two unfinished swaps
        // write.
        let Ok(judgement) = &judgement else {
            assert!(judgement.as_ref().unwrap_err().reason.contains("writes"), "{}", text());
            continue;
        };
        let ordered = property == Property::Recoverable;
        assert_eq!(
            matches!(judgement, Judgement::Holds(_)),
            is_linearizable(&history, Some(&init), ordered),
            "{}",
            text()
        );
        match (judgement, published) {
            (Judgement::Holds(_), Published::Linearizable) => agree += 1,
            (
                Judgement::Violated(_),
                Published::Cycle | Published::Fork | Published::MissingEdge,
            ) => broken += 1,
            // Rule 2: the monitor needs an unfinished swap that the publication leaves out.
            (Judgement::Holds(witness), Published::MissingEdge) => {
                let pending = |id: &OpId| !history[*id].completed;
                assert!(witness.order.iter().any(pending), "{}", text());
                false_alarms += 1;
            }
            _ => panic!("published: {published:?}, {}", text()),
        }
    }
    println!(
        "{agree} agree that it holds, {broken} that not, {false_alarms} false alarms of rule 2"
    );
    assert!(agree > 500 && broken > 200 && false_alarms > 0 && fewer > 500);
}

fn words(words: &[[i64; 3]]) -> Value {
    Value::list(words.iter().map(|word| Value::list(word.map(Value::Int))))
}

/// Reads 0 at locations 0 and 1; `crashed` do not return; then `failed` at location 0.
fn unexplained(crashed: &[&[[i64; 3]]], failed: &[&[[i64; 3]]]) -> History {
    let mut builder = Builder::new(Mwcas::default().operations());
    let asked = [0, 1].map(|at| Value::list([at.into(), Value::Null]));
    builder.invoke("reader", "mwread", Value::list(asked)).unwrap();
    let answered = [0, 1].map(|at| Value::list([at.into(), 0.into()]));
    builder.ok("reader", Value::list(answered)).unwrap();
    for (process, swap) in crashed.iter().enumerate() {
        builder.invoke(&format!("crashed {process}"), "mwcas", words(swap)).unwrap();
    }
    builder.crash(None).unwrap();
    for swap in failed {
        builder.invoke("survivor", "mwcas", words(swap)).unwrap();
        builder.ok("survivor", Value::map([("failed".into(), swap[0][0].into())])).unwrap();
    }
    builder.finish()
}

fn both(mut history: History) -> (Published, Judgement) {
    let _ = apply(&mut history, Property::Durable).unwrap();
    let init = history.values.find(&0.into()).unwrap();
    let published = published::judge(&history, &[], init);
    let judgement = mwcas::check(&history, Some(&0.into()), &Limits::default()).unwrap();
    assert_eq!(
        matches!(judgement, Judgement::Holds(_)),
        is_linearizable(&history, Some(&0.into()), false)
    );
    (published, judgement)
}

/// Read x = 0; a swap of x from 0 to 2 crashes; a swap of x from 0 to 1 fails at x. The crashed one
/// took effect.
#[test]
fn rule_2_is_wrong_for_one_word() {
    let (published, judgement) = both(unexplained(&[&[[0, 0, 2]]], &[&[[0, 0, 1]]]));
    assert_eq!(published, Published::MissingEdge);
    let Judgement::Holds(witness) = judgement else { panic!("{judgement:?}") };
    assert_eq!(witness.order, [0, 1, 2].map(OpId::new));
}

/// Two failures, at different locations, and only one crashed swap explains both; two others
/// exclude each other.
#[test]
fn rule_2_is_wrong_for_several_words() {
    let history = unexplained(
        &[&[[0, 0, 1], [1, 5, 1]], &[[0, 0, 2], [1, 0, 2]], &[[1, 0, 3]]],
        &[&[[0, 0, 8]], &[[1, 0, 9]]],
    );
    let (published, judgement) = both(history);
    assert_eq!(published, Published::MissingEdge);
    let Judgement::Holds(witness) = judgement else { panic!("{judgement:?}") };
    assert!(
        witness.order.contains(&OpId::new(2))
            && !witness.order.contains(&OpId::new(1))
            && !witness.order.contains(&OpId::new(3))
    );
}

/// The failure has no explanation at all: the crashed swap expected something else.
#[test]
fn an_unexplained_failure_is_a_violation() {
    let (published, judgement) = both(unexplained(&[&[[0, 7, 2]]], &[&[[0, 0, 1]]]));
    assert_eq!(published, Published::MissingEdge);
    assert!(matches!(judgement, Judgement::Violated(_)), "{judgement:?}");
}
