//! The engine against the oracle on random models.

use crate::compare::{Compared, PLAIN, compare};
use crate::generator;
use crate::model::{compiled, number};
use crate::support::Within;
use fastrand::Rng;
use linchpin_base::Detail;
use linchpin_engine::Rule;
use linchpin_space::Reductions;
use std::collections::{BTreeMap, BTreeSet};

/// How the two verdicts on one model compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sort {
    /// All conditions hold.
    Hold,
    /// The same rules are broken.
    SameRules,
    /// Some rules are broken, and those on which the two differ are explained.
    Explained,
    /// One of the two gave up.
    TooLarge,
    /// Only the oracle finds a rule broken.
    OracleOnly,
    /// Only the engine finds a rule broken.
    EngineOnly,
    /// Both find rules broken, and not the same.
    Unexplained,
}

/// Both find that a condition fails. The engine follows a call only until a condition fails for
/// it, and it foresees what a call would do if it were left alone.
fn explained(compared: &Compared) -> bool {
    let oracle = compared.oracle.rules();
    let engine = &compared.engine;
    let findings = &compared.analysis.findings;
    // Nothing more is asked of a call that does not begin in a base point, or that is disturbed.
    let lost = engine.contains(&Rule::CriticalBasePoint) || engine.contains(&Rule::LastRead);
    let missed = oracle.difference(engine).next().is_some();
    // A call that is disturbed between its update steps may not take the next one after all: then
    // it was critical only as far as could be foreseen.
    let disturbed =
        findings.iter().any(|finding| matches!(finding.detail, Detail::Disturbed { .. }));
    let further = engine.difference(&oracle).next().is_some();
    (!missed || lost) && (!further || disturbed)
}

fn sort(compared: Option<&Compared>) -> Sort {
    let Some(compared) = compared else { return Sort::TooLarge };
    let oracle = compared.oracle.rules();
    match (compared.engine.is_empty(), oracle.is_empty()) {
        (true, true) => Sort::Hold,
        (true, false) => Sort::OracleOnly,
        (false, true) => Sort::EngineOnly,
        _ if oracle == compared.engine => Sort::SameRules,
        _ if explained(compared) => Sort::Explained,
        _ => Sort::Unexplained,
    }
}

/// Bounds, and how many executions are enough.
const WITHIN: [(Within, usize); 4] = [
    (Within { threads: 2, calls: 1, values: 2 }, 2_000),
    (Within { threads: 2, calls: 1, values: 1 }, 2_000),
    (Within { threads: 2, calls: 2, values: 1 }, 2_000),
    (Within { threads: 3, calls: 1, values: 1 }, 2_000),
];

/// Compares the two on the model of a seed. Steps are taken one by one, as the definitions have
/// it: with the partial order reduction a read that concerns no other thread is no step.
fn one(seed: u64) -> Sort {
    let mut random = Rng::with_seed(seed);
    let (name, source) = generator::model(&mut random);
    let (within, most) = WITHIN[random.usize(..WITHIN.len())];
    let reductions = match random.bool() {
        true => PLAIN,
        false => Reductions { partial_order: false, ..Reductions::ALL },
    };
    let program = compiled(&source, within.threads).program;
    let compared = compare(&program, within, reductions, random.bool(), most);
    let sort = sort(compared.as_ref());
    if let (true, Some(compared)) = (sort > Sort::TooLarge, &compared) {
        println!("seed {seed}, {name}, {within:?}: {sort:?}\n{source}");
        for (rule, moves) in &compared.oracle.broken {
            println!("oracle: {rule:?} {moves:#?}");
        }
        for finding in &compared.analysis.findings {
            println!("engine: {:?} {:?}", finding.rule, finding.detail);
        }
    }
    sort
}

#[test]
fn random_models() {
    // For a long run: LINCHPIN_SEED=7 LINCHPIN_CASES=5000 cargo test -p linchpin-base
    // against_oracle
    let (seed, cases) = (number("LINCHPIN_SEED", 1), number("LINCHPIN_CASES", 250));
    let mut tally: BTreeMap<Sort, u64> = BTreeMap::new();
    for case in 0..cases {
        *tally.entry(one((seed << 32) + case)).or_default() += 1;
    }
    println!("{tally:?}");
    let count = |sort: Sort| tally.get(&sort).copied().unwrap_or(0);
    assert_eq!(count(Sort::OracleOnly), 0, "all conditions hold, says the engine alone");
    assert_eq!(count(Sort::Unexplained), 0, "other rules, without a reason");
    // What can be foreseen of a call may fail where its history happens to fit in the end.
    assert!(count(Sort::EngineOnly) * 50 <= cases, "{tally:?}");
    assert!(count(Sort::Hold) * 100 >= cases * 15, "{tally:?}");
    assert!(count(Sort::SameRules) * 100 >= cases * 15, "{tally:?}");
    assert!(count(Sort::TooLarge) * 2 <= cases, "{tally:?}");
}

/// The first step of a critical sequence has to commute with what comes after it, too.
#[test]
fn first_step_of_a_critical_sequence() {
    let source = "spec {
    state x: int;
    op claim() -> bool { if x == 0 { x = 1; return true; } return false; }
    op set() { x = 2; }
    op get() -> int { return x; }
}
shared x: int;
shared y: int;
shared l: lock;
op claim() -> bool {
    lock(l);
    let r = cas(x, 0, 1);
    if r { y = 1; }
    unlock(l);
    return r;
}
op set() { x = 2; }
op get() -> int { return x; }
";
    let within = Within { threads: 2, calls: 1, values: 1 };
    let program = compiled(source, 2).program;
    let compared = compare(&program, within, PLAIN, true, 20_000).expect("it is small");
    assert_eq!(compared.oracle.rules(), BTreeSet::from([Rule::Commute]));
    assert_eq!(compared.engine, BTreeSet::from([Rule::Commute]));
}
