//! Splitting into independent parts.

use crate::generate::{Sort, cases, history, seed};
use crate::judge::check;
use linchpin_history_data::{Builder, Judgement, OpId};
use linchpin_search::parts::search_parts;
use linchpin_search::split::{SplitBy, split};
use linchpin_search::{SearchOptions, search};
use linchpin_spec::{MultiRegister, Spec, Value, builtin};
use linchpin_verdict::Limits;

const SORT: Sort =
    Sort { processes: 4, operations: 10, crashes: 0, deadlines: false, corrupted: 60, values: 4 };

#[test]
fn parts_say_the_same_as_the_whole() {
    let splits = [
        ("set", SplitBy::FirstValue),
        ("map", SplitBy::FirstValue),
        ("kv", SplitBy::FirstValue),
        ("multi-register", SplitBy::Locations(1)),
        ("list-append", SplitBy::Locations(1)),
        ("mwcas", SplitBy::Locations(0)),
    ];
    for (name, by) in splits {
        let spec = builtin(name, None).unwrap();
        let mut random = fastrand::Rng::with_seed(seed(name));
        let (rounds, mut violated, mut several) = (cases(600), 0, 0);
        for _ in 0..rounds {
            let crashes = *random.choice(&[0, 20]).unwrap();
            let operations = random.usize(1..=SORT.operations);
            let sort = Sort { crashes, deadlines: crashes > 0, operations, ..SORT };
            let history = history(&mut random, &*spec, sort);
            let all: Vec<OpId> = history.ids().collect();
            let parts = split(&history, &all, by);
            several += usize::from(parts.len() > 1);
            let mut together = parts.concat();
            together.sort_unstable();
            assert_eq!(together, all);
            let options = SearchOptions::default();
            let found = search_parts(&*spec, &history, &parts, &Limits::default(), &options);
            violated += usize::from(check(name, &*spec, &history, &found.judgement));
            let whole = search(&*spec, &history, &Limits::default(), &options);
            if let (Judgement::Violated(one), Judgement::Violated(two)) =
                (found.judgement, whole.judgement)
            {
                assert_eq!(one.at, two.at);
            }
        }
        println!("{name}: {violated} of {rounds} are violated, {several} have several parts");
        assert!((rounds / 10..=rounds * 9 / 10).contains(&violated), "{name}: {violated}");
        assert!(several > rounds / 4, "{name}: {several}");
    }
}

#[test]
fn locations_touched_together_stay_together() {
    let spec = MultiRegister::default();
    let mut builder = Builder::new(spec.operations());
    for keys in [vec!["x", "y"], vec!["z"], vec!["y", "w"], vec!["v"], vec![], vec!["z"]] {
        let write = |key: &str| Value::list(["w".into(), key.into(), 1.into()]);
        builder.invoke("a", "txn", Value::list(keys.into_iter().map(write))).unwrap();
        builder.ok("a", Value::Null).unwrap();
    }
    let history = builder.finish();
    let parts = split(&history, &[0, 1, 2, 3, 4, 5].map(OpId::new), SplitBy::Locations(1));
    let parts: Vec<Vec<usize>> =
        parts.iter().map(|part| part.iter().map(|id| id.index()).collect()).collect();
    assert_eq!(parts, [vec![0, 2], vec![1, 5], vec![3], vec![4]]);
}

#[test]
fn many_parts_on_all_threads() {
    let spec = builtin("set", None).unwrap();
    let mut random = fastrand::Rng::with_seed(seed("many parts"));
    let sort = Sort { processes: 8, operations: 20_000, corrupted: 0, values: 300, ..SORT };
    let mut history = history(&mut random, &*spec, sort);
    let all: Vec<OpId> = history.ids().collect();
    let parts = split(&history, &all, SplitBy::FirstValue);
    assert_eq!(parts.len(), 300);
    let options = SearchOptions::default();
    let found = search_parts(&*spec, &history, &parts, &Limits::default(), &options);
    let Judgement::Holds(witness) = found.judgement else { panic!("{:?}", found.judgement) };
    assert!(crate::judge::is_witness(&*spec, &history, &witness.order));

    // The first wrong answer counts, whatever part it is in.
    for at in [15_000, 12_000, 18_000] {
        let operation = &mut history.operations[at];
        operation.completed = true;
        operation.operation = 1;
        operation.argument =
            linchpin_history_data::Argument::One(linchpin_history_data::ValueId::NULL);
        operation.response =
            linchpin_history_data::Argument::One(linchpin_history_data::ValueId::TRUE);
    }
    let at = [12_000, 15_000, 18_000].map(|at| history.operations[at].returned).into_iter().min();
    let parts = split(&history, &all, SplitBy::FirstValue);
    let found = search_parts(&*spec, &history, &parts, &Limits::default(), &options);
    let Judgement::Violated(violation) = found.judgement else { panic!("{:?}", found.judgement) };
    assert_eq!(violation.at, at);
}
