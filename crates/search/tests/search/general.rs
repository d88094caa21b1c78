//! The search over several specifications.

use crate::generate::{Bag, Late, Sort, Untold, answer_another, cases, crowded, history, seed};
use crate::judge::{check, is_witness};
use linchpin_history_data::{Builder, Judgement};
use linchpin_search::{SearchOptions, search};
use linchpin_spec::{BUILTINS, Spec, Value, builtin};
use linchpin_verdict::Limits;
use std::time::Duration;

const SMALL: Sort =
    Sort { processes: 3, operations: 7, crashes: 0, deadlines: false, corrupted: 95, values: 2 };

/// Every combination of the reductions.
fn options(bits: u32) -> SearchOptions {
    SearchOptions {
        eager: bits & 1 != 0,
        symmetry: bits & 2 != 0,
        dominance: bits & 4 != 0,
        count_crashed: bits & 8 != 0,
        depth_first: bits & 16 != 0,
        core_time: Duration::ZERO,
        ..SearchOptions::default()
    }
}

/// Compares the search with the judge on random histories of one object.
fn compare<S: Spec + ?Sized + Sync>(name: &str, spec: &S, sort: Sort, usual: usize)
where
    S::State: 'static,
{
    let mut random = fastrand::Rng::with_seed(seed(name));
    let (rounds, mut violated) = (cases(usual), 0);
    for _ in 0..rounds {
        let sort = Sort { operations: random.usize(1..=sort.operations), ..sort };
        let history = history(&mut random, spec, sort);
        let core_time = Duration::from_millis(200);
        let usual = SearchOptions { core_time, ..SearchOptions::default() };
        let searched = search(spec, &history, &Limits::default(), &usual);
        violated += usize::from(check(name, spec, &history, &searched.judgement));
        for _ in 0..4 {
            let bits = random.u32(..32);
            let other = search(spec, &history, &Limits::default(), &options(bits));
            let tag = format!("{name} with {bits:b}");
            check(&tag, spec, &history, &other.judgement);
            if let (Judgement::Violated(one), Judgement::Violated(two)) =
                (&searched.judgement, &other.judgement)
            {
                assert_eq!(one.at, two.at, "{tag}: {history:#?}");
                assert!(!searched.possible.is_empty(), "{tag}: {history:#?}");
            }
        }
    }
    println!("{name}: {violated} of {rounds} are violated");
    assert!((rounds / 10..=rounds * 9 / 10).contains(&violated), "{name}: {violated} of {rounds}");
}

fn compare_all(sort: Sort, usual: usize) {
    for info in BUILTINS {
        let init = match info.name {
            "snapshot" => Some(Value::list([0.into(), 0.into()])),
            "bounded-queue" => Some(Value::Int(2)),
            "bank" => Some(Value::map((0..3).map(|account| (account.into(), 1.into())))),
            _ => None,
        };
        compare(info.name, &*builtin(info.name, init.as_ref()).unwrap(), sort, usual);
    }
    compare("bag", &Bag::default(), sort, usual);
}

#[test]
fn complete_histories() {
    compare_all(SMALL, 400);
}

#[test]
fn histories_with_crashed_operations() {
    compare_all(Sort { processes: 5, crashes: 24, ..SMALL }, 400);
}

#[test]
fn histories_with_deadlines() {
    compare_all(Sort { processes: 5, crashes: 24, deadlines: true, ..SMALL }, 400);
}

#[test]
fn searches_that_take_short_turns() {
    let mut random = fastrand::Rng::with_seed(seed("short turns"));
    for name in ["multi-register", "kv", "stack", "priority-queue", "register", "snzi"] {
        let told = builtin(name, None).unwrap();
        let untold = Untold(builtin(name, None).unwrap());
        for _ in 0..cases(400) {
            let sort = Sort { operations: 8, processes: 4, crashes: 6, corrupted: 50, ..SMALL };
            let history = history(&mut random, &*told, sort);
            let first_turn = Some(random.usize(1..12));
            let core_time = Duration::ZERO;
            let options = SearchOptions { first_turn, core_time, ..SearchOptions::default() };
            let limits = Limits::default();
            check(name, &*told, &history, &search(&*told, &history, &limits, &options).judgement);
            let judgement = search(&untold, &history, &limits, &options).judgement;
            check(&format!("{name}, untold"), &*told, &history, &judgement);
        }
    }
}

