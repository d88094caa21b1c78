//! Unknown initial values are judged by trying every initial memory.

use super::*;
use expect_test::{Expect, expect};
use std::env;

const ADDRESSES: i64 = 2;
/// The values that calls and answers mention.
const MENTIONED: i64 = 3;

fn list<const N: usize>(items: [i64; N]) -> Value {
    Value::list(items.map(Value::Int))
}

fn mwcas(words: &[[i64; 3]]) -> Call {
    Call { operation: Mwcas::MWCAS, argument: Value::list(words.iter().map(|word| list(*word))) }
}

fn failed(address: i64) -> Value {
    Value::map([("failed".into(), address.into())])
}

fn read(seen: &[[i64; 2]]) -> Value {
    Value::map([("read".into(), Value::list(seen.iter().map(|pair| list(*pair))))])
}

fn check(memory: &Mwcas, call: &Call, response: Option<&Value>, expected: Expect) {
    let outcomes = memory.apply(&memory.initial(), call, response);
    let lines =
        outcomes.iter().map(|outcome| format!("{} in {}\n", outcome.response, outcome.state));
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn what_is_unknown_is_learnt() {
    let memory = Mwcas::default();
    let both = mwcas(&[[0, 1, 2], [1, 1, 2]]);
    check(
        &memory,
        &both,
        None,
        expect![[r#"
            true in {0: 2, 1: 2}
            {"failed": 0} in {0: {1}}
            {"failed": 1} in {1: {1}}
        "#]],
    );
    check(
        &memory,
        &both,
        Some(&false.into()),
        expect![[r#"
            false in {0: {1}}
            false in {1: {1}}
        "#]],
    );
    check(
        &memory,
        &both,
        Some(&read(&[[0, 1]])),
        expect![[r#"
            {"read": [[0, 1]]} in {0: 1, 1: {1}}
        "#]],
    );
    // What was read is what was expected: it should have succeeded.
    check(&memory, &both, Some(&read(&[[0, 1], [1, 1]])), expect![[""]]);
}

#[test]
fn where_a_mismatch_is_certain_nothing_else_is_learnt() {
    let memory = Mwcas::new(BTreeMap::from([(0.into(), 5.into())]), None);
    check(
        &memory,
        &mwcas(&[[0, 1, 2], [1, 1, 2]]),
        Some(&false.into()),
        expect![[r#"
            false in {}
        "#]],
    );
}

#[test]
fn what_makes_no_sense_has_no_outcome() {
    let memory = Mwcas::default();
    let repeated = mwcas(&[[0, 1, 2], [0, 1, 3]]);
    check(&memory, &repeated, None, expect![[""]]);
    let one = mwcas(&[[0, 1, 2]]);
    check(&memory, &one, Some(&failed(1)), expect![[""]]);
    check(&memory, &one, Some(&read(&[[1, 1]])), expect![[""]]);
    check(&memory, &one, Some(&Value::Null), expect![[""]]);
    let set = Value::list([Value::list([0.into(), unknown(), 1.into()])]);
    let set = Call { operation: Mwcas::MWCAS, argument: set };
    check(&memory, &set, None, expect![[""]]);
}

/// Whether the answers, `None` where there was none, are possible one after the other.
fn possible(memory: &Mwcas, answered: &[(Call, Option<Value>)]) -> bool {
    let mut states = BTreeSet::from([memory.initial()]);
    for (call, answer) in answered {
        let apply = |state: &Value| memory.apply(state, call, answer.as_ref());
        states = states.iter().flat_map(apply).map(|outcome| outcome.state).collect();
    }
    !states.is_empty()
}

/// Every memory with mentioned values, or one more that stands for all values that no operation
/// mentions.
fn initial_memories() -> impl Iterator<Item = Mwcas> {
    let values = || 0..=MENTIONED;
    values().flat_map(move |first| {
        values().map(move |second| {
            let given = [(0.into(), first.into()), (1.into(), second.into())];
            Mwcas::new(BTreeMap::from(given), None)
        })
    })
}

fn random_call(random: &mut fastrand::Rng) -> (Call, Option<Value>) {
    let mut addresses: Vec<i64> = (0..ADDRESSES).collect();
    random.shuffle(&mut addresses);
    addresses.truncate(random.usize(1..=addresses.len()));
    let value = |random: &mut fastrand::Rng| random.i64(0..MENTIONED);
    let seen: Vec<[i64; 2]> = addresses.iter().map(|&a| [a, value(random)]).collect();
    if random.u8(..4) == 0 {
        let asked = addresses.iter().map(|&a| Value::list([a.into(), Value::Null]));
        let call = Call { operation: Mwcas::MWREAD, argument: Value::list(asked) };
        let answer = Value::list(seen.iter().map(|pair| list(*pair)));
        return (call, (random.u8(..8) != 0).then_some(answer));
    }
    let words: Vec<_> = addresses.iter().map(|&a| [a, value(random), value(random)]).collect();
    let answer = match random.u8(..10) {
        0..4 => Some(true.into()),
        4..6 => Some(false.into()),
        6..8 => Some(failed(addresses[0])),
        8 => Some(read(&seen[..random.usize(..=seen.len())])),
        _ => None,
    };
    (mwcas(&words), answer)
}

#[test]
fn possible_exactly_if_possible_for_some_initial_memory() {
    let seed = env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    println!("SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut possible_count = 0;
    let rounds = 20_000;
    for _ in 0..rounds {
        let length = random.usize(1..=5);
        let answered: Vec<_> = (0..length).map(|_| random_call(&mut random)).collect();
        let unknown = possible(&Mwcas::default(), &answered);
        let somewhere = initial_memories().any(|memory| possible(&memory, &answered));
        assert_eq!(unknown, somewhere, "{answered:?}");
        possible_count += u32::from(unknown);
    }
    assert!((rounds / 10..rounds * 9 / 10).contains(&possible_count), "{possible_count}");
}
