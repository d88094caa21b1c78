//! `check_partial` against all permutations: verdicts, witnesses, and cores, which must be minimal.

use crate::generate::{cases, random_value, seed};
use linchpin_history::{
    CheckOptions, Judgement, Object, OpId, PartialBuilder, PartialHistory, PartialJudge,
    check_partial, check_partial_with,
};
use linchpin_oracle::{PartialOperation, partial_witness};
use linchpin_spec::Value;
use linchpin_verdict::{Inconclusive, Limits, StopReason};

/// A random history: threads with some operations each and some order across, the answers those of
/// some order of all operations or arbitrary ones.
fn random_history(random: &mut fastrand::Rng, object: &Object, keys: i64) -> PartialHistory {
    let spec = &*object.spec;
    let operations = spec.operations();
    let count = *random.choice(&[2, 4, 5, 6, 6, 7]).expect("one");
    let threads = random.usize(2..=4);
    let values = random.i64(1..=4);
    let corrupted = random.u8(..100) < 75;
    let mut builder = PartialBuilder::new(operations);
    let mut states = vec![spec.initial(); keys as usize];
    let mut pending = vec![false; threads];
    for _ in 0..count {
        let process = random.usize(..threads);
        if pending[process] && random.u8(..3) > 0 {
            continue;
        }
        let operation = random.usize(..operations.len());
        let argument = random_value(random, &operations[operation].argument, values);
        let key = random.usize(..keys as usize);
        let call = linchpin_spec::Call { operation, argument: argument.clone() };
        let outcomes = spec.apply(&states[key], &call, None);
        let Some(outcome) = outcomes.into_iter().next() else { continue };
        let is_pending = random.u8(..7) == 0;
        if !is_pending || random.bool() {
            states[key] = outcome.state;
        }
        let response = match is_pending {
            true => None,
            false if corrupted && random.u8(..3) == 0 => {
                Some(random_value(random, &operations[operation].response, values))
            }
            false => Some(outcome.response),
        };
        pending[process] |= is_pending;
        let name = builder.process(&process.to_string());
        let id = builder.push(name, operation as u16, argument, response).expect("fits");
        if keys > 1 {
            builder.set_key(id, Value::Int(key as i64)).expect("is there");
        }
    }
    if random.u8(..8) > 0 {
        builder.program_order();
    }
    // Across, both with and against the order in which the answers were made.
    let length = builder.build().expect("no cycle").order().len();
    for _ in 0..random.usize(..=length / 2) {
        let (one, two) = (random.usize(..length), random.usize(..length));
        let with = one < two || random.u8(..12) == 0;
        if with && one != two {
            let mut more = builder.clone();
            more.precedes(OpId::new(one), OpId::new(two)).expect("both are there");
            if more.build().is_ok() {
                builder = more;
            }
        }
    }
    builder.build().expect("no cycle").clone()
}

/// The history as the oracle knows it, with only the answers of these.
fn for_oracle(
    history: &PartialHistory,
    known: impl Fn(OpId) -> bool,
) -> (Vec<PartialOperation>, Vec<(usize, usize)>) {
    let operations = history.operations();
    let operation = |id: OpId| PartialOperation {
        call: operations.call(id),
        response: operations.response(id).filter(|_| known(id)),
        object: operations[id].key.index(),
    };
    let all = || operations.ids();
    let pairs = all().flat_map(|a| all().map(move |b| (a, b)));
    let pairs = pairs.filter(|(a, b)| history.order().precedes(*a, *b));
    (all().map(operation).collect(), pairs.map(|(a, b)| (a.index(), b.index())).collect())
}

fn is_explained(object: &Object, history: &PartialHistory, known: impl Fn(OpId) -> bool) -> bool {
    let (operations, pairs) = for_oracle(history, known);
    partial_witness(&*object.spec, &operations, &pairs).is_some()
}

