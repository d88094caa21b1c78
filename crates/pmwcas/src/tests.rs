//! The right one passes with every interleaving and every crash; each persist that is left out is
//! found, and so is the published bug.

use super::{Change, Kind, Pmwcas};
use linchpin::Value;
use linchpin::harness::{
    Covered, Failure, Kind as FailureKind, NamedCall, Plan, Specification, Test, ToValue,
};
use std::collections::BTreeMap;

type Words = Pmwcas<2, 2>;
type Triples = Vec<(u64, u64, u64)>;

fn mwcas(words: &Words, triples: &[(u64, u64, u64)]) -> Value {
    let change = |(address, old, new): &(u64, u64, u64)| Change {
        address: *address as usize,
        old: *old,
        new: *new,
    };
    match words.mwcas(&triples.iter().map(change).collect::<Vec<_>>()) {
        Ok(()) => true.to_value(),
        Err(address) => BTreeMap::from([("failed", address)]).to_value(),
    }
}

fn mwread(words: &Words, addresses: &[(u64, Option<u64>)]) -> Value {
    let read = |(address, _): &(u64, Option<u64>)| (*address, words.read(*address as usize));
    addresses.iter().map(read).collect::<Vec<_>>().to_value()
}

fn cas(triples: &[(u64, u64, u64)]) -> NamedCall {
    NamedCall::new("mwcas", vec![triples.to_vec().to_value()])
}

fn read(address: u64) -> NamedCall {
    NamedCall::new("mwread", vec![vec![(address, None::<u64>)].to_value()])
}

fn test(kind: Kind, threads: Vec<Vec<NamedCall>>, crashes: usize) -> Test<Words, Specification> {
    let both = NamedCall::new("mwread", vec![vec![(0_u64, None::<u64>), (1, None)].to_value()]);
    Test::persistent("pmwcas", move |pool| Words::create(pool, kind))
        .spec(Specification::from("mwcas").starting_from(0_u64))
        .op("mwcas", ([Triples::new()],), |words, (triples,)| mwcas(words, &triples))
        .op("mwread", ([vec![(0_u64, None::<u64>)]],), |words, (all,)| mwread(words, &all))
        .recover(move |pool| Words::recover(pool, kind))
        .scenario(threads)
        .after(vec![both])
        .crashes(crashes)
        .plan(Plan::exhaustive())
        .folder(None)
}

fn passes(test: Test<Words, Specification>) -> Covered {
    let covered = test.check().unwrap_or_else(|failure| panic!("{failure}"));
    println!("{covered}");
    covered
}

fn fails(test: Test<Words, Specification>) -> Box<Failure> {
    let failure = test.check().expect_err("it is wrong");
    println!("{failure}");
    failure
}

/// One thread, two calls: the first one is complete when the second one starts.
fn one_by_two() -> Vec<Vec<NamedCall>> {
    vec![vec![cas(&[(0, 0, 1), (1, 0, 1)]), cas(&[(0, 1, 2), (1, 1, 2)])]]
}

/// Two threads with one call each, which overlap in both words.
fn two_by_one() -> Vec<Vec<NamedCall>> {
    vec![vec![cas(&[(0, 0, 1), (1, 0, 1)])], vec![cas(&[(0, 0, 2), (1, 0, 2)])]]
}

/// The first call fails at its second word, and puts back what it found in the first.
fn one_fails() -> Vec<Vec<NamedCall>> {
    vec![vec![cas(&[(0, 0, 1), (1, 1, 0)])], vec![cas(&[(0, 0, 1), (1, 0, 1)])]]
}

#[test]
fn one_thread_survives_two_crashes() {
    let covered = passes(test(Kind::Right, one_by_two(), 2));
    assert!(covered.complete, "{covered}");
}

#[test]
fn two_threads_survive_a_crash() {
    for (threads, most) in [(two_by_one(), 1), (one_fails(), 1)] {
        passes(test(Kind::Right, threads, 1).plan(Plan::preemptions().bound(most)));
    }
    let threads = vec![vec![cas(&[(0, 0, 1)])], vec![read(0)]];
    passes(test(Kind::Right, threads, 1).plan(Plan::preemptions().bound(2)));
}

#[test]
fn the_published_bug_is_found() {
    // Neither a crash nor more than one preemption is needed.
    let failure = fails(test(Kind::DirtyFails, one_fails(), 0));
    assert!(failure.to_string().contains("not durably linearizable"), "{failure}");
    assert_eq!(failure.scenario.as_ref().map(|scenario| scenario.len()), Some(2));
    fails(test(Kind::DirtyFails, one_fails(), 1).plan(Plan::preemptions().bound(1)));
}

