//! The search over several specifications.

use crate::generate::{Bag, Sort, cases, crowded, history, seed};
use crate::judge::check;
use linchpin_history_data::Judgement;
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