/// Whether an order explains the history: each step by the specification, each pair by the order.
fn confirm(object: &Object, history: &PartialHistory, order: &[OpId], tag: &str) {
    let (operations, pairs) = for_oracle(history, |_| true);
    let place = |at: usize| order.iter().position(|id| id.index() == at);
    for (at, operation) in operations.iter().enumerate() {
        let times = order.iter().filter(|id| id.index() == at).count();
        assert!(times == 1 || (times == 0 && operation.response.is_none()), "{tag}");
    }
    for (a, b) in pairs {
        assert!(place(a).zip(place(b)).is_none_or(|(a, b)| a < b), "{tag}");
    }
    let objects = operations.iter().map(|operation| operation.object + 1).max().unwrap_or(0);
    let mut states = vec![vec![object.spec.initial()]; objects];
    for id in order {
        let PartialOperation { call, response, object: at } = &operations[id.index()];
        let apply = |state| object.spec.apply(state, call, response.as_ref());
        states[*at] = states[*at].iter().flat_map(apply).map(|outcome| outcome.state).collect();
        assert!(!states[*at].is_empty(), "{tag}");
    }
}

#[derive(Debug, Default)]
struct Counts {
    holds: usize,
    violated: usize,
    of_intervals: usize,
}

/// Compares with the oracle.
fn compare(object: &Object, keys: i64, rounds: usize) -> Counts {
    let name = format!("partial {} of {keys}", object.name);
    let seed = seed(&name);
    let mut counts = Counts::default();
    let mut judge = PartialJudge::new(object);
    for round in 0..cases(rounds) {
        let tag = format!("{name}: LINCHPIN_SEED={seed} round {round}");
        let mut random = fastrand::Rng::with_seed(seed.wrapping_mul(1_000_003) + round as u64);
        let history = random_history(&mut random, object, keys);
        let expected = is_explained(object, &history, |_| true);
        let of_intervals = history.order().is_of_intervals();
        counts.of_intervals += usize::from(of_intervals);
        let options = CheckOptions { monitors: round % 2 == 0, ..CheckOptions::default() };
        let judgements = [
            judge.check(&history, &Limits::default()),
            check_partial(object, &history, &Limits::default()),
            check_partial_with(object, &history, &options).judgement,
        ];
        for judgement in &judgements {
            match judgement {
                Judgement::Holds(witness) => {
                    assert!(expected, "{tag}: {history:?}");
                    confirm(object, &history, &witness.order, &tag);
                }
                Judgement::Violated(violation) => {
                    assert!(!expected, "{tag}: {history:?}");
                    assert!(violation.core.is_sorted() && violation.at.is_none(), "{tag}");
                    assert!(violation.blamed.iter().all(|id| violation.core.contains(id)), "{tag}");
                    assert!(!violation.explanation.is_empty(), "{tag}");
                    if !of_intervals {
                        minimal(object, &history, &violation.core, &tag);
                    }
                }
                Judgement::Inconclusive(reason) => panic!("{tag}: {reason}"),
            }
        }
        match expected {
            true => counts.holds += 1,
            false => counts.violated += 1,
        }
    }
    println!("{name}: {counts:?}");
    counts
}

/// Whether nothing explains a core, and that is so of no smaller part of it.
fn minimal(object: &Object, history: &PartialHistory, core: &[OpId], tag: &str) {
    assert!(core.iter().all(|id| history.operations()[*id].completed), "{tag}");
    assert!(!is_explained(object, history, |id| core.contains(&id)), "{tag}: {core:?}");
    for left_out in core {
        let rest = |id: OpId| id != *left_out && core.contains(&id);
        assert!(is_explained(object, history, rest), "{tag}: {core:?} without {left_out}");
    }
}

#[test]
fn objects_against_all_permutations() {
    let mut of_intervals = 0;
    let (mut judged, rounds) = (0, 2500);
    for name in ["queue", "stack", "register", "set", "counter", "cas-register"] {
        let object = Object::builtin(name, None).expect("is built in");
        let counts = compare(&object, 1, rounds);
        let all = counts.holds + counts.violated;
        assert!((all / 8..=all * 7 / 8).contains(&counts.violated), "{name}: {counts:?}");
        (of_intervals, judged) = (of_intervals + counts.of_intervals, judged + all);
    }
    assert!((judged / 10..=judged * 9 / 10).contains(&of_intervals), "{of_intervals} of {judged}");
}