#[test]
fn the_published_repair_is_right() {
    let plan = Plan::preemptions().bound(1);
    passes(test(Kind::DirtyWaits, one_fails(), 1).plan(plan));
}

#[test]
fn every_persist_that_is_left_out_is_found() {
    for kind in [Kind::DescriptorStays, Kind::ReferencesStay, Kind::StatusStays, Kind::ValuesStay] {
        let failure = fails(test(kind, one_by_two(), 1));
        assert!(failure.to_string().contains("LOST"), "{kind:?}: {failure}");
    }
}

#[test]
fn reads_need_not_write_back() {
    let threads = vec![vec![cas(&[(0, 0, 1)])], vec![read(0)]];
    passes(test(Kind::ReadsStay, threads, 1).plan(Plan::preemptions().bound(2)));
}

#[test]
fn longer_runs_by_chance() {
    let call = |at: u64| [cas(&[(0, 0, at), (1, 0, at)]), read(at % 2), cas(&[(1, at, 9)])];
    let threads: Vec<Vec<NamedCall>> = (1..3).map(|at| call(at).to_vec()).collect();
    passes(test(Kind::Right, threads.clone(), 1).plan(Plan::random().runs(1000).seed(1)));
}

/// The first call installs itself in the first word and fails at the second; the read meets it
/// there. The second call takes the descriptor of the first for the other word.
fn one_fails_beside_a_read() -> Vec<Vec<NamedCall>> {
    vec![vec![cas(&[(0, 0, 1), (1, 1, 0)]), cas(&[(1, 0, 5)])], vec![read(0)]]
}

#[test]
fn no_reference_stays_when_an_operation_is_over() {
    let plan = || Plan::preemptions().bound(2);
    let failure = fails(test(Kind::CleanFirst, one_fails_beside_a_read(), 0).plan(plan()));
    assert!(matches!(failure.kind, FailureKind::Endless(_)), "{failure}");
    passes(test(Kind::Right, one_fails_beside_a_read(), 0).plan(plan()));
}

/// A helper that is late refers to an entry again; another one completes that by what it saw when
/// the operation was undecided.
fn a_word_goes_there_and_back() -> Vec<Vec<NamedCall>> {
    vec![vec![cas(&[(0, 0, 1)])], vec![read(0)], vec![cas(&[(0, 1, 0)])]]
}

#[test]
fn no_operation_takes_effect_twice() {
    let plan = |bound| Plan::preemptions().bound(bound);
    passes(test(Kind::Right, a_word_goes_there_and_back(), 0).plan(plan(2)));
    // It needs three preemptions, of which there are too many for every day.
    if env("LINCHPIN_CASES").is_some() {
        let wrong = test(Kind::OneCondition, a_word_goes_there_and_back(), 0);
        let failure = fails(wrong.plan(plan(3)));
        assert_eq!(failure.kind, FailureKind::NotLinearizable, "{failure}");
        passes(test(Kind::Right, a_word_goes_there_and_back(), 0).plan(plan(3)));
    }
}

fn env(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// A call on words that hold 0 or 1 at most times.
fn any_call(random: &mut fastrand::Rng) -> NamedCall {
    let mut bit = || random.u64(..2);
    match (bit(), bit(), bit()) {
        (0, 0, address) => read(address),
        (0, _, address) => cas(&[(address, bit(), bit())]),
        _ => cas(&[(0, bit(), bit()), (1, bit(), bit())]),
    }
}

#[test]
fn any_calls_of_three_threads() {
    let (seed, cases) = (env("LINCHPIN_SEED").unwrap_or(1), env("LINCHPIN_CASES").unwrap_or(6));
    println!("LINCHPIN_SEED={seed} LINCHPIN_CASES={cases}");
    for case in 0..cases {
        let mut random = fastrand::Rng::with_seed(seed + case);
        let threads = random.usize(2..4);
        let calls = |random: &mut fastrand::Rng| {
            (0..random.usize(1..3)).map(|_| any_call(random)).collect::<Vec<_>>()
        };
        let threads: Vec<Vec<NamedCall>> = (0..threads).map(|_| calls(&mut random)).collect();
        let plan = if case % 2 == 0 { Plan::pct().bound(4) } else { Plan::random() };
        let crashes = random.usize(..2);
        passes(test(Kind::Right, threads, crashes).plan(plan.runs(300).seed(seed + case)));
    }
}