/// Beyond what the oracle can judge: the breadth-first search alone, which it judges on small
/// histories, says the same.
#[test]
fn searches_that_need_many_turns() {
    let mut random = fastrand::Rng::with_seed(seed("many turns"));
    let (mut held, mut violated) = (0, 0);
    for name in ["multi-register", "priority-queue", "stack", "register"] {
        let spec = Untold(builtin(name, None).unwrap());
        for round in 0..cases(40) {
            let sort = Sort { operations: 40, processes: 7, corrupted: 0, values: 3, ..SMALL };
            let mut history = history(&mut random, &spec, sort);
            if round % 2 == 1 {
                answer_another(&mut history, &mut random);
            }
            let core_time = Duration::ZERO;
            let alone = SearchOptions { depth_first: false, core_time, ..SearchOptions::default() };
            let first_turn = Some(random.usize(1..200)).filter(|_| random.bool());
            let parallel = random.bool();
            let all = SearchOptions { depth_first: true, first_turn, parallel, ..alone.clone() };
            let one = search(&spec, &history, &Limits::default(), &alone).judgement;
            let two = search(&spec, &history, &Limits::default(), &all).judgement;
            match (one, two) {
                (Judgement::Holds(one), Judgement::Holds(two)) => {
                    held += 1;
                    assert!(is_witness(&spec, &history, &one.order), "{name}: {history:#?}");
                    assert!(is_witness(&spec, &history, &two.order), "{name}: {history:#?}");
                }
                (Judgement::Violated(one), Judgement::Violated(two)) => {
                    violated += 1;
                    assert_eq!(one.at, two.at, "{name}: {history:#?}");
                }
                (one, two) => panic!("{name}: {one:?} {two:?} {history:#?}"),
            }
        }
    }
    println!("{held} hold, {violated} are violated");
    assert!(held > 0 && violated > 0);
}

/// `mark` only looks, until so many steps were taken that no search tries it there by itself.
#[test]
fn an_update_that_looks_like_an_observer_for_long() {
    let spec = Late::default();
    for steps in [3, 90] {
        let mut builder = Builder::new(spec.operations());
        builder.invoke("m", "mark", Value::Null).unwrap();
        for _ in 0..steps {
            builder.invoke("s", "step", Value::Null).unwrap();
            builder.ok("s", Value::Null).unwrap();
        }
        builder.invoke("s", "is-marked", Value::Null).unwrap();
        builder.ok("s", Value::Bool(true)).unwrap();
        builder.ok("m", Value::Null).unwrap();
        let history = builder.finish();
        let judgement = search(&spec, &history, &Limits::default(), &options(31)).judgement;
        match judgement {
            Judgement::Holds(witness) => {
                assert!(steps == 90 && is_witness(&spec, &history, &witness.order));
            }
            other => assert!(steps == 3 && check("late", &spec, &history, &other), "{other:?}"),
        }
    }
}

#[test]
fn more_than_64_and_128_operations_in_progress() {
    let register = builtin("cas-register", None).unwrap();
    let mut random = fastrand::Rng::with_seed(seed("crowded"));
    let options = SearchOptions { count_crashed: false, ..SearchOptions::default() };
    for _ in 0..cases(200) {
        let history =
            history(&mut random, &*register, Sort { crashes: 20, deadlines: true, ..SMALL });
        let alone = search(&*register, &history, &Limits::default(), &options).judgement;
        check("alone", &*register, &history, &alone);
        for count in [70, 140] {
            let crowded = crowded(history.clone(), 1, count);
            let options = SearchOptions { depth_first: random.bool(), ..options.clone() };
            let among = search(&*register, &crowded, &Limits::default(), &options).judgement;
            match (&alone, among) {
                (Judgement::Holds(_), Judgement::Holds(_)) => {}
                (Judgement::Violated(one), Judgement::Violated(two)) => {
                    assert_eq!(one.at.map(|at| at + count as u32), two.at);
                }
                (one, two) => panic!("{one:?} {two:?} {history:#?}"),
            }
        }
    }
}