#[test]
fn many_objects_against_all_permutations() {
    for name in ["register", "queue"] {
        let object = Object::builtin(name, None).expect("is built in");
        let counts = compare(&object, 2, 2500);
        assert!(counts.holds > 100 && counts.violated > 100, "{name}: {counts:?}");
    }
}

/// Each object alone is fine; together they are not. Intervals could not do that.
#[test]
fn objects_are_judged_together() {
    let register = Object::builtin("register", Some(Value::Int(0))).expect("is built in");
    let mut builder = PartialBuilder::new(register.spec.operations());
    let calls = [("a", "write", "x"), ("a", "read", "y"), ("b", "write", "y"), ("b", "read", "x")];
    for (process, call, key) in calls {
        let id = match call {
            "write" => builder.completed(process, call, Value::Int(1), Value::Null),
            _ => builder.completed(process, call, Value::Null, Value::Int(0)),
        };
        builder.set_key(id.expect("fits"), Value::str(key)).expect("is there");
    }
    builder.program_order();
    let history = builder.build().expect("no cycle");
    let judgement = check_partial(&register, history, &Limits::default());
    let violation = judgement.violation().expect("store buffering is not sequential");
    assert_eq!(violation.core.len(), 4, "{violation:?}");
    assert_eq!(
        violation.explanation,
        "write(1) by process a, read → 0 by process a, write(1) by process b and read → 0 by \
         process b cannot be explained together: no order that keeps to what precedes what gives \
         what was answered (write(1) by process a precedes read → 0 by process a; write(1) by \
         process b precedes read → 0 by process b)"
    );
}

/// A pending operation that precedes another takes effect before it or never.
#[test]
fn what_is_pending_keeps_to_the_order() {
    let register = Object::builtin("register", Some(Value::Int(0))).expect("is built in");
    for (precedes, holds) in [(true, false), (false, true)] {
        let mut builder = PartialBuilder::new(register.spec.operations());
        let write = builder.pending("a", "write", Value::Int(1)).expect("fits");
        let first = builder.completed("b", "read", Value::Null, Value::Int(0)).expect("fits");
        builder.completed("b", "read", Value::Null, Value::Int(1)).expect("fits");
        builder.program_order();
        if precedes {
            builder.precedes(write, first).expect("both are there");
        }
        let history = builder.build().expect("no cycle");
        assert_eq!(check_partial(&register, history, &Limits::default()).is_holds(), holds);
    }
}

/// 64 operations: wide ones of intervals go to the monitors, and the limits hold for the others.
#[test]
fn large_histories_end() {
    let queue = Object::builtin("queue", None).expect("is built in");
    let mut builder = PartialBuilder::new(queue.spec.operations());
    for value in 0..32 {
        builder.completed("a", "enqueue", Value::Int(value), Value::Null).expect("fits");
        builder.completed("b", "dequeue", Value::Null, Value::Int(31 - value)).expect("fits");
    }
    let history = builder.build().expect("no cycle");
    assert!(check_partial(&queue, history, &Limits::default()).is_holds());
    // Two chains apart, and the rest in no order: nothing but a search.
    let edges = [(0, 2), (4, 6), (1, 3), (5, 7)];
    for (first, second) in edges {
        builder.precedes(OpId::new(first), OpId::new(second)).expect("both are there");
    }
    let history = builder.build().expect("no cycle");
    let limits = Limits { configurations: Some(5000), ..Limits::default() };
    match check_partial(&queue, history, &limits) {
        Judgement::Inconclusive(Inconclusive::Stopped { by: StopReason::Budget, .. }) => {}
        Judgement::Holds(witness) => confirm(&queue, history, &witness.order, "64"),
        other => panic!("{other:?}"),
    }
}
